// SPDX-License-Identifier: BSD-3-Clause
// legalize.cpp - which ways there are to carry a collective out, and whether the queues are long
// enough.
//
//   schedule, in place   =>   calc, calc in place, eager, eager in place, rendezvous, rendezvous in
//   place;  or, where it is asked for, direct, direct in place
//
// in the order in which nbc_start tries them; calc first, since it fits few calls: of one element,
// and, where the queues are long enough for that, of up to 2, 4 and 8.
// Each way has a file of its own, because each is a different idea: eager renames,
// rendezvous moves, calc asks what the adapter can reduce.
//
// Where each block has a length of its own (own_lengths.cpp), the schedules are made fit for
// that first. All ranks must choose the same protocol; so where a rank does not know the
// others' lengths there is but one, and that is rendezvous, which serves all lengths.
//
// Queues are counted exactly only where a rough count does not settle it.

#include "codegen/coredirect/legalize.h"

#include <algorithm>
#include <sstream>

#include "codegen/common/calls.h"
#include "codegen/common/nodes.h"
#include "codegen/common/own_lengths.h"
#include "codegen/coredirect/coredirect.h"
#include "codegen/coredirect/program.h"
#include "dsl/collectives.h"

namespace nbcc {
namespace {

using namespace crosschannel;

/// Indices are 16 bits and compared in a half window.
int64_t longest(const Device &device) {
  return std::min<int64_t>(int64_t{1} << device.logQueue, (1 << 15) - 1);
}

std::string nameOf(const nbc_queue &queue, const Connections &connections) {
  static const char *const purpose[] = {"management", "loopback", "eager",  "clear-to-send",
                                        "data",       "messages", "direct", "chain"};
  if (queue.peer == kNone) return cat("the ", purpose[queue.kind], " queue");
  return cat("the ", purpose[queue.kind], " queue to rank ", connections.peers[queue.peer]);
}

Near nearOf(const Schedule &s, const TargetOptions &options) {
  if (!options.within || !options.topology) return {};
  const int64_t rank = s.rank;
  return [&options, rank](int64_t peer) { return isNear(options, rank, peer); };
}

/// How many calls may be under way; of a direct plan one.
int depthOf(const TargetOptions &options) {
  return options.protocol == Protocol::direct ? 1 : std::max(options.depth, 1);
}

/// Calls under way share the queues, and receives are posted for three windows of them.
void checkQueues(const std::vector<Legal> &ways, const Device &device, const TargetOptions &options,
                 Diag &diag) {
  const int depth = depthOf(options);
  const int64_t most = longest(device), room = int64_t{1} << std::min(device.logQueue, 15);
  int64_t rough = 0;
  for (const Legal &way : ways) {
    int64_t entries = 64;
    for (const Step &step : way.schedule.steps)
      entries +=
          postsOf(step, way) * blocksOf(segmentsOf(step, way.protocol)) + step.after.size + 4;
    rough = std::max(rough, entries);
  }
  if (rough * 3 * depth <= most) return;

  const Connections connections(ways, options);
  const size_t count = connections.queues.size();
  std::vector<int64_t> sends(count), receives(count), credits(count);
  for (const Legal &way : ways) {
    const Program program = programOf(way, connections);
    const bool eager = way.protocol == NBC_EAGER;
    for (size_t q = 0; q < count; ++q) {
      const QueueProgram &queue = program.queues[q];
      const bool management = q == connections.management;
      const int64_t entries =
          management && !connections.byWords ? program.management.size() : queue.blocks;
      sends[q] = std::max(sends[q], entries);
      // Eager: sets for three windows. Clear-to-sends: a peer may be a call ahead, as may the token
      // of a direct one.
      const int64_t received = queue.receives.size(), clear = queue.clearToSends;
      if (connections.queues[q].kind == NBC_QUEUE_DIRECT)
        receives[q] = std::max(receives[q], received + clear + 1);
      else
        receives[q] = std::max({receives[q], received * (eager ? 3 * depth : depth),
                                clear ? clear * (depth + 1) + 4 : 0});
    }
    if (!eager || way.flags) continue;
    // Three windows' credits may be in a queue.
    const Program window = creditsOf(way, connections);
    for (size_t q = 0; q < count; ++q)
      credits[q] =
          3 * (q == connections.management ? window.management.size() : window.queues[q].blocks);
  }
  int said = 0;
  for (size_t q = 0; q < count && said < 4; ++q) {
    const std::string name = nameOf(connections.queues[q], connections);
    if (sends[q] * depth + credits[q] > most) {
      diag.error({}, "coredirect: ", name, " holds ", most, " entries on ", device.name,
                 ", this schedule needs ", sends[q] * depth + credits[q], ": ", sends[q],
                 " for a call, ", depth, " calls under way",
                 credits[q] ? cat(", ", credits[q], " for credits") : "");
      ++said;
    }
    if (receives[q] > room) {
      diag.error({}, "coredirect: ", name, " holds ", room, " receives on ", device.name,
                 ", this schedule needs ", receives[q], " for ", depth, " calls under way");
      ++said;
    }
  }
}

/// What is too long by its messages alone, whatever becomes of it.
void checkMessages(const Schedule &s, const Device &device, const TargetOptions &options,
                   Diag &diag) {
  const int64_t depth = depthOf(options), most = longest(device);
  std::vector<int64_t> sent(s.ranks);
  for (const Step &step : s.steps)
    if (sends(step) && !isNear(options, s.rank, step.peer)) ++sent[step.peer];
  const auto peer = std::max_element(sent.begin(), sent.end());
  if (*peer * depth > most)
    diag.error({}, "coredirect: a queue holds ", most, " entries on ", device.name,
               ", this schedule needs ", *peer * depth, " for what it sends to rank ",
               peer - sent.begin(), ": ", *peer, " for a call, ", depth, " calls under way");
}

/// The addresses of one call are told for good; those of blocks that differ are looked up in
/// arrays of the caller's, which may say something else the next time.
bool cannotGoDirect(const Schedule &s, Diag &diag) {
  if (!collective(s).hasOwnLengths()) return false;
  diag.error(
      {}, "coredirect: own lengths: ", kindName(s),
      " cannot go direct: its blocks' lengths and places are the call's, and a direct plan's "
      "are told to the peers when it is made");
  return true;
}

/// Without cross-channel queue pairs nothing counts completions, which is what credits and tokens
/// are made of.
bool lacksCrossChannel(const Device &device, const TargetOptions &options, Diag &diag) {
  if (device.crossChannel ||
      (options.protocol != Protocol::eager && options.protocol != Protocol::direct))
    return false;
  diag.error({}, "coredirect: ", device.name, " cannot go ",
             options.protocol == Protocol::eager ? "eager" : "direct",
             ": it waits for words of memory and does not count completions; rendezvous is what it "
             "can do");
  return true;
}

/// Of lengths of their own: ranks could not agree on it.
bool cannotGoEager(const Schedule &s, const TargetOptions &options, Diag &diag) {
  if (options.protocol != Protocol::eager || !collective(s).hasOwnLengths() ||
      allKnowAllLengths(s.kind))
    return false;
  diag.error({}, "coredirect: own lengths: ", kindName(s),
             " cannot go eager: no rank knows how long the others' blocks are, so they could "
             "not agree on it");
  return true;
}

/// For vectors of several elements, too, as far as the queues are long enough. Other ranks' may be
/// longer: what all have is taken (runtime/src/coredirect_calc.c).
void addScalars(std::vector<Legal> &ways, const Device &device, const TargetOptions &options) {
  const auto isCalc = [](const Legal &way) { return (way.flags & NBC_VARIANT_CALC) != 0; };
  const std::vector<Legal> one(ways.begin(), std::ranges::find_if_not(ways, isCalc));
  size_t at = one.size();
  for (uint32_t scalars = 2; scalars <= NBC_MOST_SCALARS && !one.empty(); scalars *= 2) {
    std::vector<Legal> wider = ways;
    wider.insert(wider.begin() + static_cast<ptrdiff_t>(at), one.begin(), one.end());
    for (size_t i = 0; i < one.size(); ++i) wider[at + i].scalars = scalars;
    std::ostringstream why;
    Diag diag(why);
    checkQueues(wider, device, options, diag);
    if (diag.errors() > 0) return;
    ways = std::move(wider);
    at += one.size();
  }
}

}  // namespace

bool crosschannel::isHierarchical(const Schedule &s, const Near &near) {
  return near && std::ranges::any_of(
                     s.steps, [&](const Step &step) { return step.peer >= 0 && near(step.peer); });
}

std::vector<Legal> coredirect_legalize(const Schedule &given, const Schedule *inPlace,
                                       const TargetOptions &options, Diag &diag) {
  const bool own = options.lengths == Blocks::each;
  const bool direct = options.protocol == Protocol::direct;
  const Device &device = deviceOf(coredirect, options);
  if (lacksCrossChannel(device, options, diag)) return {};
  if (own && cannotGoEager(given, options, diag)) return {};
  if (own && direct && cannotGoDirect(given, diag)) return {};
  const Calls calls(given, inPlace, options, "coredirect", diag);
  if (calls.all().empty()) return {};
  const Schedule &schedule = *calls.all().front().schedule;
  const bool eagerToo = device.crossChannel && (!own || allKnowAllLengths(given.kind));
  const Near near = nearOf(schedule, options);
  const int before = diag.errors();
  checkMessages(schedule, device, options, diag);
  if (!device.crossChannel && isHierarchical(schedule, near))
    diag.error(
        {}, "coredirect: ", device.name,
        " chains queues by words: nobody has said yet how these and messages within a node go "
        "together (--within=adapter)");
  if (diag.errors() != before) return {};
  std::vector<Legal> ways;
  const auto add = [&](Schedule legal, uint32_t protocol, uint32_t flags, uint32_t scalars = 0) {
    if (diag.errors() != before) return;
    if (own) cutAtBlocks(legal);  // neighbours were joined
    ways.push_back({std::move(legal), protocol, flags, scalars});
  };
  const auto each = [&](auto way) {
    for (const Calls::Call &call : calls.all()) way(*call.schedule, call.flags);
  };
  if (direct)
    each([&](const Schedule &s, uint32_t flags) {
      add(legalizeDirect(s, device, near, diag), NBC_DIRECT, flags);
    });
  if (options.protocol != Protocol::rendezvous && eagerToo && !direct) {
    EagerOptions eager{.slotPerBlock = options.slotPerBlock, .calc = true, .near = near};
    if (std::ranges::all_of(
            calls.all(), [&](const Calls::Call &call) { return fitsCalc(*call.schedule, device); }))
      each([&](const Schedule &s, uint32_t flags) {
        add(legalizeEager(s, device, eager, diag), NBC_EAGER, flags | NBC_VARIANT_CALC, 1);
      });
    eager.calc = false;
    each([&](const Schedule &s, uint32_t flags) {
      add(legalizeEager(s, device, eager, diag), NBC_EAGER, flags);
    });
  }
  if (options.protocol != Protocol::eager && !direct)
    each([&](const Schedule &s, uint32_t flags) {
      add(legalizeRendezvous(s, device, near, diag), NBC_RENDEZVOUS, flags);
    });
  if (diag.errors() == before) checkQueues(ways, device, options, diag);
  if (diag.errors() != before) ways.clear();
  addScalars(ways, device, options);
  return ways;
}

}  // namespace nbcc
