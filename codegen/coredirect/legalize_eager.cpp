// SPDX-License-Identifier: BSD-3-Clause
// legalize_eager.cpp - eager: every message has a room of its own, and what reads it reads it
// there.
//
//   %0 = copy in -> tmp[0]                     %0 = copy in -> in.staged by host_before
//   %1 = send tmp[0] to 3            =>        %1 = recv slot0 from 1
//   %2 = recv tmp[1] from 1                    %2 = send in.staged to 3
//   %3 = send tmp[0 +: 2] to 2                 %3 = send in.staged, slot0 to 2 after %1
//   %4 = copy tmp[0 +: 2] -> out[3 +: 2]       %4 = copy in, slot0 -> out[3 +: 2] by host_after
//
// A walk over the steps in order. For every tick (ticks.h) of every buffer it is
// known where its bytes are: in a room, or where the caller had them. A recv or a
// reduction makes a new room and says so, a copy only passes on what is said of
// its source, a send reads the rooms. Nothing is overwritten, so only true
// dependencies are left: on what filled the rooms that are read.
//
// And those that are not about bytes: what waits for an await still does, and a
// send that waited for something that it does not read (rounds kept apart) too.
// Receives are posted ahead and wait for nothing; so a recv's own waits of this
// sort are carried on to what waits for the recv (its `after`, which emit enforces
// there).
//
// What goes to a rank of the same node the host sends, from wherever it is; what comes from there
// is received into a room as all else, but by the host, in the call. Of slots that no adapter has
// brought it also does the reductions: they are there before the adapter is needed.
//
// What the adapter reads of the caller's is copied to a room at the start, each
// byte once and neighbours together: how much is known only at the end, so until
// then sections name it as a part of the caller's buffer, in a numbering of its
// own (staged()).
//
// Linear in the ticks that are read and written: about the blocks a rank moves.

#include <algorithm>
#include <cassert>

#include "codegen/common/ticks.h"
#include "codegen/coredirect/legalize.h"

namespace nbcc::crosschannel {
namespace {

/// Where bytes are: tick x of whatever points here is position (base + x - at) / parts
/// of `buffer`.
struct Source {
  BufferId buffer;
  int64_t at, base, parts;
  StepId producer;  // in the draft; -1: they were there before
};

/// The caller's buffer b, as far as it will be staged. Its own inverse.
constexpr BufferId staged(BufferId b) {
  return -2 - b;
}

class Eager {
 public:
  Eager(const Schedule &s, const Device &device, const EagerOptions &options, Diag &diag)
      : s_(s),
        device_(device),
        options_(options),
        diag_(diag),
        ticks_(s),
        draft_(s),
        hierarchical_(isHierarchical(s, options.near)) {}

  Schedule run() {
    if (!ticks_.fits()) {
      diag_.error({}, "coredirect: eager: the schedule of rank ", s_.rank, " of ", s_.ranks,
                  " cuts its buffers into more than ", Ticks::kMost, " parts, which is the most");
      return {};
    }
    prepare();
    for (size_t i = 0; i < s_.steps.size(); ++i) {
      step(static_cast<StepId>(i));
      if (failed_) return {};
    }
    copyOut();
    stage();
    return draft_.finish();
  }

 private:
  /// Steps of the draft that a step became; end 0: none.
  struct Became {
    StepId begin = 0, end = 0;
  };

  void prepare() {
    sources_.push_back({-1, 0, 0, 1, -1});
    where_.resize(s_.buffers.size());
    isStaged_.resize(s_.buffers.size());
    for (size_t b = 0; b < s_.buffers.size(); ++b) {
      if (!s_.buffers[b].significant) continue;
      uint32_t own = 0;
      if (s_.buffers[b].ofCaller()) {
        own = static_cast<uint32_t>(sources_.size());
        sources_.push_back({static_cast<BufferId>(b), 0, 0, ticks_.perBlock(), -1});
      }
      where_[b].assign(ticks_.size(static_cast<BufferId>(b)), own);
    }
    became_.assign(s_.steps.size(), {});
    for (const Step &step : s_.steps) awaits_ |= step.op == Op::await;
    if (awaits_) control_.resize(s_.steps.size());
  }

