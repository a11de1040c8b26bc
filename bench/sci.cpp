// SPDX-License-Identifier: BSD-3-Clause
// sci.cpp - what of a collective over SISCI a program cannot compute behind, in simulated time.
//
//   bench-sci [--today] [--json OUT] FILE...     templates of target sci, of all ranks:
//                                                nbcc --rank=all --emit=template
//
// As NBCBench has it: a first call is waited for, which takes T. Then a call is started, and the
// program computes for T, in equal parts between tests, one for each 2,048 bytes and one more; then
// it waits for the rest. Overhead is what all that took beyond T; of a call of which nothing goes
// on meanwhile it is T. The card is that of the paper (sisci::paper). A line for each size, by
// stores and by DMA; the slowest rank counts. --json writes what nbc-bench would, for nbc-tune
// --figures.
//
// Copies between memory of the host are not charged, so that DMA looks better than it is by two of
// them.

#include "nbc/sci.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "devices/sisci/sisci.h"
#include "dsl/collectives.h"
#include "nbc/template.h"
#include "nbc/transfer.h"
#include "test/runtime/board.h"

namespace {

using sisci::Time;

constexpr Time kLook = 200 * sisci::nanosecond;  // of a host that waits: at memory of its own
constexpr size_t kBytesPerTest = 2048;

void must(int status, const char *what) {
  if (!status) return;
  std::fprintf(stderr, "bench-sci: %s: %s\n", what, nbc_status_text(status));
  std::exit(1);
}

const nbc_sci_api &software() {
  static const nbc_sci_api api = {
#define NBC_SCI_LINKED(name) .name = &::name,
      NBC_SCI_FUNCTIONS(NBC_SCI_LINKED)
#undef NBC_SCI_LINKED
  };
  return api;
}

/// Templates of all ranks, one behind the other.
struct Templates {
  std::vector<uint64_t> words;
  std::vector<const nbc_template *> ofRank;
  std::string file;

  explicit Templates(const char *name) : file(name) {
    std::ifstream in(name, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    must(all.size() < sizeof(nbc_template) ? NBC_ERROR_TEMPLATE : 0, name);
    words.resize(all.size() / 8 + 1);
    std::memcpy(words.data(), all.data(), all.size());
    const auto *bytes = reinterpret_cast<const char *>(words.data());
    for (size_t at = 0; at < all.size();) {
      const auto *t = reinterpret_cast<const nbc_template *>(bytes + at);
      ofRank.push_back(t);
      at += t->bytes;
    }
    must(ofRank.size() != ofRank[0]->ranks ? NBC_ERROR_TEMPLATE : 0, name);
  }
  uint32_t ranks() const { return ofRank[0]->ranks; }
  std::string collective() const {
    for (const nbcc::Collective &c : nbcc::collectives())
      if (uint32_t(c.kind) == ofRank[0]->kind) return std::string(c.name);
    return "own";
  }
};

/// All ranks in one thread. Each host has a clock, which what it does moves on.
class Hosts {
 public:
  Hosts(const Templates &t, const sisci::Cost &cost, nbc_transfer way, size_t bytes)
      : fabric_({.mode = sisci::Mode::Simulated,
                 .cost = cost,
                 .facts = {.longestTransfer = 256 << 10}}),
        contexts_(t.ranks()),
        ranks_(t.ranks()) {
    const nbc_plan_options options = {.max_bytes = bytes};
    for (uint32_t r = 0; r < t.ranks(); ++r) {
      contexts_[r] = {&board_, int(r)};
      const nbc_sci_options how = {.adapter = fabric_.addAdapter() + 1, .transfer = way};
      nbc_device *device = nullptr;
      const nbc_bootstrap b = {int(r),     int(t.ranks()), &contexts_[r],
                               Board::put, Board::get,     nullptr};
      Rank &rank = ranks_[r];
      must(nbc_sci_open_with(&software(), &how, &device, nullptr), "device");
      must(nbc_comm_create(&b, &device, 1, &rank.comm), "communicator");
      must(nbc_plan_create(rank.comm, t.ofRank[r], t.ofRank[r]->bytes, &options, &rank.plan),
           "plan");
      rank.in.resize(bytes * t.ranks());
      rank.out.resize(bytes * t.ranks());
    }
    for (Rank &rank : ranks_) must(nbc_plan_connect(rank.plan), "connect");
  }
  ~Hosts() {
    for (Rank &rank : ranks_) nbc_plan_free(rank.plan);
    for (Rank &rank : ranks_) nbc_comm_free(rank.comm);
  }

  /// Of a call behind which each host computes for `work`, with so many tests in between: when the
  /// last has all, from when all began.
  Time call(size_t bytes, Time work, size_t tests) {
    // Never what a slot holds already: of that the model's shadows see nothing.
    for (Rank &rank : ranks_)
      for (uint8_t &byte : rank.in) byte = uint8_t(random_());
    fabric_.run();
    Time begin = fabric_.now(), end = 0;
    for (uint32_t r = 0; r < ranks_.size(); ++r) begin = std::max(begin, fabric_.hostFree(r));
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      fabric_.hostBusy(r, begin - std::max(fabric_.hostFree(r), fabric_.now()));
      ranks_[r].parts = work ? tests + 1 : 0;
      ranks_[r].state = Rank::Idle;
    }
    for (uint32_t r; (r = next()) < ranks_.size();) {
      fabric_.run({}, {.until = fabric_.hostFree(r)});
      Rank &rank = ranks_[r];
      const bool done = rank.goOn(bytes);
      if (rank.parts) {
        --rank.parts;
        fabric_.hostBusy(r, work / Time(tests + 1));
      } else if (done) {
        rank.state = Rank::Done;
        end = std::max(end, fabric_.hostFree(r));
      } else {
        fabric_.hostBusy(r, kLook);
      }
    }
    return end - begin;
  }

