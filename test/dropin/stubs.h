// SPDX-License-Identifier: BSD-3-Clause
/// stubs.h - what communicators need of the rest of the drop-in, in a program of one thread.

#pragma once

#include "dropin/calls.h"

namespace nbcc::dropin {

constinit thread_local int passing = 0;
inline int plans_counted = 0;
inline std::uint64_t calls_counted = 0;

Lock::Lock() {
  enter();
}
Lock::~Lock() {
  leave();
}
void Lock::enter() {}
void Lock::leave() {}
bool Lock::is_held() {
  return true;
}

bool has_threads() {
  return false;
}
bool is_attached() {
  return false;
}
void set_attached_everywhere(bool) {}
void complain(const std::string &) {}
void end_program(const std::string &) {
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

void count_communicator(bool) {}
void count_plan(const Plan &p) {
  ++plans_counted;
  calls_counted += p.calls;
}

}  // namespace nbcc::dropin
