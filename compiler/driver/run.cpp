// SPDX-License-Identifier: BSD-3-Clause
// run.cpp - all ranks of a communicator in this process.
//
// Simulated time: one thread starts the calls of all ranks and then serves the
// device's events; a rank's nbc_test is called when its device has something for
// it. Real time: a thread for each rank.

#include "compiler/driver/run.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <memory>
#include <ostream>
#include <thread>

#include "compiler/driver/elements.h"
#include "compiler/driver/exchange.h"
#include "compiler/driver/prove_number.h"
#include "compiler/driver/run_calls.h"
#include "compiler/driver/run_device.h"
#include "compiler/driver/timeline.h"

namespace nbcc {
namespace {

constexpr double kReduceNsPerByte = 0.25;  // gamma: one core, in simulated time
constexpr auto kPatience = std::chrono::seconds(60);

struct Rank {
  Exchange::End end{};
  std::vector<nbc_device *> devices;
  nbc_comm *comm = nullptr;
  nbc_plan *plan = nullptr;
  std::vector<std::unique_ptr<Call>> calls;
  size_t started = 0;  // calls
  size_t waiting = 0;  // calls before it are done
  uint64_t hostSteps = 0;
  double finished = 0;  // ns
  std::string problem;  // first that occurred

  ~Rank() {
    if (plan) nbc_plan_abandon(plan);  // a run that came to rest has calls that never end
    nbc_plan_free(plan);
    nbc_comm_free(comm);
  }
};

class Runner {
 public:
  Runner(Compilation &c, const std::vector<Template> &templates, const Written &written,
         uint64_t seed, const Options &o, Diag &diag)
      : c_(c),
        templates_(templates),
        written_(written),
        seed_(seed),
        o_(o),
        diag_(diag),
        type_(*typeNamed(o.type)),
        op_(*operatorNamed(o.op)),
        variation_(variationOf(o, seed)),
        exchange_(static_cast<int>(o.ranks)),
        device_(softwareDevice(o, seed)) {
    // There is no such call: see template.h.
    const bool never =
        o.vary && o.targetOptions.lengths == Blocks::each && c.kind() == ast::Kind::reduce_scatter;
    for (Variation::Call &call : variation_.calls) call.inPlace = call.inPlace && !never;
    // One call, again and again; in place its own results would be the next one's input.
    if (direct() && variation_.calls.front().inPlace) variation_.calls.resize(1);
    if (direct()) std::ranges::fill(variation_.calls, Variation::Call(variation_.calls.front()));
    calls_.emplace(c.collective(), o, seed, variation_, written_.neighbors, written_.own);
  }

  void run(std::ostream &out) {
    if (!device_.add)
      return diag_.error(Loc(), "there is no software device for target ", o_.target->name);
    if (o_.compute > 0 && !device_.runUntil)
      return diag_.error(Loc(), "--compute: the software device of target ", o_.target->name,
                         " has no hosts that look away");
    ranks_ = std::vector<Rank>(static_cast<size_t>(o_.ranks));
    prepareCalls();
    if (!prepare()) return;
    if (threads())
      runThreads();
    else
      runSimulated();
    checkAll();
    if (diag_.ok() && !o_.quiet) report(out);
    if (diag_.ok() && !o_.timeline.empty()) drawTimeline();
  }

 private:
  bool direct() const { return o_.targetOptions.protocol == Protocol::direct; }
  bool threads() const { return o_.clock == Clock::real || device_.threads; }
  int calls() const { return static_cast<int>(variation_.calls.size()); }
  const Variation::Call &shape(int call) const {
    return variation_.calls[static_cast<size_t>(call)];
  }
  size_t longestBlock() const { return variation_.longest * nbc_type_size(type_); }

