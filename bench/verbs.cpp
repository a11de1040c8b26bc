// SPDX-License-Identifier: BSD-3-Clause
// verbs.cpp - what nbc_start costs the CPU by target verbs, by size and way of transfer.
//
//   nbcc allgather/linear.nbc --target=verbs --ranks=2 --rank=all --emit=template -o linear
//   bench-verbs linear [alltoall ...]
//
// Two ranks in one thread, on adapters of software whose own time stands still meanwhile: what is
// measured is the runtime, and a provider that makes work queue entries and rings a doorbell.
// Buffers come again, as those of persistent calls. Prints nanoseconds of rank 0's nbc_start, the
// median of calls, each way in turn; of which rank 0 is the first to start, so nobody has offered
// anything yet.
//
//   auto   by length: up to 1024 bytes copied, beyond direct       anew   offers are not kept

#include "devices/verbs/verbs.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "devices/hca/hca.h"
#include "nbc/template.h"
#include "test/runtime/board.h"

namespace {

constexpr int calls = 300, warmup = 20;

void must(int status) {
  if (!status) return;
  std::fprintf(stderr, "bench-verbs: %s\n", nbc_status_text(status));
  std::exit(1);
}

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) * 1e9 + double(t.tv_nsec);
}

struct Way {
  const char *name;
  verbs::Options options;
};
const Way ways[] = {{"auto", {}},
                    {"anew", {.offers = NBC_VERBS_ANEW}},
                    {"eager", {.transfer = NBC_TRANSFER_EAGER}},
                    {"write", {.transfer = NBC_TRANSFER_WRITE}},
                    {"read", {.transfer = NBC_TRANSFER_READ}},
                    {"send", {.transfer = NBC_TRANSFER_SEND}},
                    {"direct", {.transfer = NBC_TRANSFER_DIRECT}}};

/// The templates of a file, all ranks' behind one another; aligned.
class Templates {
 public:
  explicit Templates(const char *name) {
    std::ifstream file(name, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    words_.resize(bytes.size() / 8);
    std::copy(bytes.begin(), bytes.begin() + ptrdiff_t(words_.size() * 8),
              reinterpret_cast<char *>(words_.data()));
  }
  const nbc_template *of(uint32_t rank) const {
    for (size_t at = 0; at + sizeof(nbc_template) / 8 <= words_.size();) {
      const auto *t = reinterpret_cast<const nbc_template *>(&words_[at]);
      if (t->rank == rank && t->ranks == 2) return t;
      if (t->bytes == 0) break;
      at += t->bytes / 8;
    }
    must(NBC_ERROR_TEMPLATE);
    return nullptr;
  }

 private:
  std::vector<uint64_t> words_;
};

struct World {
  Board board;
  hca::Fabric fabric{{.mode = hca::Mode::Simulated}};
  Board::Context contexts[2] = {{&board, 0}, {&board, 1}};
  verbs::Device devices[2];
  nbc_comm *comms[2] = {};
  nbc_plan *plans[2] = {};
  std::vector<uint8_t> in[2], out[2];
  nbc_call call[2] = {};

  World(const Templates &templates, const Way &way, size_t bytes) {
    const nbc_plan_options options = {.max_bytes = bytes + 8};
    for (int r : {0, 1}) {
      devices[r] = verbs::deviceOn(fabric.addAdapter(), way.options);
      nbc_bootstrap b = {r, 2, &contexts[r], Board::put, Board::get, nullptr};
      nbc_device *device = &devices[r]->device;
      must(nbc_comm_create(&b, &device, 1, &comms[r]));
      const nbc_template *t = templates.of(uint32_t(r));
      must(nbc_plan_create(comms[r], t, t->bytes, &options, &plans[r]));
      in[r].assign(2 * bytes, uint8_t(r));
      out[r].resize(2 * bytes);
      call[r].in = in[r].data();
      call[r].out = out[r].data();
      call[r].count = bytes;
    }
    for (nbc_plan *p : plans) must(nbc_plan_connect(p));
  }
  ~World() {
    for (nbc_plan *p : plans) must(nbc_plan_free(p));
    for (nbc_comm *c : comms) must(nbc_comm_free(c));
  }
  /// Nanoseconds of rank 0's start.
  double start() {
    nbc_request requests[2];
    const double begin = now();
    must(nbc_start(plans[0], &call[0], &requests[0]));
    const double took = now() - begin;
    must(nbc_start(plans[1], &call[1], &requests[1]));
    for (int done[2] = {}; !done[0] || !done[1];) {
      fabric.run();
      for (int r : {0, 1})
        if (!done[r]) must(nbc_test(&requests[r], &done[r]));
    }
    return took;
  }
};

double medianOfStart(const Templates &templates, const Way &way, size_t bytes) {
  World w(templates, way, bytes);
  std::vector<double> times;
  for (int i = 0; i < warmup; ++i) w.start();
  for (int i = 0; i < calls; ++i) times.push_back(w.start());
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  return times[calls / 2];
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "bench-verbs: see the head of its source\n");
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    const Templates templates(argv[i]);
    std::printf("%s\n%10s", argv[i], "bytes");
    for (const Way &way : ways) std::printf("%10s", way.name);
    std::printf("\n");
    for (size_t bytes = 8; bytes <= size_t{4} << 20; bytes *= 8) {
      std::printf("%10zu", bytes);
      for (const Way &way : ways) std::printf("%10.0f", medianOfStart(templates, way, bytes));
      std::printf("\n");
    }
  }
}
