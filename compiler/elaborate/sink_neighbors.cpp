// SPDX-License-Identifier: BSD-3-Clause
// sink_neighbors.cpp - who this rank's neighbours are, slot by slot.
//
//   source(1)   =>   3, where out[1] comes from rank 3
//
// check() lets an algorithm ask only where its kind has neighbours, and runs such an algorithm
// among all ranks only: so there is one answer, that of the communicator, whatever frame asks. The
// lists are looked up; to sort the arrivals takes a logarithm, once for a rank that asks.

#include "compiler/elaborate/sink_refuse.h"

namespace nbcc {

bool Sink::checkSlot(const char *builtin, int64_t slot, int64_t slots, const char *what, Place at) {
  if (slot >= 0 && slot < slots) return true;
  refuse(at, builtin, "(", slot, ") is outside the neighbours of this rank, which has ",
         plural(slots, what), where());
  return false;
}

Checked Sink::indegree(Place) {
  return {static_cast<int64_t>(schedule_.neighbors.sources.size()), 1};
}

Checked Sink::outdegree(Place) {
  return {static_cast<int64_t>(schedule_.neighbors.destinations.size()), 1};
}

Checked Sink::source(int64_t slot, Place at) {
  const auto &sources = schedule_.neighbors.sources;
  if (!checkSlot("source", slot, static_cast<int64_t>(sources.size()), "source", at)) return {};
  return {sources[static_cast<size_t>(slot)].rank, 1};
}

Checked Sink::destination(int64_t slot, Place at) {
  const auto &destinations = schedule_.neighbors.destinations;
  if (!checkSlot("destination", slot, static_cast<int64_t>(destinations.size()), "destination", at))
    return {};
  return {destinations[static_cast<size_t>(slot)], 1};
}

Checked Sink::source_slot(int64_t slot, Place at) {
  const auto &sources = schedule_.neighbors.sources;
  if (!checkSlot("source_slot", slot, static_cast<int64_t>(sources.size()), "source", at))
    return {};
  return {sources[static_cast<size_t>(slot)].slot, 1};
}

Checked Sink::arrival(int64_t slot, Place at) {
  const auto &sources = schedule_.neighbors.sources;
  if (!checkSlot("arrival", slot, static_cast<int64_t>(sources.size()), "source", at)) return {};
  if (arrivals_.empty()) arrivals_ = arrivals(schedule_.neighbors);
  return {arrivals_[static_cast<size_t>(slot)], 1};
}

}  // namespace nbcc
