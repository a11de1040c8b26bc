/* SPDX-License-Identifier: BSD-3-Clause
 * algorithms.h - plans of algorithms by name, from sources and libraries: libnbc-build.so.
 *
 *     const char *from[] = {"my_allgather.nbc", "libcolls.so"};
 *     struct nbc_algorithms *all;
 *     const char *why;
 *     if (nbc_algorithms_open(from, 2, NULL, &all, &why)) puts(why);
 *     nbc_comm_take(comm, all);                         // nbc.h; the communicator closes it
 *
 *     struct nbc_build_request what = {.algorithm = "allgather.mine"};
 *     if (nbc_plan_make(comm, &what, &options, &plan, &why)) puts(why);
 *     nbc_plan_connect(plan);
 *
 * An algorithm is looked for in what was given, in that order, then among the installed ones. From
 * a library come its finished template, where it has one, or that of its `build`. A source is
 * compiled, and proven for the number of ranks at hand, the first time that one of its algorithms
 * is wanted; the outcome, a library, is kept in a cache on disk, so that it happens once for a
 * machine's user and not in each process. The compiler, libnbc-jit.so, is loaded only then: without
 * it all but that works.
 *
 * The cache is a folder: that of the options, else $NBC_CACHE, else $XDG_CACHE_HOME/nbcc, else
 * ~/.cache/nbcc; "off" for none. It is for its owner alone (mode 0700), and is not used where it
 * belongs to another, or others may write to it, or it is a symbolic link. An entry goes by a
 * strong hash of all that it was made from: source, imports, parameters, ranks, compiler. Any
 * number of processes may use it at once, and kill -9 leaves nothing half written. What is damaged
 * is made anew. Where it cannot be used (a read-only home, a full disk), all is done without:
 * nbc_algorithms_query() says why. The oldest entries go when it grows beyond its bounds.
 *
 * Ranks find what they need by themselves; that all find the same is for the caller to see to.
 */
#ifndef NBC_ALGORITHMS_H
#define NBC_ALGORITHMS_H

#include "nbc/build.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a set of algorithms works. Zero: the default, in brackets. */
struct nbc_algorithms_options {
  const char *cache;    /* a folder, "off": none [see above] */
  uint64_t cache_bytes; /* it is kept below this [256 MiB] */
  const char *compiler; /* libnbc-jit.so, "off": none [beside libnbc-build.so] */
  uint32_t prove_up_to; /* sources are proven for the ranks at hand, if these are no more [64];
                           beyond, blocks of unlike length are refused */
};

/* Opens a set of algorithms: sources (NAME.nbc), libraries (libNAME.so), folders of sources
 * (KIND/NAME.nbc). They are opened now, and compiled when they are needed; imports of a relative
 * path are looked for then. *why says what is wrong with one, and is good until this thread's next
 * call of one of these functions. NBC_ERROR_ARGUMENT: a null pointer, a source that cannot be read;
 * NBC_ERROR_LIBRARY: a library that cannot be used; NBC_ERROR_MEMORY. */
int nbc_algorithms_open(const char *const from[], size_t count,
                        const struct nbc_algorithms_options *, struct nbc_algorithms **,
                        const char **why);
/* Adds a source without a file. `name` is for messages, and imports are relative to its folder.
 * NBC_ERROR_ARGUMENT for null; NBC_ERROR_MEMORY. */
int nbc_algorithms_add(struct nbc_algorithms *, const char *name, const char *text);
/* Adds a library that is linked with the program, and stays. NBC_ERROR_ARGUMENT for null;
 * NBC_ERROR_LIBRARY: it cannot be used; NBC_ERROR_MEMORY. */
int nbc_algorithms_add_library(struct nbc_algorithms *, const struct nbc_library *,
                               const char **why);
/* Closes a set that no communicator has taken. NULL is fine. */
void nbc_algorithms_close(struct nbc_algorithms *);

/* What a set has done, and where its cache is. */
struct nbc_algorithms_info {
  const char *cache;   /* its folder; NULL: none is used */
  const char *trouble; /* why none is used, or what could not be written last; "": nothing */
  uint64_t found;      /* sources whose libraries were in the cache */
  uint64_t compiled;   /* those that were not */
};
/* Tells what a set has done. Texts are good until the next call with this set. */
void nbc_algorithms_query(const struct nbc_algorithms *, struct nbc_algorithms_info *);

#ifdef __cplusplus
}
#endif
#endif
