// SPDX-License-Identifier: BSD-3-Clause
// make.c - plans by the names of algorithms.
//
//   "allgather.bruck"   =>   this rank's template   =>   a plan
//
// How a template comes about is the affair of whoever the communicator was given
// (nbc/algorithms.h): the runtime knows two functions of it, and so needs neither a compiler nor
// C++.

#include <stdlib.h>

#include "nbc/build.h"
#include "runtime/src/comm.h"

void close_algorithms(nbc_comm *comm) {
  struct nbc_algorithms *all = comm->algorithms;
  comm->algorithms = NULL;
  if (all && all->close) all->close(all);
}

int nbc_comm_take(nbc_comm *comm, struct nbc_algorithms *all) {
  if (!comm || (all && !all->build)) return NBC_ERROR_ARGUMENT;
  if (comm->algorithms != all) close_algorithms(comm);
  comm->algorithms = all;
  return 0;
}

static int refuse(const char **why, const char *text) {
  *why = text;
  return NBC_ERROR_ARGUMENT;
}

int nbc_plan_make(nbc_comm *comm, const struct nbc_build_request *what,
                  const struct nbc_plan_options *options, nbc_plan **plan, const char **why) {
  const char *unused;
  if (!why) why = &unused;
  *why = "";
  if (!comm || !what || !plan) return refuse(why, "no communicator, request or place for the plan");
  if (!comm->algorithms) return refuse(why, "the communicator was given no algorithms");
  struct nbc_build_request mine = *what;
  mine.ranks = (uint32_t)comm->bootstrap.ranks;
  mine.rank = (uint32_t)comm->bootstrap.rank;
  if (!mine.target && comm->device_count != 1)
    return refuse(why, "the communicator has not one device, so a target has to be named");
  if (!mine.target) mine.target = comm->devices[0].device->target;
  void *template_data = NULL;
  size_t bytes = 0;
  int status = comm->algorithms->build(comm->algorithms, &mine, &template_data, &bytes, why);
  if (status) return status;
  status = nbc_plan_create(comm, template_data, bytes, options, plan);
  free(template_data);
  if (status) *why = nbc_plan_why();
  return status;
}
