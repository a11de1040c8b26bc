// SPDX-License-Identifier: BSD-3-Clause
// parse.cpp - one text to its tree, through ANTLR. No other file sees ANTLR, so this one holds all
// that does, in order of use, and is long for it:
//
//   scan      words that are none, and names and numbers that are too long
//   Depth     stops the parser before it runs out of stack
//   Recovery  what to say where a sentence breaks off, and where to go on
//   Builder   ANTLR's tree to ours
//   words     no tree: the words and comments one by one, for the formatter
//
// Each goes on only if the one before found nothing wrong. The grammar needs one token of
// lookahead, so ANTLR's predictions are not used. Cost: linear in the text; a file of 40
// lines takes 0.3 ms, the first one 1 ms more.

#include "dsl/parse.h"

#include <antlr4-runtime.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "NbcLexer.h"
#include "NbcParser.h"
#include "dsl/own_head.h"
#include "dsl/source.h"
#include "dsl/suggest.h"

namespace nbcc {

namespace {

using antlr4::Parser;
using antlr4::ParserRuleContext;
using antlr4::RecognitionException;
using antlr4::Token;
using antlr4::misc::IntervalSet;
using nbc_grammar::NbcLexer;
using nbc_grammar::NbcParser;

Loc place(uint16_t file, size_t line, size_t column) {
  return {static_cast<uint32_t>(line), static_cast<uint16_t>(std::min<size_t>(column, 0xFFFF)),
          file};
}

Loc place(uint16_t file, const Token *token) {
  return place(file, token->getLine(), token->getCharPositionInLine() + 1);
}

/// Just behind a token: where something is missing. No token spans lines.
Loc behind(uint16_t file, const Token *token) {
  const size_t length = token->getStopIndex() - token->getStartIndex() + 1;
  return place(file, token->getLine(), token->getCharPositionInLine() + 1 + length);
}

// ---------------------------------------------------------------------------------------- scan

std::string_view hintFor(std::string_view character) {
  static constexpr std::pair<std::string_view, std::string_view> hints[] = {
      {"%", "; write 'mod'"},
      {"&", "; write 'and'"},
      {"|", "; write 'or'"},
      {"!", "; write 'not'"},
      {"^", "; write 'xor' or pow(b, e)"},
      {"#", "; a comment begins with //"},
      {"'", "; a file's name stands in \"\""}};
  for (auto [wrong, hint] : hints)
    if (character == wrong) return hint;
  return "";
}

void scan(const std::vector<Token *> &tokens, uint16_t file, Diag &diag) {
  const Token *lastUnknown = nullptr;
  for (const Token *token : tokens) {
    const Loc at = place(file, token);
    const size_t length = token->getStopIndex() + 1 - token->getStartIndex();
    switch (token->getType()) {
      case NbcLexer::OPEN_COMMENT:
        diag.error(at, "this comment is not closed");
        break;
      case NbcLexer::OPEN_STRING:
        diag.error(at, "this file name is not closed on the line it begins");
        break;
      case NbcLexer::BAD_NUMBER:
        diag.error(at, "numbers are written in decimal digits");
        break;
      case NbcLexer::UNKNOWN: {
        // Of several in a row the first is enough.
        const bool more = lastUnknown && lastUnknown->getStopIndex() + 1 == token->getStartIndex();
        const std::string text = token->getText();
        if (!more) diag.error(at, "'", text, "' means nothing here", hintFor(text));
        lastUnknown = token;
        break;
      }
      case NbcLexer::NAME:
        if (length > kMaxName)
          diag.error(at, "this name has ", length, " characters; at most ", kMaxName,
                     " are allowed");
        break;
      case NbcLexer::STRING:
        if (length > 1000) diag.error(at, "this file name has ", length, " characters");
        break;
      default:
        break;
    }
  }
}

// --------------------------------------------------------------------------------------- Depth

struct TooDeep : std::exception {
  Loc at;
};

/// Counts the rules by which the parser goes deeper.
class Depth : public antlr4::tree::ParseTreeListener {
 public:
  explicit Depth(uint16_t file) : file_(file) {}

  void enterEveryRule(ParserRuleContext *context) override {
    if (!deepens(context) || ++depth_ <= kMaxNesting) return;
    TooDeep error;
    error.at = place(file_, context->getStart());
    throw error;
  }
  void exitEveryRule(ParserRuleContext *context) override { depth_ -= deepens(context); }
  void visitTerminal(antlr4::tree::TerminalNode *) override {}
  void visitErrorNode(antlr4::tree::ErrorNode *) override {}

 private:
  static bool deepens(const ParserRuleContext *context) {
    const size_t rule = context->getRuleIndex();
    return rule == NbcParser::RuleExpression || rule == NbcParser::RuleBlock;
  }

