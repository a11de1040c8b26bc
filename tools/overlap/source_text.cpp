// SPDX-License-Identifier: BSD-3-Clause
// source_text.cpp - the source as text.

#include "tools/overlap/source_text.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/StmtCXX.h>
#include <clang/AST/StmtOpenMP.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/Preprocessor.h>

#include <set>

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;
using llvm::StringRef;

StringRef mainFile(const ASTContext &context) {
  const SourceManager &files = context.getSourceManager();
  return files.getBufferData(files.getMainFileID());
}

namespace {

/// The statement in it with which a statement ends; null: it ends by itself.
const Stmt *lastPart(const Stmt *s) {
  if (const auto *i = dyn_cast<IfStmt>(s)) return i->getElse() ? i->getElse() : i->getThen();
  if (const auto *f = dyn_cast<ForStmt>(s)) return f->getBody();
  if (const auto *w = dyn_cast<WhileStmt>(s)) return w->getBody();
  if (const auto *r = dyn_cast<CXXForRangeStmt>(s)) return r->getBody();
  if (const auto *w = dyn_cast<SwitchStmt>(s)) return w->getBody();
  if (const auto *l = dyn_cast<LabelStmt>(s)) return l->getSubStmt();
  if (const auto *c = dyn_cast<SwitchCase>(s)) return c->getSubStmt();
  if (const auto *a = dyn_cast<AttributedStmt>(s)) return a->getSubStmt();
  return nullptr;
}

/// Whether a `;` follows that is not part of the statement's own range.
bool needsSemicolon(const Stmt *s) {
  if (const Stmt *last = lastPart(s)) return needsSemicolon(last);
  return !isa<CompoundStmt, CXXTryStmt, DeclStmt, NullStmt>(s);
}

/// Where a line ends: of CR LF at the CR, so that what is put there ends as it does.
unsigned lineEnd(StringRef text, size_t at) {
  const size_t newline = std::min(text.find('\n', at), text.size());
  return static_cast<unsigned>(text.slice(at, newline).ends_with("\r") ? newline - 1 : newline);
}

/// Where it ends with those that go on behind a backslash.
unsigned endOfLine(StringRef text, size_t at) {
  for (;;) {
    const size_t newline = text.find('\n', at);
    const StringRef line = text.slice(at, newline).rtrim();
    if (newline == StringRef::npos || !(line.ends_with("\\") || line.ends_with("?\?/")))
      return lineEnd(text, at);
    at = newline + 1;
  }
}

/// Behind white space and comments.
unsigned nextWord(StringRef text, unsigned at) {
  while (at < text.size()) {
    if (isWhitespace(text[at])) {
      ++at;
    } else if (text.substr(at).starts_with("//")) {
      at = endOfLine(text, at);
    } else if (text.substr(at).starts_with("/*")) {
      const size_t end = text.find("*/", at + 2);
      if (end == StringRef::npos) return static_cast<unsigned>(text.size());
      at = static_cast<unsigned>(end) + 2;
    } else {
      break;
    }
  }
  return at;
}

size_t lineBegin(StringRef text, size_t at) {
  const size_t before = text.rfind('\n', at);
  return before == StringRef::npos ? 0 : before + 1;
}

}  // namespace

std::optional<Extent> extentOf(const Stmt &s, const ASTContext &context) {
  const SourceManager &files = context.getSourceManager();
  const CharSourceRange range = files.getExpansionRange(s.getSourceRange());
  const auto [beginFile, begin] = files.getDecomposedLoc(range.getBegin());
  const SourceLocation last = range.getEnd();
  const auto [endFile, lastBegin] = files.getDecomposedLoc(last);
  if (beginFile != files.getMainFileID() || endFile != beginFile) return std::nullopt;
  if (const auto *omp =
          dyn_cast<OMPExecutableDirective>(&s)) {  // its own range is the pragma alone
    if (!omp->hasAssociatedStmt()) return std::nullopt;
    const std::optional<Extent> body = extentOf(*omp->getRawStmt(), context);
    return body ? std::optional(Extent{begin, body->end}) : std::nullopt;
  }
  const unsigned length = Lexer::MeasureTokenLength(last, files, context.getLangOpts());
  unsigned end = lastBegin + length;
  if (needsSemicolon(&s)) {
    const StringRef text = files.getBufferData(beginFile);
    const unsigned at = nextWord(text, end);
    if (at >= text.size() || text[at] != ';') return std::nullopt;
    end = at + 1;
  }
  return Extent{begin, end};
}

