// SPDX-License-Identifier: BSD-3-Clause
// shipped.cpp - where the library of algorithms lies.

#include "dropin/shipped.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string>

namespace nbcc::dropin {

namespace {

struct Opened {
  const nbc_library *library = nullptr;
  std::string why;
};

// Of the shared object, or program, that this is part of.
std::string own_folder() {
  Dl_info info = {};
  if (!dladdr(reinterpret_cast<const void *>(&own_folder), &info) || !info.dli_fname) return ".";
  std::string name = info.dli_fname;
  std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? "." : name.substr(0, slash);
}

std::string find_file() {
  const char *said = std::getenv("NBC_LIBRARY");
  if (said && *said) return said;
  const std::string folder = own_folder();
  for (const char *up : {"/", "/../", "/../../"}) {
    std::string file = folder + up + "libnbc-colls.so";
    if (access(file.c_str(), R_OK) == 0) return file;
  }
  return folder + "/../libnbc-colls.so";
}

Opened open() {
  Opened o;
  try {
    const char *why = "";
    const std::string file = find_file();
    if (nbc_library_open(file.c_str(), &o.library, &why)) o.why = file + ": " + why;
  } catch (const std::bad_alloc &) {
  }
  return o;
}

const Opened &opened() {
  static const Opened once = open();
  return once;
}

}  // namespace

const nbc_library *shipped() {
  return opened().library;
}

const char *why_not_shipped() {
  return opened().why.empty() ? "no memory is left" : opened().why.c_str();
}

}  // namespace nbcc::dropin
