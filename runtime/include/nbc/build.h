/* SPDX-License-Identifier: BSD-3-Clause
 * build.h - templates from a library for any number of ranks: libnbc-build.so.
 *
 *     struct nbc_build_request r = {.algorithm = "allgather.bruck", .target = "coredirect",
 *                                   .ranks = 24, .rank = me};
 *     void *t;
 *     size_t bytes;
 *     char why[512];
 *     if (nbc_build_template(lib, &r, &t, &bytes, why, sizeof why)) puts(why);
 *     else nbc_plan_create(comm, t, bytes, &options, &plan), free(t);
 *
 * It runs the library's machine code and the stages of the compiler behind it, without LLVM: what
 * comes out is, byte for byte, what nbcc would have made. What `requires` and the limits of the
 * compiler refuse is refused here too. What is not done here is the proof of all ranks, which nbcc
 * did for the numbers that the library names (proven_from, proven_to).
 *
 * It allocates, it may take milliseconds, and it is thread safe.
 */
#ifndef NBC_BUILD_H
#define NBC_BUILD_H

#include "nbc/library.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One rank's neighbours, in the communicator's order, as MPI_Dist_graph_neighbors gives them; -1:
 * nobody. */
struct nbc_build_neighbors {
  const int32_t *sources, *destinations; /* whom it gets from, whom it gives to */
  uint32_t indegree, outdegree;          /* how many of each */
};

/* Who is whose neighbour: a grid, or each rank's. They differ where two ranks are neighbours more
 * than once. */
struct nbc_build_graph {
  uint32_t dimensions;                  /* of a grid; 0: `of` says it */
  const int32_t *sizes, *periodic;      /* of each dimension; periodic: 0 or 1 */
  const struct nbc_build_neighbors *of; /* of each rank */
};

/* Of which algorithm, for which target and rank. Read by nbc_build_template; need not stay. */
struct nbc_build_request {
  const char *algorithm;      /* "allgather.bruck" */
  const char *target;         /* "coredirect"; one of those that the library was made for */
  enum nbc_lengths lengths;   /* of blocks: EQUAL, or EACH its own, for plans of the v-variants */
  uint32_t ranks, rank, root; /* root: where the collective has one */
  const int64_t *parameters;  /* as many as the algorithm has; NULL: the library's */
  const int32_t *node_of;     /* of each rank; NULL: not known */
  const struct nbc_build_graph *graph; /* NULL: nobody has neighbours */
  uint32_t parameter_count; /* 0: not looked at, but for a source (nbc/algorithms.h) that is not
                               compiled yet */
  uint32_t within; /* target coredirect. 1: ranks of one node, as node_of has them, exchange through
                      its memory; the communicator has a device of target shm beside the adapter.
                      0: all is the adapter's. The same on all ranks */
};

/* Makes the template of one rank. Local. On success *template_data is aligned for
 * nbc_plan_create(), and to be given to free(). Else a negative nbc_status, and what is wrong in
 * `why`, cut off after `capacity` bytes, a line for each mistake:
 *
 *   NBC_ERROR_ARGUMENT     no such algorithm, target, rank, root, node or neighbour
 *   NBC_ERROR_LIBRARY      it speaks another version of what `build` calls than this one
 *   NBC_ERROR_UNSUPPORTED  the algorithm cannot do it: `requires`, lengths of blocks, the device
 *   NBC_ERROR_MEMORY */
int nbc_build_template(const struct nbc_library *, const struct nbc_build_request *,
                       void **template_data, size_t *bytes, char *why, size_t capacity);

/* Says whether an algorithm is for so many ranks, this target and such lengths: what
 * nbc_build_template would refuse by its name, its flags and `requires`. Errors are the same. It
 * makes no steps, so it takes microseconds, and what only a step shows (the limits of a device, a
 * length that a rank needs and is not told) it does not find. `graph` may be NULL. */
int nbc_build_check(const struct nbc_library *, const struct nbc_build_request *, char *why,
                    size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
