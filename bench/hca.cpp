// SPDX-License-Identifier: BSD-3-Clause
// hca.cpp - how fast the software HCA is: events per second in simulated time, and what an empty
// queue pair weighs.
//
// The load is the traffic of Bruck's allgather: 1,024 ranks, 10 rounds, each a SEND_EN and a WAIT
// on the management queue and a message of doubling length on a managed queue of its own.

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstdio>

#include "test/devices/hca/rig.h"

using namespace hca;
using namespace hca::test;

namespace {

/// Of this process, so that others on the machine do not count.
double seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

void bruck(int ranks, int block, bool adversarial) {
  Options options = Rig::simulated();
  options.adversarial = adversarial;
  Rig rig(ranks, options);
  std::vector<uint8_t> bytes(size_t(ranks) * block);
  std::vector<uint32_t> keys;
  std::vector<Queue *> mq;
  for (int r = 0; r < ranks; ++r) {
    keys.push_back(rig.key(r, bytes.data(), bytes.size()));
    mq.push_back(&rig.management(r));
  }
  for (int d = 1; d < ranks; d *= 2) {
    std::vector<Queue *> out, in;  // by rank
    for (int r = 0; r < ranks; ++r) {
      out.push_back(&rig.queue(
          r, {.flags = NBC_HCA_QP_MANAGED_SEND, .logSend = 0, .logReceive = UINT32_MAX}));
      in.push_back(&rig.queue(r, {.logSend = 0, .logReceive = 0}));
    }
    uint32_t length = static_cast<uint32_t>(std::min(d, ranks - d) * block);
    for (int r = 0; r < ranks; ++r) {
      rig.connect(*out[r], *in[(r + ranks - d) % ranks]);
      in[r]->receive({{bytes.data(), length, keys[r]}});
      out[r]->post(send().data(bytes.data(), length, keys[r]));
      mq[r]->post(enable(*out[r], 1));
      mq[r]->post(wait(*in[r]->receiveCq, 0));
    }
  }
  for (Queue *q : mq) {
    q->post(nop().signal());
    q->ring();
  }
  double begin = seconds();
  rig.fabric.run();
  double took = seconds() - begin;
  Counters n = rig.fabric.counters();
  std::printf(
      "%s bruck, %d ranks, blocks of %d: %.0f us simulated, %llu messages, %llu entries, "
      "%llu events in %.3f s = %.2f M events/s\n",
      adversarial ? "adversarial" : "plain", ranks, block,
      static_cast<double>(rig.fabric.now()) / microsecond,
      static_cast<unsigned long long>(n.messages), static_cast<unsigned long long>(n.entries),
      static_cast<unsigned long long>(n.events), took, static_cast<double>(n.events) / took / 1e6);
}

/// Queues of 1 block and 1 receive: what is left is ours.
void weight() {
  constexpr int count = 61'440;
  Rig rig(1, Rig::simulated());
  Cq &cq = rig.cq(0);
  size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  nbc_hca_qp qp;
  nbc_hca_qp_request want = {0, 0, 4, cq.number(), cq.number(), 0};
  for (int i = 0; i < count; ++i) rig.ranks[0]->ops->create_qp(rig.ranks[0], &want, &qp);
  size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
  std::printf("%d queue pairs: %zu bytes each, 80 of them rings\n", count,
              (after - before) / count);
}

}  // namespace

int main() {
  bruck(1024, 8, false);
  bruck(1024, 8, true);
  bruck(1024, 1024, false);
  weight();
}