bool shareText(const Stmt &s, const Stmt &next, const ASTContext &context) {
  const SourceManager &files = context.getSourceManager();
  const std::optional<Extent> a = extentOf(s, context);
  const auto [file, begin] = files.getDecomposedLoc(files.getExpansionLoc(next.getBeginLoc()));
  return !a || file != files.getMainFileID() || begin < a->end;
}

unsigned behindComment(StringRef text, unsigned end) {
  for (size_t at = end;;) {
    at = std::min(text.find_first_not_of(" \t\v\f", at), text.size());
    if (at == lineEnd(text, at)) return static_cast<unsigned>(at);
    const StringRef rest = text.substr(at);
    // A comment that goes on in the next line would take in what is put there.
    if (rest.starts_with("//"))
      return lineEnd(text, at) == endOfLine(text, at) ? lineEnd(text, at) : end;
    const size_t length = rest.starts_with("/*") ? rest.find("*/", 2) : StringRef::npos;
    if (length == StringRef::npos) return end;
    at += length + 2;
  }
}

bool declaresFirst(const ASTContext &context) {
  if (context.getLangOpts().CPlusPlus) return false;
  return !context.getLangOpts().C99 ||
         !context.getDiagnostics().isIgnored(diag::warn_mixed_decls_code, SourceLocation());
}

StringRef indentation(StringRef text, unsigned at) {
  const size_t begin = lineBegin(text, at);
  size_t end = begin;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
  return text.slice(begin, end);
}

Extent withLine(StringRef text, Extent e) {
  const size_t begin = lineBegin(text, e.begin);
  const size_t newline = std::min(text.find('\n', e.end), text.size());
  const bool alone =
      text.slice(begin, e.begin).trim().empty() && text.slice(e.end, newline).trim().empty();
  return alone && begin > 0 ? Extent{lineEnd(text, lineBegin(text, begin - 1)), e.end} : e;
}

SourceLocation nameOfCall(const CallExpr &call) {
  const auto *ref = dyn_cast<DeclRefExpr>(call.getCallee()->IgnoreImpCasts());
  return ref ? ref->getLocation() : SourceLocation();
}

bool isSpelled(const CallExpr &call, StringRef name, const ASTContext &context) {
  const SourceManager &files = context.getSourceManager();
  const SourceLocation at = nameOfCall(call);
  if (at.isInvalid()) return false;
  const auto [file, offset] = files.getDecomposedLoc(files.getSpellingLoc(at));
  const auto [endFile, end] = files.getDecomposedLoc(files.getSpellingLoc(call.getRParenLoc()));
  const StringRef text = files.getBufferData(file);
  if (file != files.getMainFileID() || endFile != file || end >= text.size()) return false;
  const unsigned open = nextWord(text, offset + static_cast<unsigned>(name.size()));
  return text.substr(offset).starts_with(name) && open < end && text[open] == '(' &&
         text[end] == ')';
}

/// Whether a pragma changes macros, lets an accelerator go on beside what follows, or has to stand
/// first in its block and says how to compute from there on.
static bool isMoreThanAdvice(StringRef pragma) {
  return pragma.contains("_macro") || hasWord(pragma, "acc") || hasWord(pragma, "STDC") ||
         (hasWord(pragma, "clang") && hasWord(pragma, "fp"));
}

