// SPDX-License-Identifier: BSD-3-Clause
// target.cpp - the target as a value. It has one device: what all MPIs have in common.

#include "codegen/messages/messages.h"
#include "codegen/mpi/mpi.h"

namespace nbcc {
namespace {

const Device devices[] = {
    {.name = "p2p",
     .summary = "messages matched in order",
     .maxGather = 1,
     .maxScatter = 1,
     .logQueue = 0,  // there is no queue
     .inlineBytes = 0,
     .crossChannel = false,
     .calc = 0},
};

}  // namespace

const Target mpi = {
    .name = "mpi",
    .summary = "MPI point-to-point: sends and receives, the host in between",
    .devices = devices,
    .legalize = mpi_legalize,
    .emit = mpi_emit,
    .printTasks = messages::printTasks,
    .printResources = messages::printResources,
    .verifyTemplate = [](const Template &t, std::span<const Legal> legals, const TargetOptions &,
                         Diag &diag) { messages::verifyTemplate(t, legals, "mpi", diag); },
};

}  // namespace nbcc
