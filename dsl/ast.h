// SPDX-License-Identifier: BSD-3-Clause
// ast.h - the tree of a source file: plain structs, made by parse(), completed by check().
//
// What parse() leaves open is marked "check:"; from check() on it is filled in,
// every name has one declaration, and every expression a type.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/diag.h"

namespace nbcc {

/// How a buffer looks, over all ranks.
enum class Shape { none, block, blocks, sources, destinations, vector };

/// Where the caller's buffers matter.
enum class Where {
  everywhere,   // on every rank; there is no root
  rooted,       // on every rank, and one of them is the root
  in_at_root,   // `in` only at the root
  out_at_root,  // `out` only at the root
};

}  // namespace nbcc

namespace nbcc::ast {

struct Algorithm;
struct Function;
struct OwnCollective;

/// A group is an ordered set of ranks, as MPI_Group is; at run time the number of one in the sink.
enum class Type { integer, boolean, group };

/// Ports are numbered 0..kMaxPort.
inline constexpr int64_t kMaxPort = 255;
std::string_view name(Type);

/// What collectives.def lists: the kind an algorithm achieves. And after these `own`: one that is
/// declared in a source, see OwnCollective.
enum class Kind {
#define COLLECTIVE(name, ...) name,
#include "dsl/collectives.def"
  own,
};
std::string_view name(Kind);

/// What builtins.def lists: odd(x), floor_log(b, x), ...
enum class Builtin {
#define BUILTIN(name, ...) name,
#include "dsl/builtins.def"
};

// clang-format off
enum class Operator {
  add, sub, mul, div, mod, bit_xor,  // int x int -> int
  lt, le, gt, ge, eq, ne,            // int x int -> bool
  logical_and, logical_or,           // bool x bool -> bool, the right side only where needed
  negate, logical_not,               // one operand
};
// clang-format on
std::string_view spelling(Operator);  // as in the source

/// One thing a name can stand for. Owned by its Algorithm, Function, OwnCollective or File.
struct Variable {
  enum class What {
    rank,       // me
    ranks,      // P
    root,       // root
    parameter,  // of the algorithm or function: value(index)
    local,      // let, the variable of a loop, set or fold: integer or boolean; group: a group
    buffer,     // in, out, data, scratch, or a split: a view of memory
  };
  What what{};
  std::string name;
  Loc loc;
  Type type = Type::integer;
  int index = -1;  // check: parameter: its position; local and buffer: unique within the owner
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;
struct Fold;

struct Expr {
  // clang-format off
  enum class What {
    integer, boolean, name, unary, binary, conditional, builtin, call, member, fold
  };
  // clang-format on
  What what{};
  Loc loc;                    // of the operator for binary, else of the first token
  int64_t value = 0;          // integer, boolean
  std::string text;           // name, builtin, call: as written; member: the group's name
  Operator op{};              // unary, binary
  std::vector<ExprPtr> args;  // operands; conditional: if, then, else; member: g[i] as g, i
                              // fold: start, next
  std::unique_ptr<Fold> fold;

  Type type = Type::integer;           // check:
  const Variable *variable = nullptr;  // check: name
  Builtin builtin{};                   // check: builtin (parse() makes every f(...) a call)
  const Function *function = nullptr;  // check: call
};

/// `lo ..< hi` or `lo .. hi`, with an optional `if`.
struct Range {
  Loc loc;
  ExprPtr low, high;
  bool inclusive = false;  // `..`
  ExprPtr condition;       // may be null
};

/// `fold state = start for element in range : next`
struct Fold {
  std::unique_ptr<Variable> state, element;
  Range range;
};

/// x, x[i], x[i +: n], x[{ j in 0 ..< P : cond }], x[g]: the elements that a group's ranks number
struct Section {
  enum class What { whole, element, range, set, group };
  What what{};
  Loc loc;
  std::string text;                    // the buffer's name
  const Variable *buffer = nullptr;    // check:
  ExprPtr first, count;                // element, group: first; range: both
  std::unique_ptr<Variable> variable;  // set: j
  std::unique_ptr<Range> range;        // set: 0 ..< P : cond
};

/// `k = 2` in run gather.knomial(k = 2, root = 0)
struct Argument {
  std::string name;
  Loc loc;
  ExprPtr value;
};

/// `in = section`, or `out[i] = section` for each element i of the callee's buffer.
struct Binding {
  std::string name;  // of the callee's buffer: in, out, data
  Loc loc;
  std::unique_ptr<Variable> element;  // i; null: all of the buffer at once
  const Variable *buffer = nullptr;   // check: the callee's
  std::unique_ptr<Section> section;   // of the caller's
};

struct Statement;
using StatementPtr = std::unique_ptr<Statement>;
using Block = std::vector<StatementPtr>;

struct Statement {
  enum class What {
    round,      // body
    send,       // from, peer
    recv,       // to, peer
    exchange,   // from, to, peer: a send and a recv
    signal,     // peer
    await,      // peer
    copy,       // from -> to
    reduce,     // from, with -> to
    scratch,    // variable [range or extent] like `from`
    split,      // from into `value` as variable
    let,        // variable = value
    for_range,  // variable in range body
    for_step,   // variable = value; condition; variable op= step; body
    if_,        // condition, body, otherwise
    group,      // variable = value (a group); or { element in range }; or value for each element in
                // range
    run,        // kind.text (arguments) among value with bindings
    promise,    // to == from of value, to == reduce from of value: a rank or group; or of
                // { element in range }
  };
  What what{};
  Loc loc;
  std::unique_ptr<Section> from, with, to;
  ExprPtr peer, port;  // port: may be null
  ExprPtr value, condition, step;
  ExprPtr extent;                      // scratch t[extent]: may be null
  Operator op{};                       // for_step: add, sub, mul, div
  bool reduces = false;                // promise
  std::unique_ptr<Range> range;        // for_range; scratch t[element in range]
  std::unique_ptr<Variable> variable;  // what the statement declares
  std::unique_ptr<Variable> element;   // scratch t[j in ...]: j
  Block body, otherwise;

