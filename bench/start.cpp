// SPDX-License-Identifier: BSD-3-Clause
// start.cpp - what nbc_start costs the CPU: one rank of Bruck's allgather, P = 1,024, eager.
//
// Ten sends that gather 1 to 10 pieces, 31 entries of the management queue, every
// second call a window's credits; nbc_start patches and copies all of it. The adapter
// is a stub, its doorbell completes the call: no time of a device is in the figure.
//
//   bench-start FILE    another allgather's template (--emit=template), whose ranks are
//                       symmetric: all peers look the same here. Made with --lengths=each, it is
//                       called with counts and displacements that leave gaps.
//
// Prints nanoseconds per call (medians), of nbc_start and of the nbc_test that ends it.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <vector>

#include "nbc/hca.h"
#include "test/runtime/builder.h"

namespace {

/// Queues that nobody reads. The CQ that is polled gets an entry at each doorbell.
struct Stub : nbc_hca {
  nbc_hca_ops table = {};
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  nbc_hca_cq polled = {};
  uint32_t completed = 0, numbers = 0;

  uint8_t *take(size_t bytes) {
    memory.push_back(std::make_unique<uint8_t[]>(bytes + 64));
    return reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(memory.back().get()) + 63) &
                                       ~uintptr_t{63});
  }

  Stub() {
    device = {NBC_HCA_TARGET, nullptr};
    ops = &table;
    table.facts = [](nbc_hca *, nbc_hca_facts *f) {
      *f = {30, 32, 15, 15, 22, 0x7e, NBC_HCA_WAITS_CQ};
    };
    table.address = [](nbc_hca *, uint8_t *) { return 0; };
    table.create_cq = [](nbc_hca *h, uint32_t log, uint32_t flags, nbc_hca_cq *cq) {
      auto *self = static_cast<Stub *>(h);
      uint8_t *entries = self->take(size_t{64} << log);
      std::fill(entries, entries + (64 << log), uint8_t{0xf1});
      *cq = {++self->numbers, log, entries, nullptr};
      if (flags & NBC_HCA_CQ_HOST) self->polled = *cq;
      return 0;
    };
    table.create_qp = [](nbc_hca *h, const nbc_hca_qp_request *r, nbc_hca_qp *qp) {
      auto *self = static_cast<Stub *>(h);
      *qp = {
          ++self->numbers,
          r->log_sq,
          r->log_rq,
          r->log_stride,
          self->take(size_t{64} << r->log_sq),
          r->log_rq == UINT32_MAX ? nullptr : self->take(size_t{1} << (r->log_rq + r->log_stride)),
          reinterpret_cast<volatile uint32_t *>(self->take(8))};
      return 0;
    };
    table.connect_qp = [](nbc_hca *, uint32_t, const uint8_t *, uint32_t) { return 0; };
    table.destroy_qp = table.destroy_cq =
        table.deregister_memory = [](nbc_hca *, uint32_t) { return 0; };
    table.register_memory = [](nbc_hca *, void *, size_t, uint32_t, uint32_t *l, uint32_t *r) {
      *l = *r = 1;
      return 0;
    };
    table.failed = [](nbc_hca *, uint32_t) { return 0u; };
    table.doorbell = [](nbc_hca *h, uint32_t, uint64_t) {
      auto *self = static_cast<Stub *>(h);
      uint32_t log = self->polled.log_entries, n = self->completed++;
      auto *entry = const_cast<uint8_t *>(self->polled.entries) + (n & ((1u << log) - 1)) * 64;
      entry[MLX5_CQE_OP_OWN] = uint8_t(n >> log & 1);
    };
  }
};

