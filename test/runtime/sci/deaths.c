// SPDX-License-Identifier: BSD-3-Clause
// deaths.c - a rank of target sci in a process of its own, among others; one of them is killed.
//
//   sci-deaths FOLDER RANK VICTIM FILE     (templates of an allgather, of all ranks)
//
// Ranks meet by way of files in the folder. After some calls that go well, the victim starts
// another one and is killed in the middle of it; all others have to be told, by nbc_wait or, odd
// ranks, by nbc_test, within SOON. Then everything can be given back.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nbc/sci.h"
#include "test/runtime/template_file.h"

enum {
  CALLS = 3,
  SOON = 10 /* seconds */,
  BYTES = 1500000 /* more than the slots of a lane hold */
};

static int rank, ranks;

static void must(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "rank %d: not so: %s\n", rank, what);
  _exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nap(void) {
  static const struct timespec t = {0, 1000000};
  nanosleep(&t, NULL);
}

// --- how they meet ---

static void name_of(char *path, const void *folder, int of, const char *key, const char *end) {
  snprintf(path, 4096, "%s/%d.%s%s", (const char *)folder, of, key, end);
}

static int put(void *folder, const char *key, const void *data, size_t bytes) {
  char path[4096], at_first[4096];
  name_of(path, folder, rank, key, "");
  name_of(at_first, folder, rank, key, ".new");
  FILE *file = fopen(at_first, "wb");
  if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file)) return -1;
  return rename(at_first, path);
}

static int get(void *folder, int of, const char *key, void *data, size_t capacity, size_t *bytes) {
  char path[4096];
  FILE *file;
  name_of(path, folder, of, key, "");
  for (const double begin = now(); !(file = fopen(path, "rb")); nap())
    if (now() - begin > SOON) return -1;
  *bytes = fread(data, 1, capacity, file);
  return fclose(file);
}

static int fence(void *folder) {
  static int fences;
  char key[32], nothing;
  size_t bytes;
  snprintf(key, sizeof key, "fence.%d", fences++);
  int failed = put(folder, key, "", 1);
  for (int r = 0; r < ranks && !failed; ++r) failed = get(folder, r, key, &nothing, 1, &bytes);
  return failed;
}

// --- what they do ---

static int end_of(nbc_request *request) {
  int status = 0, done = 0;
  if (rank % 2 == 0) return nbc_wait(request);
  while (!done && !status) {
    status = nbc_test(request, &done);
    if (!done && !status) nbc_rest(request, NULL);
  }
  return status;
}

int main(int argc, char **argv) {
  must(argc == 5, "FOLDER RANK VICTIM FILE");
  rank = atoi(argv[2]);
  const int victim = atoi(argv[3]);
  size_t bytes;
  char *all = read_templates(argv[4], &bytes);
  must(all != NULL, "templates can be read");
  ranks = (int)((const struct nbc_template *)all)->ranks;
  struct nbc_device *device;
  const char *why = "";
  nbc_comm *comm;
  nbc_plan *plan;
  nbc_request request;
  if (nbc_sci_open(NULL, &device, &why)) must(0, why);
  const struct nbc_bootstrap bootstrap = {
      .rank = rank, .ranks = ranks, .context = argv[1], .put = put, .get = get, .fence = fence};
  must(nbc_comm_create(&bootstrap, &device, 1, &comm) == 0, "there is a communicator");
  const struct nbc_template *mine = template_of(all, bytes, ranks, rank);
  must(mine != NULL, "there is one for this rank");
  must(nbc_plan_create(comm, mine, mine->bytes, NULL, &plan) == 0, "there is a plan");
  must(nbc_plan_connect(plan) == 0, "it is connected");

  unsigned char *in = (unsigned char *)malloc(BYTES),
                *out = (unsigned char *)malloc((size_t)ranks * BYTES);
  must(in && out, "there is memory");
  memset(in, rank + 1, BYTES);
  const struct nbc_call call = {.in = in, .out = out, .count = BYTES, .type = NBC_U8};
  for (int i = 0; i < CALLS; ++i) {
    memset(out, 0, (size_t)ranks * BYTES);
    must(nbc_start(plan, &call, &request) == 0 && end_of(&request) == 0, "a call goes well");
    for (size_t at = 0; at < (size_t)ranks * BYTES; ++at)
      must(out[at] == at / BYTES + 1, "its bytes are right");
  }

  int status = nbc_start(plan, &call, &request), done = 0;
  if (rank == victim) {
    for (int looks = 0; looks < 2 && !status && !done; ++looks) status = nbc_test(&request, &done);
    printf("rank %d of %d is killed\n", rank, ranks);
    fflush(stdout);
    kill(getpid(), SIGKILL);
  }
  const double begin = now();
  if (!status) status = end_of(&request);
  // A thread of the victim's may have sent all by then: the next call cannot end.
  if (!status) status = nbc_start(plan, &call, &request);
  if (!status) status = end_of(&request);
  must(status == NBC_ERROR_DEVICE, "a call fails, since a device did");
  must(now() - begin < SOON, "it is told soon");
  must(nbc_start(plan, &call, &request) == NBC_ERROR_DEVICE, "so does the next");
  must(nbc_plan_free(plan) == 0 && nbc_comm_free(comm) == 0, "all can be given back");
  printf("rank %d was told\n", rank);
  free(in);
  free(out);
  free(all);
  return 0;
}
