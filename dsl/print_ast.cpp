// SPDX-License-Identifier: BSD-3-Clause
// print_ast.cpp - --emit=ast: one statement a line, indented; expressions with all their brackets.
//
//   send tmp[0 +: n] to (me - i * d) mod P;      =>      send tmp[0 +: n] to ((me - (i * d)) mod P)
//
// Needs only what parse() made: it also prints a tree that check() refused.

#include <ostream>

#include "dsl/ast.h"
#include "dsl/collectives.h"
#include "dsl/parse.h"

namespace nbcc {

namespace {

using namespace ast;

class Printer {
 public:
  explicit Printer(std::ostream &out) : out_(out) {}

  void print(const File &file) {
    for (const Import &import : file.imports) out_ << "import \"" << import.path << "\"\n";
    for (const auto &function : file.functions) print(*function);
    for (const auto &collective : file.collectives) print(*collective);
    for (const auto &algorithm : file.algorithms) print(*algorithm);
    for (const auto &algorithm : file.called) print(*algorithm);
  }

 private:
  void print(const Function &f) {
    out_ << "fn " << f.name << "(";
    for (size_t i = 0; i < f.parameters.size(); ++i)
      out_ << (i ? ", " : "") << f.parameters[i]->name;
    out_ << ") = ";
    print(*f.body);
    out_ << "\n";
  }

  void print(const OwnCollective &c) {
    out_ << "collective " << c.name << "\n";
    if (c.where != Where::everywhere) out_ << "  root\n";
    for (const OwnCollective::Buffer &b : c.buffers) {
      const bool atRoot = (b.name == "in" && c.where == Where::in_at_root) ||
                          (b.name == "out" && c.where == Where::out_at_root);
      out_ << "  " << b.name << " " << name(b.shape);
      if (b.extent) out_ << "[", print(*b.extent), out_ << "]";
      out_ << (atRoot ? " at root\n" : "\n");
    }
    out_ << "  ensures\n";
    print(c.ensures.body, 2);
  }

  void print(const Algorithm &a) {
    out_ << "algorithm " << a.kindName << " " << a.name << "\n";
    for (const Parameter &p : a.parameters) {
      out_ << "  parameter " << p.variable->name;
      if (p.initialExpr) out_ << " = ", print(*p.initialExpr);
      out_ << "\n";
    }
    for (const ExprPtr &r : a.requirements) {
      out_ << "  requires ";
      print(*r);
      out_ << "\n";
    }
    for (const Claim &c : a.claims) {
      out_ << "  claims " << name(c.what);
      if (c.bound) out_ << " " << spelling(c.op) << " ", print(*c.bound);
      out_ << "\n";
    }
    print(a.body, 1);
  }

  void print(const Block &block, int depth) {
    for (const StatementPtr &s : block) print(*s, depth);
  }

  void indent(int depth) {
    for (int i = 0; i < depth; ++i) out_ << "  ";
  }

  void print(const Statement &s, int depth) {
    using enum Statement::What;
    indent(depth);
    switch (s.what) {
      case round:
        out_ << "round";
        break;
      case send:
        out_ << "send ", print(*s.from), out_ << " to ", print(*s.peer);
        break;
      case recv:
        out_ << "recv ", print(*s.to), out_ << " from ", print(*s.peer);
        break;
      case exchange:
        out_ << "exchange ", print(*s.from), out_ << " -> ", print(*s.to);
        out_ << " with ", print(*s.peer);
        break;
      case signal:
        out_ << "signal ", print(*s.peer);
        break;
      case await:
        out_ << "await ", print(*s.peer);
        break;
      case copy:
        out_ << "copy ", print(*s.from), out_ << " -> ", print(*s.to);
        break;
      case reduce:
        out_ << "reduce ", print(*s.from), out_ << ", ", print(*s.with);
        out_ << " -> ", print(*s.to);
        break;
      case scratch:
        out_ << "scratch " << s.variable->name;
        if (s.extent) out_ << "[", print(*s.extent), out_ << "]";
        if (s.range) out_ << "[" << s.element->name << " in ", print(*s.range), out_ << "]";
        out_ << " like ", print(*s.from);
        break;
      case split:
        out_ << "split ", print(*s.from), out_ << " into ", print(*s.value);
        out_ << " as " << s.variable->name;
        break;
      case let:
        out_ << "let " << s.variable->name << " = ", print(*s.value);
        break;
      case for_range:
        out_ << "for " << s.variable->name << " in ", print(*s.range);
        if (s.range->condition) out_ << " if ", print(*s.range->condition);
        break;
      case for_step:
        out_ << "for " << s.variable->name << " = ", print(*s.value), out_ << "; ";
        print(*s.condition), out_ << "; " << s.variable->name << " " << spelling(s.op) << "= ";
        print(*s.step);
        break;
      case if_:
        out_ << "if ", print(*s.condition);
        break;
      case group:
        printGroup(s);
        break;
      case run:
        printRun(s);
        break;
      case promise:
        print(*s.to), out_ << " == " << (s.reduces ? "reduce " : ""), print(*s.from);
        out_ << " of ";
        if (s.value)
          print(*s.value);
        else
          printSet(*s.element, *s.range);
        break;
    }
    if (s.port) out_ << " on port ", print(*s.port);
    out_ << "\n";
    print(s.body, depth + 1);
    if (!s.otherwise.empty()) {
      indent(depth);
      out_ << "else\n";
      print(s.otherwise, depth + 1);
    }
  }