  /// Slots for this run's blocks and no larger: with a thousand ranks in one
  /// process the default's room for each would not fit.
  nbc_plan_options planOptions() const {
    nbc_plan_options p{};
    p.depth = static_cast<uint32_t>(variation_.depth);
    p.first_sq_index = static_cast<uint16_t>(variation_.firstIndex);
    p.first_cq_index = variation_.firstIndex;
    size_t longestEager = variation_.eagerBytes ? variation_.eagerBytes : 1024;
    bool eager = o_.targetOptions.protocol == Protocol::eager || longestBlock() <= longestEager;
    const bool inParts = o_.transfer == NBC_TRANSFER_EAGER;  // then these are what matters
    p.eager_bytes = eager ? longestBlock() : o_.vary || inParts ? longestEager : 8;
    if (device_.slotBytes && !eager && !o_.vary) p.eager_bytes = device_.slotBytes;
    p.eager_bytes = std::max<size_t>(p.eager_bytes, 8);
    p.max_bytes = std::max<size_t>(longestBlock(), 8);
    return p;
  }

  bool failed(int64_t rank, const char *what, int status, const char *why = nullptr) {
    if (status != 0)
      diag_.error(Loc(), "rank ", rank, ": ", what, ": ", why ? why : nbc_status_text(status));
    return status != 0;
  }

  /// Communicator and plan of each rank; then all connections.
  bool prepare() {
    nbc_plan_options plan = planOptions();
    for (int64_t r = 0; r < o_.ranks; ++r) {
      Rank &rank = ranks_[static_cast<size_t>(r)];
      const Template &t = templates_[static_cast<size_t>(r)];
      if (direct()) plan.call = &rank.calls.front()->arguments;
      rank.end = {&exchange_, static_cast<int>(r)};
      rank.devices = device_.add();
      nbc_bootstrap bootstrap = exchange_.bootstrap(&rank.end, threads());
      if (failed(
              r, "communicator",
              nbc_comm_create(&bootstrap, rank.devices.data(), rank.devices.size(), &rank.comm)) ||
          failed(r, "plan", nbc_plan_create(rank.comm, t.data(), t.bytes, &plan, &rank.plan),
                 nbc_plan_why()))
        return false;
    }
    if (threads()) return true;  // each thread connects its own
    for (int64_t r = 0; r < o_.ranks; ++r)
      if (failed(r, "connect", nbc_plan_connect(ranks_[static_cast<size_t>(r)].plan))) return false;
    return true;
  }

  void prepareCalls() {
    for (int64_t r = 0; r < o_.ranks; ++r)
      for (int n = 0; n < calls(); ++n)
        ranks_[static_cast<size_t>(r)].calls.push_back(calls_->make(r, n));
    if (direct())
      for (Rank &rank : ranks_)
        for (const auto &call : rank.calls) call->arguments = rank.calls.front()->arguments;
  }

  /// Calls that a rank may have under way; direct: it may look at one's results before the next.
  bool mayStart(const Rank &rank) const {
    return rank.started < rank.calls.size() && (!direct() || rank.started == rank.waiting);
  }

  void startNext(Rank &rank) {
    Call &call = *rank.calls[rank.started];
    if (int status = nbc_start(rank.plan, &call.arguments, &call.request))
      note(rank, "start", status);
    else
      ++rank.started;
  }

  void startAll(Rank &rank) {
    while (rank.problem.empty() && mayStart(rank)) startNext(rank);
  }

  static void note(Rank &rank, const char *what, int status) {
    if (rank.problem.empty()) rank.problem = cat(what, ": ", nbc_status_text(status));
  }

  /// Tests the calls in order; true when all are done, or nothing can be expected any more.
  bool test(Rank &rank) {
    while (rank.problem.empty() && rank.waiting < rank.started) {
      int done = 0;
      Call &call = *rank.calls[rank.waiting];
      if (int status = nbc_test(&call.request, &done)) note(rank, "test", status);
      if (!done) break;
      call.done = true;
      ++rank.waiting;
      if (direct()) startAll(rank);
    }
    return !rank.problem.empty() || rank.waiting == rank.calls.size();
  }

