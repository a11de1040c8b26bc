// SPDX-License-Identifier: BSD-3-Clause
// What stays registered when a call is done, and what does not: memory that is unmapped, or that
// nobody watches. What becomes of memory that cannot be registered.

#include <algorithm>
#include <map>
#include <optional>

#include "test/runtime/gather.h"
#include "test/runtime/traffic.h"
#include "test/runtime/verbs/world.h"

namespace {

/// What one device has registered, and who wants to know of memory that goes. Its functions have no
/// other way to find it than by the device.
struct Seen {
  const nbc_verbs_ops *real = nullptr;
  nbc_verbs_ops ops = {};
  int registered = 0, onDemand = 0, refused = 0;
  size_t pinnable = SIZE_MAX;                       // of one registration, bytes
  size_t largest = 0;                               // of what was registered, bytes
  size_t holds = SIZE_MAX, held = 0;                // bytes, of all that is pinned
  std::function<bool(uintptr_t, size_t)> cannotBe;  // registered at all
  std::map<void *, size_t> regions;                 // and how many of these bytes
  nbc_verbs_gone *gone = nullptr;
  void *context = nullptr;
  bool watches = true;

  static std::map<nbc_verbs *, Seen> &all() {
    static std::map<nbc_verbs *, Seen> map;
    return map;
  }
  static int add(nbc_verbs *v, void *begin, size_t bytes, int access, void **region, uint32_t *lkey,
                 uint32_t *rkey) {
    Seen &s = all()[v];
    const bool pins = !(access & IBV_ACCESS_ON_DEMAND);
    if (pins && (bytes > s.pinnable || bytes > s.holds - s.held)) {
      ++s.refused;
      return NBC_ERROR_RESOURCES;
    }
    if (s.cannotBe && s.cannotBe(reinterpret_cast<uintptr_t>(begin), bytes)) {
      ++s.refused;
      return NBC_ERROR_DEVICE;
    }
    const int status = s.real->register_memory(v, begin, bytes, access, region, lkey, rkey);
    ++s.registered;
    s.onDemand += (access & IBV_ACCESS_ON_DEMAND) != 0;
    s.largest = std::max(s.largest, bytes);
    s.regions[*region] = pins ? bytes : 0;
    s.held += s.regions[*region];
    return status;
  }
  static void remove(nbc_verbs *v, void *region) {
    Seen &s = all()[v];
    s.held -= s.regions[region];
    EXPECT_EQ(s.regions.erase(region), 1u);
    s.real->deregister_memory(v, region);
  }
  static int watch(nbc_verbs *v, nbc_verbs_gone *gone, void *context) {
    Seen &s = all()[v];
    if (!s.watches) return NBC_ERROR_UNSUPPORTED;
    s.gone = gone;
    s.context = context;
    return 0;
  }
  static void put(nbc_verbs &v, bool watches) {
    Seen &s = all()[&v] = {};
    s.real = v.ops;
    s.ops = *v.ops;
    s.ops.register_memory = add;
    s.ops.deregister_memory = remove;
    s.ops.watch = watch;
    s.watches = watches;
    v.ops = &s.ops;
  }
};

constexpr uint32_t ranks = 2;
constexpr size_t length = 5000;  // of a block: long

class VerbsMemory : public testing::Test {
 protected:
  /// Made anew by each test.
  VerbsWorld &world(bool watches, verbs::Options options = {}) {
    w_.emplace(ranks, options, 0, [=](nbc_verbs &v) { Seen::put(v, watches); });
    w_->addPlans(build::ringAllgather(ranks));
    return *w_;
  }
  Seen &seen(size_t rank) { return Seen::all()[w_->devices[rank].get()]; }

  /// One call, in buffers of the test's.
  void gather(uint8_t salt) {
    std::vector<nbc_request> requests(ranks);
    for (size_t r = 0; r < ranks; ++r) {
      in_[r].assign(length, uint8_t(salt + r));
      out_[r].assign(ranks * length, 0);
      nbc_call call = {.in = in_[r].data(), .out = out_[r].data(), .count = length};
      ASSERT_EQ(nbc_start(w_->plans[r], &call, &requests[r]), 0);
    }
    ASSERT_TRUE(w_->finish(requests));
    for (const auto &out : out_)
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], uint8_t(salt + i / length)) << "byte " << i;
  }

  std::optional<VerbsWorld> w_;
  std::vector<uint8_t> in_[ranks], out_[ranks];
};

