// SPDX-License-Identifier: BSD-3-Clause
// installed.cpp - from the place of a shared object to that of the algorithms beside it.
//
// The folder must be called as it was installed (lib, lib/x86_64-linux-gnu): what was not installed
// does not look above the folder it was built in, to which others might write.

#include "dsl/installed.h"

#include <dlfcn.h>

#include <filesystem>

namespace nbcc {
namespace fs = std::filesystem;

namespace {

/// Empty: it was not installed.
fs::path prefixOf(const void *code) {
  Dl_info own;
  if (!dladdr(code, &own) || !own.dli_fname) return {};
  std::error_code error;
  fs::path at = fs::canonical(own.dli_fname, error).parent_path();
  for (fs::path wanted = NBCC_LIBDIR; !error && !wanted.empty(); wanted = wanted.parent_path()) {
    if (at.filename() != wanted.filename()) return {};
    at = at.parent_path();
  }
  return error ? fs::path() : at;
}

}  // namespace

std::string algorithmsBeside(const void *code) {
  std::error_code ignored;
  const fs::path prefix = prefixOf(code), found = prefix / "share/nbc/stdlib_algos";
  return !prefix.empty() && fs::is_directory(found, ignored) ? found.string() : NBCC_LIBRARY;
}

}  // namespace nbcc
