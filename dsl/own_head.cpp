// SPDX-License-Identifier: BSD-3-Clause
// own_head.cpp - which words the head of a declared collective knows, and what fits together.

#include "dsl/own_head.h"

#include <algorithm>

namespace nbcc {

namespace {

bool isBuffer(std::string_view name) {
  return name == "in" || name == "out" || name == "data";
}

}  // namespace

void OwnHead::root(const std::string &word, Loc loc) {
  if (isBuffer(word))
    diag_.error(loc, "'", word, "' needs a shape: ", word, " block");
  else if (word != "root")
    diag_.error(loc, "expected 'root' or a buffer, found '", word, "'");
  else if (hasRoot_)
    diag_.error(loc, "'root' is said already");
  hasRoot_ |= word == "root";
}

void OwnHead::buffer(ast::OwnCollective::Buffer b, const std::string &shape, Loc shapeLoc,
                     bool atRoot) {
  static constexpr std::pair<std::string_view, Shape> shapes[] = {
      {"block", Shape::block}, {"blocks", Shape::blocks}, {"vector", Shape::vector}};
  const auto known = std::ranges::find(shapes, shape, [](const auto &s) { return s.first; });
  if (!isBuffer(b.name)) {
    diag_.error(b.loc, "the buffers of a collective are 'in' and 'out', or 'data'");
    return;
  }
  if (known == std::end(shapes)) {
    diag_.error(shapeLoc, "a buffer is a block, a vector, blocks (P of them) or blocks[n], not '",
                shape, "'");
    return;
  }
  b.shape = known->second;
  if (b.extent && b.shape != Shape::blocks)
    diag_.error(b.extent->loc, "'", shape, "' is one; several are blocks[n]");
  for (const ast::OwnCollective::Buffer &other : own_.buffers) {
    if (other.name == b.name) {
      diag_.error(b.loc, "'", b.name, "' is said already");
      diag_.note(other.loc, "here");
      return;
    }
    if (b.name == "data" || other.name == "data") {
      diag_.error(b.loc, "'data' stands for 'in' and 'out' both: there is no '",
                  b.name == "data" ? other.name : b.name, "' beside it");
      diag_.note(other.loc, "here");
      return;
    }
  }
  if (atRoot && b.name == "data")
    diag_.error(b.loc, "'data' is there on all ranks; 'in' or 'out' may be at the root alone");
  else if (atRoot)
    atRoot_.push_back({b.name, b.loc});
  own_.buffers.push_back(std::move(b));
}

void OwnHead::end() {
  const auto place = [](const ast::OwnCollective::Buffer &b) {
    return b.name == "in" ? 0 : b.name == "out" ? 1 : 2;
  };
  std::ranges::sort(own_.buffers, {}, place);
  if (own_.buffers.empty() || own_.buffers.back().name == "in")
    diag_.error(own_.loc, "a collective has a result: 'out' or 'data'");
  own_.where = hasRoot_ ? Where::rooted : Where::everywhere;
  for (const auto &[name, loc] : atRoot_) {
    if (!hasRoot_) diag_.error(loc, "there is no root; a collective that has one says so: root;");
    own_.where = name == "in" ? Where::in_at_root : Where::out_at_root;
  }
  if (atRoot_.size() > 1)
    diag_.error(atRoot_.back().second, "only one of 'in' and 'out' may be at the root alone");
}

}  // namespace nbcc
