// SPDX-License-Identifier: BSD-3-Clause
// digest.cpp - BLAKE3, of LLVM's support library, which is linked in: LLVM itself is not needed.
//
// Cost: a microsecond for a kilobyte.

#include "compiler/algorithms/digest.h"

#include <llvm-c/blake3.h>

#include <algorithm>
#include <array>

namespace nbcc {

std::string digest(std::string_view bytes) {
  llvm_blake3_hasher hasher;
  std::array<uint8_t, kDigestLength / 2> hash;
  llvm_blake3_hasher_init(&hasher);
  llvm_blake3_hasher_update(&hasher, bytes.data(), bytes.size());
  llvm_blake3_hasher_finalize(&hasher, hash.data(), hash.size());
  std::string text;
  for (const uint8_t byte : hash) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

bool isDigest(std::string_view text) {
  return text.size() == kDigestLength && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Digests &Digests::add(std::string_view text) {
  add(static_cast<int64_t>(text.size()));
  all_ += text;
  return *this;
}

Digests &Digests::add(int64_t value) {
  all_.append(reinterpret_cast<const char *>(&value), sizeof value);
  return *this;
}

}  // namespace nbcc
