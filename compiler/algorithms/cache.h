// SPDX-License-Identifier: BSD-3-Clause
// cache.h - a folder of files that only this user can have written.
//
// Every file is written whole or not at all, and nothing fails for want of a cache: what is not
// there, or not to be trusted, is not found, and what cannot be written is not kept.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nbcc {

/// An open file, and what is in it.
class CacheFile {
 public:
  CacheFile(int file, std::string bytes) : file_(file), bytes_(std::move(bytes)) {}
  CacheFile(CacheFile &&other) noexcept : file_(other.file_), bytes_(std::move(other.bytes_)) {
    other.file_ = -1;
  }
  CacheFile &operator=(CacheFile &&) = delete;
  ~CacheFile();
  int file() const { return file_; }
  const std::string &bytes() const { return bytes_; }

 private:
  int file_;
  std::string bytes_;
};

class Cache {
 public:
  /// `folder`: null or empty: where the environment says; "off": none. It is made when something is
  /// written first.
  Cache(const char *folder, uint64_t mostBytes);
  ~Cache();
  Cache(const Cache &) = delete;

  /// Empty: there is none.
  const std::string &folder() const { return folder_; }
  /// Why there is none, or what went wrong last. Empty: nothing.
  const std::string &trouble() const { return trouble_; }

  /// Names have no / in them.
  std::optional<CacheFile> read(const std::string &name);
  void write(const std::string &name, std::string_view bytes);
  void remove(const std::string &name);

 private:
  bool open(bool make);
  void giveUp(const std::string &why);
  void shrink();

  std::string folder_, trouble_;
  uint64_t mostBytes_;
  int descriptor_ = -1;
};

/// All of the bytes, in as many calls as that takes. False: `errno` says why not.
bool writeAll(int file, std::string_view bytes);

/// Whether a file of the cache may be called so: a digest with .from or .so behind it. No other
/// file is ever removed.
bool isCacheName(std::string_view);

}  // namespace nbcc
