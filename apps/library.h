// SPDX-License-Identifier: BSD-3-Clause
// library.h - for an application whose collective calls are blocking ones of a library.
//
// The library's calls come by the program's own functions, which take their time and hand them on
// to whoever has them next: libnbc-mpi.so, where that is in front of the MPI. For that a program
// exports its symbols. One source includes this.
#ifndef APPS_LIBRARY_H
#define APPS_LIBRARY_H

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE first: RTLD_NEXT"
#endif
#include <dlfcn.h>

#include "app.h"

static struct app *app_measured;  // null: the clock does not run

/// Defines `call`, an MPI function of these parameters, and how they are handed on.
#define APP_HANDED_ON(call, parameters, ...)              \
  int call parameters {                                   \
    static int(*next) parameters;                         \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, #call); \
    double begin = app_enter();                           \
    int error = next(__VA_ARGS__);                        \
    if (app_measured) app_leave(app_measured, begin);     \
    return error;                                         \
  }

/// The clock of the app, and of the library's calls.
static inline void app_start_library(struct app *app) {
  app_start_clock(app);
  app_measured = app;
}
static inline void app_stop_library(struct app *app) {
  app_measured = NULL;
  app_stop_clock(app);
}

#endif
