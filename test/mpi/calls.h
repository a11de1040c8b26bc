/* SPDX-License-Identifier: BSD-3-Clause
 * calls.h - calls of templates from files, whose results are known: the part of check.c and of
 * test/verbs/plans.cpp that does not ask how ranks meet.
 *
 * Of each file one plan is made; then calls of many lengths, one by one and several under way at
 * once, waited for in turn. Each result is compared byte for byte, and what lies behind it must
 * stay.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "nbc.h"
#include "nbc/template.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOST_FLIGHTS = 6, MOST_LENGTHS = 16 };

/* This process. */
struct world {
  int rank, ranks;
  int wrong; /* what was found */
  bool in_place;
  const char *file_name;         /* for messages */
  void (*stop)(void);            /* ends all ranks, after a word */
  double (*latest)(double mine); /* the largest of all ranks' */
  /* Another's result, to compare with; null: none. */
  void (*by_another)(uint32_t kind, int root, const void *in, void *out, size_t n, enum nbc_type);
};
extern struct world world;

/* What is called of a file. */
struct variation {
  struct nbc_plan_options options;
  const size_t *lengths;
  int count;   /* of lengths */
  int flights; /* under way at once: 2 to MOST_FLIGHTS, `count` at most; after all one by one */
};

/* Of `3,0,1001`; how many, 0: that is no list of up to MOST_LENGTHS. */
int read_lengths(const char *list, size_t lengths[MOST_LENGTHS]);
/* A status must be 0, or all ends. */
void must(int status, const char *what);
/* The templates of all ranks, one behind the other, as nbcc --emit=template --rank=all writes them.
 * Returns how many calls there were. */
int check_file(nbc_comm *, const char *name, const struct variation *);
/* A line on rank 0 if nothing was wrong, anywhere. Returns the program's status. */
int tell(int files, int calls);

#ifdef __cplusplus
}
#endif