  uint16_t file_;
  int depth_ = 0;
};

// ------------------------------------------------------------------------------------ Recovery

template <size_t count>
bool isOneOf(size_t type, const size_t (&types)[count]) {
  return std::ranges::find(types, type) != std::end(types);
}

bool beginsStatement(size_t type) {
  return isOneOf(
      type, {NbcLexer::ROUND, NbcLexer::SEND, NbcLexer::RECV, NbcLexer::EXCHANGE, NbcLexer::SIGNAL,
             NbcLexer::AWAIT, NbcLexer::COPY, NbcLexer::REDUCE, NbcLexer::SCRATCH, NbcLexer::SPLIT,
             NbcLexer::LET, NbcLexer::FOR, NbcLexer::IF, NbcLexer::GROUP, NbcLexer::RUN});
}

bool beginsDeclaration(size_t type) {
  return isOneOf(type, {NbcLexer::NAME, NbcLexer::REDUCE, NbcLexer::FN, NbcLexer::IMPORT,
                        NbcLexer::COLLECTIVE});
}

/// An equation begins with a buffer; only those of `ensures` are let through (Recovery::sync).
bool beginsEquation(size_t type) {
  return isOneOf(type, {NbcLexer::NAME, NbcLexer::IN});
}

bool beginsExpression(size_t type) {
  return isOneOf(
      type, {NbcLexer::NAME, NbcLexer::INTEGER, NbcLexer::LPAREN, NbcLexer::TRUE, NbcLexer::FALSE,
             NbcLexer::MINUS, NbcLexer::NOT, NbcLexer::IF, NbcLexer::FOLD});
}

/// Reports in our words, and goes on behind the statement that is wrong.
class Recovery : public antlr4::DefaultErrorStrategy {
 public:
  Recovery(uint16_t file, Diag &diag) : file_(file), diag_(diag) {}

  void reportError(Parser *parser, const RecognitionException &) override { say(parser); }

  /// An error climbs to the statement it is in; that one is left out.
  void recover(Parser *parser, std::exception_ptr error) override {
    switch (parser->getRuleContext()->getRuleIndex()) {
      case NbcParser::RuleStatement:
      case NbcParser::RuleProperty:
        leaveOut(parser, skipStatement);
        break;
      case NbcParser::RuleImportFile:
      case NbcParser::RuleFunction:
      case NbcParser::RuleOwnCollective:
      case NbcParser::RuleAlgorithm:
        leaveOut(parser, skipDeclaration);
        break;
      case NbcParser::RuleBlock:
      case NbcParser::RuleFile:
        break;
      default:
        std::rethrow_exception(error);
    }
  }

  /// Before each statement and declaration: what can't be one is left out.
  void sync(Parser *parser) override {
    const size_t rule = parser->getRuleContext()->getRuleIndex();
    if (rule == NbcParser::RuleBlock) {
      for (size_t next = look(parser);
           next != NbcLexer::RBRACE && next != Token::EOF && !beginsStatement(next) &&
           !(beginsEquation(next) && isInEnsures(parser));
           next = look(parser)) {
        say(parser);
        leaveOut(parser, skipStatement);
      }
    } else if (rule == NbcParser::RuleFile) {
      for (size_t next = look(parser); next != Token::EOF && !beginsDeclaration(next);
           next = look(parser)) {
        say(parser);
        leaveOut(parser, skipDeclaration);
      }
    }
  }

  /// A token is not the one wanted. A forgotten ';' is passed over.
  Token *recoverInline(Parser *parser) override {
    if (!isSemicolon(parser->getExpectedTokens()) || !mayFollowStatement(parser))
      throw antlr4::InputMismatchException(parser);
    say(parser);
    return getMissingSymbol(parser);
  }

 private:
  static bool isInEnsures(Parser *parser) {
    const antlr4::RuleContext *context = parser->getRuleContext();
    while (context && context->getRuleIndex() != NbcParser::RuleOwnCollective)
      context = static_cast<const antlr4::RuleContext *>(context->parent);
    return context != nullptr;
  }

  static size_t look(Parser *parser) { return parser->getTokenStream()->LA(1); }

  static bool isSemicolon(const IntervalSet &expected) {
    return expected.size() == 1 && expected.contains(static_cast<size_t>(NbcLexer::SEMI));
  }

  static bool onNewLine(Parser *parser) {
    const Token *before = parser->getTokenStream()->LT(-1);
    return before && before->getLine() < parser->getCurrentToken()->getLine();
  }

  static bool mayFollowStatement(Parser *parser) {
    return onNewLine(parser) || look(parser) == NbcLexer::RBRACE || beginsStatement(look(parser));
  }

  /// Skips. Where that ended well, the next error is one of its own.
  void leaveOut(Parser *parser, bool (*skip)(Parser *)) {
    if (skip(parser)) endErrorCondition(parser);
  }

  /// Up to and with the next ';' or block of this statement: true. Or before the
  /// '}' that ends the block it is in, or what looks like the next statement.
  static bool skipStatement(Parser *parser) {
    int depth = 0;
    for (bool first = true;; first = false) {
      const size_t next = look(parser);
      if (next == Token::EOF) return false;
      if (next == NbcLexer::LBRACE) ++depth;
      if (next == NbcLexer::RBRACE) {
        const size_t after = parser->getTokenStream()->LA(2);
        const bool ofSet = after == NbcLexer::RBRACKET || after == NbcLexer::SEMI;
        if (depth == 0 && !ofSet) return false;
        depth -= depth > 0;
        parser->consume();
        if (depth == 0 && !ofSet) return true;
        continue;
      }
      if (depth == 0 && !first && beginsStatement(next) && onNewLine(parser)) return false;
      parser->consume();
      if (next == NbcLexer::SEMI && depth == 0) return true;
    }
  }