/// Rank 0, round j: the first 2^j blocks to rank P - 2^j, as many from rank 2^j.
build::Bytes bruck(uint32_t ranks) {
  build::Builder b("bruck", NBC_ALLGATHER, ranks, 0);
  uint32_t in = b.buffer(NBC_ROLE_IN), out = b.buffer(NBC_ROLE_OUT);
  uint32_t staging = b.buffer(NBC_ROLE_STAGING, 1), slots = b.buffer(NBC_ROLE_SLOTS, ranks - 1);
  std::vector<std::pair<uint32_t, uint32_t>> rooms;
  for (uint32_t d = 1; d < ranks; d *= 2) rooms.push_back({b.queue(NBC_QUEUE_EAGER, d), d - 1});
  b.ahead(rooms, slots);
  b.beginVariant(NBC_EAGER);
  std::vector<uint32_t> blocks = {b.inRoom(staging, 0, in)};
  b.copy(b.piece(in, 0), blocks[0]);
  for (uint32_t d = 1; d < ranks; d *= 2) {
    uint32_t to = b.queue(NBC_QUEUE_EAGER, ranks - d), from = b.queue(NBC_QUEUE_EAGER, d);
    b.send(to, blocks, true);
    b.enable(to, uint32_t(1 + blocks.size() + 3) / 4);
    b.wait(from, NBC_SIDE_RECV, 0);
    blocks.push_back(b.inRoom(slots, d - 1, out, d, d));
  }
  for (uint32_t d = 1; d < ranks; d *= 2)
    b.wait(b.queue(NBC_QUEUE_EAGER, ranks - d), NBC_SIDE_SEND, 0);
  b.stage();
  b.copy(blocks[0], b.piece(out, 0));
  for (uint32_t d = 1, i = 1; d < ranks; d *= 2, ++i) b.copy(blocks[i], b.piece(out, d, d));
  b.stage();
  b.endVariant();
  b.beginVariant(NBC_EAGER, NBC_VARIANT_CREDIT);
  for (uint32_t d = 1; d < ranks; d *= 2) {
    uint32_t told = b.queue(NBC_QUEUE_CTS, d);
    b.send(told, {}, false);
    b.enable(told, 1);
  }
  for (uint32_t d = 1; d < ranks; d *= 2) {
    uint32_t waited = b.queue(NBC_QUEUE_CTS, ranks - d);
    b.waitCredit(waited);
    b.receivePlain(waited, 1);
  }
  b.stage();
  b.endVariant();
  return b.finish();
}

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) * 1e9 + double(t.tv_nsec);
}

/// For the middle of many: others use this machine, too.
double median(std::vector<double> &times) {
  std::nth_element(times.begin(), times.begin() + ptrdiff_t(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void must(int status) {
  if (!status) return;
  std::fprintf(stderr, "start: %s\n", nbc_status_text(status));
  std::exit(1);
}

build::Bytes read(const char *name) {
  std::ifstream file(name, std::ios::binary | std::ios::ate);
  build::Bytes bytes;
  bytes.words.resize(file ? size_t(file.tellg()) / 8 : 0);
  file.seekg(0).read(static_cast<char *>(bytes.data()), std::streamsize(bytes.size()));
  must(file ? nbc_template_check(bytes.data(), bytes.size(), nullptr) : NBC_ERROR_ARGUMENT);
  return bytes;
}

}  // namespace

int main(int argc, char **argv) {
  build::Bytes made = argc > 1 ? read(argv[1]) : bruck(1024);
  const uint32_t ranks = made.header()->ranks;
  constexpr size_t count = 8, calls = 20000;
  Stub adapter;
  struct Board {
    std::vector<uint8_t> record;
  } board;
  auto put = [](void *context, const char *, const void *data, size_t bytes) {
    const auto *b = static_cast<const uint8_t *>(data);
    static_cast<Board *>(context)->record.assign(b, b + bytes);
    return 0;
  };
  nbc_bootstrap bootstrap = {int(made.header()->rank), int(ranks), &board, put, nullptr, nullptr};
  bootstrap.get = [](void *context, int, const char *, void *data, size_t, size_t *bytes) {
    auto &record = static_cast<Board *>(context)->record;  // all peers look the same
    std::copy(record.begin(), record.end(), static_cast<uint8_t *>(data));
    *bytes = record.size();
    return 0;
  };
  nbc_comm *comm;
  nbc_plan *plan;
  nbc_device *device = &adapter.device;
  must(nbc_comm_create(&bootstrap, &device, 1, &comm));
  must(nbc_plan_create(comm, made.data(), made.size(), nullptr, &plan));
  must(nbc_plan_connect(plan));

  std::vector<uint8_t> in(count), out(2 * count * ranks);
  nbc_call call = {};
  call.in = in.data(), call.out = out.data(), call.count = count;
  const std::vector<size_t> counts(ranks, count);
  std::vector<ptrdiff_t> displacements(ranks);
  for (uint32_t i = 0; i < ranks; ++i) displacements[i] = ptrdiff_t{2 * count} * i;
  if (made.header()->lengths == NBC_LENGTHS_EACH) {
    call.out_counts = counts.data();
    call.out_displacements = displacements.data();
  }
  std::vector<double> starts[2], tests, clocks;  // every second call opens a window
  for (size_t i = 0; i < calls; ++i) {
    nbc_request request;
    int done;
    double t0 = now(), t1 = now();
    must(nbc_start(plan, &call, &request));
    double t2 = now();
    do must(nbc_test(&request, &done));
    while (!done);  // a progress thread may be at it
    double t3 = now();
    clocks.push_back(t1 - t0), starts[i % 2].push_back(t2 - t1), tests.push_back(t3 - t2);
  }
  double clock = median(clocks), window = median(starts[0]) - clock,
         plain = median(starts[1]) - clock;
  std::printf(
      "nbc_start of allgather %s, P = %u: %.0f ns (every second call %.0f, with "
      "credits); nbc_test that ends it: %.0f ns\n",
      made.header()->algorithm, ranks, plain, window, median(tests) - clock);
  must(nbc_plan_free(plan));
  must(nbc_comm_free(comm));
}
