// SPDX-License-Identifier: BSD-3-Clause
// regions.cpp - the part of an object that an access touches, and whether two parts are apart.

#include "tools/overlap/regions.h"

#include <clang/AST/ASTContext.h>

#include <algorithm>

namespace nbcc::overlap {

using namespace clang;

Regions::Regions(const Site &site, Program &program, Stretch stretch)
    : site_(site), program_(program), stretch_(stretch) {}

std::optional<Regions::Region> Regions::region(const Access &access, bool ofCall) {
  ofCall_ = ofCall;
  since_ = std::min(stretch_.access, site_.index);
  std::vector<Frame> frames{{site_.in, nullptr, nullptr}};
  frames.reserve(access.through.size() + 1);
  for (const CallExpr *call : access.through) {
    const FunctionDecl *callee = call->getDirectCallee();
    const FunctionDecl *body = callee ? program_.body(*callee) : nullptr;
    if (!body) return std::nullopt;
    frames.push_back({body, call, &frames.back()});
  }
  if (!access.where || frames.back().f != access.in) return std::nullopt;
  const bool lvalue = access.extent == Access::exactly;
  const Maybe at =
      lvalue ? location(access.where, frames.back()) : value(access.where, frames.back());
  if (!at || !at->base) return std::nullopt;
  Region result{*at->base, at->offset, std::nullopt, access.extent != Access::anywhere};
  const ASTContext &context = site_.context();
  if (lvalue) {
    const QualType type = access.where->getType();
    if (type->isIncompleteType() || type->isDependentType() || !type->isConstantSizeType())
      return std::nullopt;
    result.end = result.begin + Polynomial(context.getTypeSizeInChars(type).getQuantity());
  } else if (access.extent == Access::counted) {
    const Maybe count = value(access.count, frames.back());
    if (count && !count->base) {
      facts_.push_back(count->offset);
      result.end = result.begin + count->offset * Polynomial(access.each);
    }
  }
  return result;
}

/// With each counter at that end of its range which makes it least, or most.
std::optional<Polynomial> Regions::bound(Polynomial p, bool least) const {
  for (auto range = ranges_.rbegin(); range != ranges_.rend(); ++range) {
    if (!p.symbols().contains(range->counter)) continue;
    const Polynomial without = p.with(range->counter, Polynomial());
    const Polynomial factor = p.with(range->counter, Polynomial(1)) - without;
    if (factor.symbols().contains(range->counter)) return std::nullopt;
    if (p != without + factor * Polynomial::of(range->counter)) return std::nullopt;
    const bool rises = isNeverNegative(factor, facts_);
    if (!rises && !isNeverNegative(Polynomial() - factor, facts_)) return std::nullopt;
    p = p.with(range->counter, rises == least ? range->least : range->most);
  }
  for (const Range &range : ranges_)
    if (p.symbols().contains(range.counter)) return std::nullopt;
  return p;
}

bool Regions::apart(const Region &a, const Region &b) const {
  std::set<Symbol> quotients;
  for (Symbol s = 0; s < symbols_.count(); ++s)
    if (symbols_.meaning(s).kind == Meaning::quotient) quotients.insert(s);
  const auto distinct = [&](const Polynomial &x, const Polynomial &y) {
    if (isNeverNegative(x, facts_) || isNeverNegative(y, facts_)) return true;
    if (oneIsNeverNegative(x, y, quotients, facts_)) return true;
    for (const Symbol s : x.symbols())
      if (oneIsNeverNegative(x, y, {s}, facts_)) return true;
    return false;
  };
  const Meaning &m = symbols_.meaning(a.base), &n = symbols_.meaning(b.base);
  if (m.kind == Meaning::element && n.kind == Meaning::element && m.what == n.what && m != n) {
    const std::optional<Polynomial> i = bound(m.at, true), j = bound(n.at, true);
    return i && j && i == bound(m.at, false) && j == bound(n.at, false) &&
           distinct(*j - *i - Polynomial(1), *i - *j - Polynomial(1));
  }
  if (a.base != b.base) return false;
  const auto gap = [&](const Region &low, const Region &high) -> std::optional<Polynomial> {
    if (!low.end || !high.hasBegin) return std::nullopt;
    const std::optional<Polynomial> end = bound(*low.end, false), begin = bound(high.begin, true);
    if (!end || !begin) return std::nullopt;
    return *begin - *end;
  };
  const std::optional<Polynomial> up = gap(a, b), down = gap(b, a);
  if (up && isNeverNegative(*up, facts_)) return true;
  if (down && isNeverNegative(*down, facts_)) return true;
  return up && down && distinct(*up, *down);
}

bool Regions::apart(const Access &access, const Site::Buffer &buffer) {
  if (!access.where || !buffer.access.where) return false;
  symbols_ = {};
  ranges_.clear();
  facts_.clear();
  const std::optional<Region> ours = region(buffer.access, true);
  const std::optional<Region> theirs = ours ? region(access, false) : std::nullopt;
  return theirs && apart(*ours, *theirs);
}

}  // namespace nbcc::overlap