/// Whether a clause of threads computes something: if(n > 5), num_threads(m), schedule(static, n).
static bool computes(StringRef pragma) {
  for (const char *clause : {"if", "num_threads", "schedule", "linear"}) {
    const StringRef word(clause);
    for (size_t at = pragma.find(word); at != StringRef::npos; at = pragma.find(word, at + 1)) {
      const StringRef inner = pragma.substr(at + word.size()).ltrim();
      if (!inner.starts_with("(") || isAsciiIdentifierContinue(pragma[at - 1])) continue;
      const size_t from = word == "schedule" ? inner.find(',') : 0;
      const StringRef text = inner.slice(from, inner.find(')'));
      if (llvm::any_of(text, [](char c) { return isAsciiIdentifierStart(c); })) return true;
    }
  }
  return false;
}

/// The same of one of threads, where this compiler was not asked to follow it and it stands for
/// more than a loop.
static bool isMoreThanAdvice(StringRef pragma, const ASTContext &context) {
  StringRef rest = pragma.drop_front(StringRef("pragma").size()).ltrim();
  if (!rest.consume_front("omp") || context.getLangOpts().OpenMP) return isMoreThanAdvice(pragma);
  rest = rest.ltrim();
  if (!rest.starts_with("parallel") && !rest.starts_with("for") && !rest.starts_with("simd"))
    return true;
  return computes(rest);
}

// Comments in front of a # may be of several lines, so that only a lexer sees it.
std::optional<unsigned> directive(const ASTContext &context, unsigned begin, unsigned end) {
  const StringRef text = mainFile(context);
  const SourceManager &files = context.getSourceManager();
  Lexer lexer(files.getLocForStartOfFile(files.getMainFileID()), context.getLangOpts(),
              text.begin(), text.begin() + begin, text.end());
  std::optional<unsigned> hash;  // of the line
  Token token;
  for (lexer.LexFromRawLexer(token); token.isNot(tok::eof); lexer.LexFromRawLexer(token)) {
    const unsigned at = files.getFileOffset(token.getLocation());
    if (at >= end) break;
    if (token.isAtStartOfLine()) hash.reset();
    if (hash && token.is(tok::raw_identifier)) {
      const StringRef word = token.getRawIdentifier();
      for (const char *known : {"if", "el", "endif", "define", "undef", "include", "import"})
        if (word.starts_with(known)) return hash;
      if (word == "pragma" && isMoreThanAdvice(text.slice(at, endOfLine(text, at)), context))
        return hash;
    }
    hash = token.is(tok::hash) && token.isAtStartOfLine() ? std::optional(at) : std::nullopt;
  }
  return std::nullopt;
}

/// Whether a macro has no body, drops what it is given, or is a pragma that is more than advice,
/// which may be said where it is used.
static bool hides(const MacroInfo &macro, StringRef line) {
  const auto names = [&](const IdentifierInfo *name) {
    return llvm::any_of(macro.tokens(),
                        [&](const Token &t) { return t.getIdentifierInfo() == name; });
  };
  const bool pragma = llvm::any_of(macro.tokens(), [](const Token &t) {
    return t.getIdentifierInfo() && t.getIdentifierInfo()->isStr("_Pragma");
  });
  const bool said = llvm::any_of(macro.tokens(), [](const Token &t) {
    return t.is(tok::string_literal) &&
           isMoreThanAdvice(StringRef(t.getLiteralData(), t.getLength()));
  });
  return macro.tokens_empty() || !llvm::all_of(macro.params(), names) ||
         (pragma && (said || isMoreThanAdvice(line)));
}

/// `line`: from the word on.
static bool hides(const Preprocessor &macros, StringRef word, StringRef line) {
  const IdentifierInfo *name = macros.getIdentifierInfo(word);
  if (word == "_Pragma") return isMoreThanAdvice(line);
  if (!name->hadMacroDefinition()) return false;
  for (const MacroDirective *d = macros.getLocalMacroDirectiveHistory(name); d;
       d = d->getPrevious())
    if (const auto *defined = dyn_cast<DefMacroDirective>(d))
      if (hides(*defined->getInfo(), line)) return true;
  return false;
}

