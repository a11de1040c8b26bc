// SPDX-License-Identifier: BSD-3-Clause
// fault.cpp - the first access to a page of a shadow: it is filled, and the access made again.
//
// The handler runs in the program's thread, at an access of the program's, so it may lock and call
// what it likes: no thread inside the library touches a view. Any other fault goes where it would
// have gone.

#include <signal.h>
#include <ucontext.h>

#include <cerrno>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {

struct sigaction before;

/// Where the machine says so; else an access is taken for one that is allowed.
bool isWrite(const void *context) {
#if defined __x86_64__
  constexpr greg_t writeBit = 2;
  return static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & writeBit;
#else
  static_cast<void>(context);
  return false;
#endif
}

bool openPage(const void *address, bool writes) {
  if (inLibrary) return false;
  std::unique_lock<std::mutex> guard(library().mutex);
  auto &shadows = library().shadows;
  auto next = shadows.upper_bound(reinterpret_cast<uintptr_t>(address));
  if (next == shadows.begin()) return false;
  Shadow &shadow = *std::prev(next)->second;
  return shadow.contains(address) && shadow.open(address, writes);
}

void onFault(int signal, siginfo_t *info, void *context) {
  const int error = errno;
  const bool opened = openPage(info->si_addr, isWrite(context));
  errno = error;
  if (opened) return;
  if (before.sa_flags & SA_SIGINFO && before.sa_sigaction)
    before.sa_sigaction(signal, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(signal);
  else
    sigaction(SIGSEGV, &before, nullptr);  // and the access is made again
}

}  // namespace

void watchFaults() {
  static const bool watching = [] {
    struct sigaction action = {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGSEGV, &action, &before) == 0;
  }();
  static_cast<void>(watching);
}

}  // namespace sisci
