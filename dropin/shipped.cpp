// SPDX-License-Identifier: BSD-3-Clause
// shipped.cpp - where the library of algorithms lies, and that of adapters.

#include "dropin/shipped.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "nbc/verbs.h"

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

std::string find_file(const char *name) {
  const std::string folder = own_folder();
  for (const char *up : {"/", "/../", "/../../"}) {
    std::string file = folder + up + name;
    if (access(file.c_str(), R_OK) == 0) return file;
  }
  return folder + "/../" + name;
}

Opened open() {
  Opened o;
  try {
    const char *why = "";
    const char *said = std::getenv("NBC_LIBRARY");
    const std::string file = said && *said ? said : find_file("libnbc-colls.so");
    if (nbc_library_open(file.c_str(), &o.library, &why)) o.why = file + ": " + why;
  } catch (const std::bad_alloc &) {
  }
  return o;
}

const Opened &opened() {
  static const Opened once = open();
  return once;
}

struct Adapters {
  decltype(&nbc_verbs_open) open = nullptr;
  std::string why;
};

Adapters load_adapters() {
  Adapters a;
  void *library =
      dlopen(find_file("libnbc-verbs.so").c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void *open = library ? dlsym(library, "nbc_verbs_open") : nullptr;
  if (!open) a.why = dlerror();
  a.open = reinterpret_cast<decltype(a.open)>(open);
  return a;
}

}  // namespace

const nbc_library *shipped() {
  return opened().library;
}

const char *why_not_shipped() {
  return opened().why.empty() ? "no memory is left" : opened().why.c_str();
}

int open_adapter(nbc_device **device, std::string &why) {
  static const Adapters once = load_adapters();
  const char *said = once.why.c_str();
  const int status = once.open ? once.open(nullptr, device, &said) : NBC_ERROR_DEVICE;
  if (status) why = std::string("NBC_TARGET=verbs: ") + said;
  return status;
}

}  // namespace nbcc::dropin
