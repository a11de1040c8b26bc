// SPDX-License-Identifier: BSD-3-Clause
// check_statement.cpp - the body of an algorithm: what may stand where, what a section may name.
//
//   send out to p;   outside of a round      =>      errors
//   copy out -> in;
//   in[1]            where `in` is one block
//
// Numbers the locals and buffers. Recursion follows the nesting, which parse() bounds.

#include <array>
#include <cassert>

#include "dsl/check.h"

namespace nbcc {

using namespace ast;

namespace {

class BodyCheck {
 public:
  BodyCheck(Algorithm &a, ExpressionCheck &expressions, Scope &scope, Diag &diag)
      : algorithm_(a), kind_(collective(a)), scope_(scope), diag_(diag), expressions_(expressions) {
    for (const auto &variable : a.predefined) {
      if (variable->what != Variable::What::buffer) continue;
      BufferFacts &facts = buffers_[variable.get()];
      facts.shape = kind_.shape(variable->name);
      if (!isRow(*facts.shape)) facts.size = 1;
      if (!a.own) continue;
      for (const OwnCollective::Buffer &b : a.own->buffers)
        if (b.name == variable->name && b.size) facts.size = b.size;
    }
  }

  void block(Block &statements) {
    scope_.enter();
    for (const StatementPtr &s : statements) statement(*s);
    scope_.leave();
  }

 private:
  /// What is known of a buffer without running anything.
  struct BufferFacts {
    std::optional<Shape> shape;       // the caller's
    std::optional<int64_t> size;      // elements
    const Variable *whole = nullptr;  // split: what it is a view of
  };

  void statement(Statement &s) {
    using enum Statement::What;
    if (!mayStandHere(s)) return;
    switch (s.what) {
      case round: {
        inRound_ = true;
        block(s.body);
        inRound_ = false;
        break;
      }
      case send:
        section(*s.from);
        peer(s);
        break;
      case recv:
        target(*s.to);
        peer(s);
        break;
      case exchange:
        section(*s.from);
        target(*s.to);
        peer(s);
        break;
      case signal:
      case await:
        peer(s);
        break;
      case copy:
        section(*s.from);
        target(*s.to);
        break;
      case reduce:
        if (!kind_.reduces) diag_.error(s.loc, kind_.name, " has no operator to reduce with");
        section(*s.from);
        section(*s.with);
        target(*s.to);
        break;
      case scratch:
        scratchBuffer(s);
        break;
      case split:
        splitBuffer(s);
        break;
      case let: {
        const Found value = expressions_.check(*s.value, Context::body, &algorithm_);
        const bool right = value.type && value.type != Type::group;
        if (value.type && !right)
          diag_.error(s.value->loc, "'let' names an integer or a boolean, this is a group: group ",
                      s.variable->name, " = ...");
        if (right) s.variable->type = *value.type;
        local(*s.variable);
        if (!right) scope_.setWrong(*s.variable);
        break;
      }
      case for_range:
        scope_.enter();
        range(*s.range, *s.variable);
        block(s.body);
        scope_.leave();
        break;
      case for_step:
        loop(s);
        break;
      case if_:
        boolean(*s.condition, "the condition");
        block(s.body);
        block(s.otherwise);
        break;
      case group:
        groupOfRanks(s);
        break;
      case run:
        runAnother(s);
        break;
      case promise:
        equation(s);
        break;
    }
  }

  /// Whether this is the body of `ensures`.
  bool promises() const { return algorithm_.own && &algorithm_ == &algorithm_.own->ensures; }

