// SPDX-License-Identifier: BSD-3-Clause
// verify_words.cpp - the questions of verify_template.cpp, where each queue waits for words by
// itself.
//
// A queue's entries start in their order, and a WAIT for a word holds up those behind it; no entry
// but its WAITs tells a queue anything. So a step may start when all is over that its queue has
// waited for before it, and a dependency follows if a WAIT for what ends the other step stands
// there.
//
// What a word says is plain from its number (words.h) once it is seen that each is written by the
// entry behind what it tells of, in ascending order: then who has seen the n-th of a sort has seen
// those before, too. Words that peers write are what their own proofs are about.
//
// The host works between stages: behind all that the management queue has waited for in those
// before, and before what waits for the word of its stage.
//
// And what does not follow from dependencies: a send goes when its receiver is clear; who waits
// does not do so for what the program, or this rank itself, reaches only later (that can deadlock);
// at the end all is over, and behind the last entry that somebody knows to be over there is none,
// so that words, rings and buffers may be used again.
//
// Linear in entries, steps and waits, but for a logarithm.

#include "codegen/coredirect/verify_words.h"

#include <algorithm>
#include <map>

#include "codegen/common/verify_places.h"
#include "codegen/coredirect/own_waits.h"
#include "codegen/coredirect/phases.h"
#include "codegen/coredirect/words.h"
#include "nbc/mlx5_wqe.h"

namespace nbcc::crosschannel {
namespace {

using namespace codegen;
using Kind = WordEntry::Kind;

constexpr uint32_t kNone = UINT32_MAX;

class Verifier {
 public:
  Verifier(const View &view, const nbc_variant &variant, const Schedule &s,
           std::vector<uint32_t> &owners, Diag &diag)
      : view_(view),
        variant_(variant),
        s_(s),
        diag_(diag),
        data_(view, s, static_cast<uint32_t>(&variant - view.variants.data()), owners),
        queues_(view.queues.size()),
        places_(s.steps.size()) {}

  void run() {
    if (!findSteps() || !hosts()) return;
    for (uint32_t q = 0; q < queues_.size(); ++q) readQueue(q);
    if (!allThere()) return;
    if (!data_.separate()) wrong(data_.why);
    stages();
    for (uint32_t q = 0; q < queues_.size(); ++q)
      for (const Wait &wait : queues_[q].waits) look(q, wait);
    for (const StuckWait &stuck : stuckWaits(view_, variant_))
      wrong(at(stuck.queue, stuck.entry), " waits for a word that this rank never comes to write");
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i) dependencies(i);
    complete();
  }

 private:
  /// A row and a sort of its words, as one number.
  using Source = uint64_t;
  static Source source(uint32_t queue, Word sort) {
    return uint64_t{queue} << 8 | static_cast<uint8_t>(sort);
  }

  struct Wait {
    uint32_t index;  // of its entry
    Source source;
    uint32_t number;
  };
  struct Queue {
    std::vector<Entry> entries;
    std::vector<StepId> sends, receives, copies;  // as the schedule has them
    std::vector<uint32_t> answers;                // answer -> the message it is about
    uint32_t sent = 0, cleared = 0, copied = 0;   // found so far
    std::vector<Wait> waits;
    std::map<Source, std::vector<Wait>> seen;  // their numbers ascend
    std::vector<int64_t> phases;               // entry -> the earliest phase from there on
    uint32_t effect = 0;                       // entries up to the last that is known to be over
  };
  struct Place {
    uint32_t queue = kNone, number = 0;
    uint32_t start = kNone;  // the entry it begins with; of a receive, its clear-to-send
    int64_t stage = -1;      // of the host
    int64_t order = -1;
  };

  template <class... Part>
  void wrong(const Part &...parts) {
    diag_.error(Loc{}, "coredirect: variant ", view_.variantName(variant_), ": ", parts...);
  }
  template <class... Part>
  void wrongStep(StepId i, const Part &...parts) {
    diag_.error(s_.steps[i].loc, "coredirect: variant ", view_.variantName(variant_), ": ", say(i),
                ": ", parts...);
  }