  void step(StepId i) {
    const Step &step = s_.steps[i];
    if (awaits_) control_[i] = controlOf(i);
    switch (step.op) {
      case Op::send:
      case Op::signal:
        return send(i, step);
      case Op::recv:
      case Op::await:
        return receive(i, step);
      case Op::copy:
        return copy(step);
      case Op::reduce:
        return reduce(i, step);
    }
  }

  /// One message, or with a slot for each block as many as the section has blocks:
  /// both ends cut where a whole number of blocks lies before, if it is whole in all.
  std::vector<std::vector<Extent>> messages(Section section) const {
    const int64_t length = ticks_.length(section), block = ticks_.perBlock();
    std::vector<std::vector<Extent>> result;
    if (!options_.slotPerBlock || length % block != 0 || length == 0) {
      result.emplace_back(section.begin(), section.end());
      std::erase_if(result.back(), [](const Extent &e) { return e.count == 0; });
      return result;
    }
    for (int64_t at = 0; at < length; at += block)
      result.push_back(ticks_.cut(section, at, at + block));
    return result;
  }

  bool isNear(const Step &step) const { return hierarchical_ && options_.near(step.peer); }

  /// All in one, from wherever it lies. Of buffers that will be written, and of values that are to
  /// be slots, a copy made at the start.
  void sendWithin(StepId i, const Step &step) {
    std::vector<StepId> waits;
    std::vector<Extent> from = read(step, s_.from(step), waits);
    if (options_.calc)
      putAside(from);
    else
      putAsideWritten(from);
    alsoWait(i, waits);
    const StepId id = draft_.add(step, step.op, Unit::host);
    set(id, from, {}, {});
    draft_.after(id, std::move(waits));
    became_[i] = {id, id + 1};
  }

  void receiveWithin(StepId i, const Step &step) {
    const StepId id = draft_.add(step, step.op, Unit::host);
    const std::vector<Extent> message = withoutEmpty(s_.to(step));
    if (!message.empty()) {
      const BufferId room = draft_.addRoom(cat("got", got_++), Role::scratch, message);
      fill(message, room, id);
      set(id, {}, {}, {{draft_.whole(room)}});
    }
    std::vector<StepId> waits;
    alsoWait(i, waits);
    draft_.after(id, std::move(waits));
    became_[i] = {id, id + 1};
  }

  void send(StepId i, const Step &step) {
    if (isNear(step)) return sendWithin(i, step);
    became_[i].begin = draft_.size();
    for (const std::vector<Extent> &message : messages(s_.from(step))) {
      std::vector<StepId> waits;
      std::vector<Extent> from = read(step, message, waits);
      if (from.size() > static_cast<size_t>(device_.maxGather)) {
        const StepId pack = draft_.add(step, Op::copy, Unit::host);
        const BufferId room =
            draft_.addRoom(cat("packed", packed_++), Role::scratch, Section(message));
        set(pack, from, {}, {{draft_.whole(room)}});
        draft_.after(pack, std::move(waits));
        from = {draft_.whole(room)};
        waits = {pack};
      } else {
        putAside(from);
      }
      alsoWait(i, waits);
      const StepId id = draft_.add(step, step.op, Unit::any);
      set(id, from, {}, {});
      draft_.after(id, std::move(waits));
      became_[i].end = id + 1;
    }
  }

  void receive(StepId i, const Step &step) {
    if (isNear(step)) return receiveWithin(i, step);
    became_[i].begin = draft_.size();
    for (const std::vector<Extent> &message : messages(s_.to(step))) {
      const StepId id = draft_.add(step, step.op, Unit::any);
      if (!message.empty()) {
        const BufferId room = draft_.addRoom(cat("slot", slots_++), Role::slots, message);
        fill(message, room, id);
        set(id, {}, {}, {{draft_.whole(room)}});
      }
      if (awaits_) draft_.after(id, control_[i]);
      became_[i].end = id + 1;
    }
  }

