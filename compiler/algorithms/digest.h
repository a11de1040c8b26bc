// SPDX-License-Identifier: BSD-3-Clause
// digest.h - a strong hash: who does not know two texts of one digest does not find them.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nbcc {

/// 64 digits.
inline constexpr size_t kDigestLength = 64;
std::string digest(std::string_view bytes);
bool isDigest(std::string_view);

/// Of several values one behind the other, each with its length: no two lists are one text.
class Digests {
 public:
  Digests &add(std::string_view);
  Digests &add(int64_t);
  std::string get() const { return digest(all_); }

 private:
  std::string all_;
};

}  // namespace nbcc