  /// Up to and with the next '}' that closes all: true. Or before the next
  /// declaration.
  static bool skipDeclaration(Parser *parser) {
    int depth = 0;
    for (bool first = true;; first = false) {
      const size_t next = look(parser);
      if (next == Token::EOF) return false;
      if (depth == 0 && !first && beginsDeclaration(next) && onNewLine(parser)) return false;
      parser->consume();
      depth += next == NbcLexer::LBRACE;
      if (next == NbcLexer::RBRACE && --depth <= 0) return true;
    }
  }

  void say(Parser *parser) {
    if (inErrorRecoveryMode(parser)) return;
    beginErrorCondition(parser);
    const Token *found = parser->getCurrentToken();
    const IntervalSet expected = parser->getExpectedTokens();
    ParserRuleContext *context = parser->getContext();
    const Loc at = place(file_, found);

    if (isSemicolon(expected)) {
      diag_.error(behind(file_, parser->getTokenStream()->LT(-1)), "expected ';' after this");
    } else if (wants(expected, NbcLexer::NAME) && expected.size() == 1 && isWord(found)) {
      diag_.error(at, "'", found->getText(), "' is a word of the language and cannot be a name");
    } else if (wants(expected, NbcLexer::LET) && found->getType() == NbcLexer::NAME) {
      sayNoStatement(parser, found);
    } else if (context->getRuleIndex() == NbcParser::RuleArguments) {
      diag_.error(at, "arguments are given by name: (root = ...), found ", shown(found));
    } else if (found->getType() == NbcLexer::ASSIGN && wants(expected, NbcLexer::LBRACE)) {
      diag_.error(at, "'=' only declares; '==' compares");
    } else {
      diag_.error(at, "expected ", describe(parser, expected), ", found ", shown(found));
      if (found->getType() == Token::EOF && context->getRuleIndex() == NbcParser::RuleBlock)
        diag_.note(place(file_, context->getStart()), "to close this");
    }
  }

  void sayNoStatement(Parser *parser, const Token *found) {
    static constexpr std::string_view statements[] = {
        "round",   "send",  "recv", "exchange", "signal", "await", "copy", "reduce",
        "scratch", "split", "let",  "for",      "if",     "group", "run"};
    const Loc at = place(file_, found);
    const std::string text = found->getText();
    if (parser->getTokenStream()->LA(2) == NbcLexer::ASSIGN)
      diag_.error(at, "a name keeps its value; 'let' declares a new one");
    else
      diag_.error(at, "expected a statement, found '", text, "'", didYouMean(text, statements));
  }

  static bool wants(const IntervalSet &expected, size_t type) { return expected.contains(type); }

  static bool isWord(const Token *token) {
    return token->getType() >= NbcLexer::AMONG && token->getType() <= NbcLexer::XOR;
  }

  static std::string shown(const Token *token) {
    return token->getType() == Token::EOF ? "the end of the file" : "'" + token->getText() + "'";
  }

  /// What may stand here, the large sets by one word.
  static std::string describe(Parser *parser, const IntervalSet &expected) {
    std::vector<std::string> parts;
    bool expression = wants(expected, NbcLexer::INTEGER),
         statement = wants(expected, NbcLexer::LET);
    const bool declaration = wants(expected, NbcLexer::FN);
    if (expression) parts.push_back("an expression");
    if (statement) parts.push_back("a statement");
    if (declaration) parts.push_back("an algorithm");
    for (const ssize_t signedType : expected.toList()) {
      const auto type = static_cast<size_t>(signedType);
      const bool name = type == NbcLexer::NAME;
      if (type == Token::EOF || (statement && (beginsStatement(type) || beginsEquation(type))))
        continue;
      if (expression && beginsExpression(type)) continue;
      if (declaration && beginsDeclaration(type) && type != NbcLexer::FN &&
          type != NbcLexer::IMPORT && type != NbcLexer::COLLECTIVE)
        continue;
      if (name)
        parts.push_back(wants(expected, NbcLexer::IN) ? "a buffer" : "a name");
      else if (type == NbcLexer::STRING)
        parts.push_back("a file name in \"\"");
      else if (type != NbcLexer::IN || !wants(expected, NbcLexer::NAME))
        parts.push_back(parser->getVocabulary().getLiteralName(type));
    }
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i)
      text += (i == 0 ? "" : i + 1 == parts.size() ? " or " : ", ") + parts[i];
    return text;
  }

  uint16_t file_;
  Diag &diag_;
};

// ------------------------------------------------------------------------------------- Builder

using namespace ast;
using G = NbcParser;

/// ANTLR's tree to ours. What the grammar lets through and is wrong is said here.
class Builder {
 public:
  Builder(uint16_t file, Diag &diag) : file_(file), diag_(diag) {}

