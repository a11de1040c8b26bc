// SPDX-License-Identifier: BSD-3-Clause
// by_name.c - one rank runs algorithms by their names: an installed one, and those of a source that
// was given. Says what was compiled, and whether LLVM is in the process.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbc/algorithms.h"
#include "nbc/p2p.h"

static const char *why = "no more is known";

static void must(int status) {
  if (!status) return;
  printf("%s\n", *why ? why : nbc_status_text(status));
  exit(1);
}

static int has_llvm(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[4096];
  int found = 0;
  while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, "libLLVM") != NULL;
  if (maps) fclose(maps);
  return found;
}

// One rank has nobody to send to.
static int nothing(struct nbc_p2p *self, union nbc_p2p_message *message) {
  (void)self, (void)message;
  return 1;
}
static const struct nbc_p2p_ops ops = {.name = "nobody", .test = nothing};

int main(int argc, char **argv) {
  const char *const *from = (const char *const *)argv + 2;
  struct nbc_algorithms *all;
  must(nbc_algorithms_open(from, (size_t)argc - 2, NULL, &all, &why));
  struct nbc_bootstrap alone = {.ranks = 1};
  struct nbc_p2p nobody = {.device = {.target = NBC_P2P_TARGET}, .ops = &ops};
  nobody.largest_tag = 99;
  nobody.longest = INT64_MAX;
  struct nbc_device *devices[] = {&nobody.device};
  nbc_comm *comm;
  nbc_plan *plan;
  must(nbc_comm_create(&alone, devices, 1, &comm));
  must(nbc_comm_take(comm, all));
  struct nbc_build_request what = {.algorithm = argv[1]};
  must(nbc_plan_make(comm, &what, NULL, &plan, &why));
  must(nbc_plan_connect(plan));

  int in = 7, out = 0;
  struct nbc_call call = {.in = &in, .out = &out, .count = 1, .type = NBC_I32};
  nbc_request request;
  must(nbc_start(plan, &call, &request));
  must(nbc_wait(&request));
  struct nbc_algorithms_info info;
  nbc_algorithms_query(all, &info);
  printf("%s: %s, %d compiled, %d found, %s LLVM, %s\n", argv[1], out == in ? "right" : "wrong",
         (int)info.compiled, (int)info.found, has_llvm() ? "with" : "without",
         *info.trouble ? info.trouble : "no trouble");
  must(nbc_plan_free(plan));
  must(nbc_comm_free(comm));
}
