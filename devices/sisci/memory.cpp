// SPDX-License-Identifier: BSD-3-Clause
// memory.cpp - pages of a segment are made, opened from another process, and mapped once more.

#include "devices/sisci/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace sisci {

size_t pageSize() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t wholePages(size_t bytes) {
  return (bytes + pageSize() - 1) / pageSize() * pageSize();
}

Memory::~Memory() {
  if (base) munmap(base, bytes);
  if (file >= 0) close(file);
}

std::shared_ptr<Memory> Memory::make(size_t bytes, bool reachable) {
  auto memory = std::make_shared<Memory>();
  memory->bytes = wholePages(bytes);
  if (memory->bytes < bytes) return nullptr;
  int flags = MAP_SHARED | (reachable ? 0 : MAP_ANONYMOUS);
  if (reachable) {
    struct stat now;
    memory->file = memfd_create("sisci segment", MFD_CLOEXEC);
    // Reserved at once: a full memory is an error now, and no signal later.
    if (memory->file < 0 ||
        posix_fallocate(memory->file, 0, static_cast<off_t>(memory->bytes)) != 0 ||
        fstat(memory->file, &now) < 0)
      return nullptr;
    memory->device = now.st_dev;
    memory->inode = now.st_ino;
  }
  void *at = mmap(nullptr, memory->bytes, PROT_READ | PROT_WRITE, flags, memory->file, 0);
  if (at == MAP_FAILED) return nullptr;
  memory->base = static_cast<uint8_t *>(at);
  return memory;
}

/// Files and processes get the numbers of those that were before; device and inode do not lie.
std::shared_ptr<Memory> Memory::open(int32_t pid, int32_t file, uint64_t device, uint64_t inode,
                                     size_t bytes) {
  std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(file);
  int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) return nullptr;
  auto memory = std::make_shared<Memory>();
  memory->bytes = wholePages(bytes);
  struct stat now;
  void *at = MAP_FAILED;
  if (fstat(opened, &now) == 0 && now.st_dev == device && now.st_ino == inode &&
      static_cast<uint64_t>(now.st_size) == memory->bytes)
    at = mmap(nullptr, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  close(opened);
  if (at == MAP_FAILED) return nullptr;
  memory->base = static_cast<uint8_t *>(at);
  return memory;
}

/// Of an old size of 0, mremap leaves the old place as it is.
uint8_t *Memory::again(size_t offset, size_t length, void *fixed, bool readOnly) const {
  int flags = MREMAP_MAYMOVE | (fixed ? MREMAP_FIXED : 0);
  // A place of the program's choice must be free: what is there is not replaced.
  if (fixed && mmap(fixed, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                    0) != fixed)
    return nullptr;
  void *at = mremap(base + offset, 0, length, flags, fixed);
  if (at == MAP_FAILED) return nullptr;
  if (readOnly) mprotect(at, length, PROT_READ);
  return static_cast<uint8_t *>(at);
}

}  // namespace sisci