  std::unique_ptr<File> build(G::FileContext *context) {
    auto file = std::make_unique<File>();
    file->id = file_;
    for (G::ImportFileContext *c : context->importFile()) {
      const std::string quoted = c->path->getText();
      file->imports.push_back({quoted.substr(1, quoted.size() - 2), at(c->path)});
    }
    for (G::FunctionContext *c : context->function()) file->functions.push_back(function(c));
    for (G::OwnCollectiveContext *c : context->ownCollective())
      file->collectives.push_back(ownCollective(c));
    for (G::AlgorithmContext *c : context->algorithm()) file->algorithms.push_back(algorithm(c));
    return file;
  }

 private:
  Loc at(const Token *token) const { return place(file_, token); }
  Loc at(antlr4::tree::TerminalNode *node) const { return at(node->getSymbol()); }
  Loc at(ParserRuleContext *context) const { return at(context->getStart()); }

  std::unique_ptr<Variable> variable(Variable::What what, antlr4::tree::TerminalNode *name) const {
    auto result = std::make_unique<Variable>();
    result->what = what;
    result->name = name->getText();
    result->loc = at(name);
    return result;
  }

  std::unique_ptr<Function> function(G::FunctionContext *c) {
    auto result = std::make_unique<Function>();
    result->name = c->name->getText();
    result->loc = at(c->name);
    const auto names = c->NAME();
    for (size_t i = 1; i < names.size(); ++i) {
      result->parameters.push_back(variable(Variable::What::parameter, names[i]));
      result->parameters.back()->index = static_cast<int>(i - 1);
    }
    result->body = expression(c->expression());
    return result;
  }

  std::unique_ptr<OwnCollective> ownCollective(G::OwnCollectiveContext *c) {
    auto result = std::make_unique<OwnCollective>();
    result->name = c->NAME()->getText();
    result->loc = at(c->NAME());
    OwnHead own(*result, diag_);
    for (G::PropertyContext *p : c->property()) {
      const Token *first = p->getStart();
      if (!p->shape) {
        own.root(first->getText(), at(first));
        continue;
      }
      if (p->at && (p->at->getText() != "at" || p->where->getText() != "root"))
        diag_.error(at(p->at), "expected ';' or 'at root', found '", p->at->getText(), "'");
      own.buffer({first->getText(),
                  at(first),
                  {},
                  p->expression() ? expression(p->expression()) : nullptr},
                 p->shape->getText(), at(p->shape), p->at != nullptr);
    }
    own.end();
    Algorithm &ensures = result->ensures;
    ensures.kind = Kind::own;
    ensures.kindName = result->name;
    ensures.own = result.get();
    ensures.name = "ensures";
    ensures.loc = at(c->ENSURES());
    reduces_ = false;
    ensures.body = block(c->block());
    result->reduces = reduces_;
    return result;
  }

  std::unique_ptr<Algorithm> algorithm(G::AlgorithmContext *c) {
    auto result = std::make_unique<Algorithm>();
    result->kindName = c->kind->getText();
    result->kindLoc = at(c->kind);
    result->name = c->name->getText();
    result->loc = at(c->name);
    for (G::ParameterContext *p : c->parameter()) {
      Parameter parameter;
      parameter.variable = variable(Variable::What::parameter, p->NAME());
      parameter.variable->index = static_cast<int>(result->parameters.size());
      if (p->expression()) parameter.initialExpr = expression(p->expression());
      result->parameters.push_back(std::move(parameter));
    }
    clauses(c, *result);
    result->body = block(c->block());
    return result;
  }

  void clauses(G::AlgorithmContext *c, Algorithm &result) {
    ParserRuleContext *requirements = nullptr, *claims = nullptr;
    const auto once = [this](ParserRuleContext *&first, ParserRuleContext *now) {
      if (first) {
        diag_.error(at(now), "there is one '", now->getStart()->getText(),
                    "' already; separate its parts by commas");
        diag_.note(at(first->getStart()), "here");
      }
      first = now;
    };
    for (G::ClauseContext *clause : c->clause()) {
      if (auto *r = dynamic_cast<G::RequirementsContext *>(clause)) {
        once(requirements, r);
        for (G::ExpressionContext *e : r->expression())
          result.requirements.push_back(expression(e));
      } else if (auto *k = dynamic_cast<G::ClaimsContext *>(clause)) {
        once(claims, k);
        for (G::ClaimContext *one : k->claim()) result.claims.push_back(claim(one));
      }
    }
  }

