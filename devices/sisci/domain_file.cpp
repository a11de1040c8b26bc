// SPDX-License-Identifier: BSD-3-Clause
// domain_file.cpp - a network's tables in a file of /dev/shm, entered and left by processes.
//
// Locks of open file descriptions, which end with a process whatever happens to it, say who is
// there: process k holds byte 16 + k; whoever enters or leaves holds byte 0 meanwhile. Tables of
// which no such lock is held were left by processes that were killed: who comes next begins anew.
// The last one that leaves takes the name away; who had opened the file by then sees that, and
// tries again.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "devices/sisci/domain.h"

namespace sisci {

namespace {
constexpr off_t firstByte = 16;

struct flock range(short type, off_t begin, off_t bytes) {
  struct flock l = {};
  l.l_type = type;
  l.l_whence = SEEK_SET;
  l.l_start = begin;
  l.l_len = bytes;
  return l;
}

bool lock(int file, short type, off_t byte, bool wait) {
  struct flock l = range(type, byte, 1);
  int done;
  do done = fcntl(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, &l);
  while (done < 0 && errno == EINTR);
  return done == 0;
}

bool isLocked(int file, off_t begin, off_t bytes) {
  struct flock l = range(F_WRLCK, begin, bytes);
  return fcntl(file, F_OFD_GETLK, &l) < 0 || l.l_type != F_UNLCK;
}
}  // namespace

bool DomainFile::anybodyElse() const {
  return isLocked(file_, firstByte, mostProcesses);
}

bool DomainFile::isAlive(uint32_t process) const {
  return process == process_ || isLocked(file_, firstByte + process, 1);
}

bool DomainFile::buryDead() {
  bool found = false;
  for (uint32_t p = 0; p < mostProcesses; ++p) {
    if (!domain_->processes[p].used || isAlive(p)) continue;
    DomainLock guard(*domain_);
    if (!domain_->processes[p].used || isAlive(p)) continue;
    buryProcess(*domain_, p);
    found = true;
  }
  if (found) wakeAll(*domain_);
  return found;
}

/// With byte 0 held: nobody else comes or goes.
sci_error_t DomainFile::enter() {
  struct stat now;
  if (fstat(file_, &now) < 0) return SCI_ERR_SYSTEM;
  bool fresh = now.st_size == 0 || !anybodyElse();
  if (fresh && (ftruncate(file_, 0) < 0 || posix_fallocate(file_, 0, sizeof(Domain))))
    return SCI_ERR_NOSPC;
  if (!fresh && now.st_size != sizeof(Domain)) return SCI_ERR_INCONSISTENT_VERSIONS;
  void *memory = mmap(nullptr, sizeof(Domain), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) return SCI_ERR_NOSPC;
  domain_.reset(static_cast<Domain *>(memory));
  if (fresh) prepareDomain(*domain_);
  if (domain_->version != domainVersion) return SCI_ERR_INCONSISTENT_VERSIONS;
  buryDead();
  DomainLock guard(*domain_);
  for (uint32_t p = 0; p < mostProcesses; ++p) {
    if (domain_->processes[p].used || !lock(file_, F_WRLCK, firstByte + p, false)) continue;
    domain_->processes[p].pid = getpid();
    domain_->processes[p].used = 1;
    process_ = p;
    return SCI_ERR_OK;
  }
  return SCI_ERR_NOSPC;
}

sci_error_t DomainFile::open(const std::string &name, std::unique_ptr<DomainFile> &out) {
  std::unique_ptr<DomainFile> self(new DomainFile);
  // Not "nbc-", which whoever finds it without a lock on the whole file takes away.
  self->path_ = "/nbcsisci-" + std::to_string(geteuid()) + "-" + name;
  for (;;) {
    self->file_ = shm_open(self->path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (self->file_ < 0) {
      std::fprintf(stderr, "sisci: cannot open %s: error %d\n", self->path_.c_str(), errno);
      return SCI_ERR_SYSTEM;
    }
    struct stat now;
    if (!lock(self->file_, F_WRLCK, 0, true) || fstat(self->file_, &now) < 0 ||
        now.st_uid != geteuid())
      return SCI_ERR_SYSTEM;
    if (now.st_nlink) break;
    close(self->file_);
    self->file_ = -1;
  }
  sci_error_t error = self->enter();
  if (error == SCI_ERR_INCONSISTENT_VERSIONS)
    std::fprintf(stderr, "sisci: %s belongs to another version of this library\n",
                 self->path_.c_str());
  lock(self->file_, F_UNLCK, 0, false);
  if (error == SCI_ERR_OK) out = std::move(self);
  return error;
}

DomainFile::~DomainFile() {
  if (file_ < 0) return;
  lock(file_, F_WRLCK, 0, true);
  if (process_ != none) {
    {
      DomainLock guard(*domain_);
      buryProcess(*domain_, process_);
      wakeAll(*domain_);
    }
    lock(file_, F_UNLCK, firstByte + process_, false);
  }
  if (!anybodyElse()) shm_unlink(path_.c_str());
  close(file_);
}

}  // namespace sisci