  bool mayStandHere(const Statement &s) {
    using enum Statement::What;
    const bool says = s.what == let || s.what == group || s.what == for_range ||
                      s.what == for_step || s.what == if_ || s.what == promise;
    if (promises() && !says) {
      diag_.error(s.loc, "'", word(s), "' does something; 'ensures' only says what holds: let, ",
                  "group, for, if and equations");
      return false;
    }
    switch (s.what) {
      case let:
      case split:
      case group:
      case for_range:
      case for_step:
      case if_:
      case promise:  // elsewhere parse() knows no equations
        return true;
      case send:
      case recv:
      case exchange:
      case signal:
      case await:
        if (inRound_) return true;
        diag_.error(s.loc, "'", word(s), "' must stand in a round: round { ", word(s), " ...; }");
        return false;
      case round:
        if (!inRound_) return true;
        diag_.error(s.loc, "a round cannot hold a round");
        return false;
      case copy:
      case reduce:
      case scratch:
        if (!inRound_) return true;
        diag_.error(s.loc, "'", word(s), "' is local and must stand before or after the round");
        return false;
      case run:
        if (!inRound_) return true;
        diag_.error(s.loc, "'run' has rounds of its own and must stand before or after the round");
        return false;
    }
    return true;
  }

  static std::string_view word(const Statement &s) {
    static constexpr std::array<std::string_view, 17> words = {
        "round", "send", "recv", "exchange", "signal", "await", "copy", "reduce", "scratch",
        "split", "let",  "for",  "for",      "if",     "group", "run",  "=="};
    return words[static_cast<size_t>(s.what)];
  }

  // Values

  std::optional<int64_t> integer(Expr &e, std::string_view what) {
    return expressions_.expect(e, Type::integer, what, Context::body, &algorithm_);
  }

  void boolean(Expr &e, std::string_view what) {
    expressions_.expect(e, Type::boolean, what, Context::body, &algorithm_);
  }

  void local(Variable &variable) { expressions_.local(variable); }

  void peer(Statement &s) {
    const std::optional<int64_t> value = integer(*s.peer, "a peer");
    if (value && *value < 0) diag_.error(s.peer->loc, "there is no rank ", *value);
    if (s.peer->variable && s.peer->variable->what == Variable::What::rank)
      diag_.error(s.peer->loc, "a rank does not ", word(s), " to or from itself; use copy");
    if (!s.port) return;
    const std::optional<int64_t> port = integer(*s.port, "a port");
    if (port && (*port < 0 || *port > kMaxPort))
      diag_.error(s.port->loc, "ports are numbered 0..", kMaxPort, ", this is ", *port);
  }

  /// Declares the variable of the range.
  RangeFacts range(Range &r, Variable &variable) {
    const RangeFacts facts = expressions_.bounds(r, Context::body, &algorithm_);
    local(variable);
    if (r.condition) boolean(*r.condition, "the condition");
    return facts;
  }

  void loop(Statement &s) {
    const std::optional<int64_t> start = integer(*s.value, "the start");
    scope_.enter();
    local(*s.variable);
    boolean(*s.condition, "the condition");
    const std::optional<int64_t> step = integer(*s.step, "the step");
    const bool scales = s.op == Operator::mul || s.op == Operator::div;
    const std::string written = cat("'", s.variable->name, " ", spelling(s.op), "= ");
    if (s.op == Operator::div && step == 0)
      diag_.error(s.step->loc, "division by zero");
    else if (step && (scales ? *step == 1 : *step == 0))
      diag_.error(s.step->loc, written, *step, "' changes nothing, so this loop does not advance");
    else if (s.op == Operator::mul && step == 0)
      diag_.error(s.step->loc, written, *step, "' is 0 ever after, so this loop does not advance");
    else if (scales && start == 0)
      diag_.error(s.value->loc, "'", s.variable->name, "' starts at 0, and 0 ", spelling(s.op),
                  " anything is 0, so this loop does not advance");
    block(s.body);
    scope_.leave();
  }

  // Buffers

