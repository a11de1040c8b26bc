// SPDX-License-Identifier: BSD-3-Clause
// libraries.c - libibverbs and libmlx5, if they are there; in the folder NBC_RDMA_CORE, if that is
// said: some vendors have them where nobody looks.

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/devx/devx.h"

bool devx_refuse(struct devx_why *why, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(why->text, sizeof why->text, format, values);
  va_end(values);
  return false;
}

// Never closed: libraries of drivers leave things behind.
static void *load(const char *name, struct devx_why *why) {
  const char *folder = getenv("NBC_RDMA_CORE");
  char path[4096];
  const bool told = folder && *folder;
  if (told && snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
    devx_refuse(why, "NBC_RDMA_CORE is no folder: its name is too long");
    return NULL;
  }
  void *library = dlopen(told ? path : name, RTLD_NOW | RTLD_LOCAL);
  if (!library) devx_refuse(why, "rdma-core is not installed: %s", dlerror());
  return library;
}

static bool find(void *library, const char *name, void *function, struct devx_why *why) {
  void *found = dlsym(library, name);
  if (!found) return devx_refuse(why, "rdma-core is too old: it has no %s", name);
  memcpy(function, &found, sizeof found);
  return true;
}

bool devx_load(struct devx_libraries *l, struct devx_why *why) {
  void *verbs = load("libibverbs.so.1", why), *mlx5 = verbs ? load("libmlx5.so.1", why) : NULL;
  if (!mlx5) return false;
#define FIND_VERBS(name, function) &&find(verbs, #function, &l->name, why)
#define FIND_MLX5(name, function) &&find(mlx5, #function, &l->name, why)
  return true DEVX_OF_VERBS(FIND_VERBS) DEVX_OF_MLX5(FIND_MLX5);
#undef FIND_VERBS
#undef FIND_MLX5
}
