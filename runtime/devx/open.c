// SPDX-License-Identifier: BSD-3-Clause
// open.c - a device with DevX.
//
// An error of opening comes from the kernel: from the device's file, or from DevX, which drivers
// and firmware may lack. Its number is said, too, as the words are only what it mostly means.

#include <errno.h>
#include <string.h>

#include "runtime/devx/devx.h"

static const char *meaning(int error) {
  switch (error) {
    case EACCES:
      return "this user may not open its file in /dev/infiniband";
    case EPERM:
      return "this process has not the permission";
    case EOPNOTSUPP:
    case EINVAL:
      return "its kernel driver or firmware has no DevX";
    case ENOENT:
    case ENODEV:
      return "the kernel has no file for it: is the module ib_uverbs loaded?";
  }
  return strerror(error);
}

struct ibv_context *devx_open(const struct devx_libraries *l, struct ibv_device *device,
                              struct devx_why *why) {
  if (!l->is_mlx5(device)) {
    devx_refuse(why, "is no mlx5 adapter");
    return NULL;
  }
  struct mlx5dv_context_attr attributes = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
  errno = 0;
  struct ibv_context *context = l->open(device, &attributes);
  if (!context)
    devx_refuse(why, "cannot be opened: %s (errno %d)", meaning(errno ? errno : EOPNOTSUPP), errno);
  return context;
}
