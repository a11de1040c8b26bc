// SPDX-License-Identifier: BSD-3-Clause
// compression.c - data compressed by all ranks and gathered by one, in parts.
//
// After Hoefler and others. A rank compresses a part, by zstd; rank 0 gathers how long the parts
// have become, then the parts themselves. Overlapped, a part travels while the next is compressed.
// Lengths differ from part to part, so the gatherv cannot be persistent; in the persistent variant
// the gather of the lengths is.
//
// Rank 0 expands what it got and compares it with the data that were to be compressed.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "app.h"
#include "persistent.h"

struct work {
  long size, parts;  // bytes of a part
  char *plain, *packed[2];
  size_t bound;  // of a packed part
  int length;    // of the one packed last
  MPI_Request lengths_request, parts_request;
  // At rank 0.
  int *lengths, *places;  // of the part that is gathered
  char *archive;          // all that has come
  size_t used;
  struct span {
    size_t at;
    int length;
  } *spans;  // part by part, rank by rank
};

/// Words of a small vocabulary, as in a text: something that can be compressed.
static void write_plain(char *text, long size, int rank, long part) {
  uint64_t state = app_random((uint64_t)rank << 32 | (uint64_t)part);
  for (long i = 0; i < size;) {
    state = app_random(state);
    uint64_t word = app_random(state % 997 * (state % 13));
    for (int left = 2 + (int)(word % 8); left && i < size; --left, word >>= 5)
      text[i++] = (char)('a' + (word & 31) % 26);
    if (i < size) text[i++] = ' ';
  }
}

static void make_work(struct work *w, const struct app *app, long size, long parts) {
  *w = (struct work){.size = size,
                     .parts = parts,
                     .bound = ZSTD_compressBound((size_t)size),
                     .lengths_request = MPI_REQUEST_NULL,
                     .parts_request = MPI_REQUEST_NULL};
  w->plain = app_allocate((size_t)(size * parts));
  for (long p = 0; p < parts; ++p) write_plain(w->plain + p * size, size, app->rank, p);
  for (int i = 0; i < 2; ++i) w->packed[i] = app_allocate(w->bound);
  if (app->rank == 0) {
    size_t ranks = (size_t)app->ranks, all = ranks * (size_t)parts;
    w->lengths = app_allocate(sizeof(int) * ranks);
    w->places = app_allocate(sizeof(int) * ranks);
    w->archive = app_allocate(w->bound * all);
    w->spans = app_allocate(sizeof *w->spans * all);
  }
  if (app->variant == APP_PERSISTENT)
    MPI_Gather_init(&w->length, 1, MPI_INT, w->lengths, 1, MPI_INT, 0, MPI_COMM_WORLD,
                    MPI_INFO_NULL, &w->lengths_request);
}

static void free_work(struct work *w) {
  if (w->lengths_request != MPI_REQUEST_NULL) MPI_Request_free(&w->lengths_request);
  free(w->plain);
  free(w->packed[0]);
  free(w->packed[1]);
  free(w->lengths);
  free(w->places);
  free(w->archive);
  free(w->spans);
}

static void compress(struct work *w, long part) {
  size_t length =
      ZSTD_compress(w->packed[part % 2], w->bound, w->plain + part * w->size, (size_t)w->size, 3);
  if (ZSTD_isError(length)) {
    fprintf(stderr, "compression: %s\n", ZSTD_getErrorName(length));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  w->length = (int)length;
}

/// Where the parts go, in the archive that there is so far. Returns where that ends.
static char *place_parts(struct work *w, const struct app *app, long part) {
  if (app->rank != 0) return NULL;
  char *end = w->archive + w->used;
  size_t all = 0;
  for (int r = 0; r < app->ranks; ++r) {
    w->places[r] = (int)all;
    w->spans[part * app->ranks + r] = (struct span){w->used + all, w->lengths[r]};
    all += (size_t)w->lengths[r];
  }
  w->used += all;
  return end;
}

static void run_blocking(struct app *app, struct work *w) {
  for (long p = 0; p < w->parts; ++p) {
    compress(w, p);
    double begin = app_enter();
    MPI_Gather(&w->length, 1, MPI_INT, w->lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
    char *to = place_parts(w, app, p);
    MPI_Gatherv(w->packed[p % 2], w->length, MPI_BYTE, to, w->lengths, w->places, MPI_BYTE, 0,
                MPI_COMM_WORLD);
    app_leave(app, begin);
  }
}

static void run_overlapped(struct app *app, struct work *w) {
  for (long p = 0; p < w->parts; ++p) {
    compress(w, p);
    app_wait(app, &w->parts_request);  // of the part before, whose lengths are in use until then
    double begin = app_enter();
    if (app->variant == APP_PERSISTENT)
      MPI_Start(&w->lengths_request);
    else
      MPI_Igather(&w->length, 1, MPI_INT, w->lengths, 1, MPI_INT, 0, MPI_COMM_WORLD,
                  &w->lengths_request);
    MPI_Wait(&w->lengths_request, MPI_STATUS_IGNORE);
    char *to = place_parts(w, app, p);
    MPI_Igatherv(w->packed[p % 2], w->length, MPI_BYTE, to, w->lengths, w->places, MPI_BYTE, 0,
                 MPI_COMM_WORLD, &w->parts_request);
    app_leave_started(app, begin);
  }
  app_wait(app, &w->parts_request);
}

static bool expands_to_plain(const struct work *w, const struct app *app) {
  if (app->rank != 0) return true;
  char *wanted = app_allocate((size_t)w->size), *found = app_allocate((size_t)w->size);
  bool right = true;
  for (long p = 0; p < w->parts; ++p)
    for (int r = 0; r < app->ranks; ++r) {
      struct span s = w->spans[p * app->ranks + r];
      write_plain(wanted, w->size, r, p);
      size_t length = ZSTD_decompress(found, (size_t)w->size, w->archive + s.at, (size_t)s.length);
      right = right && length == (size_t)w->size && !memcmp(wanted, found, length);
    }
  free(wanted);
  free(found);
  return right;
}

int main(int argc, char **argv) {
  long size = 1 << 18, parts = 16;
  struct app app;
  app_open(&app, &argc, &argv, "compression",
           (struct app_option[]){{"size", "bytes of a part", &size, 0, 1 << 26},
                                 {"parts", "of each rank", &parts, 1, 10000},
                                 {0}});
  struct work work;
  make_work(&work, &app, size, parts);
  app_start_clock(&app);
  if (app.variant == APP_BLOCKING)
    run_blocking(&app, &work);
  else
    run_overlapped(&app, &work);
  app_stop_clock(&app);
  bool right = expands_to_plain(&work, &app);
  char note[64];
  snprintf(note, sizeof note, "ratio=%.2f",
           work.used ? (double)(size * parts * app.ranks) / (double)work.used : 0);
  free_work(&work);
  return app_close(&app, right, note);
}
