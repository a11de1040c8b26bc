// SPDX-License-Identifier: BSD-3-Clause
// elaborate.cpp - runs the compiled functions against a sink, and reports what it refused.
//
//   (bruck, P = 8, rank 3, k = 1)   =>   the steps of rank 3, Order::rounds
//
// Compiling costs milliseconds, once for a file; a run costs tens of nanoseconds a step.

#include "compiler/elaborate/elaborate.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_os_ostream.h>

#include <atomic>
#include <cassert>
#include <new>

#include "compiler/elaborate/jit.h"
#include "compiler/elaborate/optimize.h"
#include "compiler/elaborate/sink.h"
#include "compiler/lower/lower.h"

namespace nbcc {

namespace {

/// A member function of Sink as compiled code can call it. Nothing may be thrown
/// through compiled code, which has no tables to unwind it by.
template <auto member>
struct Callable;

template <class Result, class... Arguments, Result (Sink::*member)(Arguments...)>
struct Callable<member> {
  static Result call(Counters *counters, Arguments... arguments) noexcept {
    Sink &sink = *static_cast<Sink *>(counters);
    try {
      return (sink.*member)(arguments...);
    } catch (const std::bad_alloc &) {
      sink.outOfMemory();
      if constexpr (std::is_same_v<Result, Checked>)
        return {};
      else
        return 1;
    }
  }
};

template <class Result, class... Arguments>
void *addressOf(Result (*function)(Counters *, Arguments...) noexcept) {
  return reinterpret_cast<void *>(function);
}

/// The prototypes that compiled code uses and those of Sink come from one table.
std::vector<Jit::Symbol> sinkSymbols() {
  return {
#define CALL(result, name, ...)                  \
  {callName(#name),                              \
   addressOf<result __VA_OPT__(, ) __VA_ARGS__>( \
       &Callable<static_cast<result (Sink::*)(__VA_ARGS__)>(&Sink::name)>::call)},
#include "compiler/lower/calls.def"
  };
}

/// What all elaborators of a file share. Only Compiled::steps changes once it is made.
struct Code {
  /// The compiled functions of one algorithm.
  struct Compiled {
    Build *build = nullptr;
    std::vector<Bound *> requirements, claims;  // claims: null where there is no bound
    std::atomic<size_t> steps = 0;              // of the rank before: the next will have as many
    // Of an own collective: what is promised, and how many blocks its buffers have; null where
    // there is nothing to ask.
    Build *ensures = nullptr;
    std::vector<Bound *> extents;
  };

  const ast::File &file;
  Limits limits;
  std::unique_ptr<Jit> jit;
  std::unordered_map<const ast::Algorithm *, Compiled> compiled;

  Code(const ast::File &f, Limits l) : file(f), limits(l) {}

  void find(const ast::Algorithm &a) {
    Compiled &c = compiled[&a];
    c.build = reinterpret_cast<Build *>(jit->address(buildName(a)));
    for (size_t i = 0; i < a.requirements.size(); ++i)
      c.requirements.push_back(reinterpret_cast<Bound *>(jit->address(requirementName(a, i))));
    for (size_t i = 0; i < a.claims.size(); ++i)
      c.claims.push_back(
          a.claims[i].bound ? reinterpret_cast<Bound *>(jit->address(claimName(a, i))) : nullptr);
    if (!a.own) return;
    c.ensures = reinterpret_cast<Build *>(jit->address(buildName(a.own->ensures)));
    for (size_t i = 0; i < a.own->buffers.size(); ++i)
      c.extents.push_back(a.own->buffers[i].extent
                              ? reinterpret_cast<Bound *>(jit->address(extentName(*a.own, i)))
                              : nullptr);
  }
};

}  // namespace

struct Elaborator::Impl {
  std::shared_ptr<Code> code;
  Diag &diag;

  bool report(const Sink &sink) {
    if (sink.mistake()) {
      diag.error(sink.mistake()->at, sink.mistake()->text);
      for (Loc at : sink.mistake()->runFrom) diag.note(at, "run from here");
      if (sink.mistake()->other.known()) diag.note(sink.mistake()->other, sink.mistake()->why);
    }
    return sink.mistake().has_value();
  }

  std::optional<int64_t> evaluate(const ast::Algorithm &a, Bound *bound, const Request &request) {
    Sink sink(a, request, code->limits, Sink::Bounds());
    Checked value = bound(request.ranks, request.root, request.parameters.data(), &sink);
    if (report(sink) || !value.ok) return std::nullopt;
    return value.value;
  }