TEST_F(VerbsMemory, whatIsWatchedIsRegisteredOnce) {
  world(true);
  gather(1);
  const int first = seen(0).registered;
  gather(2);
  EXPECT_EQ(seen(0).registered, first);
  const size_t kept = seen(0).regions.size();
  seen(0).gone(seen(0).context, out_[0].data() + 10, 1);
  EXPECT_EQ(seen(0).regions.size(), kept) << "whoever unmaps must not wait for an adapter";
  gather(3);
  EXPECT_EQ(seen(0).registered, first + 1);
  EXPECT_EQ(seen(0).regions.size(), kept) << "what has gone is still known";
  seen(0).gone(seen(0).context, out_[0].data() + out_[0].size() + 64, 100);
  gather(4);
  EXPECT_EQ(seen(0).registered, first + 1) << "other memory has gone";
}

TEST_F(VerbsMemory, shortMessagesAreNotRegistered) {
  for (auto way : {NBC_VERBS_WRITE, NBC_VERBS_READ}) {
    VerbsWorld &w = world(true, {.rendezvous = way});
    const int first = seen(0).registered;
    gatherAll(w, {0, 1, 1000, 1024});
    EXPECT_EQ(seen(0).registered, first);
    gatherAll(w, {1025});
    EXPECT_EQ(seen(0).registered, first + 1) << "`out`; from `in` nothing is sent";
  }
}

TEST_F(VerbsMemory, whatNobodyWatchesIsRegisteredForACall) {
  for (auto way : {NBC_VERBS_WRITE, NBC_VERBS_READ}) {
    world(false, {.rendezvous = way});
    gather(1);
    const int first = seen(0).registered;
    const size_t kept = seen(0).regions.size();
    gather(2);
    EXPECT_GT(seen(0).registered, first);
    EXPECT_EQ(seen(0).regions.size(), kept);
  }
}

TEST_F(VerbsMemory, onDemandNobodyNeedsToWatch) {
  for (auto way : {NBC_VERBS_WRITE, NBC_VERBS_READ}) {
    world(false, {.rendezvous = way, .onDemand = true});
    gather(1);
    const int first = seen(0).registered;
    EXPECT_EQ(seen(0).onDemand, 1) << "the call's; the plan's own memory is pinned";
    gather(2);
    EXPECT_EQ(seen(0).registered, first);
    world(true, {.rendezvous = way, .onDemand = true});
    gather(1);
    EXPECT_EQ(seen(0).onDemand, 0) << "where memory is watched it is pinned";
    world(true, {.rendezvous = way, .onDemand = true, .memory = NBC_VERBS_ON_DEMAND});
    gather(1);
    EXPECT_EQ(seen(0).onDemand, 1);
    EXPECT_EQ(seen(0).gone, nullptr);
    world(false, {.rendezvous = way, .onDemand = true, .memory = NBC_VERBS_PINNED});
    gather(1);
    EXPECT_EQ(seen(0).onDemand, 0);
  }
}

TEST_F(VerbsMemory, whatCannotBePinnedIsPagedOnDemand) {
  world(true, {.onDemand = true});
  for (size_t r = 0; r < ranks; ++r) seen(r).pinnable = 100;
  gather(1);
  EXPECT_GT(seen(0).refused, 0);
  EXPECT_EQ(seen(0).onDemand, 1);
  const int first = seen(0).registered;
  gather(2);
  EXPECT_EQ(seen(0).registered, first) << "watched, so it stays";
}

TEST_F(VerbsMemory, whatTheDeviceHasNotIsRefused) {
  verbs::Device device;
  hca::Fabric fabric;
  device = verbs::deviceOn(fabric.addAdapter(), {.memory = NBC_VERBS_ON_DEMAND});
  const nbc_bootstrap alone = {0, 1, nullptr, nullptr, nullptr, nullptr};
  nbc_device *only = &device->device;
  nbc_comm *comm = nullptr;
  EXPECT_EQ(nbc_comm_create(&alone, &only, 1, &comm), NBC_ERROR_ARGUMENT);
}

