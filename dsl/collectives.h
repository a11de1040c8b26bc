// SPDX-License-Identifier: BSD-3-Clause
// collectives.h - collectives.def and builtins.def as tables to look things up in.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dsl/ast.h"

namespace nbcc {

/// Whether a buffer is a row of blocks, however many.
constexpr bool isRow(Shape s) {
  return s == Shape::blocks || s == Shape::sources || s == Shape::destinations;
}

struct Collective {
  ast::Kind kind;
  std::string_view name;
  Shape in, out, data;
  Where where;
  bool reduces;

  bool hasRoot() const { return where != Where::everywhere; }
  bool hasBlocks() const {
    const auto ofBlocks = [](Shape s) { return s == Shape::block || isRow(s); };
    return ofBlocks(in) || ofBlocks(out) || ofBlocks(data);
  }
  /// Ranks speak to their neighbours only.
  bool hasGraph() const { return out == Shape::sources; }
  /// Whether MPI_IN_PLACE says anything.
  bool hasInPlace() const { return in != Shape::none && !hasGraph() && kind != ast::Kind::own; }
  Shape shape(std::string_view buffer) const {
    return buffer == "in" ? in : buffer == "out" ? out : buffer == "data" ? data : Shape::none;
  }
  /// Whether MPI lets blocks differ: v- and w-variants.
  bool hasOwnLengths() const {
    return (isRow(in) || isRow(out)) && kind != ast::Kind::reduce_scatter_block &&
           kind != ast::Kind::own;
  }
  /// Each rank's result is a reduction of other ranks: none is to be like another.
  bool isPrefix() const { return kind == ast::Kind::scan || kind == ast::Kind::exscan; }
  /// As MPI has reduce_scatter in place: `out` has P blocks, those of `in`, and the
  /// result is put in the first.
  bool hasAllInOut() const { return reduces && in == Shape::blocks && kind != ast::Kind::own; }
};

std::string_view name(Shape);

std::span<const Collective> collectives();
/// Of a kind that collectives.def lists.
const Collective &collective(ast::Kind);
/// Of what is declared in a source. Of `blocks` it does not say how many: P, or what is declared.
Collective collective(const ast::OwnCollective &);
Collective collective(const ast::Algorithm &);
const Collective *findCollective(std::string_view name);  // null: none

/// "allgather.bruck", as `run` and libraries call it.
std::string fullName(const ast::Algorithm &);

struct BuiltinFunction {
  ast::Builtin builtin;
  std::string_view name;
  std::string_view arguments;  // a letter each: i, an integer; g, a group
  ast::Type result;
  std::string_view summary;
};

std::span<const BuiltinFunction> builtins();
const BuiltinFunction *findBuiltin(std::string_view name);  // null: none
bool asksForTopology(ast::Builtin);
bool asksForNeighbors(ast::Builtin);

}  // namespace nbcc
