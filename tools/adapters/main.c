// SPDX-License-Identifier: BSD-3-Clause
// main.c - nbc-adapters: what the adapters of this machine can, and which --device that is.
//
//     mlx5_0: queues of 2^15 entries, ... waits for completions and words: connectx7-cd
//     mlx5_1: cannot be opened: this user may not open its file in /dev/infiniband (errno 13)
//
// Exit status 0 if target coredirect could use one of them.

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtime/devx/devx.h"

static const char *device_of(const struct nbc_hca_facts *facts) {
  return facts->waits & NBC_HCA_WAITS_CQ     ? "connectx7-cd"
         : facts->waits & NBC_HCA_WAITS_DATA ? "connectx7"
                                             : NULL;
}

static bool tell(const struct devx_libraries *l, struct ibv_device *device) {
  static const char *const waits[] = {"nothing", "completions", "words", "completions and words"};
  const char *name = l->name(device);
  struct devx_why why = {""};
  struct nbc_hca_facts facts;
  struct ibv_context *context = devx_open(l, device, &why);
  const bool known = context && devx_query(l, context, &facts, &why);
  if (context) l->close(context);
  if (!known) {
    printf("%s: %s\n", name, why.text);
    return false;
  }
  const char *as = device_of(&facts);
  printf("%s: queues of 2^%u entries, gathers %u, scatters %u; waits for %s: %s\n", name,
         facts.max_log_sq, facts.max_gather, facts.max_scatter, waits[facts.waits & 3],
         as ? as : "nothing that target coredirect could use");
  return as != NULL;
}

int main(int argc, char **argv) {
  if (argc > 1) {
    fprintf(stderr, "nbc-adapters: takes no arguments, and was given '%s'\n", argv[1]);
    return 2;
  }
  struct devx_libraries libraries;
  struct devx_why why;
  if (!devx_load(&libraries, &why)) {
    fprintf(stderr, "nbc-adapters: %s\n", why.text);
    return 1;
  }
  int count = 0, usable = 0;
  errno = 0;
  struct ibv_device **list = libraries.list(&count);
  if (!list || count == 0) {
    fprintf(stderr, "nbc-adapters: %s\n",
            list              ? "there is no RDMA device"
            : errno == ENOSYS ? "the kernel has no RDMA: is the module ib_uverbs loaded?"
                              : strerror(errno));
    if (list) libraries.free_list(list);
    return 1;
  }
  for (int i = 0; i < count; ++i) usable += tell(&libraries, list[i]);
  libraries.free_list(list);
  return usable ? 0 : 1;
}
