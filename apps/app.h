// SPDX-License-Identifier: BSD-3-Clause
// app.h - what the applications share: how they are told what to do, their clock, and their report.
//
// Each has its communication in three variants, selected at run time, and checks its own results.
// A report is one line, of rank 0, which table.py reads:
//
//   cg: variant=persistent ranks=4 seconds=0.52 communication=0.08 behind=0.11 iterations=121 right
//
// `seconds` is the longest of any rank, from one barrier on; `communication` is what the program
// spent in starts, tests and waits (or in blocking calls) of the collectives that the variants
// differ in; `behind` is what it did between starts and waits, more than which no MPI can hide;
// each on the rank that has most.
#ifndef APPS_APP_H
#define APPS_APP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum app_variant { APP_BLOCKING, APP_NONBLOCKING, APP_PERSISTENT };

/// A number that the program may be given, as --name=N.
struct app_option {
  const char *name, *what;  // null: the table ends
  long *value;              // what holds without it
  long least, most;         // most: 0 for any that is an int
};

struct app {
  const char *name;
  int rank, ranks;
  enum app_variant variant;
  double began, seconds, communication, behind;
  double started;  // when the call that is under way was; one at a time
  bool under_way;
};

/// Starts MPI and reads the arguments: --variant=blocking|nonblocking|persistent, --help, and those
/// of the table. A mistake in them ends the program on all ranks with status 2.
void app_open(struct app *, int *argc, char ***argv, const char *name, const struct app_option *);

/// For one that has only the blocking variant: another ends the program likewise.
void app_blocking_only(const struct app *);

/// What is measured lies between these, and what trace.c keeps, by MPI_Pcontrol. The first is
/// collective.
void app_start_clock(struct app *);
void app_stop_clock(struct app *);

/// Reports, and ends MPI. `right`: of this rank; all have to be. `note`: facts of the
/// run, as name=value; may be empty. The program's exit status. Collective.
int app_close(struct app *, bool right, const char *note);

/// Around what counts as communication:
///   double begin = app_enter();
///   MPI_Wait(...);
///   app_leave(&app, begin);
static inline double app_enter(void) {
  return MPI_Wtime();
}
static inline void app_leave(struct app *app, double begin) {
  app->communication += MPI_Wtime() - begin;
}

/// Likewise, behind a start: something is under way, for which app_wait will wait.
static inline void app_leave_started(struct app *app, double begin) {
  app->started = MPI_Wtime();
  app->communication += app->started - begin;
  app->under_way = true;
}

/// Lets the MPI look after what is under way. Many need that, and none says how often.
static inline void app_test(struct app *app, MPI_Request *request) {
  int done;
  double begin = app_enter();
  MPI_Test(request, &done, MPI_STATUS_IGNORE);
  app_leave(app, begin);
}

static inline void app_wait(struct app *app, MPI_Request *request) {
  double begin = app_enter();
  if (app->under_way) app->behind += begin - app->started;
  app->under_way = false;
  MPI_Wait(request, MPI_STATUS_IGNORE);
  app_leave(app, begin);
}

/// The same number for the same arguments everywhere, evenly distributed (SplitMix64's finalizer).
static inline uint64_t app_random(uint64_t n) {
  n += 0x9e3779b97f4a7c15;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9;
  n = (n ^ (n >> 27)) * 0x94d049bb133111eb;
  return n ^ (n >> 31);
}

/// malloc that ends the program where there is no memory.
void *app_allocate(size_t bytes);

/// What rank `rank` has of `all` things dealt out as evenly as can be, and where that begins.
static inline long app_share(long all, int ranks, int rank) {
  return all / ranks + (rank < all % ranks);
}
static inline long app_first(long all, int ranks, int rank) {
  return all / ranks * rank + (rank < all % ranks ? rank : all % ranks);
}

#ifdef __cplusplus
}
#endif

#endif
