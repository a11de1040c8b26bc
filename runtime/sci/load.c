// SPDX-License-Identifier: BSD-3-Clause
// load.c - SISCI's library, found while the program runs: machines without an adapter need none.
//
// It is loaded once for a process, and stays, as segments may outlive the communicators that made
// them. A failure is looked for anew at the next call.

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sci/adapter.h"

#define LIBRARY "libsisci.so"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct nbc_sci_api loaded;  // under it, until `there`
static bool there;

static const char *file_name(void) {
  const char *said = getenv("NBC_SISCI_LIBRARY");
  return said && *said ? said : LIBRARY;
}

// Names the function that is missing; null: all are there.
static const char *find_functions(void *library, struct nbc_sci_api *api) {
  const char *missing = NULL;
  void *found;
  // Data to function: as POSIX has dlsym's answers used.
#define FIND(name)                          \
  found = dlsym(library, #name);            \
  memcpy(&api->name, &found, sizeof found); \
  if (!found && !missing) missing = #name;
  NBC_SCI_FUNCTIONS(FIND)
#undef FIND
  return missing;
}

static bool load(const char **why) {
  const char *name = file_name();
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    *why = say("SISCI's library, %s, cannot be loaded: %s", name, dlerror());
    return false;
  }
  const char *missing = find_functions(library, &loaded);
  if (!missing) return true;
  *why = say("%s has no %s, so it is not the library of SISCI that is needed", name, missing);
  dlclose(library);
  return false;
}

const struct nbc_sci_api *load_sisci(const char **why) {
  pthread_mutex_lock(&mutex);
  if (!there) there = load(why);
  const struct nbc_sci_api *api = there ? &loaded : NULL;
  pthread_mutex_unlock(&mutex);
  return api;
}

int nbc_sci_open(const struct nbc_sci_options *given, struct nbc_device **result,
                 const char **why) {
  struct nbc_sci_options options;
  const char *nobody_asks;
  if (!why) why = &nobody_asks;
  *why = "there is no place for the device";
  if (!result || !complete_options(given, &options, why)) return NBC_ERROR_ARGUMENT;
  const struct nbc_sci_api *api = load_sisci(why);
  return api ? open_adapter(api, &options, result, why) : NBC_ERROR_DEVICE;
}
