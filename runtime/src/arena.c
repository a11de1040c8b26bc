// SPDX-License-Identifier: BSD-3-Clause
// arena.c - blocks of a quarter of a page, which malloc puts in a row; what is longer gets one of
// its own. Most plans need two or three, and a page that is touched first costs more than all else
// here.

#include "runtime/src/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, ALIGN = 16 };

struct arena_block {
  _Alignas(ALIGN) struct arena_block *next;
};

static struct arena_block *add(struct arena *a, struct arena_block *block) {
  if (!block) return NULL;
  block->next = a->blocks;
  a->blocks = block;
  return block;
}

void *arena_take(struct arena *a, size_t bytes) {
  if (bytes > SIZE_MAX / 2) return NULL;
  bytes = bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
  if (bytes > BLOCK - sizeof(struct arena_block)) {
    struct arena_block *own = add(a, (struct arena_block *)calloc(1, sizeof *own + bytes));
    return own ? own + 1 : NULL;
  }
  if (bytes > a->left) {
    struct arena_block *block = add(a, (struct arena_block *)malloc(BLOCK));
    if (!block) return NULL;
    a->at = (char *)(block + 1);
    a->left = BLOCK - sizeof *block;
    memset(a->at, 0, a->left);
  }
  void *taken = a->at;
  a->at += bytes;
  a->left -= bytes;
  return taken;
}

void arena_free(struct arena *a) {
  struct arena_block *next;
  for (struct arena_block *b = a->blocks; b; b = next) {
    next = b->next;
    free(b);
  }
  *a = (struct arena){NULL, NULL, 0};
}
