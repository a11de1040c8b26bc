// SPDX-License-Identifier: BSD-3-Clause
// elaborator.cpp - from the algorithms of a file to compiled ones, by the JIT.
//
// Compiling costs milliseconds, once for a file.

#include "compiler/jit/elaborator.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_os_ostream.h>

#include <unordered_map>

#include "compiler/elaborate/sink_functions.h"
#include "compiler/jit/jit.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/optimize.h"

namespace nbcc {

struct Elaborator::Code {
  const ast::File &file;
  Limits limits;
  std::unique_ptr<Jit> jit;
  std::unordered_map<const ast::Algorithm *, CompiledAlgorithm> compiled;

  Code(const ast::File &f, Limits l) : file(f), limits(l) {}

  template <class Function>
  Function *find(const std::string &name) const {
    return reinterpret_cast<Function *>(jit->address(name));
  }

  void take(const ast::Algorithm &a) {
    CompiledAlgorithm &c = compiled[&a];
    c.name = a.name;
    c.kindName = a.kindName;
    c.collective = collective(a);
    c.loc = a.loc;
    c.parameters = a.parameters.size();
    c.views = static_cast<size_t>(a.buffers);
    c.build = find<Build>(buildName(a));
    for (size_t i = 0; i < a.requirements.size(); ++i)
      c.requirements.push_back({find<Bound>(requirementName(a, i)), a.requirements[i]->loc});
    for (size_t i = 0; i < a.claims.size(); ++i) {
      const ast::Claim &claim = a.claims[i];
      c.claims.push_back(
          {claim.what, claim.op, claim.bound ? find<Bound>(claimName(a, i)) : nullptr, claim.loc});
    }
    if (!a.own) return;
    c.ensures = find<Build>(buildName(a.own->ensures));
    for (size_t i = 0; i < a.own->buffers.size(); ++i) {
      const ast::OwnCollective::Buffer &b = a.own->buffers[i];
      if (b.extent)
        c.extents.push_back({b.name, find<Bound>(extentName(*a.own, i)), b.extent->loc});
      else
        c.extents.push_back({b.name, nullptr, b.loc});
    }
  }
};

Elaborator::Elaborator(const ast::File &file, Diag &diag, Limits limits)
    : code_(std::make_shared<Code>(file, limits)), diag_(diag) {
  std::string why;
  code_->jit = Jit::make(file, sinkFunctions(), why);
  if (!code_->jit) {
    diag.error(file.algorithms.empty() ? Loc() : file.algorithms.front()->loc, why);
    return;
  }
  for (const auto &a : file.algorithms) code_->take(*a);
}

Elaborator::Elaborator(const Elaborator &other, Diag &diag) : code_(other.code_), diag_(diag) {}

Elaborator::~Elaborator() = default;

std::optional<bool> Elaborator::applies(const ast::Algorithm &a, const Request &request, Loc *why) {
  if (!code_->jit) return std::nullopt;
  return nbcc::applies(code_->compiled.at(&a), request, code_->limits, diag_, why);
}

std::optional<std::vector<ClaimValue>> Elaborator::claims(const ast::Algorithm &a,
                                                          const Request &request) {
  if (!code_->jit) return std::nullopt;
  return nbcc::claims(code_->compiled.at(&a), request, code_->limits, diag_);
}

std::optional<Schedule> Elaborator::elaborate(const ast::Algorithm &a, const Request &request) {
  if (!code_->jit) return std::nullopt;
  return nbcc::elaborate(code_->compiled.at(&a), request, code_->limits, diag_);
}

/// Lowered once more: the JIT has used up what it compiled, and the same comes out.
void Elaborator::print(std::ostream &out) const {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = lower(code_->file, context);
  optimize(*module);
  llvm::raw_os_ostream stream(out);
  module->print(stream, nullptr);
}

}  // namespace nbcc
