// SPDX-License-Identifier: BSD-3-Clause
// Calls of buffers that lie apart, by layouts: on either side or both, and beside others that do
// not.

#include <thread>

#include "test/runtime/gather.h"
#include "test/runtime/shm/node.h"
#include "test/runtime/shm/processes.h"

namespace {

constexpr uint8_t GAP = 0x77;

/// Of which no part is like another.
uint8_t valueOf(size_t rank, size_t call, size_t i) {
  return byteOf(rank, call, i + i / 251);
}

/// Bytes in groups of a few, the last group first, with gaps between them.
class Apart : public nbc_layout {
 public:
  explicit Apart(size_t bytes, size_t each = 1)
      : nbc_layout{gather, scatter}, bytes_(bytes), each_(each) {
    memory_.assign((bytes / each + 1) * (each + 3), GAP);
  }

  uint8_t &operator[](size_t i) {
    return const_cast<uint8_t &>(static_cast<const Apart &>(*this)[i]);
  }
  const uint8_t &operator[](size_t i) const {
    const size_t group = bytes_ / each_ - i / each_;
    return memory_[group * (each_ + 3) + i % each_];
  }
  bool gapsAreLeft() const {
    for (size_t at = 0; at < memory_.size(); ++at)
      if (at % (each_ + 3) >= each_ && memory_[at] != GAP) return false;
    return true;
  }

 private:
  static void gather(const nbc_layout *l, uint64_t offset, void *to, size_t bytes) {
    const auto &self = *static_cast<const Apart *>(l);
    EXPECT_LE(offset + bytes, self.bytes_);
    EXPECT_NE(bytes, 0u);
    for (size_t i = 0; i < bytes; ++i) static_cast<uint8_t *>(to)[i] = self[offset + i];
  }
  static void scatter(const nbc_layout *l, uint64_t offset, const void *from, size_t bytes) {
    auto &self = const_cast<Apart &>(*static_cast<const Apart *>(l));
    EXPECT_LE(offset + bytes, self.bytes_);
    EXPECT_NE(bytes, 0u);
    for (size_t i = 0; i < bytes; ++i) self[offset + i] = static_cast<const uint8_t *>(from)[i];
  }

  size_t bytes_, each_;
  std::vector<uint8_t> memory_;
};

/// An allgather, and whether a rank's sides of it lie apart.
struct Kind {
  size_t ranks, bytes;
  bool in, out, inPlace;
};

/// A rank's part in it. Stays where it is while the call is under way.
struct Part {
  Part(size_t rank, size_t call, Kind k)
      : kind(k),
        in(k.bytes),
        out(k.ranks * k.bytes + 1, GAP),
        inApart(k.bytes, 3),
        outApart(k.ranks * k.bytes, 8) {
    for (size_t i = 0, at = rank * k.bytes; i < k.bytes; ++i) {
      in[i] = inApart[i] = valueOf(rank, call, i);
      if (k.inPlace) out[at + i] = outApart[at + i] = in[i];
    }
  }
  int start(nbc_plan *plan, nbc_request &request) {
    nbc_call call = {.in = in.data(), .out = out.data(), .count = kind.bytes};
    if (kind.in) call.in = nullptr, call.in_layout = &inApart;
    if (kind.inPlace) call.in = NBC_IN_PLACE, call.in_layout = nullptr;
    if (kind.out) call.out = nullptr, call.out_layout = &outApart;
    return nbc_start(plan, &call, &request);
  }
  bool isRight(size_t call) const {
    for (size_t from = 0; from < kind.ranks; ++from)
      for (size_t i = 0; i < kind.bytes; ++i) {
        const size_t at = from * kind.bytes + i;
        if ((kind.out ? outApart[at] : out[at]) != valueOf(from, call, i)) return false;
      }
    return outApart.gapsAreLeft() && inApart.gapsAreLeft() && out.back() == GAP;
  }