 private:
  struct Rank {
    nbc_comm *comm = nullptr;
    nbc_plan *plan = nullptr;
    std::vector<uint8_t> in, out;
    nbc_request request = {};
    size_t parts = 0;  // of its work, that are left
    enum { Idle, Started, Done } state = Idle;

    bool goOn(size_t bytes) {
      int done = 0;
      if (state == Idle) {
        const nbc_call call = {.in = in.data(), .out = out.data(), .count = bytes};
        must(nbc_start(plan, &call, &request), "start");
        state = Started;
      } else {
        must(nbc_test(&request, &done), "test");
      }
      return done;
    }
  };

  /// Whose clock is behind all others'; the number of ranks: all are done.
  uint32_t next() const {
    uint32_t first = uint32_t(ranks_.size());
    for (uint32_t r = 0; r < ranks_.size(); ++r)
      if (ranks_[r].state != Rank::Done &&
          (first == ranks_.size() || fabric_.hostFree(r) < fabric_.hostFree(first)))
        first = r;
    return first;
  }

  sisci::Fabric fabric_;
  Board board_;
  std::vector<Board::Context> contexts_;
  std::vector<Rank> ranks_;
  std::mt19937 random_;
};

double us(Time t) {
  return double(t) / double(sisci::microsecond);
}

struct Figures {
  Time blocking, overhead;
  size_t tests;
};

Figures figuresOf(const Templates &t, const sisci::Cost &cost, nbc_transfer way, size_t bytes) {
  Hosts hosts(t, cost, way, bytes);
  const Time blocking = hosts.call(bytes, 0, 0);
  const size_t tests = bytes / kBytesPerTest + 1;
  return {blocking, hosts.call(bytes, blocking, tests) - blocking, tests};
}

/// As nbc-bench has it.
nlohmann::ordered_json resultOf(const Templates &t, nbc_transfer way, size_t bytes,
                                const Figures &f) {
  return {{"collective", t.collective()},
          {"algorithm", t.collective() + "." + t.ofRank[0]->algorithm},
          {"target", t.ofRank[0]->target},
          {"transfer", nbc_transfer_name(way)},
          {"bytes", bytes},
          {"latency", {{"median_us", us(f.blocking)}}},
          {"overlap",
           {{{"tests", f.tests},
             {"overlap", 1 - double(f.overhead) / double(f.blocking)},
             {"total", {{"median_us", us(f.blocking + f.overhead)}}},
             {"computing", {{"median_us", us(f.blocking)}}},
             {"latency_us", us(f.blocking)}}}}};
}

/// The size from which on DMA was better, at all that were measured.
struct Crossover {
  size_t from = 0;
  void see(size_t bytes, bool better) {
    if (!better)
      from = 0;
    else if (!from)
      from = bytes;
  }
  std::string text() const { return from ? std::to_string(from) : "none"; }
};

void measure(const Templates &t, const sisci::Cost &cost, nlohmann::ordered_json &results) {
  const std::string name = t.file.substr(t.file.rfind('/') + 1);
  Crossover blocking, overhead;
  for (size_t bytes = 8; bytes <= 65536; bytes *= bytes < 512 ? 8 : 2) {
    Figures of[2];
    for (nbc_transfer way : {NBC_TRANSFER_PIO, NBC_TRANSFER_DMA}) {
      const Figures f = of[way == NBC_TRANSFER_DMA] = figuresOf(t, cost, way, bytes);
      std::printf("%-20s %3u %8zu %s %10.1f %10.1f %5.0f\n", name.c_str(), t.ranks(), bytes,
                  nbc_transfer_name(way), us(f.blocking), us(f.overhead),
                  100 * (1 - double(f.overhead) / double(f.blocking)));
      results.push_back(resultOf(t, way, bytes, f));
    }
    blocking.see(bytes, of[1].blocking < of[0].blocking);
    overhead.see(bytes, of[1].overhead < of[0].overhead);
  }
  std::printf("# %s: bytes from which on dma is better: %s when blocking, %s of overhead\n",
              name.c_str(), blocking.text().c_str(), overhead.text().c_str());
}

}  // namespace

int main(int argc, char **argv) {
  CLI::App app("what of a collective over SISCI a program cannot compute behind", "bench-sci");
  std::vector<std::string> files;
  std::string output;
  bool today = false;
  app.add_option("FILE", files, "templates of target sci, of all ranks")->required();
  app.add_flag("--today", today, "an adapter of today, not the paper's");
  app.add_option("--json", output, "write what nbc-bench --json would");
  CLI11_PARSE(app, argc, argv);

  nlohmann::ordered_json all = {{"program", "bench-sci"},
                                {"mpi",
                                 {{"library", today ? "simulated time, an adapter of today"
                                                    : "simulated time, a card of 2006"}}}};
  std::printf("# algorithm ranks bytes way blocking/us overhead/us overlap/%%\n");
  uint32_t ranks = 0;
  for (const std::string &file : files) {
    const Templates t(file.c_str());
    if (ranks && ranks != t.ranks()) {
      std::fprintf(stderr, "bench-sci: %s: it is for %u ranks; those before are for %u\n",
                   file.c_str(), t.ranks(), ranks);
      return 1;
    }
    ranks = t.ranks();
    measure(t, today ? sisci::today : sisci::paper, all["results"]);
  }
  if (output.empty()) return 0;
  all["machine"] = {{"ranks", ranks}, {"ranks_of_node", 1}};
  std::ofstream out(output);
  out << all.dump(1) << "\n";
  if (out.flush()) return 0;
  std::fprintf(stderr, "bench-sci: cannot write %s\n", output.c_str());
  return 1;
}
