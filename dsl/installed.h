// SPDX-License-Identifier: BSD-3-Clause
// installed.h - where the library of algorithms is, for what is itself a library.

#pragma once

#include <string>

namespace nbcc {

/// The folder of algorithms of the tree in which the shared object that holds `code` is installed;
/// else that of the source tree.
std::string algorithmsBeside(const void *code);

}  // namespace nbcc
