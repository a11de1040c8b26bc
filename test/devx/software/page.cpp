// SPDX-License-Identifier: BSD-3-Clause
// page.cpp - a page of doorbells that is memory: somebody has to look whether it was stored to.
//
// Of two stores only the later may be seen. So whoever sees one looks at the doorbell records of
// all queue pairs of the page: each was stored before its own doorbell. Between two looks nothing
// is done about a record that was stored without a doorbell: so a driver that forgets to ring, and
// has nothing else to ring for, waits.

#include <sys/mman.h>

#include <chrono>

#include "test/devx/software/software.h"

namespace devx {

namespace {
constexpr size_t pageBytes = 4096, doorbellAt = 0x800;
constexpr auto nap = std::chrono::microseconds(20);
}  // namespace

Page::Page(const ibv_context *of, uint32_t number) : context(of) {
  memory_ = static_cast<uint8_t *>(
      mmap(nullptr, pageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  face.base_addr = memory_;
  face.reg_addr = memory_ + doorbellAt;
  face.page_id = number;
  watcher_ = std::thread([this] { look(); });
}

Page::~Page() {
  ending_ = true;
  watcher_.join();
  for (size_t i = 0; i < pageBytes; ++i)
    if (memory_[i]) wrong("byte %#zx of the page of doorbells was stored to", i);
  munmap(memory_, pageBytes);
}

void Page::add(nbc_hca *hca, const nbc_hca_qp &rings) {
  std::lock_guard guard(mutex_);
  pairs_[rings.number] = {hca, rings, 0};
}

void Page::remove(uint32_t pair) {
  std::lock_guard guard(mutex_);
  pairs_.erase(pair);
}

void Page::look() {
  auto *doorbell = static_cast<uint64_t *>(face.reg_addr);
  while (!ending_) {
    if (const uint64_t stored = __atomic_exchange_n(doorbell, 0, __ATOMIC_ACQ_REL))
      ring(stored);
    else
      std::this_thread::sleep_for(nap);
  }
}

void Page::ring(uint64_t doorbell) {
  uint8_t bytes[8];
  memcpy(bytes, &doorbell, sizeof bytes);
  const uint32_t number = mlx5_get32(bytes + MLX5_CTRL_QPN) >> 8;
  std::lock_guard guard(mutex_);
  auto rung = pairs_.find(number);
  if (rung == pairs_.end()) wrong("a doorbell for queue pair %u, which has none", number);
  const nbc_hca_qp &rings = rung->second.rings;
  const uint32_t index = mlx5_get16(bytes + MLX5_CTRL_INDEX) & ((1u << rings.log_sq) - 1);
  if (memcmp(rings.sq + size_t{MLX5_WQEBB} * index, bytes, sizeof bytes) != 0)
    wrong("a doorbell for entry %u of queue pair %u, which begins in another way", index, number);
  for (auto &[pair, p] : pairs_) {
    const uint32_t record = __atomic_load_n(&p.rings.doorbell[1], __ATOMIC_ACQUIRE);
    if (record == p.rung) continue;
    p.rung = record;
    p.hca->ops->doorbell(p.hca, pair, doorbell);
  }
}

}  // namespace devx
