// SPDX-License-Identifier: BSD-3-Clause
// What stands in shared memory is believed only as far as it can do no harm.

#include <fstream>
#include <random>
#include <string>

#include "test/runtime/shm/node.h"

namespace {

/// Where this process has the object with this name, which may be gone.
uint8_t *mappedAt(const char *name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(name) != line.npos)
      return reinterpret_cast<uint8_t *>(std::stoull(line, nullptr, 16));
  return nullptr;
}

/// One lane from rank 0 to rank 1, and the receiver's memory as a third one sees it.
struct Lane {
  Node node;
  nbc_shm *shm[2];
  nbc_shm_lanes *lanes[2];
  nbc_shm_address address;
  uint8_t *object;

  // Of one process, so nothing is pulled: an address would be believed, as that of a thread.
  Lane() : node(2, {.never_pull = 1}) {
    const uint32_t other[] = {1, 0};
    nbc_shm_address mine[2];
    for (int r : {0, 1}) {
      shm[r] = reinterpret_cast<nbc_shm *>(node.devices[size_t(r)]);
      nbc_shm_wish wish = {&other[r], 1, 4, 1024, 1 << 20};
      const char *why;
      EXPECT_EQ(shm[r]->ops->make(shm[r], &wish, &lanes[r], &why), 0);
      shm[r]->ops->describe(lanes[r], 0, &mine[r]);
    }
    address = mine[1];
    object = mappedAt(address.name);
    for (int r : {0, 1}) EXPECT_EQ(shm[r]->ops->connect(lanes[r], 0, &mine[1 - r]), 0);
  }
  ~Lane() {
    for (int r : {0, 1}) shm[r]->ops->close(lanes[r]);
  }
};

/// A buffer with guards at both ends.
struct Buffer {
  std::vector<uint8_t> bytes;
  iovec run;
  nbc_shm_message message{};
  Buffer(size_t n, uint8_t fill) : bytes(n + 128, 0xee) {
    run = {bytes.data() + 64, n};
    std::memset(run.iov_base, fill, n);
    message.runs = &run;
    message.run_count = 1;
    message.bytes = n;
  }
  bool intact() const {
    return std::all_of(bytes.begin(), bytes.begin() + 64, [](uint8_t b) { return b == 0xee; }) &&
           std::all_of(bytes.end() - 64, bytes.end(), [](uint8_t b) { return b == 0xee; });
  }
};

TEST(ShmDamage, doesNoHarm) {
  std::mt19937_64 random(1);
  int failed = 0, ended = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::unique_ptr<Buffer>> buffers;  // which stay until the lanes are closed
    Lane l;
    const size_t lengths[] = {1, 48, 100, 1024, 5000, 200000};
    for (int m = 0; m < 6; ++m) {
      const size_t n = lengths[random() % std::size(lengths)];
      buffers.push_back(std::make_unique<Buffer>(n, uint8_t(m + 1)));
      const int sent = l.shm[0]->ops->send(l.lanes[0], 0, &buffers.back()->message);
      if (sent < 0) break;
      buffers.push_back(std::make_unique<Buffer>(n, 0));
      l.shm[1]->ops->receive(l.lanes[1], 0, &buffers.back()->message);
    }
    int status = 0;
    for (int look = 0; look < 60 && !status; ++look) {
      // Notes, flags, kinds and lengths of the six messages first of all.
      const size_t inbox = 128 + l.address.cells * 64 + l.address.ring + l.address.window;
      const size_t at = l.address.offset + random() % (round % 2 ? 128 + 6 * 64 : inbox);
      // Not `reading`: whoever believes a peer to read waits a second for it, when lanes are
      // closed.
      if (at / 4 == (l.address.offset + 24) / 4) continue;
      if (random() % 4 == 0) l.object[at] = uint8_t(random() % 3 ? random() % 6 : random());
      for (int r : {0, 1})
        if (!status) status = l.shm[r]->ops->move(l.lanes[r], 0);
    }
    (status ? failed : ended) += 1;
    for (const auto &b : buffers) ASSERT_TRUE(b->intact()) << "round " << round;
  }
  EXPECT_GT(failed, 50);
  EXPECT_GT(ended, 50);
}

TEST(ShmDamage, anAddressThatLeadsElsewhereIsRefused) {
  Node node(2);
  auto *shm = reinterpret_cast<nbc_shm *>(node.devices[0]);
  const uint32_t other = 1;
  nbc_shm_wish wish = {&other, 1, 4, 1024, 1 << 20};
  nbc_shm_lanes *lanes = nullptr;
  const char *why;
  ASSERT_EQ(shm->ops->make(shm, &wish, &lanes, &why), 0);
  nbc_shm_address whole;
  shm->ops->describe(lanes, 0, &whole);
  const std::function<void(nbc_shm_address &)> damages[] = {
      [](auto &a) { std::strcpy(a.name, "/etc/passwd"); },
      [](auto &a) { std::strcpy(a.name, "/nbc-../x"); },
      [](auto &a) { std::memset(a.name, 'x', sizeof a.name); },
      [](auto &a) { a.bytes += 4096; },
      [](auto &a) { a.offset += 64; },
      [](auto &a) { a.offset = UINT64_MAX - 63; },
      [](auto &a) { a.offset -= 64; },
      [](auto &a) { a.offset = 0; },
      [](auto &a) { a.offset += 4096; },
      [](auto &a) { ++a.ticket; },
      [](auto &a) { a.ticket = 0; },
      [](auto &a) { a.cells = 3; },
      [](auto &a) { a.cells *= 2; },
      [](auto &a) { a.ring *= 2; },
      [](auto &a) { a.ring = 0; },
      [](auto &a) { a.ring += 64; },
      [](auto &a) { a.slot = 0; },
      [](auto &a) { a.slot += 1; },
      [](auto &a) { a.slot = 0xffffffc0; },
      [](auto &a) { a.window = 0; },
      [](auto &a) { a.window *= 2; },
  };
  for (const auto &damage : damages) {
    nbc_shm_address a = whole;
    damage(a);
    EXPECT_EQ(shm->ops->connect(lanes, 0, &a), NBC_ERROR_BOOTSTRAP) << &damage - damages;
  }
  EXPECT_EQ(shm->ops->connect(lanes, 0, &whole), 0);
  shm->ops->close(lanes);
}

}  // namespace
