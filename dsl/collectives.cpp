// SPDX-License-Identifier: BSD-3-Clause
// collectives.cpp - the two tables, and how the tree's closed sets are spelled.

#include "dsl/collectives.h"

#include <algorithm>
#include <cassert>

namespace nbcc {

namespace {

constexpr bool no = false, yes = true;
using enum Shape;
using enum Where;
using enum ast::Type;

constexpr Collective collectiveTable[] = {
#define COLLECTIVE(name, in, out, data, where, reduces) \
  {ast::Kind::name, #name, in, out, data, where, reduces},
#include "dsl/collectives.def"
};

constexpr BuiltinFunction builtinTable[] = {
#define BUILTIN(name, arguments, result, summary) \
  {ast::Builtin::name, #name, arguments, result, summary},
#include "dsl/builtins.def"
};

template <class Entry>
const Entry *find(std::span<const Entry> table, std::string_view name) {
  auto found = std::ranges::find(table, name, &Entry::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace

std::string_view name(Shape shape) {
  switch (shape) {
    case Shape::none:
      return "none";
    case Shape::block:
      return "block";
    case Shape::blocks:
      return "blocks";
    case Shape::sources:
      return "sources";
    case Shape::destinations:
      return "destinations";
    case Shape::vector:
      return "vector";
  }
  return "?";
}

std::span<const Collective> collectives() {
  return collectiveTable;
}
const Collective &collective(ast::Kind kind) {
  assert(kind != ast::Kind::own);
  return collectiveTable[static_cast<int>(kind)];
}
Collective collective(const ast::OwnCollective &own) {
  Collective result{ast::Kind::own, own.name,  Shape::none, Shape::none,
                    Shape::none,    own.where, own.reduces};
  for (const ast::OwnCollective::Buffer &b : own.buffers)
    (b.name == "in" ? result.in : b.name == "out" ? result.out : result.data) = b.shape;
  return result;
}
Collective collective(const ast::Algorithm &a) {
  return a.kind == ast::Kind::own ? collective(*a.own) : collective(a.kind);
}
const Collective *findCollective(std::string_view name) {
  return find(collectives(), name);
}

std::string fullName(const ast::Algorithm &a) {
  return cat(a.kindName, ".", a.name);
}

std::span<const BuiltinFunction> builtins() {
  return builtinTable;
}
const BuiltinFunction *findBuiltin(std::string_view name) {
  return find(builtins(), name);
}
bool asksForTopology(ast::Builtin builtin) {
  return builtin >= ast::Builtin::nodes && builtin <= ast::Builtin::local_rank;
}
bool asksForNeighbors(ast::Builtin builtin) {
  return builtin >= ast::Builtin::indegree && builtin <= ast::Builtin::arrival;
}

namespace ast {

std::string_view name(Kind kind) {
  return kind == Kind::own ? "own" : collective(kind).name;
}

std::string_view name(Type type) {
  switch (type) {
    case Type::integer:
      return "integer";
    case Type::boolean:
      return "boolean";
    case Type::group:
      return "group";
  }
  return "?";
}

std::string_view name(Claim::What what) {
  switch (what) {
    case Claim::What::rounds:
      return "rounds";
    case Claim::What::messages:
      return "messages";
    case Claim::What::sent:
      return "sent";
    case Claim::What::link_sharing:
      return "link_sharing";
    case Claim::What::rank_order:
      return "rank_order";
    case Claim::What::bitwise_same:
      return "bitwise_same";
    case Claim::What::any_lengths:
      return "any_lengths";
  }
  return "?";
}

std::string_view spelling(Operator op) {
  switch (op) {
    case Operator::add:
      return "+";
    case Operator::sub:
      return "-";
    case Operator::mul:
      return "*";
    case Operator::div:
      return "/";
    case Operator::mod:
      return "mod";
    case Operator::bit_xor:
      return "xor";
    case Operator::lt:
      return "<";
    case Operator::le:
      return "<=";
    case Operator::gt:
      return ">";
    case Operator::ge:
      return ">=";
    case Operator::eq:
      return "==";
    case Operator::ne:
      return "!=";
    case Operator::logical_and:
      return "and";
    case Operator::logical_or:
      return "or";
    case Operator::negate:
      return "-";
    case Operator::logical_not:
      return "not";
  }
  return "?";
}

}  // namespace ast
}  // namespace nbcc
