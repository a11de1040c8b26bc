// SPDX-License-Identifier: BSD-3-Clause
// batch.h - many command lines, one after the other, in one process.
//
// Most of a short compilation is the loading of LLVM. Who has thousands, as tests of a library for
// many numbers of ranks, keeps one `nbcc --batch` and writes lines to it.

#pragma once

#include <functional>
#include <iosfwd>

namespace nbcc {

/// Reads command lines from `in`, one a line, without the program's name and in words as a shell
/// has them (wordexp; nothing is run for it); empty ones are passed over. `run` runs each, and all
/// that it prints goes to memory meanwhile, whoever prints it. `out` gets for each, before the next
/// is read:
///
///   STATUS OUT ERR\n, then OUT bytes of its standard output, then ERR bytes of its standard error
///
/// Returns 0 at the end of `in`; 1, and says why on standard error, where the system refuses a file
/// or `out` is closed. Changes where descriptors 1 and 2 lead while it runs: no other thread may
/// print.
int runBatch(std::istream &in, std::ostream &out, const std::function<int(int, char **)> &run);

}  // namespace nbcc