  Claim claim(G::ClaimContext *c) {
    using enum Claim::What;
    static constexpr std::pair<std::string_view, Claim::What> known[] = {
        {"rounds", rounds},
        {"messages", messages},
        {"sent", sent},
        {"link_sharing", link_sharing},
        {"rank_order", rank_order},
        {"bitwise_same", bitwise_same},
        {"any_lengths", any_lengths}};
    Claim result;
    result.loc = at(c);
    const std::string name = c->NAME()->getText();
    const auto found =
        std::ranges::find(known, name, &std::pair<std::string_view, Claim::What>::first);
    if (found == std::end(known)) {
      diag_.error(
          result.loc, "nothing is known of '", name,
          "'; claims are rounds, messages, sent, link_sharing, rank_order, bitwise_same and "
          "any_lengths");
      return result;
    }
    result.what = found->second;
    const bool property = result.what >= rank_order;
    if (property && c->compare()) {
      diag_.error(at(c->compare()), "'", name, "' is claimed as it is, without a number");
    } else if (!property && !c->compare()) {
      diag_.error(result.loc, "'", name, "' needs a bound: ", name, " <= ...");
    } else if (!property) {
      result.op = comparison(c->compare());
      if (result.op == Operator::ne)
        diag_.error(at(c->compare()), "a claim uses ==, <, <=, > or >=");
      result.bound = expression(c->expression());
    }
    return result;
  }

  // Statements

  Block block(G::BlockContext *c) {
    Block result;
    for (G::StatementContext *s : c->statement())
      if (StatementPtr built = statement(s)) result.push_back(std::move(built));
    return result;
  }

  StatementPtr make(Statement::What what, ParserRuleContext *c) const {
    auto result = std::make_unique<Statement>();
    result->what = what;
    result->loc = at(c);
    return result;
  }

  /// An operation: its sections in order of writing, its peer, its port.
  StatementPtr operation(Statement::What what, ParserRuleContext *c,
                         std::initializer_list<std::unique_ptr<Section> Statement::*> sections) {
    auto s = make(what, c);
    const auto written = c->getRuleContexts<G::SectionContext>();
    size_t i = 0;
    for (auto member : sections) (*s).*member = section(written[i++]);
    if (auto *peer = c->getRuleContext<G::ExpressionContext>(0)) s->peer = expression(peer);
    if (auto *port = c->getRuleContext<G::PortContext>(0)) s->port = expression(port->expression());
    return s;
  }

  StatementPtr statement(G::StatementContext *context) {
    using What = Statement::What;
    const auto from = &Statement::from, with = &Statement::with, to = &Statement::to;
    switch (context->getStart()->getType()) {
      case G::ROUND: {
        auto s = make(What::round, context);
        s->body = block(static_cast<G::RoundContext *>(context)->block());
        return s;
      }
      case G::SEND:
        return operation(What::send, context, {from});
      case G::RECV:
        return operation(What::recv, context, {to});
      case G::EXCHANGE:
        return operation(What::exchange, context, {from, to});
      case G::SIGNAL:
        return operation(What::signal, context, {});
      case G::AWAIT:
        return operation(What::await, context, {});
      case G::COPY:
        return operation(What::copy, context, {from, to});
      case G::REDUCE:
        return operation(What::reduce, context, {from, with, to});
      case G::SCRATCH:
        return scratch(static_cast<G::ScratchContext *>(context));
      case G::SPLIT: {
        auto *c = static_cast<G::SplitContext *>(context);
        auto s = make(What::split, c);
        s->from = section(c->section());
        s->value = expression(c->expression());
        s->variable = variable(Variable::What::buffer, c->NAME());
        return s;
      }
      case G::LET: {
        auto *c = static_cast<G::LetContext *>(context);
        auto s = make(What::let, c);
        s->variable = variable(Variable::What::local, c->NAME());
        s->value = expression(c->expression());
        return s;
      }
      case G::FOR:
        return loop(static_cast<G::ForContext *>(context));
      case G::IF:
        return branch(static_cast<G::IfContext *>(context));
      case G::GROUP:
        return group(static_cast<G::GroupContext *>(context));
      case G::RUN:
        return run(static_cast<G::RunContext *>(context));
      case G::NAME:
      case G::IN:
        return promise(static_cast<G::PromiseContext *>(context));
      default:
        std::abort();  // not in the grammar
    }
  }

  StatementPtr group(G::GroupContext *c) {
    auto s = make(Statement::What::group, c);
    s->variable = variable(Variable::What::local, c->NAME(0));
    s->variable->type = Type::group;
    if (c->expression()) s->value = expression(c->expression());
    if (c->range()) {
      s->element = variable(Variable::What::local, c->NAME(1));
      s->range = range(c->range());
    }
    if (!c->set()) return s;
    if (s->range)
      diag_.error(at(c->set()), "the members of '", s->variable->name, "[", s->element->name,
                  " in ...]' are given one by one: = rank");
    s->element = variable(Variable::What::local, c->set()->NAME());
    s->range = setRange(c->set());
    return s;
  }

  StatementPtr run(G::RunContext *c) {
    auto s = make(Statement::What::run, c);
    s->kind = c->kind->getText();
    s->kindLoc = at(c->kind);
    s->text = c->name->getText();
    if (c->arguments())
      for (G::ArgumentContext *a : c->arguments()->argument())
        s->arguments.push_back({a->NAME()->getText(), at(a), expression(a->expression())});
    if (c->expression()) s->value = expression(c->expression());
    for (G::BindingContext *b : c->binding()) {
      Binding binding;
      binding.name = b->getStart()->getText();
      binding.loc = at(b);
      if (b->LBRACKET()) binding.element = variable(Variable::What::local, b->NAME().back());
      binding.section = section(b->section());
      s->bindings.push_back(std::move(binding));
    }
    return s;
  }

