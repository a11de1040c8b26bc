// SPDX-License-Identifier: BSD-3-Clause
// app.c - arguments and reports of the applications.

#include "app.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const variants[] = {"blocking", "nonblocking", "persistent"};
enum { VARIANTS = sizeof variants / sizeof *variants };

/// Ends the program on all ranks: all see the same arguments.
static void leave(int status) {
  MPI_Finalize();
  exit(status);
}

static void refuse(const struct app *app, const char *argument, const char *why) {
  if (app->rank == 0)
    fprintf(stderr, "%s: %s: %s (--help says what there is)\n", app->name, argument, why);
  leave(2);
}

static void help(const struct app *app, const struct app_option *options) {
  if (app->rank == 0) {
    printf("%s [--variant=blocking|nonblocking|persistent] [--NAME=NUMBER...]\n\n", app->name);
    for (; options->name; ++options)
      printf("  --%-12s %s [%ld]\n", options->name, options->what, *options->value);
  }
  leave(0);
}

static void read_variant(struct app *app, const char *argument, const char *word) {
  for (int v = 0; v < VARIANTS; ++v) {
    if (strcmp(word, variants[v])) continue;
    app->variant = (enum app_variant)v;
    return;
  }
  refuse(app, argument, "a variant is blocking, nonblocking or persistent");
}

static void read_number(struct app *app, const char *argument, const char *digits,
                        const struct app_option *option) {
  char *end;
  errno = 0;
  long number = strtol(digits, &end, 10);
  if (end == digits || *end || errno) refuse(app, argument, "not a number");
  long most = option->most ? option->most : INT_MAX;
  if (number < option->least || number > most) {
    char why[64];
    snprintf(why, sizeof why, "from %ld to %ld", option->least, most);
    refuse(app, argument, why);
  }
  *option->value = number;
}

static void read_argument(struct app *app, const char *argument, const struct app_option *options) {
  const char *value = strchr(argument, '=');
  if (strncmp(argument, "--", 2) || !value) refuse(app, argument, "not of the form --name=value");
  size_t length = (size_t)(value++ - argument) - 2;
  const struct app_option *option = options;
  while (option->name &&
         (length != strlen(option->name) || strncmp(argument + 2, option->name, length)))
    ++option;
  if (option->name)
    read_number(app, argument, value, option);
  else if (length == strlen("variant") && !strncmp(argument + 2, "variant", length))
    read_variant(app, argument, value);
  else
    refuse(app, argument, "there is no such option");
}

void app_open(struct app *app, int *argc, char ***argv, const char *name,
              const struct app_option *options) {
  MPI_Init(argc, argv);
  *app = (struct app){.name = name};
  MPI_Comm_rank(MPI_COMM_WORLD, &app->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &app->ranks);
  for (int i = 1; i < *argc; ++i) {
    if (!strcmp((*argv)[i], "--help")) help(app, options);
    read_argument(app, (*argv)[i], options);
  }
}

void app_blocking_only(const struct app *app) {
  if (app->variant == APP_BLOCKING) return;
  if (app->rank == 0) fprintf(stderr, "%s: its collective calls are blocking ones\n", app->name);
  leave(2);
}

void app_start_clock(struct app *app) {
  MPI_Barrier(MPI_COMM_WORLD);
  app->communication = app->behind = 0;
  MPI_Pcontrol(1);
  app->began = MPI_Wtime();
}

void app_stop_clock(struct app *app) {
  app->seconds = MPI_Wtime() - app->began;
  MPI_Pcontrol(0);
}

int app_close(struct app *app, bool right, const char *note) {
  int all_right = right;
  double mine[] = {app->seconds, app->communication, app->behind}, most[3];
  MPI_Reduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (app->rank == 0)
    printf("%s: variant=%s ranks=%d seconds=%.6f communication=%.6f behind=%.6f%s%s %s\n",
           app->name, variants[app->variant], app->ranks, most[0], most[1], most[2],
           *note ? " " : "", note, all_right ? "right" : "WRONG");
  MPI_Finalize();
  return all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

void *app_allocate(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (memory) return memory;
  fprintf(stderr, "no memory for %zu bytes\n", bytes);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}