  void reduce(StepId i, const Step &step) {
    std::vector<StepId> waits;
    std::vector<Extent> a = read(step, s_.from(step), waits);
    std::vector<Extent> b = read(step, s_.with(step), waits);
    if (a.empty()) return;
    if (options_.calc) {
      putAside(a);
      putAside(b);
    }
    const bool brought =
        std::ranges::any_of(waits, [&](StepId w) { return isAdapters(draft_.step(w)); });
    alsoWait(i, waits);
    const bool adapters = options_.calc && (brought || !hierarchical_);
    const StepId id = draft_.add(step, Op::reduce, adapters ? Unit::nic : Unit::host);
    const BufferId room = draft_.addRoom(cat("value", values_++), Role::scratch, s_.to(step));
    fill(s_.to(step), room, id);
    set(id, a, b, {{draft_.whole(room)}});
    draft_.after(id, std::move(waits));
    became_[i] = {id, id + 1};
  }

  void copy(const Step &step) {
    // What is said of the source, tick by tick, is said of the target from now on.
    struct Found {
      uint32_t source;
      int64_t at, count;
    };
    std::vector<Found> found;
    for (const Extent &e : s_.from(step)) {
      const auto [begin, end] = ticks_.range(e);
      const std::vector<uint32_t> &where = where_[e.buffer];
      for (int64_t x = begin; x < end;) {
        const int64_t y = runEnd(where, x, end);
        if (where[x] == 0) return neverWritten(step, e);
        found.push_back({where[x], x, y - x});
        x = y;
      }
    }
    size_t k = 0;
    int64_t used = 0;
    for (const Extent &e : s_.to(step)) {
      const auto [begin, end] = ticks_.range(e);
      for (int64_t x = begin; x < end;) {
        assert(k < found.size() && "what a copy reads and writes is equally long");
        const Found &f = found[k];
        const int64_t count = std::min(end - x, f.count - used);
        Source moved = sources_[f.source];
        moved.at += x - (f.at + used);
        uint32_t id = f.source;
        if (moved.at != sources_[f.source].at) {
          id = static_cast<uint32_t>(sources_.size());
          sources_.push_back(moved);
        }
        std::fill_n(where_[e.buffer].begin() + x, count, id);
        x += count;
        used += count;
        if (used == f.count) ++k, used = 0;
      }
    }
  }

  /// The ticks of a section are in `room` from now on, whose blocks are its units.
  void fill(Section section, BufferId room, StepId producer) {
    int64_t block = 0;
    for (const Extent &e : section) {
      if (e.count == 0) continue;
      // Blocks of one buffer can differ in ticks: then there is a source for each.
      const auto [begin, end] = ticks_.range(e);
      const int64_t unit = ticks_.unit(e);
      const bool even = unit * e.count == end - begin;
      for (int64_t k = 0; k < e.count; k = even ? e.count : k + 1) {
        const Extent part = even ? e : Extent{e.buffer, e.parts, e.first + k, 1};
        const auto [x, y] = ticks_.range(part);
        const int64_t parts = ticks_.unit(part);
        sources_.push_back({room, x, (block + k) * parts, parts, producer});
        std::fill(where_[e.buffer].begin() + x, where_[e.buffer].begin() + y,
                  static_cast<uint32_t>(sources_.size() - 1));
      }
      block += e.count;
    }
  }

  static int64_t runEnd(const std::vector<uint32_t> &where, int64_t x, int64_t end) {
    const uint32_t id = where[x];
    while (x < end && where[x] == id) ++x;
    return x;
  }

  /// Where the bytes of a section are, neighbours joined; and what must be done before.
  std::vector<Extent> read(const Step &step, Section section, std::vector<StepId> &waits) {
    std::vector<Extent> result;
    for (const Extent &e : section) {
      if (e.count == 0) continue;
      const auto [begin, end] = ticks_.range(e);
      const std::vector<uint32_t> &where = where_[e.buffer];
      for (int64_t x = begin; x < end;) {
        const int64_t y = runEnd(where, x, end);
        if (where[x] == 0) {
          neverWritten(step, e);
          return {};
        }
        const Source &source = sources_[where[x]];
        const Extent piece{source.buffer, static_cast<int32_t>(source.parts),
                           source.base + (x - source.at), y - x};
        if (source.producer >= 0 && (waits.empty() || waits.back() != source.producer))
          waits.push_back(source.producer);
        if (!result.empty() && result.back().buffer == piece.buffer &&
            result.back().parts == piece.parts &&
            result.back().first + result.back().count == piece.first)
          result.back().count += piece.count;
        else
          result.push_back(piece);
        x = y;
      }
    }
    for (Extent &e : result) e = normalize(e);
    return result;
  }

