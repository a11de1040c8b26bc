// SPDX-License-Identifier: BSD-3-Clause
// cache.cpp - reading, writing and shrinking the folder.
//
//   write(name)   =>   .name.<process>.<number>.part, of mode 0600, then renamed
//
// Who reads sees the old file, the new one, or none; so there are no locks, and any number of
// processes may write the same name at once: they write the same bytes. The folder is opened once
// and looked at then, and all else goes through that descriptor, so that nobody can put another
// folder in its place. Nothing is flushed to disk: a file that a crash of the machine has cut off
// is found by its digest. Cost: a few system calls each; writing also reads the names in the
// folder.

#include "compiler/algorithms/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <vector>

#include "compiler/algorithms/digest.h"
#include "dsl/diag.h"

namespace nbcc {
namespace {

constexpr std::string_view kPart = ".part";
constexpr time_t kForgotten = 3600;  // seconds: a .part so old has lost its process
constexpr off_t kMostFileBytes = off_t{1} << 30;

std::string value(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

std::string folderOf(const char *given) {
  std::string folder = given ? given : "";
  if (folder.empty()) folder = value("NBC_CACHE");
  if (folder.empty())
    if (const std::string base = value("XDG_CACHE_HOME"); base.starts_with("/"))
      folder = base + "/nbcc";
  if (folder.empty())
    if (const std::string home = value("HOME"); home.starts_with("/"))
      folder = home + "/.cache/nbcc";
  // Behind a / a symbolic link would be followed.
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

/// Empty: it is this user's, and nobody else can write to it.
std::string distrusted(const struct stat &facts) {
  if (facts.st_uid != geteuid())
    return cat("it belongs to user ", facts.st_uid, ", not to ", geteuid());
  if (facts.st_mode & (S_IWGRP | S_IWOTH)) return "others may write to it";
  return "";
}

std::optional<std::string> readAll(int file, off_t bytes) {
  std::string text(static_cast<size_t>(bytes), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = read(file, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    done += static_cast<size_t>(n);
  }
  return text;
}

/// The base of all is not made: a home that is not there is not ours to make.
bool makeFolders(const std::string &folder) {
  std::error_code ignored;
  const std::filesystem::path above = std::filesystem::path(folder).parent_path();
  if (!above.empty() && !std::filesystem::exists(above, ignored) && mkdir(above.c_str(), 0700) &&
      errno != EEXIST)
    return false;
  return mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
}

}  // namespace

CacheFile::~CacheFile() {
  if (file_ >= 0) close(file_);
}

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool isCacheName(std::string_view name) {
  const size_t dot = std::min(name.find('.'), name.size());
  return isDigest(name.substr(0, dot)) &&
         (name.substr(dot) == ".from" || name.substr(dot) == ".so");
}

Cache::Cache(const char *folder, uint64_t mostBytes)
    : folder_(folderOf(folder)), mostBytes_(mostBytes) {
  if (folder_ == "off")
    giveUp("it is switched off");
  else if (folder_.empty())
    giveUp("neither NBC_CACHE, XDG_CACHE_HOME nor HOME names a folder");
}

Cache::~Cache() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Cache::giveUp(const std::string &why) {
  trouble_ = cat(folder_.empty() || folder_ == "off" ? "no cache" : folder_, ": ", why);
  folder_.clear();
}

bool Cache::open(bool make) {
  if (folder_.empty()) return false;
  if (descriptor_ >= 0) return true;
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  descriptor_ = ::open(folder_.c_str(), flags);
  if (descriptor_ < 0 && errno == ENOENT) {
    if (!make) return false;
    descriptor_ = makeFolders(folder_) ? ::open(folder_.c_str(), flags) : -1;
  }
  if (descriptor_ < 0) {
    const bool link = errno == ELOOP || errno == ENOTDIR;
    giveUp(link ? "a symbolic link or no folder" : std::strerror(errno));
    return false;
  }
  struct stat facts;
  const std::string why = fstat(descriptor_, &facts) ? std::strerror(errno) : distrusted(facts);
  if (why.empty()) return true;
  close(descriptor_);
  descriptor_ = -1;
  giveUp(why);
  return false;
}

std::optional<CacheFile> Cache::read(const std::string &name) {
  if (!open(false)) return std::nullopt;
  const int file =
      openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat facts;
  if (file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
      distrusted(facts).empty() && facts.st_size <= kMostFileBytes)
    if (std::optional<std::string> bytes = readAll(file, facts.st_size)) {
      // What is in use stays; a day is as good as a second, and the disk has rest.
      if (facts.st_mtime < std::time(nullptr) - 24 * 3600) futimens(file, nullptr);
      return CacheFile(file, std::move(*bytes));
    }
  const bool there = file >= 0 || errno != ENOENT;
  if (file >= 0) close(file);
  if (there) remove(name);  // a link, or a file of somebody else's
  return std::nullopt;
}

void Cache::write(const std::string &name, std::string_view bytes) {
  if (!open(true)) return;
  static std::atomic<unsigned> count;
  const std::string part = cat(".", name, ".", getpid(), ".", count++, kPart);
  const int file =
      openat(descriptor_, part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  bool whole = file >= 0 && writeAll(file, bytes) && fchmod(file, 0600) == 0;
  int error = errno;
  if (file >= 0 && close(file) && whole) {
    whole = false;
    error = errno;
  }
  if (whole && renameat(descriptor_, part.c_str(), descriptor_, name.c_str())) {
    whole = false;
    error = errno;
  }
  if (whole) return shrink();
  if (file >= 0) unlinkat(descriptor_, part.c_str(), 0);
  trouble_ = cat(folder_, ": nothing can be kept: ", std::strerror(error));
}

void Cache::remove(const std::string &name) {
  if (!open(false)) return;
  unlinkat(descriptor_, name.c_str(), 0);
}

void Cache::shrink() {
  struct Entry {
    std::string name;
    timespec time;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t all = 0;
  const int again = openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *names = again >= 0 ? fdopendir(again) : nullptr;
  if (!names) {
    if (again >= 0) close(again);
    return;
  }
  while (const dirent *d = readdir(names)) {
    const std::string name = d->d_name;
    const bool part = name.starts_with('.') && name.ends_with(kPart);
    struct stat facts;
    if ((!part && !isCacheName(name)) ||
        fstatat(descriptor_, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW))
      continue;
    if (!part) {
      entries.push_back({name, facts.st_mtim, static_cast<uint64_t>(facts.st_size)});
      all += entries.back().bytes;
    } else if (facts.st_mtime < std::time(nullptr) - kForgotten) {
      remove(name);
    }
  }
  closedir(names);
  if (all <= mostBytes_) return;
  std::ranges::sort(entries, [](const Entry &a, const Entry &b) {
    return a.time.tv_sec != b.time.tv_sec ? a.time.tv_sec < b.time.tv_sec
                                          : a.time.tv_nsec < b.time.tv_nsec;
  });
  for (const Entry &oldest : entries) {
    if (all <= mostBytes_) return;
    remove(oldest.name);
    all -= oldest.bytes;
  }
}

}  // namespace nbcc
