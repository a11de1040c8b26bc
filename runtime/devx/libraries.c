// SPDX-License-Identifier: BSD-3-Clause
// libraries.c - libibverbs and libmlx5, if they are there.

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
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
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
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
  return mlx5 && find(verbs, "ibv_get_device_list", &l->list, why) &&
         find(verbs, "ibv_free_device_list", &l->free_list, why) &&
         find(verbs, "ibv_get_device_name", &l->name, why) &&
         find(verbs, "ibv_close_device", &l->close, why) &&
         find(mlx5, "mlx5dv_is_supported", &l->is_mlx5, why) &&
         find(mlx5, "mlx5dv_open_device", &l->open, why) &&
         find(mlx5, "mlx5dv_devx_general_cmd", &l->command, why);
}