  void printGroup(const Statement &s) {
    out_ << "group " << s.variable->name;
    if (s.range && !s.value) {
      out_ << " = ", printSet(*s.element, *s.range);
      return;
    }
    if (s.range) out_ << "[" << s.element->name << " in ", print(*s.range), out_ << "]";
    out_ << " = ", print(*s.value);
  }

  void printRun(const Statement &s) {
    out_ << "run " << s.kind << "." << s.text;
    if (!s.arguments.empty()) {
      for (size_t i = 0; i < s.arguments.size(); ++i) {
        out_ << (i ? ", " : "(") << s.arguments[i].name << " = ";
        print(*s.arguments[i].value);
      }
      out_ << ")";
    }
    if (s.value) out_ << " among ", print(*s.value);
    for (size_t i = 0; i < s.bindings.size(); ++i) {
      const Binding &b = s.bindings[i];
      out_ << (i ? ", " : " with ") << b.name;
      if (b.element) out_ << "[" << b.element->name << "]";
      out_ << " = ", print(*b.section);
    }
  }

  /// { j in 0 ..< P : cond }
  void printSet(const Variable &variable, const Range &r) {
    out_ << "{ " << variable.name << " in ", print(r);
    if (r.condition) out_ << " : ", print(*r.condition);
    out_ << " }";
  }

  void print(const Range &r) {
    print(*r.low);
    out_ << (r.inclusive ? " .. " : " ..< ");
    print(*r.high);
  }

  void print(const Section &s) {
    out_ << s.text;
    switch (s.what) {
      case Section::What::whole:
        break;
      case Section::What::element:
      case Section::What::group:
        out_ << "[", print(*s.first), out_ << "]";
        break;
      case Section::What::range:
        out_ << "[", print(*s.first), out_ << " +: ", print(*s.count), out_ << "]";
        break;
      case Section::What::set:
        out_ << "[", printSet(*s.variable, *s.range), out_ << "]";
        break;
    }
  }

  void print(const Expr &e) {
    switch (e.what) {
      case Expr::What::integer:
        out_ << e.value;
        break;
      case Expr::What::boolean:
        out_ << (e.value ? "true" : "false");
        break;
      case Expr::What::name:
        out_ << e.text;
        break;
      case Expr::What::unary:
        out_ << "(" << spelling(e.op) << (e.op == Operator::logical_not ? " " : "");
        print(*e.args[0]);
        out_ << ")";
        break;
      case Expr::What::binary:
        out_ << "(", print(*e.args[0]), out_ << " " << spelling(e.op) << " ";
        print(*e.args[1]), out_ << ")";
        break;
      case Expr::What::conditional:
        out_ << "(if ", print(*e.args[0]), out_ << " then ", print(*e.args[1]);
        out_ << " else ", print(*e.args[2]), out_ << ")";
        break;
      case Expr::What::member:
        out_ << e.text << "[", print(*e.args[1]), out_ << "]";
        break;
      case Expr::What::fold:
        out_ << "(fold " << e.fold->state->name << " = ", print(*e.args[0]);
        out_ << " for " << e.fold->element->name << " in ", print(e.fold->range);
        if (e.fold->range.condition) out_ << " if ", print(*e.fold->range.condition);
        out_ << " : ", print(*e.args[1]), out_ << ")";
        break;
      case Expr::What::builtin:
      case Expr::What::call:
        out_ << e.text;
        if (e.args.empty() && e.what == Expr::What::builtin) break;  // nodes
        out_ << "(";
        for (size_t i = 0; i < e.args.size(); ++i) out_ << (i ? ", " : ""), print(*e.args[i]);
        out_ << ")";
        break;
    }
  }

  std::ostream &out_;
};

}  // namespace

void print(const ast::File &file, std::ostream &out) {
  Printer(out).print(file);
}

}  // namespace nbcc
