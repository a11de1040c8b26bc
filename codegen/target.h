// SPDX-License-Identifier: BSD-3-Clause
// target.h - what the compiler knows of a target, and nothing else.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/schedule.h"
#include "compiler/ir/topology.h"
#include "dsl/diag.h"

namespace nbcc {

/// What an adapter copies by itself into the memory of peers.
struct Dma {
  int align = 0;        // bytes: of places and lengths
  int vector = 0;       // elements of a transfer; 0: there is no DMA
  int64_t longest = 0;  // bytes of a transfer
  int64_t worth = 0;    // bytes from which on it is better than storing by hand
};

/// What things cost there, in ps: for runs in simulated time.
struct Pace {
  int64_t latency = 0;    // of a store, until it has arrived
  int64_t store = 0;      // of the host, for stores that go together,
  int64_t storeByte = 0;  // and for each of their bytes
  int64_t check = 0;      // of the host, whether they have arrived
  int64_t dmaStart = 0;   // until the first byte moves
  int64_t dmaByte = 0;
};

/// Facts about an adapter (--device=). A value: no code asks for a device by name.
struct Device {
  const char *name;
  const char *summary;
  int maxGather;    // data segments of a send
  int maxScatter;   // data segments of a receive
  int logQueue;     // WQEBBs of a send queue, log2
  int inlineBytes;  // of a send
  bool crossChannel;
  unsigned calc;  // bit (1 << enum mlx5_calc) for each reduction the adapter can do on 64 bits
  Dma dma = {};
  Pace pace = {};
};

enum class Protocol { eager, rendezvous, automatic, direct };  // libraries hold the number

/// How long the blocks of the caller's buffers are: all alike, or each has a length and
/// a place of its own, as in MPI's v- and w-variants.
enum class Blocks { equal, each };

struct TargetOptions {
  const Device *device = nullptr;  // null: the target's own default
  Protocol protocol = Protocol::automatic;
  Blocks lengths = Blocks::equal;
  bool slotPerBlock =
      false;      // eager: one message and one slot per block, as in the allgather paper
  int depth = 2;  // calls under way at once
  /// Where the ranks are, for targets that reach one node only. Null: all on one.
  const Topology *topology = nullptr;
  /// coredirect: ranks of one node, as the topology has them, exchange through its memory; else all
  /// is the adapter's.
  bool within = false;
  /// Whether the ranks that this rank sends to are those it receives from, as its
  /// schedule is written. Not given: taken to be so.
  std::function<bool(int64_t rank)> symmetric;
};

/// Template bytes (runtime/include/nbc/template.h), aligned to 8.
struct Template {
  std::vector<uint64_t> words;
  size_t bytes = 0;
  const void *data() const { return words.data(); }
};

/// A schedule a target can express, and the way it is to be carried out.
struct Legal {
  Schedule schedule;
  uint32_t protocol = 0;  // enum nbc_protocol
  uint32_t flags = 0;     // enum nbc_variant_flags
  uint32_t scalars = 0;   // NBC_VARIANT_CALC: elements of a vector at most, each a slot
};

/// A way to run schedules. The driver knows targets only through this struct;
/// nothing outside codegen/<name>/ may mention a target by name.
struct Target {
  const char *name;                 // as in --target=<name>, and the folder's name
  const char *summary;              // one line for --help
  std::span<const Device> devices;  // the first is the default

  /// All ways to carry the collective out on this target, in the order in which
  /// the runtime tries them: one per protocol, in-place or not, adapter
  /// reduction. `schedule` and `inPlace` are of Order::waits, from runPasses();
  /// `inPlace` may be null. Reports what can't be expressed; then it returns
  /// nothing.
  std::vector<Legal> (*legalize)(const Schedule &schedule, const Schedule *inPlace,
                                 const TargetOptions &, Diag &);

  /// Writes legal schedules as a template: bytes, relocations, resources.
  /// Cannot fail: all doubts were settled in legalize().
  Template (*emit)(std::span<const Legal>, const TargetOptions &);

  /// --emit=tasks: what the device would read, from the template's bytes alone.
  void (*printTasks)(const Template &, std::ostream &);

  /// --emit=resources: `key: value` lines, from the template's bytes alone.
  void (*printResources)(const Template &, std::ostream &);

  /// Whether the order that the template's bytes enforce contains every
  /// dependency of the legal schedules, and the device's queues hold as many calls
  /// as the options say. Reports each that does not follow.
  void (*verifyTemplate)(const Template &, std::span<const Legal>, const TargetOptions &, Diag &);
};

/// The device that the options name, or the target's default.
inline const Device &deviceOf(const Target &target, const TargetOptions &options) {
  return options.device ? *options.device : target.devices[0];
}

/// All of them: codegen/targets.cpp.
std::span<const Target *const> targets();
const Target *findTarget(std::string_view name);  // null: none
const Device *findDevice(const Target &, std::string_view name);

}  // namespace nbcc