  /// A rank's host looks at its calls; what that costs it, in simulated time.
  void serve(uint32_t r) {
    Rank &rank = ranks_[r];
    if (rank.finished > 0) return;
    double before = std::max(device_.now(), computed_);
    if (test(rank)) {
      rank.finished = std::max(before, 1.0);
      --busy_;
    } else if (device_.rests && rank.waiting < rank.started) {
      for (int i = 0; i < 2; ++i) nbc_rest(&rank.calls[rank.waiting]->request, nullptr);
    }
    nbc_plan_info info{};
    nbc_plan_query(rank.plan, &info);
    double work = o_.overhead * 1e3;
    if (info.host_steps > rank.hostSteps) {
      double reduce = static_cast<double>((info.host_steps - rank.hostSteps) * longestBlock()) *
                      kReduceNsPerByte;
      bars_.push_back(
          {static_cast<int>(r), Timeline::Activity::reduce, before, before + work + reduce});
      work += reduce;
      rank.hostSteps = info.host_steps;
    }
    device_.hostBusy(r, work);
  }
  void serveAll() {
    for (uint32_t r = 0; r < ranks_.size(); ++r) serve(r);
  }

  /// Whoever may have something to do looks.
  std::function<bool(uint32_t)> always() {
    return [this](uint32_t rank) {
      serve(rank);
      return busy_ > 0;
    };
  }

  void runSimulated() {
    busy_ = ranks_.size();
    if (variation_.late) {
      runLate();
    } else {
      for (Rank &rank : ranks_) startAll(rank);
      if (o_.compute > 0) computeUnseen();
      serveAll();  // done already: one rank, or no work
      if (busy_ > 0) device_.run(always(), UINT64_MAX);
    }
    end_ = std::max(device_.now(), computed_);
    if (busy_ > 0) reportStuck();
  }

  /// Hosts look for a while if they are to, and compute. The device may be at rest before they are.
  void computeUnseen() {
    if (o_.look > 0) device_.runUntil(device_.now() + o_.look * 1e3, always());
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      device_.hostBusy(r, o_.compute * 1e3);
      computed_ = std::max(computed_, device_.hostFree(r));
    }
    device_.runUntil(computed_, {});
  }

  /// Ranks start their calls when they like, and look at every other completion, or when
  /// nothing else is left to happen.
  void runLate() {
    auto seen = [&](uint32_t rank) {
      if (variation_.below(2)) serve(rank);
      return busy_ > 0;
    };
    for (uint64_t before = UINT64_MAX; busy_ > 0;) {
      std::vector<Rank *> idle;
      for (Rank &rank : ranks_)
        if (rank.problem.empty() && mayStart(rank)) idle.push_back(&rank);
      if (!idle.empty()) startNext(*idle[variation_.below(idle.size())]);
      const uint64_t limit = idle.empty() ? UINT64_MAX : variation_.below(64);
      if (!device_.run(seen, limit) || !idle.empty()) continue;
      serveAll();
      uint64_t events = device_.events();
      if (events == before) return;  // twice at rest, and nothing came of looking
      before = events;
    }
  }

  void reportStuck() {
    diag_.error(Loc(), "the run came to rest before all calls were done");
    int shown = 0;
    for (const std::string &line : device_.waiting())
      if (++shown <= 16) diag_.note(Loc(), line);
  }

  void runThreads() {
    auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (Rank &rank : ranks_)
      threads.emplace_back([this, &rank] {
        if (int status = nbc_plan_connect(rank.plan)) return note(rank, "connect", status);
        startAll(rank);
        auto patience = std::chrono::steady_clock::now() + kPatience;
        while (!test(rank)) {
          device_.sleep(static_cast<uint32_t>(&rank - ranks_.data()), 10'000'000);
          if (std::chrono::steady_clock::now() > patience) {
            rank.problem =
                cat("call ", rank.waiting, " is not done after ", kPatience.count(), " s");
            return;
          }
        }
      });
    for (std::thread &t : threads) t.join();
    end_ =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  }

  void checkAll() {
    for (int64_t r = 0; r < o_.ranks; ++r) {
      Rank &rank = ranks_[static_cast<size_t>(r)];
      if (!rank.problem.empty()) diag_.error(Loc(), "rank ", r, ": ", rank.problem);
      const int looked = direct() ? 1 : calls();  // all are in the same buffers
      for (int n = 0; n < looked && rank.calls[static_cast<size_t>(n)]->done; ++n)
        calls_->check(r, n, *rank.calls[static_cast<size_t>(n)], diag_);
    }
    for (const std::string &finding : device_.wrong())
      diag_.error(Loc(), "the device says: ", finding);
  }