SourceLocation emptyMacro(const Preprocessor &macros, SourceLocation begin, SourceLocation end) {
  const SourceManager &files = macros.getSourceManager();
  const auto [file, first] = files.getDecomposedLoc(files.getExpansionLoc(begin));
  const auto [endFile, last] = files.getDecomposedLoc(files.getExpansionLoc(end));
  if (file != endFile || last < first) return begin;
  const StringRef text = files.getBufferData(file);
  Lexer lexer(files.getLocForStartOfFile(file), macros.getLangOpts(), text.begin(),
              text.begin() + first, text.end());
  Token token;
  for (lexer.LexFromRawLexer(token); token.isNot(tok::eof); lexer.LexFromRawLexer(token)) {
    const unsigned at = files.getFileOffset(token.getLocation());
    if (at >= last) break;
    if (token.is(tok::raw_identifier) &&
        hides(macros, token.getRawIdentifier(), text.slice(at, endOfLine(text, at))))
      return token.getLocation();
  }
  return {};
}

std::string checkingMacro(const CallExpr &call, const ASTContext &context) {
  const SourceManager &files = context.getSourceManager();
  if (!files.isMacroArgExpansion(call.getBeginLoc()) ||
      !files.isMacroArgExpansion(call.getEndLoc()))
    return "";
  const CharSourceRange whole = files.getExpansionRange(call.getBeginLoc());
  const auto [file, begin] = files.getDecomposedLoc(whole.getBegin());
  const auto [endFile, last] = files.getDecomposedLoc(whole.getEnd());
  const auto [callFile, callBegin] =
      files.getDecomposedLoc(files.getSpellingLoc(call.getBeginLoc()));
  const auto [callEndFile, callLast] =
      files.getDecomposedLoc(files.getSpellingLoc(call.getEndLoc()));
  if (file != files.getMainFileID() || endFile != file || callFile != file || callEndFile != file)
    return "";
  const StringRef text = files.getBufferData(file);
  const StringRef before = text.slice(begin, callBegin), after = text.slice(callLast + 1, last + 1);
  const size_t open = before.find('(');
  if (open == StringRef::npos || !before.substr(open + 1).trim().empty() || after.trim() != ")")
    return "";
  return before.take_front(open).trim().str();
}

namespace {

/// What code in front of a statement leaves, in any configuration.
struct InFront {
  bool part = false;    // the beginning of a statement, as `if (x)`, or a pragma
  bool opens = false;   // a block in some configurations only, or closes one
  bool inside = false;  // #endif or #else of where it begins
};

/// An #if, with what belongs to it.
struct Chain {
  bool whole;                // its #if is seen, and not an #else or #endif alone
  bool before;               // what stands in front of it is the beginning of a statement
  bool after = false;        // likewise what one of its branches ends with
  bool otherwise = false;    // it has an #else
  int open;                  // brackets in front of it
  std::optional<int> opens;  // brackets, its first branch
  bool differ = false;       // another branch opens others
};

/// Goes through the text as it stands, all branches one after the other.
class FrontLexer {
 public:
  FrontLexer(const ASTContext &context, unsigned begin)
      : files_(context.getSourceManager()),
        lexer_(files_.getLocForStartOfFile(files_.getMainFileID()), context.getLangOpts(),
               mainFile(context).begin(), mainFile(context).begin() + begin,
               mainFile(context).end()) {
    next();
  }

  /// `last`: where the statement before ends, as the compiler has it.
  InFront look(unsigned last, unsigned end) {
    bool passed = false;
    while (token_.isNot(tok::eof) && offset() < end) {
      if (!passed && offset() >= last) part_ = false;
      passed = passed || offset() >= last;
      if (token_.is(tok::hash) && token_.isAtStartOfLine())
        directive();
      else
        code();
    }
    return {part_, odd_ != 0, inside_};
  }

 private:
  void next() { lexer_.LexFromRawLexer(token_); }
  unsigned offset() const { return files_.getFileOffset(token_.getLocation()); }