  std::string say(StepId i) const {
    const Step &step = s_.steps[i];
    std::string text = cat("step %", i, " (", name(step.op));
    if (step.peer >= 0) text += cat(receives(step) ? " from " : " to ", step.peer);
    return text + ")";
  }
  std::string at(uint32_t q, const Entry &e) const {
    return cat("entry ", e.index, " of ", view_.queueName(q));
  }
  std::string say(Source source, uint32_t number) const {
    static const char *const sorts[] = {"message", "clear-to-send", "answer"};
    const uint32_t q = static_cast<uint32_t>(source >> 8);
    const uint32_t kind = view_.queues[q].kind;
    const char *sort = kind == NBC_QUEUE_LOOPBACK     ? "copy"
                       : kind == NBC_QUEUE_MANAGEMENT ? "beginning of stage"
                                                      : sorts[(source & 0xff) % 3];
    return cat(sort, " ", kind == NBC_QUEUE_MANAGEMENT ? number + 1 : number, " of ",
               view_.queueName(q));
  }

  // --- Which entry is which ----------------------------------------------------

  bool findSteps() {
    std::vector<uint32_t> chain(static_cast<size_t>(s_.ranks), kNone);
    for (uint32_t q = 0; q < queues_.size(); ++q) {
      const nbc_queue &facts = view_.queues[q];
      if (facts.kind == NBC_QUEUE_CHAIN && facts.peer < view_.peers.size())
        chain[view_.peers[facts.peer]] = q;
      if (facts.kind == NBC_QUEUE_LOOPBACK) loopback_ = q;
      if (facts.kind == NBC_QUEUE_MANAGEMENT) management_ = q;
    }
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i) {
      const Step &step = s_.steps[i];
      Place &place = places_[i];
      if (byHost(step)) {
        place.order = static_cast<int64_t>(hostSteps_.size());
        hostSteps_.push_back(i);
        continue;
      }
      place.queue = step.peer < 0 ? loopback_ : chain[step.peer];
      if (place.queue == kNone) {
        wrong("there is no queue for ", say(i));
        return false;
      }
      Queue &queue = queues_[place.queue];
      std::vector<StepId> &list = step.peer < 0    ? queue.copies
                                  : receives(step) ? queue.receives
                                                   : queue.sends;
      place.number = static_cast<uint32_t>(list.size());
      list.push_back(i);
    }
    return true;
  }

  bool dataOf(Section section, const nbc_range &pieces) {
    data_.want(section);
    return data_.found(pieces.begin, pieces.count, false) && data_.complete();
  }

  bool hosts() {
    size_t next = 0;
    for (uint32_t k = 0; k < variant_.stages.count; ++k) {
      const nbc_stage &facts = view_.stages[variant_.stages.begin + k];
      for (uint32_t h = 0; h < facts.hosts_count; ++h, ++next) {
        if (next == hostSteps_.size()) break;
        const StepId i = hostSteps_[next];
        const Step &step = s_.steps[i];
        const nbc_host &host = view_.hosts[facts.hosts_begin + h];
        places_[i].stage = k;
        data_.why = "another operation";
        if ((host.op == NBC_HOST_REDUCE) != (step.op == Op::reduce) ||
            !dataOf(s_.from(step), host.from) || !dataOf(s_.with(step), host.with) ||
            !dataOf(s_.to(step), host.to))
          wrongStep(i, "the host does something else: ", data_.why);
      }
    }
    if (next == hostSteps_.size()) return true;
    wrong("the host does ", next, " steps where the schedule has ", hostSteps_.size());
    return false;
  }

  void readQueue(uint32_t q) {
    Queue &queue = queues_[q];
    if (const nbc_segment *s = view_.segment(variant_.segments, q, NBC_RING_SEND))
      queue.entries = view_.entries(*s);
    bool open = false;  // data of the next send stand before this entry
    for (uint32_t k = 0; k < queue.entries.size(); ++k) {
      const Entry &e = queue.entries[k];
      const WordEntry w = view_.word(e);
      control(q, e, w);
      if (open && w.kind != Kind::tell) wrong(at(q, e), " parts a message from the word for it");
      const bool opens = open;
      open = false;
      switch (w.kind) {
        case Kind::wait:
          wait(q, k, w);
          break;
        case Kind::tell:
          tell(q, k, w, opens);
          break;
        case Kind::ask:
          ask(q, e, w);
          queue.effect = k + 1;
          break;
        case Kind::none:
          open = data(q, k);
          break;
      }
    }
    if (open) wrong(view_.queueName(q), " ends with a message that no word tells of");
    receivesOf(q);
  }

