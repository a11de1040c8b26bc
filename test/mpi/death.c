// SPDX-License-Identifier: BSD-3-Clause
// death.c - a rank of an MPI program dies in the middle of a collective on software HCAs.
//
//   mpirun -n P death VICTIM FILE     (templates of an allgather, of all ranks)
//
// The launcher has to leave the others alone. After some calls that go well the victim is killed,
// and when it is gone all others start another: what its adapter had acknowledged before would
// count as sent. Who sends it something is told; who only waits for its messages is told by nobody,
// and gives the plan up after SOON. Then everything can be given back. Nobody calls MPI_Finalize,
// which waits for the dead.

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nbc/hca.h"
#include "runtime/mpi/nbc_mpi.h"
#include "test/runtime/template_file.h"

enum { CALLS = 3, BYTES = 300000 };
static const double SOON = 3;  // seconds; retries and timeouts take half a one

static int rank, ranks;

static void must(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "rank %d: not so: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Even ranks sleep in nbc_rest, odd ones only look.
static int end_of(nbc_plan *plan, nbc_request *request, int *given_up) {
  const double begin = MPI_Wtime();
  int status = 0, done = 0;
  while (!done && !status) {
    status = nbc_test(request, &done);
    if (done || status) break;
    if (MPI_Wtime() - begin > SOON) {
      must(nbc_plan_abandon(plan) == 0, "a plan can be given up");
      *given_up = 1;
    } else if (rank % 2 == 0) {
      nbc_rest(request, NULL);
    }
  }
  return status;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  must(argc == 3, "VICTIM FILE");
  const int victim = atoi(argv[1]);
  struct nbc_device *hca;
  const char *why = "";
  nbc_comm *comm;
  nbc_plan *plan;
  nbc_request request;
  if (nbc_hca_open(NULL, &hca, &why)) must(0, why);
  const struct nbc_mpi_options options = {.devices = &hca, .device_count = 1};
  must(nbc_comm_create_mpi_with(MPI_COMM_WORLD, &options, &comm) == 0, "there is a communicator");
  size_t bytes;
  char *all = read_templates(argv[2], &bytes);
  must(all != NULL, "templates can be read");
  const struct nbc_template *mine = template_of(all, bytes, ranks, rank);
  must(mine != NULL, "there is one for this rank of so many");
  must(nbc_plan_create(comm, mine, mine->bytes, NULL, &plan) == 0, "there is a plan");
  must(nbc_plan_connect(plan) == 0, "it is connected");

  unsigned char *in = (unsigned char *)malloc(BYTES),
                *out = (unsigned char *)malloc((size_t)ranks * BYTES);
  must(in && out, "there is memory");
  memset(in, rank + 1, BYTES);
  const struct nbc_call call = {.in = in, .out = out, .count = BYTES, .type = NBC_U8};
  for (int i = 0; i < CALLS; ++i) {
    memset(out, 0, (size_t)ranks * BYTES);
    int given_up = 0;
    must(nbc_start(plan, &call, &request) == 0 && end_of(plan, &request, &given_up) == 0,
         "a call goes well");
    for (size_t at = 0; at < (size_t)ranks * BYTES; ++at)
      must(out[at] == at / BYTES + 1, "its bytes are right");
  }

  int pid = (int)getpid();
  MPI_Bcast(&pid, 1, MPI_INT, victim, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);  // all have seen the victim's answers to the calls before
  if (rank == victim) {
    printf("rank %d of %d is killed\n", rank, ranks);
    fflush(stdout);
    kill(getpid(), SIGKILL);
  }
  while (kill(pid, 0) == 0) usleep(1000);  // until the launcher has seen it
  int given_up = 0, status = nbc_start(plan, &call, &request);
  if (!status) status = end_of(plan, &request, &given_up);
  const int wanted = given_up ? NBC_ERROR_ABANDONED : NBC_ERROR_DEVICE;
  must(status == wanted, "the call fails");
  must(nbc_start(plan, &call, &request) == wanted, "so does the next");
  must(nbc_plan_free(plan) == 0, "the plan can be given back");
  printf("rank %d %s\n", rank, given_up ? "has given up" : "was told");
  fflush(stdout);
  _exit(0);
}
