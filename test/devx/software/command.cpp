// SPDX-License-Identifier: BSD-3-Clause
// command.cpp - commands taken apart. Places are bits from the beginning of the command.

#include <cstdio>
#include <cstdlib>

#include "test/devx/software/software.h"

namespace devx {

void wrong(const char *what, ...) {
  va_list values;
  va_start(values, what);
  fprintf(stderr, "software mlx5: ");
  vfprintf(stderr, what, values);
  fprintf(stderr, "\n");
  va_end(values);
  abort();
}

Command::Command(const void *bytes, size_t count)
    : bytes_(static_cast<const uint8_t *>(bytes), static_cast<const uint8_t *>(bytes) + count) {}

uint64_t Command::take(uint32_t bit, uint32_t width) {
  if (bit + width > 8 * bytes_.size()) wrong("a command of %zu bytes is too short", bytes_.size());
  uint64_t value = 0;
  for (uint32_t b = bit; b < bit + width; ++b) {
    const auto mask = static_cast<uint8_t>(0x80 >> b % 8);
    value = 2 * value + (bytes_[b / 8] & mask ? 1 : 0);
    bytes_[b / 8] &= static_cast<uint8_t>(~mask);
  }
  return value;
}

void Command::expect(uint32_t bit, uint32_t width, uint64_t value, const char *name) {
  const uint64_t found = take(bit, width);
  if (found != value)
    wrong("%s is %#llx, and should be %#llx", name, static_cast<unsigned long long>(found),
          static_cast<unsigned long long>(value));
}

void Command::done(const char *name) const {
  for (size_t i = 0; i < bytes_.size(); ++i)
    if (bytes_[i]) wrong("%s: bits %#x of byte %#zx mean nothing", name, bytes_[i], i);
}

CqWish takeCreateCq(Command &c) {
  CqWish w;
  c.expect(0x086, 1, 1, "cqc.dbr_umem_valid");
  const bool collapsed = c.take(0x08b, 1);
  w.overruns = c.take(0x08e, 1);
  w.record.memory = static_cast<uint32_t>(c.take(0x0a0, 32));
  w.log = static_cast<uint32_t>(c.take(0x0e3, 5));
  w.page = static_cast<uint32_t>(c.take(0x0e8, 24));
  c.expect(0x138, 8, 7, "cqc.c_eqn");
  w.record.offset = c.take(0x240, 64);
  w.ring.offset = c.take(0x280, 64);
  w.ring.memory = static_cast<uint32_t>(c.take(0x2c0, 32));
  c.expect(0x2e0, 1, 1, "cq_umem_valid");
  c.done("CREATE_CQ");
  if (collapsed != (w.log == 0)) wrong("a CQ of 2^%u entries, collapsed: %d", w.log, collapsed);
  return w;
}

ListWish takeCreateList(Command &c) {
  ListWish w;
  c.expect(0x108, 4, 1, "rmpc.state");
  c.expect(0x280, 4, 0, "wq.wq_type");
  w.domain = static_cast<uint32_t>(c.take(0x2c8, 24));
  w.record.offset = c.take(0x300, 64);
  w.logStride = static_cast<uint32_t>(c.take(0x38c, 4));
  w.logEntries = static_cast<uint32_t>(c.take(0x39b, 5));
  c.expect(0x3a0, 2, 3, "wq.dbr_umem_valid, wq_umem_valid");
  w.record.memory = static_cast<uint32_t>(c.take(0x3c0, 32));
  w.ring.memory = static_cast<uint32_t>(c.take(0x3e0, 32));
  w.ring.offset = c.take(0x400, 64);
  c.done("CREATE_RMP");
  if (w.logStride < 5) wrong("an entry of a list has at least 32 bytes, not 2^%u", w.logStride);
  return w;
}

PairWish takeCreatePair(Command &c) {
  PairWish w;
  c.expect(0x0c8, 8, 0, "qpc.st");
  c.expect(0x0d3, 2, 3, "qpc.pm_state");
  w.domain = static_cast<uint32_t>(c.take(0x0e8, 24));
  w.logReceive = static_cast<uint32_t>(c.take(0x109, 4));
  w.logStride = static_cast<uint32_t>(c.take(0x10d, 3)) + 4;
  w.logSend = static_cast<uint32_t>(c.take(0x111, 4));
  c.expect(0x118, 2, 1, "qpc.ts_format");
  w.page = static_cast<uint32_t>(c.take(0x128, 24));
  c.expect(0x148, 24, 0xffffff, "qpc.user_index");
  w.sendCq = static_cast<uint32_t>(c.take(0x4a8, 24));
  w.slave = c.take(0x55e, 1);
  w.master = c.take(0x55f, 1);
  w.receiveCq = static_cast<uint32_t>(c.take(0x5a8, 24));
  w.record.offset = c.take(0x5c0, 64);
  w.receives = static_cast<uint32_t>(c.take(0x625, 3));
  w.list = static_cast<uint32_t>(c.take(0x628, 24));
  c.expect(0x743, 1, 1, "qpc.dbr_umem_valid");
  w.record.memory = static_cast<uint32_t>(c.take(0x7e0, 32));
  w.ring.offset = c.take(0x800, 64);
  w.ring.memory = static_cast<uint32_t>(c.take(0x840, 32));
  c.expect(0x860, 1, 1, "wq_umem_valid");
  c.done("CREATE_QP");
  return w;
}

}  // namespace devx
