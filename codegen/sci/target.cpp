// SPDX-License-Identifier: BSD-3-Clause
// target.cpp - the target as a value, and what its adapters' DMA can do.

#include "codegen/messages/messages.h"
#include "codegen/sci/sci.h"

namespace nbcc {
namespace {

constexpr Device adapter(const char *name, const char *summary, Dma dma, Pace pace) {
  return {.name = name,
          .summary = summary,
          .maxGather = 0,  // as many as there are: the host stores, or copies into slots
          .maxScatter = 0,
          .logQueue = 0,  // one transfer at a time
          .inlineBytes = 0,
          .crossChannel = false,
          .calc = 0,
          .dma = dma,
          .pace = pace};
}

// DMA is worth it from where storing by hand takes as long as starting a transfer: from there on
// the host gains by it. Of the card that is 34.5 us at 325 MiB/s, as measured in the paper. Of the
// present-day one 1.1 us, 10 us and 10.4 GB/s were; how fast it stores is a guess.
const Device devices[] = {
    adapter("pcie", "a present-day PCI Express adapter",
            {.align = 8, .vector = 256, .longest = 16 << 20, .worth = 8192},
            {.latency = 1'100'000,
             .store = 50'000,
             .storeByte = 500,
             .check = 1'000'000,
             .dmaStart = 10'000'000,
             .dmaByte = 96}),
    adapter("sci_d352", "the Dolphin D352 of the paper on nonblocking collectives over SCI",
            {.align = 8, .vector = 256, .longest = 256 << 10, .worth = 11752},
            {.latency = 1'400'000,
             .store = 100'000,
             .storeByte = 2'934,
             .check = 1'500'000,
             .dmaStart = 34'500'000,
             .dmaByte = 4'891}),
};

}  // namespace

const Target sci = {
    .name = "sci",
    .summary = "memory that peers export (SISCI): stores and DMA, the host in between",
    .devices = devices,
    .legalize = sci_legalize,
    .emit = sci_emit,
    .printTasks = messages::printTasks,
    .printResources = sci_printResources,
    .verifyTemplate = [](const Template &t, std::span<const Legal> legals, const TargetOptions &,
                         Diag &diag) { messages::verifyTemplate(t, legals, "sci", diag); },
};

}  // namespace nbcc
