// SPDX-License-Identifier: BSD-3-Clause
// compiler.cpp - loading the compiler, and what it says.
//
// Cost: loading takes longer than compiling, as LLVM is large. It stays loaded.

#include "compiler/algorithms/compiler.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>

#include "compiler/abi/version.h"
#include "compiler/algorithms/digest.h"
#include "dsl/diag.h"
#include "nbc/algorithms.h"
#include "nbc/library.h"

namespace nbcc {
namespace {

std::string besideThis() {
  Dl_info own;
  if (!dladdr(reinterpret_cast<const void *>(&nbc_algorithms_open), &own) || !own.dli_fname)
    return "";
  std::error_code error;
  const std::filesystem::path here = std::filesystem::canonical(own.dli_fname, error);
  return error ? "" : (here.parent_path() / "libnbc-jit.so").string();
}

}  // namespace

Compiler::Compiler(const char *path) : path_(path ? path : "") {
  if (path_.empty()) path_ = besideThis();
  if (path_ == "off") path_.clear();
}

/// Versions, and the file: while the compiler is worked on, its version stays the same.
std::string Compiler::identity() const {
  Digests all;
  all.add(NBCC_VERSION).add(kBuildVersion).add(NBC_LIBRARY_VERSION).add(path_);
  struct stat facts;
  if (!path_.empty() && stat(path_.c_str(), &facts) == 0)
    all.add(facts.st_size).add(facts.st_mtim.tv_sec).add(facts.st_mtim.tv_nsec);
  return all.get();
}

Compiler::Made Compiler::compile(const nbc_jit_request &request) const {
  Made made;
  made.status = NBC_ERROR_UNSUPPORTED;
  if (path_.empty()) {
    made.said = cat(request.algorithm, " of ", request.file,
                    " is not in the cache, and there is no compiler");
    return made;
  }
  void *handle = dlopen(path_.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  const auto run =
      handle ? reinterpret_cast<decltype(&nbc_jit_compile)>(dlsym(handle, "nbc_jit_compile"))
             : nullptr;
  const auto end =
      handle ? reinterpret_cast<decltype(&nbc_jit_free)>(dlsym(handle, "nbc_jit_free")) : nullptr;
  if (!run || !end) {
    const char *why = dlerror();
    made.said = cat("the compiler cannot be loaded: ", why ? why : path_);
    if (handle) dlclose(handle);
    return made;
  }
  nbc_jit_result *raw = nullptr;
  made.status = run(&request, &raw);
  const std::unique_ptr<nbc_jit_result, decltype(end)> result(raw, end);
  if (!raw) {
    made.said = nbc_status_text(made.status);
    return made;
  }
  made.said = raw->said;
  if (made.status) return made;
  made.library.assign(static_cast<const char *>(raw->library), raw->bytes);
  for (size_t i = 1; i < raw->input_count; ++i) {
    const nbc_jit_input &in = raw->inputs[i];
    made.inputs.push_back({in.path, in.text ? digest({in.text, in.bytes}) : ""});
  }
  return made;
}

}  // namespace nbcc
