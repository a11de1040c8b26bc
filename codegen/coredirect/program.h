// SPDX-License-Identifier: BSD-3-Clause
// program.h - a legal schedule as entries of queues, in order, but not yet as bytes.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/common/template_writer.h"
#include "codegen/coredirect/words.h"
#include "codegen/messages/program.h"
#include "codegen/target.h"
#include "nbc/template.h"

namespace nbcc::crosschannel {

using codegen::kNone;

/// The queues of a rank: which there are follows from all its variants. Two ranks
/// share queue pairs for both ways if each of them sends to just those it receives
/// from (standard exchange); else each way has its own (ring, Bruck). Both ends must
/// come to the same answer: TargetOptions::symmetric. Direct, and chained by words: one each,
/// always both ways.
struct Connections {
  std::vector<uint32_t> peers;  // those on the same node first
  size_t near = 0;              // as many
  std::vector<nbc_queue> queues;
  uint32_t management = kNone, loopback = kNone, messages = kNone;
  bool byWords = false;

  Connections(std::span<const Legal>, const TargetOptions &);
  uint32_t number(int64_t peer) const;  // in `peers`
  /// The queue for what this step sends to or receives from its peer, or, CTS, for
  /// what goes the other way. There is one.
  uint32_t queue(nbc_queue_kind, const Step &) const;

 private:
  std::vector<uint32_t> first_[2];  // receiving, sending: rank -> its first queue
  std::vector<uint32_t> numbers_;   // rank -> its place in `peers`
  bool eager_ = false, direct_ = false;
};

/// An entry of the management queue.
struct Management {
  uint8_t opcode;    // MLX5_WAIT, MLX5_SEND_EN, MLX5_NOP
  uint8_t side = 0;  // WAIT: enum nbc_side
  bool signalled = false;
  bool credit = false;  // WAIT for the credit of the window before
  uint32_t queue = kNone;
  uint32_t index = 0;  // WAIT: completion, from 0; SEND_EN: WQEBBs
};

/// An entry of another send queue.
struct Post {
  /// Chained by words: WAIT for a word; WRITE one (to the peer, or to itself); READ one of the
  /// peer's into one of its own.
  enum class Kind : uint8_t { data, wait, tell, ask };
  StepId step;  // whose data; -1: none (clear to send, token)
  uint8_t segments;
  bool signalled = false;
  Kind kind = Kind::data;
  uint8_t part = 0;             // reductions: of which element
  uint32_t queue = kNone;       // wait: whose row
  uint32_t word = 0, into = 0;  // ask: the peer's, its own
};

struct QueueProgram {
  std::vector<Post> sends;
  std::vector<StepId> receives;  // those that `posted` are counted only; of a reduction several
  uint32_t blocks = 0;           // WQEBBs of `sends`
  uint32_t signalled = 0;
  uint32_t clearToSends = 0;  // receives of no bytes; direct: of the token, before all others
};

struct StageProgram {
  std::vector<StepId> hosts;
  uint32_t enabled = 0, records = 0;
};

struct Program {
  std::vector<Management> management;
  std::vector<messages::Record> records;  // of what stays within the node
  std::vector<QueueProgram> queues;       // as Connections::queues
  std::vector<StageProgram> stages;
};

/// The entries of one call.
Program programOf(const Legal &, const Connections &);
/// The same where queues are chained by words (program_words.cpp): those of the management queue
/// stand in `queues`, too.
Program programOfWords(const Legal &, const Connections &);

/// The entries of a credit window; empty if there is no eager message.
Program creditsOf(const Legal &, const Connections &);

/// Segments of 16 bytes that the work queue entry of a step takes.
int segmentsOf(const Step &, uint32_t protocol);

/// Entries that a step on a queue takes: a reduction one for each element.
uint32_t postsOf(const Step &, const Legal &);
/// Whether it is a WRITE to where a peer has said.
bool writesToPeer(const Step &, uint32_t protocol);

/// Basic blocks that an entry of so many segments takes.
constexpr uint32_t blocksOf(int segments) {
  return (static_cast<uint32_t>(segments) + 3) / 4;
}

}  // namespace nbcc::crosschannel