  StatementPtr promise(G::PromiseContext *c) {
    auto s = make(Statement::What::promise, c);
    s->to = section(c->section(0));
    s->from = section(c->section(1));
    s->reduces = c->REDUCE() != nullptr;
    reduces_ |= s->reduces;
    if (c->expression()) s->value = expression(c->expression());
    if (!c->set()) return s;
    s->element = variable(Variable::What::local, c->set()->NAME());
    s->range = setRange(c->set());
    return s;
  }

  StatementPtr scratch(G::ScratchContext *c) {
    auto s = make(Statement::What::scratch, c);
    s->variable = variable(Variable::What::buffer, c->NAME());
    s->from = section(c->section());
    G::ScratchSizeContext *size = c->scratchSize();
    if (size && size->range()) {
      s->element = rangeVariable(size->expression());
      s->range = range(size->range());
    } else if (size) {
      s->extent = expression(size->expression());
    }
    return s;
  }

  /// The j of `[j in ...]`, which the grammar takes for an expression.
  std::unique_ptr<Variable> rangeVariable(G::ExpressionContext *c) {
    auto result = std::make_unique<Variable>();
    result->what = Variable::What::local;
    result->loc = at(c);
    result->name = c->getText();
    if (c->getStart() != c->getStop() || c->getStart()->getType() != G::NAME)
      diag_.error(result->loc, "expected a name before 'in'");
    return result;
  }

  StatementPtr loop(G::ForContext *c) {
    if (c->range()) {
      auto s = make(Statement::What::for_range, c);
      s->variable = variable(Variable::What::local, c->NAME());
      s->range = range(c->range());
      if (c->condition()) s->range->condition = expression(c->condition()->expression());
      s->body = block(c->block());
      return s;
    }
    auto s = make(Statement::What::for_step, c);
    G::LoopContext *l = c->loop();
    s->variable = variable(Variable::What::local, c->NAME());
    s->value = expression(l->expression(0));
    s->condition = expression(l->expression(1));
    s->step = expression(l->expression(2));
    s->op = l->ADDTO()     ? Operator::add
            : l->SUBFROM() ? Operator::sub
            : l->MULTO()   ? Operator::mul
                           : Operator::div;
    if (l->NAME()->getText() != s->variable->name)
      diag_.error(at(l->NAME()), "the loop counts with '", s->variable->name, "', this changes '",
                  l->NAME()->getText(), "'");
    s->body = block(c->block());
    return s;
  }

  /// `else if` becomes an `if` in the `else`: counted as nesting, for those who
  /// walk the tree.
  StatementPtr branch(G::IfContext *c) {
    StatementPtr first;
    Statement *last = nullptr;
    bool ended = false;  // by an `else` without `if`
    int chain = 0;
    Loc start;
    ExprPtr condition;
    for (antlr4::tree::ParseTree *child : c->children) {
      if (auto *token = dynamic_cast<antlr4::tree::TerminalNode *>(child)) {
        const bool isElse = token->getSymbol()->getType() == G::ELSE;
        if (isElse && ended) {
          diag_.error(at(token), "this 'if' has its 'else' already");
          return nullptr;
        }
        if (isElse && ++chain > kMaxNesting) {
          diag_.error(at(token), "more than ", kMaxNesting, " times 'else if'");
          return nullptr;
        }
        start = at(token);
      } else if (auto *e = dynamic_cast<G::ExpressionContext *>(child)) {
        condition = expression(e);
      } else if (condition) {
        StatementPtr s = make(Statement::What::if_, c);
        s->loc = start;
        s->condition = std::move(condition);
        s->body = block(static_cast<G::BlockContext *>(child));
        Statement *made = s.get();
        if (last)
          last->otherwise.push_back(std::move(s));
        else
          first = std::move(s);
        last = made;
      } else {
        last->otherwise = block(static_cast<G::BlockContext *>(child));
        ended = true;
      }
    }
    return first;
  }

  std::unique_ptr<Range> range(G::RangeContext *c) {
    auto result = std::make_unique<Range>();
    result->loc = at(c);
    result->low = expression(c->expression(0));
    result->high = expression(c->expression(1));
    result->inclusive = c->UPTO() != nullptr;
    return result;
  }

  std::unique_ptr<Range> setRange(G::SetContext *c) {
    auto result = range(c->range());
    if (c->expression()) result->condition = expression(c->expression());
    return result;
  }

