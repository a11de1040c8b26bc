// SPDX-License-Identifier: BSD-3-Clause
// batch.cpp - command lines in a row; what each prints is kept apart.

#include "compiler/driver/batch.h"

#include <sys/mman.h>
#include <unistd.h>
#include <wordexp.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

namespace nbcc {
namespace {

/// While it lives, what is written to a descriptor goes to memory.
class Capture {
 public:
  explicit Capture(int descriptor)
      : descriptor_(descriptor),
        before_(dup(descriptor)),
        memory_(memfd_create("nbcc", MFD_CLOEXEC)) {
    ok_ = before_ >= 0 && memory_ >= 0 && dup2(memory_, descriptor_) >= 0;
  }
  ~Capture() {
    end();
    if (before_ >= 0) close(before_);
    if (memory_ >= 0) close(memory_);
  }
  Capture(const Capture &) = delete;
  Capture &operator=(const Capture &) = delete;

  bool ok() const { return ok_; }
  void end() const {
    if (before_ >= 0) dup2(before_, descriptor_);
  }
  /// What was written; false: errno says why there is none.
  bool read(std::string &text) const {
    const off_t bytes = lseek(memory_, 0, SEEK_END);
    if (bytes < 0) return false;
    text.resize(static_cast<size_t>(bytes));
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = pread(memory_, &text[done], text.size() - done, static_cast<off_t>(done));
      if (n <= 0) return false;
      done += static_cast<size_t>(n);
    }
    return true;
  }

 private:
  const int descriptor_, before_, memory_;
  bool ok_;
};

/// A line as the shell splits it, behind the program's name. Nothing is run for it.
class Words {
 public:
  explicit Words(const std::string &line) {
    words_.we_offs = 1;
    ok_ = wordexp(line.c_str(), &words_, WRDE_DOOFFS | WRDE_NOCMD | WRDE_UNDEF) == 0;
    if (ok_) words_.we_wordv[0] = const_cast<char *>("nbcc");
  }
  ~Words() {
    if (!ok_) return;
    words_.we_wordv[0] = nullptr;
    wordfree(&words_);
  }
  Words(const Words &) = delete;
  Words &operator=(const Words &) = delete;

  bool ok() const { return ok_; }
  int count() const { return static_cast<int>(words_.we_wordc) + 1; }
  char **values() const { return words_.we_wordv; }

 private:
  wordexp_t words_ = {};
  bool ok_;
};

/// A status of the driver's.
int refuse(const std::string &line) {
  std::cerr << "nbcc: error: no words of a command line: " << line << "\n";
  return 2;
}

void flushAll() {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
}

}  // namespace

int runBatch(std::istream &in, std::ostream &out, const std::function<int(int, char **)> &run) {
  const auto refused = [](const char *what) {
    std::cerr << "nbcc: error: " << what << ": " << std::strerror(errno) << "\n";
    return 1;
  };
  for (std::string line, printed, said; std::getline(in, line);) {
    const Words words(line);
    if (words.ok() && words.count() == 1) continue;

    const Capture standardOutput(STDOUT_FILENO), standardError(STDERR_FILENO);
    int status = 1;
    if (standardOutput.ok() && standardError.ok()) {
      status = words.ok() ? run(words.count(), words.values()) : refuse(line);
      flushAll();
    }
    standardOutput.end();
    standardError.end();
    if (!standardOutput.ok() || !standardError.ok()) return refused("no file in memory");
    if (!standardOutput.read(printed) || !standardError.read(said))
      return refused("what was printed cannot be read");
    out << status << " " << printed.size() << " " << said.size() << "\n"
        << printed << said << std::flush;
    if (!out) return refused("the answer cannot be written");
  }
  return 0;
}

}  // namespace nbcc
