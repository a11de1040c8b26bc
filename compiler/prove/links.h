// SPDX-License-Identifier: BSD-3-Clause
// links.h - which links between nodes the messages of a call take, and when.

#pragma once

#include <iosfwd>
#include <span>

#include "compiler/ir/schedule.h"
#include "compiler/ir/topology.h"

namespace nbcc {

/// Step by step: each message with the nodes of its way, and how many share a link. Of all ranks'
/// schedules, in rounds; reports what keeps them from being carried out.
void printLinks(std::span<const Schedule> ranks, const Topology &, std::ostream &, Diag &);

}  // namespace nbcc