  /// What lies in the caller's memory will be read in a copy made at the start.
  void putAside(std::vector<Extent> &section) {
    for (Extent &e : section) {
      if (static_cast<size_t>(e.buffer) >= s_.buffers.size()) continue;  // a room
      const auto [begin, end] = ticks_.range(e);
      std::vector<bool> &marks = isStaged_[e.buffer];
      if (marks.empty()) marks.resize(ticks_.size(e.buffer));
      std::fill(marks.begin() + begin, marks.begin() + end, true);
      e = {staged(e.buffer), static_cast<int32_t>(ticks_.perBlock()), begin, end - begin};
    }
  }

  void putAsideWritten(std::vector<Extent> &section) {
    for (Extent &e : section) {
      if (static_cast<size_t>(e.buffer) >= s_.buffers.size()) continue;
      if (s_.buffers[e.buffer].role == Role::in) continue;
      std::vector<Extent> one = {e};
      putAside(one);
      e = one[0];
    }
  }

  /// Waits of step i that are not for bytes it reads.
  void alsoWait(StepId i, std::vector<StepId> &waits) {
    if (awaits_) waits.insert(waits.end(), control_[i].begin(), control_[i].end());
    if (s_.steps[i].peer < 0) return;  // of a reduction, only these can be told from overwriting
    for (const StepId d : s_.after(s_.steps[i])) {
      const Became &was = became_[d];
      const auto known = [&](StepId w) { return was.begin <= w && w < was.end; };
      if (was.end > 0 && std::none_of(waits.begin(), waits.end(), known))
        waits.push_back(was.end - 1);
    }
  }

