// SPDX-License-Identifier: BSD-3-Clause
// template_file.h - a file of templates of all ranks, one behind the other, as nbcc --rank=all
// --emit=template writes it. For programs in C.

#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "nbc/template.h"

// All of the file, to be freed. Null: it cannot be read.
static inline char *read_templates(const char *name, size_t *bytes) {
  *bytes = 0;
  FILE *file = fopen(name, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char *all = (char *)aligned_alloc(64, (*bytes + 63) / 64 * 64);
  if (all && fread(all, 1, *bytes, file) != *bytes) {
    free(all);
    all = NULL;
  }
  fclose(file);
  return all;
}

// That of a rank of so many. Null: there is none.
static inline struct nbc_template *template_of(char *all, size_t bytes, int ranks, int rank) {
  for (size_t at = 0; at + sizeof(struct nbc_template) <= bytes;) {
    struct nbc_template *t = (struct nbc_template *)(all + at);
    if ((int)t->ranks == ranks && (int)t->rank == rank) return t;
    if (t->bytes == 0) break;
    at += t->bytes;
  }
  return NULL;
}
