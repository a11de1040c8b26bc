// SPDX-License-Identifier: BSD-3-Clause
// disassemble_words.h - the part of disassemble.cpp for queues that are chained by words.

#pragma once

#include <iosfwd>

#include "codegen/coredirect/view.h"

namespace nbcc::crosschannel {

void printWordTasks(const View &, const nbc_variant &, std::ostream &);

}  // namespace nbcc::crosschannel