  /// The nearest awaits that step i waits for, through whatever is in between.
  std::vector<StepId> controlOf(StepId i) const {
    std::vector<StepId> result;
    for (const StepId d : s_.after(s_.steps[i])) {
      const Op op = s_.steps[d].op;
      if (op == Op::await || (op == Op::recv && !control_[d].empty()))
        result.push_back(became_[d].end - 1);
      else
        result.insert(result.end(), control_[d].begin(), control_[d].end());
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  /// The caller's buffers get what the walk says they hold.
  void copyOut() {
    for (size_t b = 0; b < where_.size(); ++b) {
      const BufferId id = static_cast<BufferId>(b);
      if (!s_.buffers[b].ofResult()) continue;
      const std::vector<uint32_t> &where = where_[b];
      const int64_t size = static_cast<int64_t>(where.size());
      std::vector<Extent> from, to;
      std::vector<StepId> waits;
      for (int64_t x = 0; x < size;) {
        const int64_t y = runEnd(where, x, size);
        const Source &source = sources_[where[x]];
        if (source.buffer != id || source.at != source.base) {
          const Extent target{id, static_cast<int32_t>(ticks_.perBlock()), x, y - x};
          // Bytes of a buffer that is being written: from where they were put aside.
          const bool aside = source.producer < 0 && s_.buffers[source.buffer].role != Role::in;
          const Extent section[] = {target};
          std::vector<Extent> pieces = read({}, section, waits);
          if (aside) putAside(pieces);
          from.insert(from.end(), pieces.begin(), pieces.end());
          if (!to.empty() && to.back().first + to.back().count == x)
            to.back().count += y - x;
          else
            to.push_back(target);
        }
        x = y;
      }
      if (to.empty()) continue;
      for (Extent &e : to) e = normalize(e);
      const StepId id2 = draft_.add(Step{}, Op::copy, Unit::host_after);
      set(id2, from, {}, to);
      draft_.after(id2, std::move(waits));
    }
  }

  /// Rooms for what was marked as staged, and their right names everywhere.
  void stage() {
    struct Room {
      int64_t begin, end;  // ticks
      BufferId buffer;
      int64_t unit;  // ticks of a block of the room
      StepId filled;
    };
    std::vector<std::vector<Room>> rooms(s_.buffers.size());
    const StepId steps = draft_.size();
    for (size_t b = 0; b < isStaged_.size(); ++b) {
      const std::vector<bool> &marks = isStaged_[b];
      for (size_t x = 0; x < marks.size();) {
        if (!marks[x]) {
          ++x;
          continue;
        }
        size_t y = x;
        while (y < marks.size() && marks[y]) ++y;
        const Extent like =
            normalize({static_cast<BufferId>(b), static_cast<int32_t>(ticks_.perBlock()),
                       static_cast<int64_t>(x), static_cast<int64_t>(y - x)});
        std::string name = s_.buffers[b].name + ".staged";
        if (!rooms[b].empty()) name += std::to_string(rooms[b].size());
        const Extent section[] = {like};
        const BufferId room = draft_.addRoom(std::move(name), Role::scratch, section);
        const StepId id = draft_.add(Step{}, Op::copy, Unit::host_before);
        set(id, {like}, {}, {draft_.whole(room)});
        rooms[b].push_back({static_cast<int64_t>(x), static_cast<int64_t>(y), room,
                            ticks_.perBlock() / like.parts, id});
        x = y;
      }
    }
    for (StepId id = 0; id < steps; ++id) {
      Step &step = draft_.step(id);
      std::vector<StepId> waits;
      for (Run run : {step.from, step.with}) {
        for (uint32_t k = 0; k < run.size; ++k) {
          Extent &e = sections_[run.begin + k];
          if (e.buffer >= 0) continue;
          const std::vector<Room> &list = rooms[staged(e.buffer)];
          const auto room = std::upper_bound(list.begin(), list.end(), e.first,
                                             [](int64_t x, const Room &r) { return x < r.end; });
          e = normalize(
              {room->buffer, static_cast<int32_t>(room->unit), e.first - room->begin, e.count});
          waits.push_back(room->filled);
        }
      }
      if (!waits.empty()) {
        waits.insert(waits.end(), draft_.after(id).begin(), draft_.after(id).end());
        draft_.after(id, std::move(waits));
      }
    }
    // Only now sections are what they will be.
    for (StepId id = 0; id < draft_.size(); ++id) {
      Step &step = draft_.step(id);
      for (Run *run : {&step.from, &step.with, &step.to})
        *run = draft_.result.keep(Section(sections_).subspan(run->begin, run->size));
    }
  }

  void set(StepId id, const std::vector<Extent> &from, const std::vector<Extent> &with,
           const std::vector<Extent> &to) {
    const auto keep = [&](const std::vector<Extent> &section) {
      const Run run{static_cast<uint32_t>(sections_.size()), static_cast<uint32_t>(section.size())};
      sections_.insert(sections_.end(), section.begin(), section.end());
      return run;
    };
    Step &step = draft_.step(id);
    step.from = keep(from);
    step.with = keep(with);
    step.to = keep(to);
  }

  void neverWritten(const Step &step, const Extent &e) {
    diag_.error(step.loc, "coredirect: eager: rank ", s_.rank, " of ", s_.ranks, " reads ",
                toString(s_, Section(&e, 1)), ", which was never written in all its parts");
    failed_ = true;
  }

  const Schedule &s_;
  const Device &device_;
  const EagerOptions &options_;
  Diag &diag_;
  Ticks ticks_;
  Draft draft_;
  std::vector<Source> sources_;               // [0]: nowhere
  std::vector<std::vector<uint32_t>> where_;  // buffer, tick -> source
  std::vector<std::vector<bool>> isStaged_;   // caller's buffer, tick
  std::vector<Extent> sections_;              // of the draft's steps, until stage()
  std::vector<Became> became_;
  std::vector<std::vector<StepId>> control_;  // step -> awaits; empty where there are none
  const bool hierarchical_;
  bool awaits_ = false, failed_ = false;
  int packed_ = 0, slots_ = 0, values_ = 0, got_ = 0;
};

}  // namespace

Schedule legalizeEager(const Schedule &s, const Device &device, const EagerOptions &options,
                       Diag &diag) {
  return Eager(s, device, options, diag).run();
}

}  // namespace nbcc::crosschannel