  std::unique_ptr<Section> section(G::SectionContext *c) {
    auto result = std::make_unique<Section>();
    result->loc = at(c);
    result->text = c->getStart()->getText();
    G::SelectorContext *selector = c->selector();
    if (!selector) {
      result->what = Section::What::whole;
    } else if (auto *chosen = dynamic_cast<G::ChosenContext *>(selector)) {
      result->what = Section::What::set;
      result->variable = variable(Variable::What::local, chosen->set()->NAME());
      result->range = setRange(chosen->set());
    } else {
      auto *elements = static_cast<G::ElementsContext *>(selector);
      result->what = elements->PLUSRANGE() ? Section::What::range : Section::What::element;
      result->first = expression(elements->expression(0));
      if (elements->PLUSRANGE()) result->count = expression(elements->expression(1));
    }
    return result;
  }

  // Expressions: a tree and how deep it is.

  struct Built {
    ExprPtr expr;
    int depth = 1;
  };

  ExprPtr expression(G::ExpressionContext *c) { return nested(c).expr; }

  static Built leaf(Expr::What what, Loc loc) {
    Built result{std::make_unique<Expr>()};
    result.expr->what = what;
    result.expr->loc = loc;
    return result;
  }

  /// `operand`, which stands below `node`. What gets too deep is cut off, and said.
  ExprPtr below(Built &node, Built operand) {
    if (operand.depth >= kMaxExpressionDepth) {
      diag_.error(operand.expr->loc, "more than ", kMaxExpressionDepth,
                  " operators below each other; name a part of this with 'let'");
      operand = leaf(Expr::What::integer, operand.expr->loc);
    }
    node.depth = std::max(node.depth, operand.depth + 1);
    return std::move(operand.expr);
  }

  void adopt(Built &node, Built operand) {
    node.expr->args.push_back(below(node, std::move(operand)));
  }

  Built binaryNode(Operator op, Loc loc, Built left, Built right) {
    Built node = leaf(Expr::What::binary, loc);
    node.expr->op = op;
    adopt(node, std::move(left));
    adopt(node, std::move(right));
    return node;
  }

  /// operand (operator operand)*, grouped from the left.
  template <class Operand>
  Built chain(ParserRuleContext *c, Built (Builder::*rule)(Operand *)) {
    const auto operand = [&](size_t i) {
      return (this->*rule)(static_cast<Operand *>(c->children[i]));
    };
    Built result = operand(0);
    for (size_t i = 1; i + 1 < c->children.size(); i += 2) {
      const Token *op = static_cast<antlr4::tree::TerminalNode *>(c->children[i])->getSymbol();
      result = binaryNode(binaryOperator(op->getType()), at(op), std::move(result), operand(i + 1));
    }
    return result;
  }

  /// operator* operand: each operator takes what is on its right.
  template <class Operand>
  Built prefixed(ParserRuleContext *c, Operator op, Built (Builder::*rule)(Operand *)) {
    Built result = (this->*rule)(static_cast<Operand *>(c->children.back()));
    for (size_t i = c->children.size() - 1; i-- > 0;) {
      Built node =
          leaf(Expr::What::unary, at(static_cast<antlr4::tree::TerminalNode *>(c->children[i])));
      node.expr->op = op;
      adopt(node, std::move(result));
      result = std::move(node);
    }
    return result;
  }

  static Operator binaryOperator(size_t type) {
    static constexpr std::pair<size_t, Operator> operators[] = {
        {G::OR, Operator::logical_or}, {G::AND, Operator::logical_and},
        {G::XOR, Operator::bit_xor},   {G::PLUS, Operator::add},
        {G::MINUS, Operator::sub},     {G::TIMES, Operator::mul},
        {G::DIVIDE, Operator::div},    {G::MOD, Operator::mod},
        {G::LT, Operator::lt},         {G::LE, Operator::le},
        {G::GT, Operator::gt},         {G::GE, Operator::ge},
        {G::EQ, Operator::eq},         {G::NE, Operator::ne}};
    for (auto [token, op] : operators)
      if (token == type) return op;
    std::abort();  // not in the grammar
  }

  static Operator comparison(G::CompareContext *c) {
    return binaryOperator(c->getStart()->getType());
  }

  Built nested(G::ExpressionContext *c) {
    // if a then b else if c then d else e: from the back, each the `else` of the one before.
    const auto parts = c->expression();
    const auto ifs = c->IF();
    Built result = c->fold() ? fold(c->fold()) : disjunction(c->disjunction());
    for (size_t i = parts.size(); i >= 2; i -= 2) {
      Built node = leaf(Expr::What::conditional, at(ifs[i / 2 - 1]));
      adopt(node, nested(parts[i - 2]));
      adopt(node, nested(parts[i - 1]));
      adopt(node, std::move(result));
      result = std::move(node);
    }
    return result;
  }

  Built fold(G::FoldContext *c) {
    Built result = leaf(Expr::What::fold, at(c));
    result.expr->fold = std::make_unique<Fold>();
    Fold &fold = *result.expr->fold;
    fold.state = variable(Variable::What::local, c->NAME(0));
    fold.element = variable(Variable::What::local, c->NAME(1));
    fold.range.loc = at(c->range());
    fold.range.low = below(result, nested(c->range()->expression(0)));
    fold.range.high = below(result, nested(c->range()->expression(1)));
    fold.range.inclusive = c->range()->UPTO() != nullptr;
    if (c->condition()) fold.range.condition = below(result, nested(c->condition()->expression()));
    for (G::ExpressionContext *operand : c->expression()) adopt(result, nested(operand));
    return result;
  }

