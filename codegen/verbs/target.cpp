// SPDX-License-Identifier: BSD-3-Clause
// target.cpp - the target as a value, and what its adapters gather.

#include "codegen/messages/messages.h"
#include "codegen/verbs/verbs.h"

namespace nbcc {
namespace {

constexpr Device adapter(const char *name, const char *summary, int gather, int inlineBytes) {
  return {.name = name,
          .summary = summary,
          .maxGather = gather,
          .maxScatter = 1,
          .logQueue = 15,
          .inlineBytes = inlineBytes,
          .crossChannel = false,
          .calc = 0};
}

// Of what an adapter gathers: work requests are as long as the longest, so few.
const Device devices[] = {
    adapter("rc", "any adapter with reliable connections", 4, 64),
    adapter("rxe", "soft-RoCE", 32, 512),
    adapter("connectx5", "ConnectX-5 and later", 30, 956),
};

}  // namespace

const Target verbs = {
    .name = "verbs",
    .summary = "reliable connections of RDMA adapters: posted work requests, the host in between",
    .devices = devices,
    .legalize = verbs_legalize,
    .emit = verbs_emit,
    .printTasks = messages::printTasks,
    .printResources = verbs_printResources,
    .verifyTemplate = [](const Template &t, std::span<const Legal> legals, const TargetOptions &,
                         Diag &diag) { messages::verifyTemplate(t, legals, "verbs", diag); },
};

}  // namespace nbcc
