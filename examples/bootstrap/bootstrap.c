// SPDX-License-Identifier: BSD-3-Clause
// bootstrap.c - collectives without any MPI: a bootstrap of the program's own.
//
//     ./bootstrap [RANKS]
//
// Ranks are processes, made by fork. All that nbc asks of whoever starts them is how a rank tells
// the others something before there are connections: `put` under a key, `get` what another one has
// put, and a fence. Here a value is a file, in a folder that all ranks know; a launcher may have a
// key-value store for it (PMI, Redis), or a socket. Data then travel through shared memory.
//
//   put    writes DIR/RANK.KEY under another name and renames it: it is there whole, or not at all
//   get    looks until it is there, and gives up after a while: somebody may have died
//   fence  each puts a file and gets those of all others

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nbc/build.h"
#include "nbc/shm.h"
#include "scan.h"  // made by nbcc: what the library holds

enum { MOST_RANKS = 64, PATIENCE_MS = 20000, ELEMENTS = 1000 };

struct folder {
  const char *path;
  int rank, ranks, fences;
};

static int put(void *context, const char *key, const void *data, size_t bytes) {
  const struct folder *f = context;
  char name[512], hidden[512];
  snprintf(name, sizeof name, "%s/%d.%s", f->path, f->rank, key);
  snprintf(hidden, sizeof hidden, "%s/.%d", f->path, f->rank);
  FILE *file = fopen(hidden, "w");
  if (!file) return -1;
  size_t written = fwrite(data, 1, bytes, file);
  return fclose(file) || written != bytes || rename(hidden, name) ? -1 : 0;
}

static int get(void *context, int rank, const char *key, void *data, size_t capacity,
               size_t *bytes) {
  const struct folder *f = context;
  char name[512];
  snprintf(name, sizeof name, "%s/%d.%s", f->path, rank, key);
  FILE *file = NULL;
  for (int waited = 0; !(file = fopen(name, "r")); ++waited) {
    if (errno != ENOENT || waited == PATIENCE_MS) return -1;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  *bytes = fread(data, 1, capacity, file);
  int wrong = ferror(file) || fgetc(file) != EOF;  // longer than there is room
  fclose(file);
  return wrong ? -1 : 0;
}

static int fence(void *context) {
  struct folder *f = context;
  char key[32], nothing[1];
  size_t bytes;
  snprintf(key, sizeof key, "fence%d", f->fences++);
  if (put(f, key, "", 0)) return -1;
  for (int rank = 0; rank < f->ranks; ++rank)
    if (get(f, rank, key, nothing, 1, &bytes)) return -1;
  return 0;
}

static void must(int status, const char *what, int rank) {
  if (status == NBC_OK) return;
  fprintf(stderr, "bootstrap: rank %d: %s: %s\n", rank, what, nbc_status_text(status));
  _exit(1);  // the others give up in `get`, or are told that this one is gone
}

// What one process does; its exit status.
static int run(struct folder *f) {
  struct nbc_bootstrap bootstrap = {
      .rank = f->rank, .ranks = f->ranks, .context = f, .put = put, .get = get, .fence = fence};
  struct nbc_device *device = NULL;
  nbc_comm *comm = NULL;
  must(nbc_shm_open(&bootstrap, NULL, &device), "shared memory", f->rank);
  must(nbc_comm_create(&bootstrap, &device, 1, &comm), "communicator", f->rank);

  struct nbc_build_request request = {.algorithm = NBC_SCAN_SCAN_RECURSIVE_DOUBLING,
                                      .target = "shm",
                                      .ranks = (uint32_t)f->ranks,
                                      .rank = (uint32_t)f->rank};
  void *template = NULL;
  size_t bytes = 0;
  char why[256];
  nbc_plan *plan = NULL;
  must(nbc_build_template(nbc_library_scan(), &request, &template, &bytes, why, sizeof why), why,
       f->rank);
  must(nbc_plan_create(comm, template, bytes, NULL, &plan), "plan", f->rank);
  must(nbc_plan_connect(plan), "connect", f->rank);
  free(template);

  static int32_t in[ELEMENTS], out[ELEMENTS];
  for (int i = 0; i < ELEMENTS; ++i) in[i] = f->rank + i;
  struct nbc_call call = {.in = in, .out = out, .count = ELEMENTS, .type = NBC_I32, .op = NBC_SUM};
  nbc_request scan;
  must(nbc_start(plan, &call, &scan), "start", f->rank);
  must(nbc_wait(&scan), "wait", f->rank);
  int wrong = 0;
  for (int i = 0; i < ELEMENTS; ++i)
    wrong += out[i] != f->rank * (f->rank + 1) / 2 + i * (f->rank + 1);
  printf("rank %d of %d, process of its own: %d wrong\n", f->rank, f->ranks, wrong);

  // All ranks' calls are to be done before any frees its plan.
  must(fence(f) ? NBC_ERROR_BOOTSTRAP : NBC_OK, "fence", f->rank);
  must(nbc_plan_free(plan), "free the plan", f->rank);
  must(nbc_comm_free(comm), "free the communicator", f->rank);
  return wrong != 0;
}

static void remove_folder(const char *path) {
  char command[256];
  snprintf(command, sizeof command, "rm -r '%s'", path);
  if (system(command)) fprintf(stderr, "bootstrap: %s is left behind\n", path);
}

int main(int argc, char **argv) {
  char *end = NULL, path[] = "/tmp/bootstrap-XXXXXX";
  long ranks = argc == 1 ? 4 : strtol(argv[1], &end, 10);
  if (argc > 2 || (end && (end == argv[1] || *end)) || ranks < 1 || ranks > MOST_RANKS) {
    fprintf(stderr, "bootstrap: '%s' is not a number of ranks, 1 to %d\nusage: bootstrap [RANKS]\n",
            argv[argc - 1], MOST_RANKS);
    return 2;
  }
  if (!mkdtemp(path)) return perror("bootstrap: mkdtemp"), 1;
  for (int rank = 0; rank < ranks; ++rank) {
    pid_t child = fork();
    if (child < 0) perror("bootstrap: fork");  // whoever was made gives up in `get`
    if (child == 0) {
      struct folder f = {.path = path, .rank = rank, .ranks = (int)ranks};
      exit(run(&f));
    }
  }
  int failed = 0, made = 0, status;
  for (; wait(&status) > 0; ++made) failed += status != 0;
  remove_folder(path);
  if (failed || made < ranks)
    fprintf(stderr, "bootstrap: %ld of %ld ranks failed\n", ranks - made + failed, ranks);
  return failed || made < ranks;
}
