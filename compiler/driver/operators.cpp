// SPDX-License-Identifier: BSD-3-Clause
// operators.cpp - asks clang's half for kernels, and says what it said.

#include "compiler/driver/operators.h"

#include <dlfcn.h>

#include <map>

#include "compiler/jit/jit.h"

namespace nbcc {
namespace {

constexpr const char *kLibrary = "libnbc-operators.so";

CompileOperator *compilerOfOperators(Diag &diag) {
  void *library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // for good
  void *found = library ? dlsym(library, "nbcc_compile_operator") : nullptr;
  if (!found) diag.error(Loc(), "--op=FILE:NAME needs ", kLibrary, ": ", dlerror());
  return reinterpret_cast<CompileOperator *>(found);
}

/// "max.cpp:largest".
std::optional<OperatorKernel> compile(const std::string &which, int cpuLevel, Diag &diag) {
  CompileOperator *compiler = compilerOfOperators(diag);
  if (!compiler) return std::nullopt;
  const size_t colon = which.rfind(':');
  OperatorKernel kernel;
  std::string why;
  if (compiler(which.substr(0, colon), which.substr(colon + 1), cpuLevel, kernel, why))
    return kernel;
  diag.error(Loc(), why.substr(0, why.find_last_not_of('\n') + 1));
  return std::nullopt;
}

}  // namespace

std::vector<LibraryContent::Operator> compileOperators(const Options &o, Diag &diag) {
  std::vector<LibraryContent::Operator> result;
  std::map<std::string, std::string> known;
  for (const std::string &which : o.operatorFiles) {
    const std::string name = which.substr(which.rfind(':') + 1);
    if (const auto [other, fresh] = known.try_emplace(name, which); !fresh) {
      diag.error(Loc(), "a library can hold only one operator ", name, ": ", which, ", ",
                 other->second);
      continue;
    }
    std::optional<OperatorKernel> kernel = compile(which, o.cpuLevel, diag);
    if (kernel)
      result.push_back({name, kernel->type, std::move(kernel->bitcode), kernel->elementBytes});
  }
  return result;
}

std::unique_ptr<Jit> loadOperator(Options &o, Diag &diag) {
  const std::string &which = o.operatorFiles.front();
  const std::optional<OperatorKernel> kernel = compile(which, hostCpuLevel(), diag);
  if (!kernel) return nullptr;
  if (kernel->element.empty()) {
    diag.error(Loc(), which, " works on ", kernel->type,
               ", and a run has only values of nbcc's own types (nbcc --help lists them)");
    return nullptr;
  }
  if (o.typeGiven && o.type != kernel->element) {
    diag.error(Loc(), which, " works on ", kernel->element, ", not on ", o.type);
    return nullptr;
  }
  std::string why;
  std::unique_ptr<Jit> code = Jit::load(kernel->bitcode, why);
  if (!code) {
    diag.error(Loc(), which, ": ", why);
    return nullptr;
  }
  o.type = kernel->element;
  o.user = reinterpret_cast<nbc_reduce_function *>(code->address(kOperatorKernel));
  return code;
}

}  // namespace nbcc