  /// Of an own collective: how many blocks its buffers have, where it says so.
  std::optional<std::vector<std::optional<int64_t>>> blocks(const ast::Algorithm &a,
                                                            const Request &request) {
    std::vector<std::optional<int64_t>> result;
    const std::vector<Bound *> &extents = code->compiled.at(&a).extents;
    for (size_t i = 0; i < extents.size(); ++i) {
      result.emplace_back();
      if (!extents[i]) continue;
      result.back() = evaluate(a, extents[i], request);
      if (!result.back()) return std::nullopt;
      if (*result.back() <= kMaxBlocks) continue;
      const ast::OwnCollective::Buffer &buffer = a.own->buffers[i];
      diag.error(buffer.extent->loc, buffer.name, " has ", *result.back(),
                 " blocks; there are at most ", kMaxBlocks);
      return std::nullopt;
    }
    return result;
  }
};

Elaborator::Elaborator(const ast::File &file, Diag &diag, Limits limits)
    : impl_(new Impl{std::make_shared<Code>(file, limits), diag}) {
  std::string why;
  Code &code = *impl_->code;
  code.jit = Jit::make(file, sinkSymbols(), why);
  if (!code.jit) {
    diag.error(file.algorithms.empty() ? Loc() : file.algorithms.front()->loc, why);
    return;
  }
  for (const auto &a : file.algorithms) code.find(*a);
}

Elaborator::Elaborator(const Elaborator &other, Diag &diag)
    : impl_(new Impl{other.impl_->code, diag}) {}

Elaborator::~Elaborator() = default;

std::optional<bool> Elaborator::applies(const ast::Algorithm &a, const Request &request, Loc *why) {
  if (!impl_->code->jit) return std::nullopt;
  assert(request.parameters.size() == a.parameters.size());
  const std::vector<Bound *> &requirements = impl_->code->compiled.at(&a).requirements;
  for (size_t i = 0; i < requirements.size(); ++i) {
    std::optional<int64_t> holds = impl_->evaluate(a, requirements[i], request);
    if (!holds) return std::nullopt;
    if (*holds) continue;
    if (why) *why = a.requirements[i]->loc;
    return false;
  }
  return true;
}

std::optional<std::vector<ClaimValue>> Elaborator::claims(const ast::Algorithm &a,
                                                          const Request &request) {
  if (!impl_->code->jit) return std::nullopt;
  assert(request.parameters.size() == a.parameters.size());
  const std::vector<Bound *> &bounds = impl_->code->compiled.at(&a).claims;
  std::vector<ClaimValue> values;
  for (size_t i = 0; i < bounds.size(); ++i) {
    ClaimValue v{a.claims[i].what, a.claims[i].op, 0, a.claims[i].loc};
    if (bounds[i]) {
      std::optional<int64_t> bound = impl_->evaluate(a, bounds[i], request);
      if (!bound) return std::nullopt;
      v.bound = *bound;
    }
    values.push_back(v);
  }
  return values;
}

std::optional<Schedule> Elaborator::elaborate(const ast::Algorithm &a, const Request &request) {
  if (!impl_->code->jit) return std::nullopt;
  assert(request.parameters.size() == a.parameters.size());
  assert(request.rank >= 0 && request.rank < request.ranks);
  assert(request.root >= 0 && request.root < request.ranks);
  assert(!request.topology || request.topology->ranks() == request.ranks);
  assert(!request.graph || request.graph->ranks() == request.ranks);
  if (request.ranks > kMaxBlocks) {  // a buffer has a block for each
    impl_->diag.error(a.loc, "a schedule for ", request.ranks, " ranks; there are at most ",
                      kMaxBlocks);
    return std::nullopt;
  }
  if (collective(a).hasGraph() && !request.graph) {
    impl_->diag.error(a.loc, name(a.kind),
                      " is among neighbours: say who they are with --cart=4x3p",
                      " (ranks of each dimension, p: periodic) or --graph=FILE");
    return std::nullopt;
  }

  Code::Compiled &compiled = impl_->code->compiled.at(&a);
  const auto blocks = impl_->blocks(a, request);
  if (!blocks) return std::nullopt;
  Sink sink(a, request, impl_->code->limits, *blocks);
  sink.reserve(compiled.steps.load(std::memory_order_relaxed));
  if (compiled.ensures) compiled.ensures(request.ranks, request.rank, request.root, nullptr, &sink);
  if (!sink.mistake())
    compiled.build(request.ranks, request.rank, request.root, request.parameters.data(), &sink);
  if (impl_->report(sink)) return std::nullopt;
  Schedule schedule = sink.take();
  compiled.steps.store(schedule.steps.size(), std::memory_order_relaxed);
  return schedule;
}

/// Lowered once more: the JIT has used up what it compiled, and the same comes out.
void Elaborator::print(std::ostream &out) const {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = lower(impl_->code->file, context);
  optimize(*module);
  llvm::raw_os_ostream stream(out);
  module->print(stream, nullptr);
}

}  // namespace nbcc
