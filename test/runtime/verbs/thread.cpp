// SPDX-License-Identifier: BSD-3-Clause
// A progress thread sleeps on completion queues. It is told of what comes after it was armed, and
// of nothing else, so a look that is missing somewhere leaves a call under way for long.

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "devices/verbs/engine.h"
#include "test/runtime/verbs/world.h"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Completion channels for devices of software, as strict as those of adapters.
class Channels {
 public:
  Channels() : teller_([this] { tell(); }) { current_ = this; }
  ~Channels() {
    over_ = true;
    teller_.join();
  }
  static void addTo(nbc_verbs &v) {
    static nbc_verbs_ops ops;
    if (v.ops != &ops) ops = real_ = *v.ops;
    ops.arm = arm;
    ops.destroy_cq = destroy;
    v.ops = &ops;
  }
  std::atomic<int> arms{0};

 private:
  struct Channel {
    int descriptor = -1;
    bool armed = false;
    uint32_t entry = 0;  // that it tells of
  };

  static bool isThere(const verbs::Completions &c, uint32_t index) {
    const uint32_t size = 1u << c.cq.log_entries;
    const uint8_t *entry =
        const_cast<const uint8_t *>(c.cq.entries) + size_t(index & (size - 1)) * MLX5_CQE;
    const uint8_t last = __atomic_load_n(entry + MLX5_CQE_OP_OWN, __ATOMIC_ACQUIRE);
    return last >> 4 != MLX5_CQE_INVALID && (last & 1) == (index >> c.cq.log_entries & 1);
  }
  static int arm(nbc_verbs *, void *cq) {
    const auto *completions = static_cast<const verbs::Completions *>(cq);
    ++current_->arms;
    const std::lock_guard lock(current_->mutex_);
    Channel &c = current_->channels_[completions];
    if (c.descriptor < 0) c.descriptor = eventfd(0, EFD_NONBLOCK);
    uint64_t count;
    if (read(c.descriptor, &count, sizeof count) < 0 && c.armed) return c.descriptor;
    // What is there it does not tell of.
    c.entry = completions->next;
    while (isThere(*completions, c.entry)) c.entry = (c.entry + 1) & MLX5_CQ_INDEX_MASK;
    c.armed = true;
    return c.descriptor;
  }
  static void destroy(nbc_verbs *v, void *cq) {
    {
      const std::lock_guard lock(current_->mutex_);
      auto at = current_->channels_.find(static_cast<const verbs::Completions *>(cq));
      if (at != current_->channels_.end()) {
        close(at->second.descriptor);
        current_->channels_.erase(at);
      }
    }
    real_.destroy_cq(v, cq);
  }
  void tell() {
    for (; !over_; std::this_thread::sleep_for(20us)) {
      const std::lock_guard lock(mutex_);
      for (auto &[completions, c] : channels_) {
        const uint64_t once = 1;
        if (!c.armed || !isThere(*completions, c.entry)) continue;
        EXPECT_EQ(write(c.descriptor, &once, sizeof once), ssize_t(sizeof once));
        c.armed = false;
      }
    }
  }

  inline static Channels *current_ = nullptr;
  inline static nbc_verbs_ops real_;
  std::mutex mutex_;
  std::map<const verbs::Completions *, Channel> channels_;
  std::atomic<bool> over_{false};
  std::thread teller_;
};

struct Threaded {
  Channels channels;
  VerbsWorld w;

  Threaded(uint32_t ranks, const MakeTemplate &make, nbc_plan_options options = {},
           nbc_verbs_rendezvous way = NBC_VERBS_WRITE)
      : w(std::vector<verbs::Options>(ranks, {.rendezvous = way}), 0, hca::Mode::RealTime,
          Channels::addTo) {
    w.healthy = false;
    for (nbc_comm *c : w.comms) EXPECT_EQ(nbc_comm_progress(c, NBC_PROGRESS_THREAD), 0);
    w.addPlans(make, options);
  }
};

nbc_call sumOf(const std::vector<int64_t> &in, std::vector<int64_t> &out) {
  nbc_call call = {};
  call.in = in.data(), call.out = out.data(), call.count = in.size();
  call.type = NBC_I64, call.op = NBC_SUM;
  return call;
}