  void code() {
    if (token_.isOneOf(tok::l_brace, tok::l_paren, tok::l_square)) ++open_;
    if (token_.isOneOf(tok::r_brace, tok::r_paren, tok::r_square)) --open_;
    part_ = !token_.isOneOf(tok::semi, tok::l_brace, tok::r_brace);
    next();
  }

  void directive() {
    next();
    if (token_.isAtStartOfLine()) return;  // a # alone
    const StringRef word = token_.is(tok::raw_identifier) ? token_.getRawIdentifier() : "";
    if (word.starts_with("if"))
      chains_.push_back({.whole = true, .before = part_, .open = open_});
    else if (word.starts_with("el") || word == "endif")
      branchEnds(word);
    else if (word == "pragma")
      part_ = true;
    do next();
    while (token_.isNot(tok::eof) && !token_.isAtStartOfLine());
  }

  void branchEnds(StringRef by) {
    if (chains_.empty()) {
      chains_.push_back({.whole = false, .before = false, .open = open_});
      inside_ = true;
    }
    Chain &c = chains_.back();
    c.after = c.after || part_;
    const int opens = std::exchange(open_, c.open) - c.open;
    c.differ = c.differ || opens != c.opens.value_or(opens);
    if (!c.opens) c.opens = opens;
    c.otherwise = c.otherwise || by == "else";
    part_ = c.before;
    if (by != "endif") return;
    const int last = c.otherwise ? opens : 0;  // or there is nothing
    if (c.whole && (c.differ || last != *c.opens))
      odd_ += last != *c.opens ? *c.opens - last : kNever;
    part_ = c.after || (c.whole && !c.otherwise && c.before);
    open_ += *c.opens;
    chains_.pop_back();
  }

  static constexpr int kNever = 1 << 20;

  const SourceManager &files_;
  Lexer lexer_;
  Token token_;
  std::vector<Chain> chains_;
  bool part_ = false, inside_ = false;
  int open_ = 0, odd_ = 0;
};

}  // namespace

bool isPart(const CompoundStmt &block, const Stmt &s, const ASTContext &context) {
  const std::optional<Extent> extent = extentOf(s, context);
  if (!extent) return false;
  const SourceManager &files = context.getSourceManager();
  // Behind the statement before, or the block's brace.
  SourceLocation last = block.getLBracLoc();
  for (const Stmt *before : block.body()) {
    if (before == &s) break;
    last = before->getEndLoc();
    if (const std::optional<Extent> whole = extentOf(*before, context))
      last = files.getLocForStartOfFile(files.getMainFileID())
                 .getLocWithOffset(static_cast<int>(whole->end) - 1);
  }
  const SourceLocation begin = files.getExpansionLoc(block.getLBracLoc());
  last = files.getExpansionRange(last).getEnd();
  if (files.getFileID(last) != files.getMainFileID() ||
      files.getFileID(begin) != files.getFileID(last))
    return true;
  const auto behind = [&](SourceLocation at) {
    return files.getFileOffset(at) + Lexer::MeasureTokenLength(at, files, context.getLangOpts());
  };
  const InFront front = FrontLexer(context, behind(begin)).look(behind(last), extent->begin);
  return front.part || front.opens || (front.inside && declaresFirst(context));
}

bool mayBeJumpedPast(const CompoundStmt &block, const Stmt &s, const ASTContext &context) {
  const std::optional<Extent> extent = extentOf(s, context);
  const SourceManager &files = context.getSourceManager();
  return context.getLangOpts().CPlusPlus && extent &&
         directive(context, extent->end,
                   files.getFileOffset(files.getExpansionLoc(block.getRBracLoc())));
}

bool mayGoOn(const Stmt &s) {
  if (const auto *branches = dyn_cast<IfStmt>(&s); branches && !branches->getElse()) return true;
  if (const auto *omp = dyn_cast<OMPExecutableDirective>(&s))
    return omp->hasAssociatedStmt() && mayGoOn(*omp->getRawStmt());
  const Stmt *last = lastPart(&s);
  return isa<CXXTryStmt>(s) || (last && mayGoOn(*last));
}