  std::string kind, text;             // run: gather, linear
  Loc kindLoc;                        // run
  std::vector<Argument> arguments;    // run
  std::vector<Binding> bindings;      // run
  const Algorithm *callee = nullptr;  // run
};

/// `rounds <= 3`, or a property that has no number: `rank_order`, `bitwise_same`, `any_lengths`.
struct Claim {
  enum class What {
    rounds,
    messages,
    sent,
    link_sharing,
    /* no number: */ rank_order,
    bitwise_same,
    any_lengths
  };
  What what{};
  Loc loc;
  Operator op{};  // eq, le, lt, ge, gt
  ExprPtr bound;  // of those with a number; free of `me`
};
std::string_view name(Claim::What);

struct Parameter {
  std::unique_ptr<Variable> variable;
  std::optional<int64_t> initial;  // none: must be given with -p
  ExprPtr initialExpr;             // as written; check: a constant
};

struct Algorithm {
  Kind kind{};
  std::string kindName;  // as written
  Loc kindLoc;
  const OwnCollective *own = nullptr;  // of kind own: its declaration
  std::string name;
  Loc loc;
  std::vector<Parameter> parameters;
  std::vector<ExprPtr> requirements;  // boolean, over P and the parameters
  std::vector<Claim> claims;
  Block body;
  /// me, P, root and the buffers of the kind, in this order: in, out, data.
  std::vector<std::unique_ptr<Variable>> predefined;  // check:
  /// Where `run` finds it: unique among all that a File holds. parse(): "gather.linear", or with
  /// the number of its file behind it where another one has that name.
  std::string symbol;
  bool topology = false;  // check: asks where ranks are, itself or in what it runs
  int locals = 0;         // check: integer and boolean variables, numbered from 0
  int buffers = 0;        // check: buffers, those of the kind first
};

/// collective shift { in block; out block; ensures { out == in of (me - 1) mod P; } }
struct OwnCollective {
  struct Buffer {
    std::string name;  // in, out or data
    Loc loc;
    Shape shape{};
    ExprPtr extent;               // blocks[extent], over P alone; null: P of them
    std::optional<int64_t> size;  // check: of these, where the source alone decides it
  };
  std::string name;
  Loc loc;
  std::vector<Buffer> buffers;  // in this order: in, out, data
  Where where{};
  bool reduces = false;  // a promise does
  /// What is promised, as an algorithm whose statements do nothing else: let, group, for, if,
  /// promise.
  Algorithm ensures;
};

/// fn parent(v, d) = (v - 1) / d;
struct Function {
  std::string name;
  Loc loc;
  std::vector<std::unique_ptr<Variable>> parameters;
  Type type = Type::integer;  // check: of the body
  int locals = 0;             // check: the variables of its folds, numbered from 0
  ExprPtr body;
};

struct Import {
  std::string path;
  Loc loc;
};

/// One text, and those whose functions and algorithms it may name: its own, and all it imports.
struct Source {
  uint16_t id = 0;  // Loc::file
  std::vector<uint16_t> sees;
};

/// A source file and all it imports (each once, depth first, before the importer's own); then those
/// that `run` reaches, with theirs.
struct File {
  uint16_t id = 0;  // Loc::file of the importer's own text
  std::vector<Source> sources;
  std::vector<Import> imports;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::unique_ptr<OwnCollective>> collectives;
  std::vector<std::unique_ptr<Algorithm>> algorithms;  // the importer's own only
  /// Algorithms of other files that `run` reaches, directly or not.
  std::vector<std::unique_ptr<Algorithm>> called;
  /// Where something was looked for that was found later, or elsewhere: with the texts that were
  /// read, all that this tree depends on.
  std::vector<std::string> absent;
};

}  // namespace nbcc::ast