/// Calls of which all ranks but the first do nothing but start them. Returns how many took as long
/// as nobody was told of something.
int slowCalls(Threaded &t, size_t elements, int calls) {
  const size_t ranks = t.w.plans.size();
  int slow = 0;
  for (int i = 0; i < calls; ++i) {
    std::vector<std::vector<int64_t>> in(ranks), out(ranks, std::vector<int64_t>(elements));
    std::vector<nbc_request> requests(ranks);
    for (size_t r = ranks; r-- > 0;) {
      in[r].assign(elements, int64_t(r) + i);
      nbc_call call = sumOf(in[r], out[r]);
      EXPECT_EQ(nbc_start(t.w.plans[r], &call, &requests[r]), 0);
      if (i % 3 == 0) std::this_thread::sleep_for(1ms);  // and it sleeps meanwhile
    }
    const auto begin = Clock::now();
    EXPECT_EQ(nbc_wait(&requests[0]), 0);
    slow += Clock::now() - begin > 80ms;
    for (size_t r = 1; r < ranks; ++r) EXPECT_EQ(nbc_wait(&requests[r]), 0);
    const auto sum = int64_t(ranks * (ranks - 1) / 2 + ranks * size_t(i));
    for (const auto &o : out) EXPECT_EQ(o, std::vector<int64_t>(elements, sum));
  }
  return slow;
}

TEST(VerbsThread, noneIsLeftUnderWay) {
  for (auto way : {NBC_VERBS_WRITE, NBC_VERBS_READ})
    for (size_t elements : {10, 5000}) {
      Threaded t(4, [](uint32_t r) { return build::messageAllreduce(4, r); }, {}, way);
      // Of those that miss something nearly all are slow; some are on a machine with more to do.
      EXPECT_LT(slowCalls(t, elements, 60), 30);
      EXPECT_GT(t.channels.arms, 0);
    }
}

TEST(VerbsThread, sharesAPlanWithWhoTestsAndWaits) {
  constexpr size_t ranks = 3, flights = 5;
  Threaded t(ranks, [](uint32_t r) { return build::messageAllreduce(ranks, r); });
  std::vector<std::thread> threads;
  for (size_t r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      for (size_t i = 0; i < 40; ++i) {
        std::vector<int64_t> in[flights], out[flights];
        nbc_request requests[flights];
        for (size_t k = 0; k < flights; ++k) {
          in[k].assign(i % 7 * 100 + k, int64_t(r * 100 + k));
          out[k].resize(in[k].size());
          nbc_call call = sumOf(in[k], out[k]);
          EXPECT_EQ(nbc_start(t.w.plans[r], &call, &requests[k]), 0);
        }
        for (size_t k = 0; k < flights; ++k) {
          if (i % 11 == 3) std::this_thread::sleep_for(300us);
          for (int done = 0; !done && (i + k + r) % 2; std::this_thread::yield())
            EXPECT_EQ(nbc_test(&requests[k], &done), 0);
          // Some ranks rest with others of their calls under way, which the thread is then told of.
          if (k == 1) {
            EXPECT_EQ(nbc_rest(&requests[flights - 1], nullptr), 0);
          }
          EXPECT_EQ(nbc_wait(&requests[k]), 0);
          EXPECT_EQ(out[k], std::vector<int64_t>(in[k].size(), int64_t(300 + 3 * k)));
        }
      }
    });
  for (std::thread &thread : threads) thread.join();
}

TEST(VerbsThread, sleepsUntilItIsTold) {
  Threaded t(2, [](uint32_t r) { return build::messageAllreduce(2, r); });
  std::vector<int64_t> in(5000, 1), out(5000);
  nbc_request request;
  nbc_call call = sumOf(in, out);
  // The other does not come: a thread that looked after each 1 ms would do so 500 times.
  ASSERT_EQ(nbc_start(t.w.plans[0], &call, &request), 0);
  std::this_thread::sleep_for(50ms);
  const int before = t.channels.arms;
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(t.channels.arms - before, 30);
  std::vector<int64_t> in1(5000, 2), out1(5000);
  nbc_request other;
  nbc_call call1 = sumOf(in1, out1);
  ASSERT_EQ(nbc_start(t.w.plans[1], &call1, &other), 0);
  EXPECT_EQ(nbc_wait(&other), 0);
  EXPECT_EQ(nbc_wait(&request), 0);
  EXPECT_EQ(out, std::vector<int64_t>(5000, 3));
}

}  // namespace
