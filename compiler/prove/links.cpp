// SPDX-License-Identifier: BSD-3-Clause
// links.cpp - the steps of a call, and each step's messages laid onto links.

#include "compiler/prove/links.h"

#include <algorithm>
#include <ostream>
#include <tuple>

#include "compiler/prove/stages.h"

namespace nbcc {

namespace {

/// When a rank has entered the round that it is in, and when that is over.
struct Progress {
  int32_t round = -1;
  int64_t entered = 0, over = 0;

  int64_t enter(int32_t next) {
    if (round != next) round = next, entered = over;
    return entered;
  }
};

using Message = LinkUse::Message;

/// Each message's earliest step. Events come in an order in which a rank's rounds do.
std::vector<Message> inSteps(const Together &all, const Partners &partners,
                             const std::vector<Event> &events) {
  std::vector<Progress> progress(all.ranks.size());
  std::vector<Message> messages;
  for (const Event &event : events) {
    const Step &receive = all.step(event.rank, event.step);
    if (receive.peer < 0) continue;
    const Step &send = all.step(receive.peer, partners[all.number(event.rank, event.step)]);
    Progress &to = progress[static_cast<size_t>(event.rank)];
    Progress &from = progress[static_cast<size_t>(receive.peer)];
    const int64_t step = std::max(to.enter(receive.round), from.enter(send.round));
    to.over = std::max(to.over, step + 1);
    from.over = std::max(from.over, step + 1);
    messages.push_back({step, receive.peer, event.rank, receive.loc});
  }
  std::ranges::sort(messages, {},
                    [](const Message &m) { return std::tuple(m.step, m.sender, m.receiver); });
  return messages;
}

/// How many messages of the present step take the link from a node in a dimension.
class Links {
 public:
  explicit Links(const Topology &t) : topology_(t), counts_(t.nodes() * dimensions()) {}

  /// Calls each(from, to, how many there are now) for each link of the way.
  template <class Each>
  void take(const Message &m, Each each) {
    const std::vector<int32_t> way =
        topology_.route(topology_.nodeOf(m.sender), topology_.nodeOf(m.receiver));
    for (size_t i = 1; i < way.size(); ++i) {
      const auto link =
          static_cast<size_t>(way[i - 1] * dimensions() + dimension(way[i - 1], way[i]));
      if (counts_[link]++ == 0) taken_.push_back(link);
      each(way[i - 1], way[i], counts_[link]);
    }
  }
  void nextStep() {
    for (const size_t link : taken_) counts_[link] = 0;
    taken_.clear();
  }

 private:
  int64_t dimensions() const { return static_cast<int64_t>(topology_.extents().size()); }
  /// Neighbours differ in one coordinate.
  int64_t dimension(int64_t from, int64_t to) const {
    int64_t d = dimensions() - 1;
    for (; d > 0; --d) {
      const int64_t extent = topology_.extents()[static_cast<size_t>(d)];
      if (from % extent != to % extent) break;
      from /= extent, to /= extent;
    }
    return d;
  }

  const Topology &topology_;
  std::vector<int64_t> counts_;
  std::vector<size_t> taken_;
};

}  // namespace

LinkUse findLinks(const Together &all, const Partners &partners, const std::vector<Event> &events,
                  const Topology &topology) {
  LinkUse use;
  use.messages = inSteps(all, partners, events);
  Links links(topology);
  int64_t step = 0;
  for (const Message &m : use.messages) {
    if (m.step != step) links.nextStep();
    step = m.step;
    links.take(m, [&](int32_t from, int32_t to, int64_t count) {
      if (count <= use.shared) return;
      use.shared = count, use.step = m.step;
      use.from = from, use.to = to;
      use.loc = m.loc;
    });
  }
  return use;
}

void printLinks(std::span<const Schedule> ranks, const Topology &topology, std::ostream &out,
                Diag &diag) {
  const Together all(ranks);
  if (!belongTogether(all, diag)) return;
  if (all.ranks[0].order != Order::rounds)
    return diag.error(Loc(), "these schedules are graphs of waits; links are shown of rounds");
  Findings findings(diag);
  Memory memory;
  Unequal unequal;
  if (!memory.layOut(all, diag)) return;
  const Partners partners = matchMessages(all, memory, unequal, findings);
  if (!findings.none()) return;
  const std::vector<Event> events = execute(all, partners, findings);
  if (!findings.none()) return;

  const LinkUse use = findLinks(all, partners, events, topology);
  const char *between = "";
  out << ranks[0].algorithm << " on a torus of ";
  for (const int64_t extent : topology.extents()) {
    out << between << extent;
    between = " x ";
  }
  out << ", links one way, ways along the last dimension first\n";
  for (auto first = use.messages.begin(); first != use.messages.end();) {
    const auto last = std::find_if(first, use.messages.end(),
                                   [&](const Message &m) { return m.step != first->step; });
    Links links(topology);
    int64_t taken = 0, most = 0;
    for (auto m = first; m != last; ++m)
      links.take(*m, [&](int32_t, int32_t, int64_t count) {
        taken += count == 1;
        most = std::max(most, count);
      });
    out << "step " << first->step << ": " << last - first
        << (last - first == 1 ? " message" : " messages") << " on " << taken
        << (taken == 1 ? " link" : " links") << ", at most " << most << " on one\n";
    for (; first != last; ++first) {
      out << "  " << first->sender << " -> " << first->receiver << ":";
      for (const int32_t node :
           topology.route(topology.nodeOf(first->sender), topology.nodeOf(first->receiver)))
        out << " " << node;
      out << "\n";
    }
  }
  out << "largest sharing: " << use.shared;
  if (use.shared > 0)
    out << ", in step " << use.step << " from node " << use.from << " to " << use.to;
  out << "\n";
}

}  // namespace nbcc