  void report(std::ostream &out) {
    uint64_t eager = 0, rendezvous = 0, calc = 0, steps = 0, queued = 0;
    for (const Rank &rank : ranks_) {
      nbc_plan_info info{};
      nbc_plan_query(rank.plan, &info);
      eager += info.eager;
      rendezvous += info.rendezvous;
      calc += info.calc;
      steps += info.host_steps;
      queued += info.queued;
    }
    out << c_.name() << " (" << c_.collective().name << ") on " << o_.ranks << " rank"
        << (o_.ranks == 1 ? "" : "s") << ", " << o_.target->name << " ("
        << o_.targetOptions.device->name << "), " << (shape(0).lengths.each() ? "up to " : "")
        << variation_.longest << " x " << o_.type << (c_.collective().reduces ? " " + o_.op : "")
        << (shape(0).lengths.each() ? ", each block of its own length" : "")
        << (shape(0).inPlace ? ", in place" : "")
        << (o_.adversarial ? cat(", adversarial from seed ", seed_) : "") << "\n";
    auto line = [&](const char *key) -> std::ostream & {
      return out << "  " << std::left << std::setw(14) << key << std::right;
    };
    line("calls") << calls() << " on each rank: "
                  << (calc         ? "reduced on the adapter"
                      : direct()   ? "direct"
                      : rendezvous ? "rendezvous"
                      : eager      ? "eager"
                                   : "local");
    if (queued)
      out << ", " << queued << " of " << calls() * o_.ranks << " had to wait for their turn";
    out << "\n";
    line("rounds") << written_.rounds << "\n";
    for (const auto &[key, value] : device_.report(written_.messages * calls()))
      line(key.c_str()) << value << "\n";
    line("host steps") << steps << "\n";
    if (o_.compute > 0) {
      line("compute") << o_.compute << " us on each rank";
      if (o_.look > 0) out << ", after looking for " << o_.look << " us";
      out << "\n";
    }
    line("time") << std::fixed << std::setprecision(2) << end_ / 1e3 << std::defaultfloat << " us";
    if (!threads() && device_.cost.empty()) out << ", one thread for all ranks";
    if (!threads() && !device_.cost.empty()) out << " simulated (" << device_.cost << ")";
    out << "\n";
    line("data") << "right on all ranks, byte for byte\n";
  }

  void drawTimeline() {
    Timeline t = device_.timeline();
    t.title = cat(c_.name(), " (", c_.collective().name, ") on ", o_.ranks, " ranks, ",
                  o_.target->name, ", ", longestBlock(), " bytes a block");
    t.ranks = static_cast<int>(o_.ranks);
    t.bars.insert(t.bars.end(), bars_.begin(), bars_.end());  // what the host does is drawn last
    for (size_t r = 0; r < ranks_.size(); ++r)
      t.marks.push_back({static_cast<int>(r), ranks_[r].finished});
    std::ofstream file(o_.timeline);
    draw(t, file);
    if (!file.flush()) diag_.error(Loc(), "cannot write ", o_.timeline);
  }

  Compilation &c_;
  const std::vector<Template> &templates_;
  Written written_;
  uint64_t seed_;
  const Options &o_;
  Diag &diag_;
  nbc_type type_;
  nbc_op op_;
  Variation variation_;
  std::optional<Calls> calls_;
  Exchange exchange_;
  RunDevice device_;  // ends after the plans and communicators on it
  std::vector<Rank> ranks_;
  size_t busy_ = 0;  // ranks with calls not done
  std::vector<Timeline::Bar> bars_;
  double computed_ = 0;  // ns: until when hosts compute
  double end_ = 0;       // ns
};

/// Whether calls with so many blocks on all ranks together do.
bool fits(const Options &o, size_t size, double blocks, Diag &diag) {
  constexpr double kMostBytes = double(uint64_t(4) << 30);
  const uint64_t longest =
      o.counts.empty() ? o.count : *std::max_element(o.counts.begin(), o.counts.end());
  const double block = static_cast<double>(longest) * static_cast<double>(size);
  const double all = block * blocks * o.calls;
  if (all > kMostBytes)
    diag.error(Loc(), o.calls, " call", o.calls == 1 ? "" : "s", " on ", o.ranks, " ranks with ",
               block, " bytes a block need ", all / (1 << 30), " GiB; at most 4 are taken");
  return all <= kMostBytes;
}

}  // namespace

