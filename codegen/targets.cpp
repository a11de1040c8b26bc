// SPDX-License-Identifier: BSD-3-Clause
// targets.cpp - all targets there are. The only file that names them.

#include "codegen/coredirect/coredirect.h"
#include "codegen/mpi/mpi.h"
#include "codegen/sci/sci.h"
#include "codegen/shm/shm.h"
#include "codegen/target.h"
#include "codegen/verbs/verbs.h"

namespace nbcc {

static const Target *const list[] = {&coredirect, &mpi, &sci, &shm, &verbs};

std::span<const Target *const> targets() {
  return list;
}

const Target *findTarget(std::string_view name) {
  for (const Target *target : list)
    if (target->name == name) return target;
  return nullptr;
}

const Device *findDevice(const Target &target, std::string_view name) {
  for (const Device &device : target.devices)
    if (device.name == name) return &device;
  return nullptr;
}

}  // namespace nbcc
