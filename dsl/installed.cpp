// SPDX-License-Identifier: BSD-3-Clause
// installed.cpp - from the place of a program or shared object to that of the algorithms beside it.
//
// A shared object's folder must be called as it was installed (lib, lib/x86_64-linux-gnu): what was
// not installed does not look above the folder it was built in, to which others might write.

#include "dsl/installed.h"

#include <dlfcn.h>

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

std::string algorithmsUnder(const fs::path &prefix) {
  std::error_code ignored;
  const fs::path found = prefix / "share/nbc/stdlib_algos";
  return !prefix.empty() && fs::is_directory(found, ignored) ? found.string() : NBCC_LIBRARY;
}

std::string algorithmsBeside(const void *code) {
  return algorithmsUnder(prefixOf(code));
}

}  // namespace nbcc
