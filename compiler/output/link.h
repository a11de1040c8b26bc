// SPDX-License-Identifier: BSD-3-Clause
// link.h - a shared object from an object file.

#pragma once

#include <string>

#include "dsl/diag.h"

namespace nbcc {

/// The bytes of a shared object, sealed; `name` is what the loader will call it. It exports what
/// the object exports. Empty: it cannot be linked, which was reported.
std::string linkShared(const std::string &object, const std::string &name, Diag &);

/// Writes a file beside `path`, then gives it that name: nobody sees half of it.
void writeWhole(const std::string &bytes, const std::string &path, Diag &);

}  // namespace nbcc
