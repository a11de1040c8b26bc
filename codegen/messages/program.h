// SPDX-License-Identifier: BSD-3-Clause
// program.h - a legal schedule as records and stages, in order, but not yet as bytes.

#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/schedule.h"
#include "nbc/message_record.h"

namespace nbcc::messages {

struct Record {
  nbc_message_op op;
  StepId step;      // SEND, RECV: this one; WAIT: the one that is waited for
  uint32_t of = 0;  // WAIT: its record
};

/// The host does the next `hosts` of its steps, then the records up to `enabled` are carried out.
struct Stage {
  uint32_t hosts = 0, enabled = 0;
};

struct Program {
  std::vector<Record> records;
  std::vector<StepId> hosts;  // in the order in which the host does them: the schedule's
  std::vector<Stage> stages;
};

/// See messages.h for the order. n log n in messages, linear in waits.
Program programOf(const Schedule &);

}  // namespace nbcc::messages