  const Kind kind;
  std::vector<uint8_t> in, out;
  Apart inApart, outApart;
};

/// All started by all ranks before anything moves.
void gatherApart(Node &w, const std::vector<size_t> &bytes, bool inPlace, unsigned seed) {
  const size_t ranks = w.plans.size(), calls = bytes.size();
  std::vector<Part> parts;
  for (size_t r = 0; r < ranks; ++r)
    for (size_t c = 0; c < calls; ++c)
      parts.emplace_back(
          r, c, Kind{ranks, bytes[c], (r + c + seed) % 3 != 0, (r + seed) % 4 != 1, inPlace});
  std::vector<nbc_request> requests(parts.size());
  for (size_t at = 0; at < parts.size(); ++at)
    ASSERT_EQ(parts[at].start(w.plans[at / calls], requests[at]), 0);
  ASSERT_TRUE(Node::finish(requests, seed));
  for (size_t at = 0; at < parts.size(); ++at)
    EXPECT_TRUE(parts[at].isRight(at % calls)) << "rank " << at / calls << " call " << at % calls;
}

TEST(Layouts, anyLengthEitherSideSeveralInFlight) {
  for (uint32_t ranks : {1, 2, 3, 5})
    for (unsigned seed = 0; seed < 6; ++seed) {
      Node w(ranks, {.never_pull = int(seed % 2)});
      w.addPlans(build::ringAllgather(ranks), {.depth = 1 + seed % 3});
      EXPECT_NE(nbc_plan_layouts(w.plans[0]), NBC_LAYOUTS_REFUSED);
      for (bool inPlace : {false, true})
        gatherApart(w, {0, 1, 48, 49, 1024, 2049, 5003, 8192, 8193, 0, 7, 70001, 2}, inPlace, seed);
    }
}

TEST(Layouts, blocksWithLengthsOfTheirOwn) {
  const size_t counts[] = {5003, 0, 70001};
  const std::vector<size_t> at = {0, 5003, 5003};
  Node w(3);
  w.addPlans([](uint32_t rank) {
    build::Bytes b = build::ringAllgather(3, rank);
    b.header()->lengths = NBC_LENGTHS_EACH;
    b.seal();
    return b;
  });
  std::vector<Apart> in, out;
  for (size_t r = 0; r < 3; ++r) {
    in.emplace_back(counts[r], 5);
    out.emplace_back(75004, 7);
    for (size_t i = 0; i < counts[r]; ++i) in[r][i] = valueOf(r, 0, i);
  }
  std::vector<nbc_request> requests(3);
  for (size_t r = 0; r < 3; ++r) {
    nbc_call call = {.count = counts[r], .out_counts = counts};
    call.in_layout = &in[r];
    call.out_layout = &out[r];
    ASSERT_EQ(nbc_start(w.plans[r], &call, &requests[r]), 0);
  }
  ASSERT_TRUE(Node::finish(requests));
  for (const Apart &o : out) {
    for (size_t r = 0; r < 3; ++r)
      for (size_t i = 0; i < counts[r]; ++i) ASSERT_EQ(o[at[r] + i], valueOf(r, 0, i)) << r;
    EXPECT_TRUE(o.gapsAreLeft());
  }
}

// One that lies in one piece at its sender is read from there, if that one does not come by.
TEST(Layouts, amongProcessesHoweverLate) {
  Processes all(2, [](Process &p) {
    nbc_comm *comm = p.open();
    nbc_plan *plan = Process::plan(comm, build::ownLastAllgather(uint32_t(p.files.rank)));
    const auto rank = size_t(p.files.rank);
    for (size_t call = 0; call < 32; ++call) {
      const size_t lengths[] = {70001, 5003, 1 << 20, 9000};
      Part part(rank, call,
                {2, lengths[call % 4], (call / 4 + rank) % 2 != 0, call / 8 % 2 == rank, false});
      nbc_request request;
      Process::must(part.start(plan, request) == 0, "a call starts");
      if (call % 3 == rank) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      Process::must(nbc_wait(&request) == 0, "a call ends well");
      Process::must(part.isRight(call), "the data are right");
    }
    p.close(comm, plan);
  });
  expectAllWell(all);
}

TEST(Layouts, areRefusedWhereOperatorsMeetMemory) {
  Node w(2);
  w.addPlans([](uint32_t r) { return build::messageAllreduce(2, r); });
  EXPECT_EQ(nbc_plan_layouts(w.plans[0]), NBC_LAYOUTS_REFUSED);
  EXPECT_EQ(nbc_plan_layouts(nullptr), NBC_LAYOUTS_REFUSED);
  const Apart apart(8);
  int64_t one = 1, sum;
  nbc_request request;
  nbc_call call = {.in = &one, .out = &sum, .count = 1, .type = NBC_I64, .op = NBC_SUM};
  call.in_layout = &apart;
  EXPECT_EQ(nbc_start(w.plans[0], &call, &request), NBC_ERROR_UNSUPPORTED);
  call.in_layout = nullptr;
  call.out_layout = &apart;
  EXPECT_EQ(nbc_start(w.plans[0], &call, &request), NBC_ERROR_UNSUPPORTED);
}

// Many ranks have small windows, or share cores.
TEST(Layouts, areQuickWhereEachRankHasACore) {
  for (uint32_t ranks : {2, 64}) {
    Node w(ranks);
    w.addPlans(build::ringAllgather(ranks));
    const bool quick = ranks == 2 && std::thread::hardware_concurrency() >= 2;
    EXPECT_EQ(nbc_plan_layouts(w.plans[0]), quick ? NBC_LAYOUTS_QUICK : NBC_LAYOUTS_TAKEN);
  }
}

}  // namespace