void runTemplates(Compilation &c, const std::vector<Template> &templates, const Written &written,
                  uint64_t seed, const Options &o, std::ostream &out, Diag &diag) {
  Runner(c, templates, written, seed, o, diag).run(out);
}

void run(Compilation &c, const Options &o, std::ostream &out, Diag &diag) {
  std::optional<nbc_type> type = typeNamed(o.type);
  std::optional<nbc_op> op = operatorNamed(o.op);
  if (!type) diag.error(Loc(), "there is no type '", o.type, "' (nbcc --help lists them)");
  if (!op) diag.error(Loc(), "there is no operator '", o.op, "' (nbcc --help lists them)");
  if (!type || !op) return;
  if (hasBytesThatMeanNothing(*type)) {
    diag.error(Loc(), "elements of ", o.type, " have bytes that mean nothing; a run compares all");
    return;
  }
  const Collective kind = c.collective();
  if (kind.kind == ast::Kind::own && o.targetOptions.lengths == Blocks::each) {
    diag.error(Loc(), "--lengths=each is for MPI's v- and w-variants; blocks of ", kind.name,
               ", which is declared, are equally long");
    return;
  }
  int64_t blocks = (kind.in == Shape::blocks || kind.out == Shape::blocks ? o.ranks : 1) * o.ranks;
  std::vector<Schedule> own;
  if (kind.kind == ast::Kind::own) {
    blocks = 0;
    for (int64_t rank = 0; rank < o.ranks; ++rank) {
      std::optional<Schedule> s = c.written(o.ranks, rank, o.root);
      if (!s) return;
      for (const Buffer &buffer : s->buffers)
        if (buffer.ofCaller()) blocks += buffer.blocks;
      own.push_back(std::move(*s));
    }
  }
  if (!fits(o, nbc_type_size(*type), static_cast<double>(blocks), diag)) return;
  if (*op == NBC_USER && !o.user && *type != NBC_U64) {
    diag.error(Loc(), "operator affine works on u64, not on ", o.type);
    return;
  }
  if (kind.reduces && *op != NBC_USER && !nbc_reduction(*type, *op)) {
    diag.error(Loc(), "MPI has no ", o.op, " of ", o.type);
    return;
  }

  if (o.targetOptions.lengths == Blocks::each && !o.noProve) {
    const NumberProof proof = proveCall(c, o.ranks, o.root, diag);
    if (diag.ok()) checkLengths(proof, diag);
    if (!diag.ok()) return;
  }
  std::vector<Template> templates;
  Written written{.own = own};
  for (int64_t rank = 0; rank < o.ranks; ++rank) {
    std::vector<Legal> ways;
    std::optional<Template> t = c.compile(o.ranks, rank, o.root, o.inPlace || o.vary, &ways);
    if (!t) return;
    const Schedule &s = ways.front().schedule;
    written.rounds = std::max(written.rounds, s.rounds);
    written.messages += std::ranges::count_if(s.steps, sends);
    written.neighbors.push_back(s.neighbors);
    templates.push_back(std::move(*t));
  }
  double neighbors = 0;
  for (const Neighbors &n : written.neighbors) neighbors += static_cast<double>(n.sources.size());
  if (!fits(o, nbc_type_size(*type), neighbors, diag)) return;
  for (uint64_t seed = o.seed; seed <= o.lastSeed && diag.ok(); ++seed) {
    runTemplates(c, templates, written, seed, o, out, diag);
    if (!diag.ok() && o.adversarial)
      diag.note(Loc(), "with --seed=", seed,
                o.vary ? " --vary: " + variationOf(o, seed).text() : std::string());
  }
}

}  // namespace nbcc
