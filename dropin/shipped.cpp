// SPDX-License-Identifier: BSD-3-Clause
// shipped.cpp - where the library of algorithms lies, and that of adapters.

#include "dropin/shipped.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string_view>

#include "dropin/calls.h"
#include "nbc/devx.h"
#include "nbc/hca.h"
#include "nbc/sci.h"
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
    if (nbc_library_open(file.c_str(), &o.library, &why)) {
      o.why = file + ": " + why;
      complain("there are no algorithms, so all calls go to the MPI: " + o.why);
    }
  } catch (const std::bad_alloc &) {
  }
  return o;
}

const Opened &opened() {
  static const Opened once = open();
  return once;
}

// What opens adapters of a target, with its default options.
struct Adapters {
  void *open = nullptr;
  std::string why;
};

Adapters load_adapters(const char *file, const char *function) {
  Adapters a;
  void *library = dlopen(find_file(file).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  a.open = library ? dlsym(library, function) : nullptr;
  if (!a.open) a.why = dlerror();
  return a;
}

int open_verbs(nbc_device **device, const char **why) {
  static const Adapters once = load_adapters("libnbc-verbs.so", "nbc_verbs_open");
  *why = once.why.c_str();
  const auto open = reinterpret_cast<decltype(&nbc_verbs_open)>(once.open);
  return open ? open(nullptr, device, why) : NBC_ERROR_DEVICE;
}

int open_sci(nbc_device **device, const char **why) {
  static const Adapters once = load_adapters("libnbc-sci.so", "nbc_sci_open");
  *why = once.why.c_str();
  const auto open = reinterpret_cast<decltype(&nbc_sci_open)>(once.open);
  return open ? open(nullptr, device, why) : NBC_ERROR_DEVICE;
}

int open_hca(nbc_device **device, const char **why) {
  static const Adapters once = load_adapters("libnbc-hca.so", "nbc_hca_open");
  *why = once.why.c_str();
  const auto open = reinterpret_cast<decltype(&nbc_hca_open)>(once.open);
  return open ? open(nullptr, device, why) : NBC_ERROR_DEVICE;
}

int open_devx(nbc_device **device, const char **why) {
  static const Adapters once = load_adapters("libnbc-devx.so", "nbc_devx_open");
  *why = once.why.c_str();
  const auto open = reinterpret_cast<decltype(&nbc_devx_open)>(once.open);
  return open ? open(nullptr, device, why) : NBC_ERROR_DEVICE;
}

// A real adapter is asked for by its name, never taken because it is there.
int open_coredirect(nbc_device **device, const char **why) {
  const char *said = std::getenv("NBC_DEVX_DEVICE");
  return said && *said ? open_devx(device, why) : open_hca(device, why);
}

}  // namespace

const nbc_library *shipped() {
  return opened().library;
}

const char *why_not_shipped() {
  return opened().why.empty() ? "no memory is left" : opened().why.c_str();
}

int open_adapter(const char *target, nbc_device **device, std::string &why) {
  const char *said = "";
  const std::string_view name = target;
  const int status = name == NBC_SCI_TARGET   ? open_sci(device, &said)
                     : name == NBC_HCA_TARGET ? open_coredirect(device, &said)
                                              : open_verbs(device, &said);
  if (status) why = std::string("NBC_TARGET=") + target + ": " + said;
  return status;
}

}  // namespace nbcc::dropin
