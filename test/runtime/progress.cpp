// SPDX-License-Identifier: BSD-3-Clause
// A communicator's thread: it moves calls on, sleeps without any, and leaves when it is to.

#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>

#include "test/runtime/messages.h"

namespace {

/// One rank, as a thread of the test has it.
struct Rank {
  int me;
  nbc_comm *comm;
  nbc_plan *plan;
};

/// All ranks on messages of the process, each with a thread (or not), a plan and a body.
void onAll(int ranks, const std::vector<bool> &threaded,
           build::Bytes (*make)(uint32_t ranks, uint32_t rank),
           const std::function<void(Rank &)> &body) {
  p2p::Fabric fabric({.mode = p2p::Mode::RealTime, .seed = 5, .adversarial = true});
  std::vector<nbc_p2p *> ends;
  for (int i = 0; i < ranks; ++i) ends.push_back(fabric.addEndpoint());
  asThreads(ranks, [&](int me, const nbc_bootstrap &b) {
    nbc_device *device = &ends[size_t(me)]->device;
    Rank rank = {me, nullptr, nullptr};
    build::Bytes bytes = make(uint32_t(ranks), uint32_t(me));
    EXPECT_EQ(nbc_comm_create(&b, &device, 1, &rank.comm), 0);
    const nbc_progress how = threaded[size_t(me)] ? NBC_PROGRESS_THREAD : NBC_PROGRESS_CALLS;
    EXPECT_EQ(nbc_comm_progress(rank.comm, how), 0);
    EXPECT_EQ(nbc_plan_create(rank.comm, bytes.data(), bytes.size(), nullptr, &rank.plan), 0);
    EXPECT_EQ(nbc_plan_connect(rank.plan), 0);
    body(rank);
    b.fence(b.context);
    EXPECT_EQ(nbc_plan_free(rank.plan), 0);
    EXPECT_EQ(nbc_comm_free(rank.comm), 0);
  });
  EXPECT_TRUE(fabric.findings().empty()) << fabric.findings()[0];
}

nbc_call sumOf(const std::vector<int64_t> &in, std::vector<int64_t> &out) {
  nbc_call call = {};
  call.in = in.data(), call.out = out.data(), call.count = in.size();
  call.type = NBC_I64, call.op = NBC_SUM;
  return call;
}

/// The ranks in the middle of the chain only start: what they pass on and reduce, a thread does.
TEST(Progress, needsNoCallsOfTheApplication) {
  std::promise<void> over;
  std::shared_future<void> ended = over.get_future().share();
  onAll(4, {false, true, true, true}, build::messageAllreduce, [&](Rank &rank) {
    std::vector<int64_t> in(100, rank.me + 1), out(100);
    nbc_request request;
    nbc_call call = sumOf(in, out);
    EXPECT_EQ(nbc_start(rank.plan, &call, &request), 0);
    if (rank.me) ended.wait();  // not one test before rank 0 has the result
    EXPECT_EQ(nbc_wait(&request), 0);
    if (rank.me == 0) over.set_value();
    EXPECT_EQ(out, std::vector<int64_t>(100, 10));
  });
}

/// A call that somebody is to stay with nobody else moves on, until there is one behind it.
TEST(Progress, leavesAttendedCallsAlone) {
  std::promise<void> awaited;
  std::shared_future<void> mayGoOn = awaited.get_future().share();
  onAll(3, {false, true, true}, build::messageAllreduce, [&](Rank &rank) {
    std::vector<int64_t> in(100, rank.me + 1), out(100), more(100);
    nbc_request first, second;
    nbc_call call = sumOf(in, out), next = sumOf(in, more);
    EXPECT_EQ(nbc_start_attended(rank.plan, &call, &first), 0);
    if (rank.me) {
      mayGoOn.wait();
      EXPECT_EQ(nbc_start(rank.plan, &next, &second), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } else {
      int done = 0;
      for (int i = 0; i < 50 && !done; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(nbc_test(&first, &done), 0);
      }
      EXPECT_EQ(done, 0);  // the chain ends at the others
      awaited.set_value();
      EXPECT_EQ(nbc_wait(&first), 0);  // their threads have both calls now
      EXPECT_EQ(nbc_start(rank.plan, &next, &second), 0);
    }
    EXPECT_EQ(nbc_wait(&first), 0);
    EXPECT_EQ(nbc_wait(&second), 0);
    EXPECT_EQ(out, std::vector<int64_t>(100, 6));
    EXPECT_EQ(more, out);
  });
}

/// Tests and waits in turns with the thread, and more calls under way than the plan's depth.
TEST(Progress, sharesAPlanWithTheApplication) {
  onAll(3, {true, true, false}, build::messageAllreduce, [](Rank &rank) {
    for (int i = 0; i < 30; ++i) {
      constexpr int flights = 5;
      std::vector<int64_t> in[flights], out[flights];
      nbc_request requests[flights];
      for (int k = 0; k < flights; ++k) {
        in[k].assign(size_t(i % 7 * 10 + k), rank.me * 100 + k);
        out[k].resize(in[k].size());
        nbc_call call = sumOf(in[k], out[k]);
        EXPECT_EQ(nbc_start(rank.plan, &call, &requests[k]), 0);
      }
      for (int k = 0; k < flights; ++k) {
        if (i % 11 == 3) std::this_thread::sleep_for(std::chrono::microseconds(300));
        for (int done = 0; !done && (i + k) % 2; std::this_thread::yield())
          EXPECT_EQ(nbc_test(&requests[k], &done), 0);
        EXPECT_EQ(nbc_wait(&requests[k]), 0);
        EXPECT_EQ(out[k], std::vector<int64_t>(in[k].size(), 300 + 3 * k));
      }
    }
    nbc_plan_info info;
    nbc_plan_query(rank.plan, &info);
    EXPECT_EQ(info.calls, 150u);
  });
}

TEST(Progress, sleepsWithoutCalls) {
  onAll(2, {true, true}, build::messageAllreduce, [](Rank &rank) {
    std::vector<int64_t> in(3, 1), out(3);
    for (int i = 0; i < 3; ++i) {
      nbc_request request;
      nbc_call call = sumOf(in, out);
      EXPECT_EQ(nbc_start(rank.plan, &call, &request), 0);
      EXPECT_EQ(nbc_wait(&request), 0);
      // Whenever a thread looks, it has slept before: awake, they would do so 4,000 times.
      rusage before, after;
      getrusage(RUSAGE_SELF, &before);
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      getrusage(RUSAGE_SELF, &after);
      EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, 400);
    }
  });
}

TEST(Progress, stopsWithCallsGivenUp) {
  onAll(2, {true, true}, build::messageAllreduce, [](Rank &rank) {
    if (rank.me) return;  // never starts the call
    std::vector<int64_t> in(3, 1), out(3);
    nbc_request request;
    nbc_call call = sumOf(in, out);
    EXPECT_EQ(nbc_start(rank.plan, &call, &request), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    int done = 0;
    EXPECT_EQ(nbc_test(&request, &done), 0);
    EXPECT_EQ(done, 0);
    EXPECT_EQ(nbc_plan_free(rank.plan), NBC_ERROR_BUSY);
    EXPECT_EQ(nbc_plan_abandon(rank.plan), 0);
    EXPECT_EQ(nbc_wait(&request), NBC_ERROR_ABANDONED);
  });
}

TEST(Progress, tellsOfItsThread) {
  p2p::Fabric fabric({.mode = p2p::Mode::RealTime});
  std::promise<std::thread::id> promised;
  nbc_bootstrap alone = {.rank = 0, .ranks = 1, .context = &promised, .thread = [](void *context) {
                           auto *id = static_cast<std::promise<std::thread::id> *>(context);
                           id->set_value(std::this_thread::get_id());  // throws at a second call
                         }};
  nbc_device *device = &fabric.addEndpoint()->device;
  nbc_comm *comm = nullptr;
  ASSERT_EQ(nbc_comm_create(&alone, &device, 1, &comm), 0);
  std::future<std::thread::id> id = promised.get_future();
  EXPECT_EQ(id.wait_for(std::chrono::milliseconds(5)), std::future_status::timeout);
  EXPECT_EQ(nbc_comm_progress(comm, NBC_PROGRESS_THREAD), 0);
  EXPECT_NE(id.get(), std::this_thread::get_id());
  EXPECT_EQ(nbc_comm_free(comm), 0);
}

TEST(Progress, isRefusedWhereItCannotBe) {
  p2p::Fabric fabric({.mode = p2p::Mode::RealTime});
  nbc_bootstrap alone = {0, 1, nullptr, nullptr, nullptr, nullptr};
  nbc_device *device = &fabric.addEndpoint()->device;
  nbc_comm *comm = nullptr;
  nbc_plan *plan = nullptr;
  build::Bytes bytes = build::messageAllreduce(1, 0);
  ASSERT_EQ(nbc_comm_create(&alone, &device, 1, &comm), 0);
  EXPECT_EQ(nbc_comm_progress(nullptr, NBC_PROGRESS_THREAD), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_comm_progress(comm, nbc_progress(7)), NBC_ERROR_ARGUMENT);
  ASSERT_EQ(nbc_plan_create(comm, bytes.data(), bytes.size(), nullptr, &plan), 0);
  EXPECT_EQ(nbc_comm_progress(comm, NBC_PROGRESS_THREAD), NBC_ERROR_BUSY);
  EXPECT_EQ(nbc_plan_free(plan), 0);
  EXPECT_EQ(nbc_comm_progress(comm, NBC_PROGRESS_THREAD), 0);
  EXPECT_EQ(nbc_comm_progress(comm, NBC_PROGRESS_THREAD), 0);
  EXPECT_EQ(nbc_comm_progress(comm, NBC_PROGRESS_CALLS), 0);
  device->one_thread = 1;
  EXPECT_EQ(nbc_comm_progress(comm, NBC_PROGRESS_THREAD), NBC_ERROR_THREADS);
  EXPECT_EQ(nbc_comm_free(comm), 0);
}

TEST(Progress, isAskedForInTheEnvironment) {
  p2p::Fabric fabric({.mode = p2p::Mode::RealTime});
  nbc_bootstrap alone = {0, 1, nullptr, nullptr, nullptr, nullptr};
  nbc_device *device = &fabric.addEndpoint()->device;
  auto create = [&](const char *said, int oneThread) {
    nbc_comm *comm = nullptr;
    setenv("NBC_PROGRESS", said, 1);
    device->one_thread = oneThread;
    int status = nbc_comm_create(&alone, &device, 1, &comm);
    unsetenv("NBC_PROGRESS");
    return status ? status : nbc_comm_free(comm);
  };
  EXPECT_EQ(create("thread", 0), 0);
  EXPECT_EQ(create("thread", 1), NBC_ERROR_THREADS);
  EXPECT_EQ(create("none", 1), 0);
  EXPECT_EQ(create("", 1), 0);
  EXPECT_EQ(create("threads", 0), NBC_ERROR_ARGUMENT);
}

}  // namespace
