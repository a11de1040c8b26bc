/* SPDX-License-Identifier: BSD-3-Clause
 * jit.h - from the source of an algorithm to a library, while the program runs: libnbc-jit.so.
 *
 *     struct nbc_jit_request r = {.file = "my.nbc", .algorithm = "allgather.mine", .ranks = 24};
 *     struct nbc_jit_result *made;
 *     int status = nbc_jit_compile(&r, &made);
 *     fputs(made->said, stderr);
 *     if (!status) write(file, made->library, made->bytes);
 *     nbc_jit_free(made);
 *
 * It is the compiler, and brings LLVM and ANTLR with it. Most programs do not call it:
 * nbc/algorithms.h does, where a library is neither given nor in the cache, and loads it only then.
 * What comes out is a shared object as nbcc -o writes it, for this machine, of one algorithm, for
 * all targets and with blocks of equal length and of lengths of their own.
 *
 * It takes milliseconds, and is thread safe.
 */
#ifndef NBC_JIT_H
#define NBC_JIT_H

#include <stddef.h>
#include <stdint.h>

#include "nbc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which algorithm of which source. Read by nbc_jit_compile; need not stay. */
struct nbc_jit_request {
  const char *file;          /* its name; imports are relative to the folder of this */
  const char *text;          /* what is in it; NULL: it is read */
  const char *algorithm;     /* "allgather.bruck" */
  const int64_t *parameters; /* as many as it has; NULL: those that it says itself */
  uint32_t parameter_count;  /* how many */
  uint32_t ranks;      /* it is proven for so many; 0: not, and then refused for blocks of unlike
                          length */
  const char *library; /* the folder of algorithms that `run` knows; NULL: the installed one */
};

/* A file that the library depends on. */
struct nbc_jit_input {
  const char *path; /* as it was opened */
  const char *text; /* as it was read, without a byte order mark; NULL: it was not there */
  size_t bytes;     /* of the text */
};

/* What came of it: a library, or what is wrong. */
struct nbc_jit_result {
  void *library;    /* aligned to 8; NULL where it could not be made */
  size_t bytes;     /* of the library */
  const char *said; /* errors, with line and caret, and notes; "" where there is nothing to say */
  const struct nbc_jit_input *inputs; /* the source first, then what it imports */
  size_t input_count;                 /* how many */
};

/* Compiles an algorithm, and proves it for the ranks at hand. Local.
 *
 * NBC_ERROR_ARGUMENT     no file, no such algorithm in it, too few or too many parameters
 * NBC_ERROR_UNSUPPORTED  the source is wrong: `said` has the compiler's words
 * NBC_ERROR_MEMORY, NBC_ERROR_RESOURCES
 * There is a result in each case (but that of no memory for it, when it is NULL). */
int nbc_jit_compile(const struct nbc_jit_request *, struct nbc_jit_result **);
/* Frees a result with all that it leads to. NULL is fine. */
void nbc_jit_free(struct nbc_jit_result *);

#ifdef __cplusplus
}
#endif
#endif
