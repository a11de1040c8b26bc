// SPDX-License-Identifier: BSD-3-Clause
// Interrupts: triggers merge or count, bytes queue, and who waits is woken.

#include <thread>

#include "test/devices/sisci/rig.h"

using namespace sisci;

namespace {

struct Bell {
  Rig rig;
  unsigned number = 3;
  sci_local_interrupt_t here = nullptr;
  sci_remote_interrupt_t there = nullptr;

  explicit Bell(const Options &o, unsigned flags = 0) : rig(o) {
    SCIConnectInterrupt(rig.ranks[1].sd, &there, rig.ranks[0].node, rig.ranks[1].adapter, 3, 0, 0,
                        Fails(SCI_ERR_NO_SUCH_INTNO));
    SCICreateInterrupt(rig.ranks[0].sd, &here, rig.ranks[0].adapter, &number, nullptr, nullptr,
                       flags | SCI_FLAG_FIXED_INTNO, Ok());
    SCIConnectInterrupt(rig.ranks[1].sd, &there, rig.ranks[0].node, rig.ranks[1].adapter, 3, 0, 0,
                        Ok());
  }
  void ring(int times) {
    for (int i = 0; i < times; ++i) SCITriggerInterrupt(there, 0, Ok());
    rig.fabric->run();
  }
};

TEST(Interrupt, isOneUntilItIsSeen) {
  for (const Options &o : {simulated(), simulated(2), realTime()}) {
    Bell b(o);
    b.ring(3);
    SCIWaitForInterrupt(b.here, 0, 0, Ok());
    SCIWaitForInterrupt(b.here, 1, 0, Fails(SCI_ERR_TIMEOUT));
    b.ring(1);
    SCIWaitForInterrupt(b.here, SCI_INFINITE_TIMEOUT, 0, Ok());
  }
}

TEST(Interrupt, thatCountsCounts) {
  for (const Options &o : {simulated(), realTime()}) {
    Bell b(o, SCI_FLAG_COUNTING_INT);
    b.ring(3);
    for (int i = 0; i < 3; ++i) SCIWaitForInterrupt(b.here, 0, 0, Ok());
    SCIWaitForInterrupt(b.here, 1, 0, Fails(SCI_ERR_TIMEOUT));
  }
}

TEST(Interrupt, hasANumberOfItsOwn) {
  Bell b(simulated());
  unsigned number = 3;
  sci_local_interrupt_t another = nullptr;
  SCICreateInterrupt(b.rig.ranks[0].sd, &another, b.rig.ranks[0].adapter, &number, nullptr, nullptr,
                     SCI_FLAG_FIXED_INTNO, Fails(SCI_ERR_INTNO_USED));
  SCICreateInterrupt(b.rig.ranks[0].sd, &another, b.rig.ranks[0].adapter, &number, nullptr, nullptr,
                     0, Ok());
  EXPECT_NE(number, 3u);
  SCIRemoveInterrupt(b.here, 0, Ok());
  SCITriggerInterrupt(b.there, 0, Fails(SCI_ERR_NO_SUCH_INTNO));
  SCIDisconnectInterrupt(b.there, 0, Ok());
}

TEST(Interrupt, wakesAndCancelsWhoWaits) {
  Bell b(realTime());
  std::thread waiter([&] { SCIWaitForInterrupt(b.here, SCI_INFINITE_TIMEOUT, 0, Ok()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  b.ring(1);
  waiter.join();
  std::thread cancelled(
      [&] { SCIWaitForInterrupt(b.here, SCI_INFINITE_TIMEOUT, 0, Fails(SCI_ERR_CANCELLED)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  SCIRemoveInterrupt(b.here, 0, Ok());
  cancelled.join();
}

TEST(Interrupt, callsBackUntilItIsToldNotTo) {
  for (const Options &o : {simulated(), realTime()}) {
    static std::atomic<int> calls;
    calls = 0;
    Rig rig(o);
    unsigned number;
    sci_local_interrupt_t here;
    sci_remote_interrupt_t there;
    auto hear = [](void *, sci_local_interrupt_t, sci_error_t) {
      return ++calls == 2 ? SCI_CALLBACK_CANCEL : SCI_CALLBACK_CONTINUE;
    };
    SCICreateInterrupt(rig.ranks[0].sd, &here, rig.ranks[0].adapter, &number, hear, nullptr,
                       SCI_FLAG_USE_CALLBACK, Ok());
    SCIWaitForInterrupt(here, 0, 0, Fails(SCI_ERR_ILLEGAL_OPERATION));
    SCIConnectInterrupt(rig.ranks[1].sd, &there, rig.ranks[0].node, rig.ranks[1].adapter, number, 0,
                        0, Ok());
    for (int i = 1; i <= 3; ++i) {
      SCITriggerInterrupt(there, 0, Ok());
      rig.fabric->run();
      const int expected = std::min(i, 2);
      for (int t = 0; t < 2000 && calls < expected; ++t)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (i == 3) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(calls, expected);
    }
    SCIRemoveInterrupt(here, 0, Ok());
  }
}

TEST(DataInterrupt, queuesBytesUntilItIsFull) {
  for (const Options &o : {simulated(), simulated(4), realTime()}) {
    Rig rig(o);
    unsigned number = 3;
    sci_local_data_interrupt_t here;
    sci_remote_data_interrupt_t there;
    SCICreateDataInterrupt(rig.ranks[0].sd, &here, rig.ranks[0].adapter, &number, nullptr, nullptr,
                           SCI_FLAG_FIXED_INTNO, Ok());
    SCIConnectDataInterrupt(rig.ranks[1].sd, &there, rig.ranks[0].node, rig.ranks[1].adapter, 3, 0,
                            0, Ok());
    sci_error_t error;
    uint8_t sent = 0, got[300] = {};
    do {
      uint8_t data[60];
      std::memset(data, sent, sizeof data);
      SCITriggerDataInterrupt(there, data, sizeof data, 0, &error);
      sent += error == SCI_ERR_OK;
    } while (error == SCI_ERR_OK);
    EXPECT_EQ(error, SCI_ERR_NOSPC);
    EXPECT_GE(sent, 2);
    rig.fabric->run();
    unsigned length = 59;
    SCIWaitForDataInterrupt(here, got, &length, 0, 0, Fails(SCI_ERR_OVERFLOW));
    EXPECT_EQ(length, 60u);
    for (uint8_t i = 0; i < sent; ++i) {
      length = sizeof got;
      SCIWaitForDataInterrupt(here, got, &length, 0, 0, Ok());
      EXPECT_EQ(length, 60u);
      EXPECT_EQ(got[0], i);
      EXPECT_EQ(got[59], i);
    }
    SCIWaitForDataInterrupt(here, got, &length, 1, 0, Fails(SCI_ERR_TIMEOUT));
    SCITriggerDataInterrupt(there, got, sizeof got, 0, Fails(SCI_ERR_OUT_OF_RANGE));
    SCITriggerDataInterrupt(there, got, 0, 0, Ok());
    rig.fabric->run();
    length = 1;
    SCIWaitForDataInterrupt(here, got, &length, 0, 0, Ok());
    EXPECT_EQ(length, 0u);
  }
}

TEST(DataInterrupt, callsBackWithItsBytes) {
  for (const Options &o : {simulated(), realTime()}) {
    static std::atomic<int> sum;
    sum = 0;
    Rig rig(o);
    unsigned number;
    sci_local_data_interrupt_t here;
    sci_remote_data_interrupt_t there;
    auto hear = [](void *, sci_local_data_interrupt_t, void *data, unsigned length, sci_error_t) {
      EXPECT_EQ(length, 1u);
      sum += *static_cast<char *>(data);
      return SCI_CALLBACK_CONTINUE;
    };
    SCICreateDataInterrupt(rig.ranks[0].sd, &here, rig.ranks[0].adapter, &number, hear, nullptr,
                           SCI_FLAG_USE_CALLBACK, Ok());
    SCIConnectDataInterrupt(rig.ranks[1].sd, &there, rig.ranks[0].node, rig.ranks[1].adapter,
                            number, 0, 0, Ok());
    for (char c = 1; c <= 3; ++c) SCITriggerDataInterrupt(there, &c, 1, 0, Ok());
    rig.fabric->run();
    for (int t = 0; t < 2000 && sum < 6; ++t)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(sum, 6);
  }
}

}  // namespace