TEST_F(VerbsMemory, ofScratchAsMuchAsCallsNeed) {
  for (auto way : {NBC_VERBS_WRITE, NBC_VERBS_READ}) {
    w_.emplace(3, verbs::Options{.rendezvous = way}, 0, [](nbc_verbs &v) { Seen::put(v, true); });
    w_->addPlans([](uint32_t r) { return build::messageAllreduce(3, r); }, {.depth = 3});
    for (size_t n : {1000, 200, 30000, 1000}) {
      for (auto &[device, s] : Seen::all()) s.largest = 0;
      std::vector<std::vector<int64_t>> in(3), out(3, std::vector<int64_t>(n));
      std::vector<nbc_request> requests(3);
      for (size_t r = 0; r < 3; ++r) {
        in[r].assign(n, int64_t(r) + 1);
        nbc_call call = {
            .in = in[r].data(), .out = out[r].data(), .count = n, .type = NBC_I64, .op = NBC_SUM};
        ASSERT_EQ(nbc_start(w_->plans[r], &call, &requests[r]), 0);
      }
      ASSERT_TRUE(w_->finish(requests));
      for (auto &o : out)
        for (int64_t x : o) ASSERT_EQ(x, 6);
      for (auto &[device, s] : Seen::all()) EXPECT_LT(s.largest, 8 * n * sizeof(int64_t) + 8192);
    }
  }
}

nbc_verbs_counts countsOf(const nbc_plan *plan) {
  nbc_verbs_counts counts;
  nbc_verbs_query(plan, &counts);
  return counts;
}

TEST_F(VerbsMemory, isCounted) {
  world(true);
  gather(1);
  EXPECT_EQ(countsOf(w_->plans[0]).registered, 1u) << "`out`; from `in` nothing is sent";
  gather(2);
  gather(3);
  EXPECT_EQ(countsOf(w_->plans[0]).registered, 1u);
  EXPECT_EQ(countsOf(w_->plans[0]).found, 2u);
  EXPECT_EQ(countsOf(w_->plans[0]).detours, 0u);
}

TEST_F(VerbsMemory, whatNoCallUsesMakesRoom) {
  VerbsWorld &w = world(true);
  Seen &s = seen(0);
  s.holds = s.held + 25'000;
  for (size_t bytes = 2000; bytes < 12'000; bytes += 500) gatherAll(w, {bytes});
  EXPECT_GT(s.refused, 0);
  EXPECT_GT(s.held, s.holds - 25'000) << "no more than was needed goes";
  EXPECT_EQ(countsOf(w.plans[0]).detours, 0u);
}

/// Buffers of a test, which are no pages: what plans register of their own is.
bool isNoPage(uintptr_t begin, size_t) {
  return begin % 4096 != 0;
}

TEST_F(VerbsMemory, roundWhatCannotBeRegistered) {
  uint64_t detours = 0;
  for (unsigned seed = 1; seed <= 100 && !HasFailure(); ++seed) {
    const uint32_t some = 2 + seed % 2;
    const Traffic t(some, 1 + seed % 5, 1 + seed % 40, {1, 201, 777, 4000}, 3, seed);
    verbs::Options options = {.rendezvous = seed % 2 ? NBC_VERBS_READ : NBC_VERBS_WRITE};
    if (seed % 3 == 0) options.longest = 1000;
    VerbsWorld w(some, options, seed, [=](nbc_verbs &v) {
      Seen::put(v, true);
      if (seed % 4 || Seen::all().size() % 2) Seen::all()[&v].cannotBe = isNoPage;
    });
    w.addPlans([&](uint32_t r) { return t.templateOf(r); },
               {.depth = 1 + seed % 3, .eager_bytes = 200});
    run(w, t, 5, seed);
    for (const nbc_plan *p : w.plans) detours += countsOf(p).detours;
  }
  EXPECT_GT(detours, 1000u);
}

TEST_F(VerbsMemory, whatIsDeclaredStays) {
  VerbsWorld &w = world(false);
  gather(1);
  for (size_t r = 0; r < ranks; ++r) {
    ASSERT_EQ(nbc_register(w.comms[r], in_[r].data(), in_[r].size()), 0);
    ASSERT_EQ(nbc_register(w.comms[r], out_[r].data(), out_[r].size()), 0);
  }
  const int first = seen(0).registered;
  gather(2);
  gather(3);
  EXPECT_EQ(seen(0).registered, first);
  const size_t kept = seen(0).regions.size();
  ASSERT_EQ(nbc_deregister(w.comms[0], out_[0].data(), out_[0].size()), 0);
  EXPECT_EQ(seen(0).regions.size(), kept - 1);
  gather(4);
  EXPECT_GT(seen(0).registered, first);
}

}  // namespace