  /// Completes a section. How many elements it names, where known.
  std::optional<int64_t> section(Section &s) {
    const Variable *found = scope_.find(s.text);
    if (!found)
      sayNoBuffer(kind_, s.loc, s.text, diag_);
    else if (found->what != Variable::What::buffer)
      diag_.error(s.loc, "'", s.text, "' is a value, not a buffer");
    else
      s.buffer = found;
    const BufferFacts facts = s.buffer ? buffers_[s.buffer] : BufferFacts();

    switch (s.what) {
      case Section::What::whole:
        return facts.size;
      case Section::What::element:
      case Section::What::group: {
        const Found index = expressions_.check(*s.first, Context::body, &algorithm_);
        if (index.type == Type::group) {
          s.what = Section::What::group;
          return {};
        }
        if (index.type == Type::boolean)
          diag_.error(s.first->loc, "an index must be an integer or a group, this is a boolean");
        if (index.value) inside(s, facts, *index.value, 1);
        return 1;
      }
      case Section::What::range: {
        const std::optional<int64_t> first = integer(*s.first, "an index");
        const std::optional<int64_t> count = integer(*s.count, "a count");
        if (count && *count < 0)
          diag_.error(s.count->loc, "a section cannot have ", *count, " elements");
        else if (first)
          inside(s, facts, *first, count.value_or(0));
        return count;
      }
      case Section::What::set:
        scope_.enter();
        range(*s.range, *s.variable);
        scope_.leave();
        return {};
    }
    return {};
  }

  /// Whether first +: count, both known, lies in the buffer.
  void inside(const Section &s, const BufferFacts &facts, int64_t first, int64_t count) {
    if (first < 0) {
      diag_.error(s.first->loc, "elements are numbered from 0, this is ", first);
    } else if (facts.size && (first >= *facts.size + (count == 0) || count > *facts.size - first)) {
      const bool vector = facts.shape == Shape::vector;
      diag_.error(s.first->loc, "'", s.text, "' has ",
                  vector ? std::string("1 element, the vector") : counted(*facts.size, "element"),
                  "; ",
                  s.what == Section::What::element ? cat("[", first, "]")
                                                   : cat("[", first, " +: ", count, "]"),
                  " is not in it",
                  vector ? cat("; its parts get names by: split ", s.text, " into n as ...") : "");
    }
  }

  /// A section that is written.
  void target(Section &s) {
    section(s);
    const Variable *origin = s.buffer;
    while (origin && buffers_[origin].whole) origin = buffers_[origin].whole;
    if (!origin || origin->name != "in" || origin->loc.known()) return;
    if (origin == s.buffer)
      diag_.error(s.loc, "'in' belongs to the caller and cannot be written");
    else
      diag_.error(s.loc, "'", s.text,
                  "' is part of 'in', which belongs to the caller and cannot be written");
  }

  void declareBuffer(Variable &variable, BufferFacts facts) {
    variable.index = algorithm_.buffers++;
    buffers_[&variable] = facts;
    scope_.declare(variable);
  }

  void scratchBuffer(Statement &s) {
    BufferFacts facts;
    if (s.range) {
      scope_.enter();
      facts.size = range(*s.range, *s.element).count;
      if (s.range->low->what == Expr::What::integer && s.range->low->value != 0)
        diag_.error(s.range->low->loc, "the elements of scratch are numbered from 0, not from ",
                    s.range->low->value);
      section(*s.from);
      scope_.leave();
    } else {
      facts.size = section(*s.from);
      if (s.extent) {
        facts.size = integer(*s.extent, "the size of scratch");
        if (facts.size && *facts.size < 0) {
          diag_.error(s.extent->loc, "scratch cannot have ", *facts.size, " elements");
          facts.size.reset();
        }
      }
    }
    declareBuffer(*s.variable, facts);
  }

  void splitBuffer(Statement &s) {
    const std::optional<int64_t> size = section(*s.from);
    const bool all = s.from->what == Section::What::whole;
    const std::optional<Shape> shape =
        s.from->buffer && all ? buffers_[s.from->buffer].shape : std::nullopt;
    if (shape && isRow(*shape))
      diag_.error(s.from->loc, "split cuts one block; '", s.from->text, "' has ",
                  algorithm_.own             ? "several: "
                  : *shape == Shape::blocks  ? "P of them: "
                  : *shape == Shape::sources ? "one for each source: "
                                             : "one for each destination: ",
                  s.from->text, "[i]");
    else if (size && *size != 1)
      diag_.error(s.from->loc, "split cuts one block or vector, this names ", *size);
    BufferFacts facts;
    facts.size = integer(*s.value, "the number of parts");
    if (facts.size && *facts.size < 1) {
      diag_.error(s.value->loc, "split makes at least 1 part, not ", *facts.size);
      facts.size.reset();
    }
    facts.whole = s.from->buffer;
    declareBuffer(*s.variable, facts);
  }