  Built disjunction(G::DisjunctionContext *c) { return chain(c, &Builder::conjunction); }
  Built conjunction(G::ConjunctionContext *c) { return chain(c, &Builder::negation); }
  Built negation(G::NegationContext *c) {
    return prefixed(c, Operator::logical_not, &Builder::comparisons);
  }
  Built comparisons(G::ComparisonContext *c) {
    Built result = exclusive(static_cast<G::ExclusiveContext *>(c->children[0]));
    if (c->children.size() == 1) return result;
    auto *op = static_cast<G::CompareContext *>(c->children[1]);
    if (c->children.size() > 3)
      diag_.error(at(static_cast<G::CompareContext *>(c->children[3])),
                  "comparisons do not chain; write a < b and b < c");
    return binaryNode(comparison(op), at(op), std::move(result),
                      exclusive(static_cast<G::ExclusiveContext *>(c->children[2])));
  }
  Built exclusive(G::ExclusiveContext *c) { return chain(c, &Builder::sum); }
  Built sum(G::SumContext *c) { return chain(c, &Builder::product); }
  Built product(G::ProductContext *c) { return chain(c, &Builder::unary); }
  Built unary(G::UnaryContext *c) { return prefixed(c, Operator::negate, &Builder::primary); }

  Built primary(G::PrimaryContext *context) {
    if (auto *brackets = dynamic_cast<G::BracketsContext *>(context))
      return nested(brackets->expression());
    const Token *token = context->getStart();
    const std::string text = token->getText();
    if (token->getType() == G::INTEGER) {
      Built result = leaf(Expr::What::integer, at(token));
      const auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), result.expr->value);
      if (error != std::errc())
        diag_.error(at(token), "this number is larger than 9223372036854775807");
      return result;
    }
    if (token->getType() != G::NAME) {
      Built result = leaf(Expr::What::boolean, at(token));
      result.expr->value = token->getType() == G::TRUE;
      return result;
    }
    auto *c = static_cast<G::NamedContext *>(context);
    Built result = leaf(c->LPAREN()     ? Expr::What::call
                        : c->LBRACKET() ? Expr::What::member
                                        : Expr::What::name,
                        at(token));
    result.expr->text = text;
    if (c->LBRACKET()) {
      Built group = leaf(Expr::What::name, at(token));
      group.expr->text = text;
      adopt(result, std::move(group));
    }
    for (G::ExpressionContext *argument : c->expression()) adopt(result, nested(argument));
    return result;
  }

  uint16_t file_;
  Diag &diag_;
  bool reduces_ = false;  // since the declaration began: a promise does
};

Word::What whatIs(const Token *token) {
  switch (token->getType()) {
    case NbcLexer::NAME:
      return Word::What::name;
    case NbcLexer::INTEGER:
      return Word::What::number;
    case NbcLexer::STRING:
      return Word::What::quoted;
    case NbcLexer::LINE_COMMENT:
    case NbcLexer::COMMENT:
      return Word::What::comment;
    default: {
      const char first = token->getText().front();
      return first >= 'a' && first <= 'z' ? Word::What::keyword : Word::What::symbol;
    }
  }
}

}  // namespace

std::vector<Word> words(uint16_t file, const Diag &diag) {
  antlr4::ANTLRInputStream characters(diag.fileText(file));
  NbcLexer lexer(&characters);
  lexer.removeErrorListeners();
  std::vector<Word> result;
  for (const auto &token : lexer.getAllTokens()) {
    Word word{whatIs(token.get()), token->getText(), place(file, token.get()), 0};
    word.lastLine = word.loc.line + static_cast<uint32_t>(std::ranges::count(word.text, '\n'));
    result.push_back(std::move(word));
  }
  return result;
}

std::unique_ptr<File> parseOne(uint16_t file, Diag &diag) {
  const int before = diag.errors();
  antlr4::ANTLRInputStream characters(diag.fileText(file));
  NbcLexer lexer(&characters);
  lexer.removeErrorListeners();
  antlr4::CommonTokenStream tokens(&lexer);
  tokens.fill();
  scan(tokens.getTokens(), file, diag);
  if (diag.errors() != before) return nullptr;

  NbcParser parser(&tokens);
  parser.removeErrorListeners();
  parser.setErrorHandler(std::make_shared<Recovery>(file, diag));
  Depth depth(file);
  parser.addParseListener(&depth);
  G::FileContext *tree = nullptr;
  try {
    tree = parser.file();
  } catch (const TooDeep &error) {
    diag.error(error.at, "more than ", kMaxNesting, " brackets, blocks or 'if' inside each other");
  }
  if (diag.errors() != before) return nullptr;

  std::unique_ptr<File> result = Builder(file, diag).build(tree);
  return diag.errors() == before ? std::move(result) : nullptr;
}

}  // namespace nbcc
