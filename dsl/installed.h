// SPDX-License-Identifier: BSD-3-Clause
// installed.h - where the library of algorithms is.

#pragma once

#include <filesystem>
#include <string>

namespace nbcc {

/// The folder of algorithms installed under `prefix`; where there is none, or the prefix is empty,
/// that of the source tree.
std::string algorithmsUnder(const std::filesystem::path &prefix);

/// The folder of algorithms of the tree in which the shared object that holds `code` is installed;
/// else that of the source tree.
std::string algorithmsBeside(const void *code);

}  // namespace nbcc