  // Groups and other algorithms

  void groupOfRanks(Statement &s) {
    bool right = true;
    if (s.range) {
      scope_.enter();
      const std::optional<int64_t> low = range(*s.range, *s.element).low;
      if (!s.value) {
        isRank(low, *s.range->low);
      } else {
        isRank(integer(*s.value, "a rank"), *s.value);
        if (low && *low != 0)
          diag_.error(s.range->low->loc, "the members of a group are numbered from 0, not from ",
                      *low);
      }
      scope_.leave();
    } else {
      right = isGroup(*s.value, cat("the value of '", s.variable->name, "'"));
    }
    local(*s.variable);
    if (!right) scope_.setWrong(*s.variable);
  }

  bool isGroup(Expr &e, std::string_view what) {
    expressions_.expect(e, Type::group, what, Context::body, &algorithm_);
    return e.type == Type::group;
  }

  void isRank(std::optional<int64_t> value, const Expr &e) {
    if (value && *value < 0) diag_.error(e.loc, "there is no rank ", *value);
  }

  void runAnother(Statement &s) {
    for (const Argument &a : s.arguments) {
      const std::optional<int64_t> value = integer(*a.value, cat("'", a.name, "'"));
      if (a.name == "root" && collective(*s.callee).hasRoot()) isRank(value, *a.value);
    }
    if (s.value) isGroup(*s.value, "what follows 'among'");
    checkRunNames(s, algorithm_, diag_);
    for (Binding &b : s.bindings) {
      scope_.enter();
      if (b.element) local(*b.element);
      if (b.name == "in")
        section(*b.section);
      else
        target(*b.section);
      scope_.leave();
    }
  }

  // What `ensures` promises

  void equation(Statement &s) {
    const std::optional<int64_t> promised = section(*s.to);
    if (s.to->text == "in")
      diag_.error(s.to->loc, "'in' stays as it is; what is promised is of 'out' or 'data'");
    scope_.enter();
    if (s.range) isRank(range(*s.range, *s.element).low, *s.range->low);
    const std::optional<int64_t> given = section(*s.from);
    if (s.from->text == "out")
      diag_.error(s.from->loc,
                  "what 'out' holds at the beginning is not known; promise of 'in' or 'data'");
    scope_.leave();
    if (s.value) {
      const Found of = expressions_.check(*s.value, Context::body, &algorithm_);
      if (of.type == Type::boolean)
        diag_.error(s.value->loc, "behind 'of' stands a rank or a group, this is a boolean");
      if (of.type == Type::integer) isRank(of.value, *s.value);
      if (of.type == Type::integer && s.reduces)
        diag_.error(s.value->loc, "'reduce' is of several ranks: of { r in 0 ..< P }, or a group");
      if (of.type == Type::group && !s.reduces) sayReduce(s, s.value->loc);
    } else if (!s.reduces) {
      sayReduce(s, s.range->loc);
    }
    if (promised && given && *promised != *given)
      diag_.error(s.loc, "promises ", counted(*promised, "block"), " to be ",
                  counted(*given, "block"));
  }

  void sayReduce(const Statement &s, Loc at) {
    diag_.error(at, "one rank has what '", s.to->text, "' is to be; of several: ", s.to->text,
                " == reduce ", s.from->text, " of ...");
  }

  Algorithm &algorithm_;
  const Collective kind_;
  Scope &scope_;
  Diag &diag_;
  ExpressionCheck &expressions_;
  std::unordered_map<const Variable *, BufferFacts> buffers_;
  bool inRound_ = false;
};

}  // namespace

void checkBody(Algorithm &a, ExpressionCheck &expressions, Scope &scope, Diag &diag) {
  BodyCheck(a, expressions, scope, diag).block(a.body);
}

}  // namespace nbcc