  /// What is filled in says the same as the bytes.
  void control(uint32_t q, const Entry &e, const WordEntry &w) {
    if (e.wqeIndex != (e.index & 0xffff)) wrong(at(q, e), " says that its index is ", e.wqeIndex);
    if (e.queuePair != q)
      wrong(at(q, e), " names queue pair ", e.queuePair, " where its own is ", q);
    if (!w.proper) wrong(at(q, e), " does more than words do");
    const uint32_t second = e.offset + MLX5_SEGMENT, third = second + MLX5_SEGMENT;
    const bool chain = view_.queues[q].kind == NBC_QUEUE_CHAIN;
    bool index = false, pair = false, named = w.kind == Kind::none, filled = named;
    for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, e.offset, e.blocks * MLX5_WQEBB)) {
      const bool here = r.what == w.queue && r.addend == w.word && r.at == second;
      switch (r.rule) {
        case NBC_RELOC_INDEX:
          index = r.at == e.offset + MLX5_CTRL_INDEX && r.what == q && r.addend == e.index;
          break;
        case NBC_RELOC_WORD_WAIT:
          named = filled = w.kind == Kind::wait && here;
          break;
        case NBC_RELOC_WORD_TOLD:
        case NBC_RELOC_WORD_OWN:
          named = w.kind != Kind::wait && here && w.queue == q &&
                  chain == (r.rule == NBC_RELOC_WORD_TOLD);
          break;
        case NBC_RELOC_WORD_INTO:
          filled = w.kind == Kind::ask && r.at == third && r.what == q && r.addend == w.into;
          break;
        case NBC_RELOC_WORD_VALUE:
          filled = w.kind == Kind::tell && r.at == third + 4;
          break;
      }
    }
    for (const nbc_reloc &r : view_.relocsAt(variant_.bind, e.offset, e.blocks * MLX5_WQEBB))
      if (r.rule == NBC_RELOC_QPN) pair = r.at == e.offset + MLX5_CTRL_QPN && r.what == q;
    if (!index || !pair || !named || !filled)
      wrong(at(q, e), ": a relocation is missing or says something else than the bytes");
  }

  void wait(uint32_t q, uint32_t k, const WordEntry &w) {
    const Entry &e = queues_[q].entries[k];
    if (w.queue >= queues_.size()) return wrong(at(q, e), " waits for a word of queue ", w.queue);
    const bool chain = view_.queues[w.queue].kind == NBC_QUEUE_CHAIN;
    const Word sort = chain ? sortOf(w.word) : Word::message;
    const Wait wait{k, source(w.queue, sort), chain ? numberOf(w.word) : w.word};
    queues_[q].waits.push_back(wait);
    std::vector<Wait> &seen = queues_[q].seen[wait.source];
    if (seen.empty() || seen.back().number < wait.number) seen.push_back(wait);
  }

  void tell(uint32_t q, uint32_t k, const WordEntry &w, bool opens) {
    Queue &queue = queues_[q];
    const Entry &e = queue.entries[k];
    const uint32_t kind = view_.queues[q].kind;
    const bool chain = kind == NBC_QUEUE_CHAIN;
    if (chain && sortOf(w.word) == Word::message) {
      const uint32_t n = numberOf(w.word);
      if (n != queue.sent || n >= queue.sends.size())
        return wrong(at(q, e), " tells of message ", n, " where ", queue.sent, " of ",
                     queue.sends.size(), " is next");
      const StepId i = queue.sends[queue.sent++];
      if (opens != (s_.steps[i].from.size > 0))
        return wrongStep(
            i, at(q, e),
            opens ? " follows data that it has not" : " tells of it, and its data were not sent");
      if (!opens) places_[i].start = k;
    } else if (opens) {
      wrong(at(q, e), " parts a message from the word for it");
    } else if (chain && sortOf(w.word) == Word::clear) {
      const uint32_t n = numberOf(w.word);
      if (n != queue.cleared || n >= queue.receives.size())
        return wrong(at(q, e), " clears message ", n, " where ", queue.cleared, " of ",
                     queue.receives.size(), " is next");
      places_[queue.receives[queue.cleared++]].start = k;
      queue.effect = k + 1;  // its message will have come
    } else if (kind == NBC_QUEUE_LOOPBACK) {
      // Of all copies before it.
      if (w.word != queue.answers.size() || queue.copied == 0)
        return wrong(at(q, e), " tells of copies by word ", w.word, " where ", queue.answers.size(),
                     " is next");
      queue.answers.push_back(queue.copied - 1);
      queue.effect = k + 1;
    } else if (kind == NBC_QUEUE_MANAGEMENT) {
      stageWords_.push_back({k, 0, w.word});
      queue.effect = k + 1;
    } else {
      wrong(at(q, e), " writes an answer of the peer's");
    }
  }

  void ask(uint32_t q, const Entry &e, const WordEntry &w) {
    Queue &queue = queues_[q];
    if (view_.queues[q].kind != NBC_QUEUE_CHAIN || sortOf(w.word) != Word::message ||
        sortOf(w.into) != Word::answer || numberOf(w.into) != queue.answers.size() ||
        numberOf(w.word) + 1 != queue.sent)
      return wrong(at(q, e), " asks for word ", w.word, " into ", w.into, " where message ",
                   queue.sent, " is next, and answer ", queue.answers.size());
    queue.answers.push_back(numberOf(w.word));
  }

  /// A SEND, whose word is to follow, or a copy.
  bool data(uint32_t q, uint32_t k) {
    Queue &queue = queues_[q];
    const Entry &e = queue.entries[k];
    const bool copy = view_.queues[q].kind == NBC_QUEUE_LOOPBACK;
    const std::vector<StepId> &steps = copy ? queue.copies : queue.sends;
    const uint32_t next = copy ? queue.copied++ : queue.sent;
    if (view_.queues[q].kind == NBC_QUEUE_MANAGEMENT || next >= steps.size() ||
        e.opcode != (copy ? MLX5_WRITE : MLX5_SEND)) {
      wrong(at(q, e), " has opcode ", int(e.opcode), ", and is no step's");
      return false;
    }
    const StepId i = steps[next];
    places_[i].start = k;
    if (!movesDataOf(i, e)) wrongStep(i, "its work queue entry moves other data: ", data_.why);
    return !copy;
  }

  bool movesDataOf(StepId i, const Entry &e) {
    const Step &step = s_.steps[i];
    const bool copy = step.op == Op::copy;
    uint32_t segments = 1 + copy;
    const auto relocs = view_.relocsAt(variant_.relocs, e.offset, e.blocks * MLX5_WQEBB);
    data_.want(s_.from(step), s_.with(step));
    for (const nbc_reloc &r : relocs) {
      if (r.rule != NBC_RELOC_SGE) continue;
      const uint32_t place = e.offset + segments++ * MLX5_SEGMENT;
      data_.why = cat("a data segment is at ", r.at, " where it should be at ", place);
      if (r.at != place || !data_.found(r.what, r.extra + 1, true)) return false;
    }
    if (!data_.complete()) return false;
    bool target = !copy;
    for (const nbc_reloc &r : relocs) {
      if (r.rule != NBC_RELOC_RADDR || !copy) continue;
      data_.why = "it says in another place where to";
      data_.want(s_.to(step));
      if (r.at != e.offset + MLX5_SEGMENT || !data_.foundTarget(r.what)) return false;
      target = true;
    }
    data_.why = cat("it has ", int(e.segments), " segments, and relocations for ", segments);
    return segments == e.segments && target;
  }

  void receivesOf(uint32_t q) {
    std::vector<StepId> posted;
    for (const StepId i : queues_[q].receives)
      if (s_.steps[i].to.size > 0) posted.push_back(i);
    const nbc_segment *s = view_.segment(variant_.segments, q, NBC_RING_RECV);
    if ((s ? s->entries : 0) != posted.size())
      return wrong(view_.queueName(q), " has ", s ? s->entries : 0,
                   " receives where the schedule has ", posted.size());
    for (uint32_t k = 0; k < posted.size(); ++k) {
      const uint32_t stride = s->bytes / s->entries;
      uint32_t place = s->offset + k * stride;
      bool right = true;
      data_.want(s_.to(s_.steps[posted[k]]));
      for (const nbc_reloc &r : view_.relocsAt(variant_.relocs, place, stride)) {
        data_.why = cat("a data segment is at ", r.at, " where it should be at ", place);
        right = right && r.at == place && data_.found(r.what, r.extra + 1, true);
        place += MLX5_SEGMENT;
      }
      if (!right || !data_.complete())
        wrongStep(posted[k], "its receive is for other data: ", data_.why);
    }
  }

  bool allThere() {
    const int before = diag_.errors();
    for (uint32_t q = 0; q < queues_.size(); ++q) {
      const Queue &queue = queues_[q];
      if (queue.sent != queue.sends.size() || queue.cleared != queue.receives.size() ||
          queue.copied != queue.copies.size())
        wrong(view_.queueName(q), " sends ", queue.sent, ", clears ", queue.cleared, ", copies ",
              queue.copied, " where the schedule has ", queue.sends.size(), ", ",
              queue.receives.size(), " and ", queue.copies.size());
      if (q != management_ && queue.effect != queue.entries.size())
        wrong("nobody knows that ", at(q, queue.entries[queue.effect]), " is over");
    }
    return diag_.errors() == before;
  }

  void stages() {
    const size_t all = management_ == kNone ? 0 : queues_[management_].entries.size();
    uint32_t enabled = 0;
    for (uint32_t k = 0; k < variant_.stages.count; ++k) {
      const nbc_stage &stage = view_.stages[variant_.stages.begin + k];
      stageBegins_.push_back(enabled);
      if (stage.enabled < enabled || stage.enabled > all)
        return wrong("stage ", k, " goes to entry ", stage.enabled, " of mq, after ", enabled,
                     " of ", all);
      for (uint32_t p = enabled; p < stage.enabled; ++p)
        if (queues_[management_].entries[p].signalled != (p + 1 == stage.enabled))
          wrong("entry ", p, " of mq is signalled where no stage ends, or the reverse");
      enabled = stage.enabled;
    }
    if (enabled != all) wrong("the stages end with entry ", enabled, " of mq, which has ", all);
    for (size_t k = 0; k < stageWords_.size(); ++k) {
      const Wait &w = stageWords_[k];
      if (w.number != k || k + 1 >= stageBegins_.size() || w.index != stageBegins_[k + 1])
        wrong("entry ", w.index, " of mq says that stage ", w.number + 1, " begins, and does not");
    }
    for (uint32_t q = 0; q < queues_.size(); ++q)
      if (q != management_) phasesOf(q);
    if (management_ != kNone) phasesOf(management_);
  }

  // --- Can it come, and may it be waited for there -------------------------------

  /// The steps that begin with each entry; with a stage's word, those of the queues that wait for
  /// it.
  void phasesOf(uint32_t q) {
    Queue &queue = queues_[q];
    queue.phases.assign(queue.entries.size() + 1, kNever);
    const auto begins = [&](uint32_t entry, int64_t phase) {
      queue.phases[entry] = std::min(queue.phases[entry], phase);
    };
    for (const auto *list : {&queue.sends, &queue.receives, &queue.copies})
      for (const StepId i : *list) begins(places_[i].start, phaseOfStart(s_.steps[i]));
    for (const Queue &other : queues_)
      for (const Wait &wait : other.waits)
        if (q == management_ && wait.source == source(q, Word::message) &&
            wait.number < stageWords_.size() && &other != &queue)
          begins(stageWords_[wait.number].index, other.phases[wait.index]);
    for (size_t k = queue.entries.size(); k-- > 0;)
      queue.phases[k] = std::min(queue.phases[k], queue.phases[k + 1]);
  }

  void look(uint32_t q, const Wait &wait) {
    const uint32_t row = static_cast<uint32_t>(wait.source >> 8);
    const Word sort = static_cast<Word>(wait.source & 0xff);
    const Queue &of = queues_[row];
    const uint32_t kind = view_.queues[row].kind;
    const auto who = [&] {
      return cat(at(q, queues_[q].entries[wait.index]), " waits for ",
                 say(wait.source, wait.number));
    };
    int64_t ends = -1;
    if (kind == NBC_QUEUE_MANAGEMENT) {
      if (wait.number >= stageWords_.size() || q == management_)
        return wrong(who(), ", which nobody tells of");
      for (const StepId i : hostSteps_)
        if (places_[i].stage <= int64_t{wait.number} + 1 && s_.steps[i].unit == Unit::host)
          ends = std::max(ends, phaseOfEnd(s_.steps[i]));
    } else {
      const size_t there = kind == NBC_QUEUE_LOOPBACK || sort == Word::answer ? of.answers.size()
                           : sort == Word::message                            ? of.receives.size()
                                                                              : of.sends.size();
      if (wait.number >= there) return wrong(who(), ", of which there are ", there);
      if (kind == NBC_QUEUE_LOOPBACK)
        ends = phaseOfEnd(s_.steps[of.copies[of.answers[wait.number]]]);
      else if (sort == Word::answer)
        ends = phaseOfEnd(s_.steps[of.sends[of.answers[wait.number]]]);
      else if (sort == Word::message)
        ends = phaseOfEnd(s_.steps[of.receives[wait.number]]);
      else
        ends = phaseOfStart(s_.steps[of.sends[wait.number]]);
    }
    const int64_t next = queues_[q].phases[wait.index];
    if (next < ends)
      wrong(who(), ", and what follows it is of round ", next / 3,
            " of the program: ranks can wait for each other for ever");
  }

  // --- Dependencies ------------------------------------------------------------

  /// Whether entries of queue q from `before` on come after that word, or one behind it.
  bool hasSeen(uint32_t q, uint32_t before, uint32_t row, Word sort, uint32_t number) const {
    const auto found = queues_[q].seen.find(source(row, sort));
    if (found == queues_[q].seen.end()) return false;
    const auto it = std::ranges::lower_bound(found->second, number, {}, &Wait::number);
    return it != found->second.end() && it->index < before;
  }

  /// The first word of its sort that says that a send or copy is over; kNone: none does.
  uint32_t answerTo(StepId d) const {
    const std::vector<uint32_t> &answers = queues_[places_[d].queue].answers;
    const auto it = std::ranges::lower_bound(answers, places_[d].number);
    return it == answers.end() ? kNone : static_cast<uint32_t>(it - answers.begin());
  }

  bool isOver(StepId d, uint32_t q, uint32_t before) const {
    const Place &earlier = places_[d];
    if (byHost(s_.steps[d])) {
      if (earlier.stage == 0) return true;  // before all doorbells
      return hasSeen(q, before, management_, Word::message,
                     static_cast<uint32_t>(earlier.stage) - 1);
    }
    if (receives(s_.steps[d]))
      return hasSeen(q, before, earlier.queue, Word::message, earlier.number);
    const uint32_t answer = answerTo(d);
    const Word sort = s_.steps[d].peer < 0 ? Word::message : Word::answer;
    return answer != kNone && hasSeen(q, before, earlier.queue, sort, answer);
  }

  bool follows(StepId i, StepId d) const {
    const Place &place = places_[i];
    if (!byHost(s_.steps[i])) return isOver(d, place.queue, place.start);
    if (byHost(s_.steps[d])) return place.order > places_[d].order;
    return management_ != kNone && isOver(d, management_, stageBegins_[place.stage]);
  }

  void dependencies(StepId i) {
    const Step &step = s_.steps[i];
    const Place &place = places_[i];
    for (const StepId d : s_.after(step)) {
      if (follows(i, d)) continue;
      diag_.error(step.loc, "coredirect: variant ", view_.variantName(variant_), ": ", say(i),
                  " may start before ", say(d), " is done: ", because(i));
      diag_.note(s_.steps[d].loc, "this is ", say(d));
    }
    if (step.peer < 0 || receives(step)) return;
    if (!hasSeen(place.queue, place.start, place.queue, Word::clear, place.number))
      wrongStep(i, "it may start before rank ", step.peer, " is clear to receive: no WAIT for ",
                say(source(place.queue, Word::clear), place.number), " comes before ",
                at(place.queue, queues_[place.queue].entries[place.start]));
  }

  std::string because(StepId i) const {
    if (byHost(s_.steps[i])) return cat("the host does it in stage ", places_[i].stage);
    return cat("no WAIT for that comes before ",
               at(places_[i].queue, queues_[places_[i].queue].entries[places_[i].start]));
  }

  /// When the call is over, everything is.
  void complete() {
    const uint32_t end =
        management_ == kNone ? 0 : static_cast<uint32_t>(queues_[management_].entries.size());
    for (StepId i = 0; i < static_cast<StepId>(s_.steps.size()); ++i)
      if (!byHost(s_.steps[i]) && (management_ == kNone || !isOver(i, management_, end)))
        wrong("the call may be over before ", say(i), " is");
  }

  const View &view_;
  const nbc_variant &variant_;
  const Schedule &s_;
  Diag &diag_;
  PlaceVerifier data_;
  std::vector<Queue> queues_;
  std::vector<Place> places_;
  std::vector<StepId> hostSteps_;
  std::vector<Wait> stageWords_;
  std::vector<uint32_t> stageBegins_;
  uint32_t loopback_ = kNone, management_ = kNone;
};

}  // namespace

void verifyWords(const View &view, const nbc_variant &variant, const Schedule &s,
                 std::vector<uint32_t> &owners, Diag &diag) {
  Verifier(view, variant, s, owners, diag).run();
}

}  // namespace nbcc::crosschannel
