// SPDX-License-Identifier: BSD-3-Clause
// shipped.cpp - where the library of algorithms lies, and what its parameters are called.

#include "dropin/shipped.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

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

bool find_parameters(const nbc_library &library, const Choice &choice,
                     std::vector<std::int64_t> &values, std::string &why) {
  const nbc_library_algorithm *a = nbc_library_named(&library, choice.algorithm.c_str());
  if (!a) {
    why = "the library " + std::string(library.name) + " holds no algorithm " + choice.algorithm;
    return false;
  }
  const auto *parameters =
      static_cast<const nbc_library_parameter *>(nbc_library_table(&library, library.parameters)) +
      a->parameters.begin;
  values.clear();
  for (std::uint32_t i = 0; i < a->parameters.count; ++i) values.push_back(parameters[i].value);
  for (const auto &[name, value] : choice.parameters) {
    std::uint32_t i = 0;
    while (i < a->parameters.count && name != nbc_library_text(&library, parameters[i].name)) ++i;
    if (i == a->parameters.count) {
      why = choice.algorithm + " has no parameter " + name;
      return false;
    }
    values[i] = value;
  }
  return true;
}

}  // namespace nbcc::dropin
