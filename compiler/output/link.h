// SPDX-License-Identifier: BSD-3-Clause
// link.h - a shared object from an object file, by the system's linker.

#pragma once

#include <string>

#include "dsl/diag.h"

namespace nbcc {

/// Writes lib<name>.so, sealed, to `path`. Reports what the linker said where it fails, or that
/// there is none.
void linkShared(const std::string &object, const std::string &path, Diag &);

/// Writes a file beside `path`, then gives it that name: nobody sees half of it.
void writeWhole(const std::string &bytes, const std::string &path, Diag &);

}  // namespace nbcc
