// SPDX-License-Identifier: BSD-3-Clause
// target.cpp - the target as a value. It has one device: memory that all ranks of a node can map.

#include "codegen/messages/messages.h"
#include "codegen/shm/shm.h"

namespace nbcc {
namespace {

const Device devices[] = {
    {.name = "node",
     .summary = "memory of one node, mapped by all its ranks",
     .maxGather = 0,  // as many as there are
     .maxScatter = 0,
     .logQueue = 0,  // lanes are as long as a plan needs
     .inlineBytes = 0,
     .crossChannel = false,
     .calc = 0},
};

}  // namespace

const Target shm = {
    .name = "shm",
    .summary = "shared memory of a node: messages from place to place, the host in between",
    .devices = devices,
    .legalize = shm_legalize,
    .emit = shm_emit,
    .printTasks = messages::printTasks,
    .printResources = shm_printResources,
    .verifyTemplate = [](const Template &t, std::span<const Legal> legals, const TargetOptions &,
                         Diag &diag) { messages::verifyTemplate(t, legals, "shm", diag); },
};

}  // namespace nbcc
