// SPDX-License-Identifier: BSD-3-Clause
// words.h - how words are numbered in the row of a queue, for those who write entries and those who
// read them back.
//
// In the row of a CHAIN queue each message has three: it has come; its peer is clear to receive the
// one of that number from here; the peer has answered that it has that one. A peer writes the first
// two. The rows of LOOPBACK and MANAGEMENT are plain: of copies, and of stages from the second on.

#pragma once

#include <cstdint>

namespace nbcc::crosschannel {

enum class Word : uint8_t { message, clear, answer };

constexpr uint32_t wordOf(Word sort, uint32_t number) {
  return 3 * number + static_cast<uint32_t>(sort);
}
constexpr Word sortOf(uint32_t word) {
  return static_cast<Word>(word % 3);
}
constexpr uint32_t numberOf(uint32_t word) {
  return word / 3;
}

}  // namespace nbcc::crosschannel