std::optional<unsigned> includes(StringRef header, const ASTContext &context) {
  const StringRef text = mainFile(context);
  const SourceManager &files = context.getSourceManager();
  Lexer lexer(files.getLocForStartOfFile(files.getMainFileID()), context.getLangOpts(),
              text.begin(), text.begin(), text.end());
  int conditions = 0;
  Token token;
  for (lexer.LexFromRawLexer(token); token.isNot(tok::eof);) {
    const bool hash = token.is(tok::hash) && token.isAtStartOfLine();
    lexer.LexFromRawLexer(token);
    if (!hash || token.isNot(tok::raw_identifier)) continue;
    const StringRef word = token.getRawIdentifier();
    if (word.starts_with("if")) ++conditions;
    if (word == "endif") --conditions;
    const unsigned end = files.getFileOffset(token.getLocation()) + token.getLength();
    const unsigned newline = endOfLine(text, end);
    const StringRef line = text.slice(end, newline).trim();
    if (word != "include" || conditions != 0 || line.size() < header.size() + 2 ||
        !line.drop_front(1).starts_with(header))
      continue;
    // A comment that begins there must end there, or what follows would stand in it.
    const StringRef rest = line.drop_front(header.size() + 2).trim();
    const bool plain = rest.empty() || rest.starts_with("//") ||
                       (rest.starts_with("/*") && rest.find("*/", 2) == rest.size() - 2);
    if (plain && (line[0] == '<' || line[0] == '"')) return newline;
  }
  return std::nullopt;
}

/// The tokens that a macro was ever defined as, and those of the macros that they name.
template <class Is>
static bool hasToken(const Preprocessor &macros, const IdentifierInfo *word, const Is &is,
                     std::set<const IdentifierInfo *> &seen) {
  if (!word->hadMacroDefinition() || !seen.insert(word).second) return false;
  for (const MacroDirective *d = macros.getLocalMacroDirectiveHistory(word); d;
       d = d->getPrevious())
    if (const auto *defined = dyn_cast<DefMacroDirective>(d))
      for (const Token &t : defined->getInfo()->tokens())
        if (is(t) || (t.getIdentifierInfo() && hasToken(macros, t.getIdentifierInfo(), is, seen)))
          return true;
  return false;
}

/// Of code, and of the macros that it names.
template <class Is>
static bool hasToken(const Preprocessor &macros, const std::string &code, const Is &is) {
  std::set<const IdentifierInfo *> seen;
  Lexer lexer(SourceLocation(), macros.getLangOpts(), code.data(), code.data(),
              code.data() + code.size());
  Token token;
  for (lexer.LexFromRawLexer(token); token.isNot(tok::eof); lexer.LexFromRawLexer(token)) {
    if (token.is(tok::raw_identifier)) {
      IdentifierInfo *word = macros.getIdentifierInfo(token.getRawIdentifier());
      token.setKind(tok::identifier);
      token.setIdentifierInfo(word);
    }
    if (is(token) ||
        (token.getIdentifierInfo() && hasToken(macros, token.getIdentifierInfo(), is, seen)))
      return true;
  }
  return false;
}

bool mentions(const Preprocessor &macros, const std::string &code, StringRef name) {
  return hasToken(macros, code, [name](const Token &t) {
    return t.getIdentifierInfo() && t.getIdentifierInfo()->getName() == name;
  });
}

bool makesNames(const Preprocessor &macros, const std::string &code) {
  return hasToken(macros, code, [](const Token &t) {
    return t.is(tok::hashhash) || (t.getIdentifierInfo() && t.needsCleaning());
  });
}

bool hasWord(StringRef text, StringRef word) {
  const auto letter = [](char c) { return isAsciiIdentifierContinue(c); };
  for (size_t at = text.find(word); at != StringRef::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !letter(text[at - 1])) && (end >= text.size() || !letter(text[end])))
      return true;
  }
  return false;
}

}  // namespace nbcc::overlap
