// SPDX-License-Identifier: BSD-3-Clause
// source_text.cpp - the source as text.

#include "tools/overlap/source_text.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/StmtCXX.h>
#include <clang/AST/StmtOpenMP.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/Preprocessor.h>

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

/// Whether a `;` follows that is not part of the statement's own range.
bool needsSemicolon(const Stmt *s) {
  if (const auto *i = dyn_cast<IfStmt>(s))
    return needsSemicolon(i->getElse() ? i->getElse() : i->getThen());
  if (const auto *f = dyn_cast<ForStmt>(s)) return needsSemicolon(f->getBody());
  if (const auto *w = dyn_cast<WhileStmt>(s)) return needsSemicolon(w->getBody());
  if (const auto *r = dyn_cast<CXXForRangeStmt>(s)) return needsSemicolon(r->getBody());
  if (const auto *w = dyn_cast<SwitchStmt>(s)) return needsSemicolon(w->getBody());
  if (const auto *l = dyn_cast<LabelStmt>(s)) return needsSemicolon(l->getSubStmt());
  if (const auto *c = dyn_cast<SwitchCase>(s)) return needsSemicolon(c->getSubStmt());
  if (const auto *a = dyn_cast<AttributedStmt>(s)) return needsSemicolon(a->getSubStmt());
  return !isa<CompoundStmt, DeclStmt, NullStmt>(s);
}

/// Where the newline is that ends a line, and those that go on behind a backslash.
unsigned endOfLine(StringRef text, size_t at) {
  for (;;) {
    const size_t newline = std::min(text.find('\n', at), text.size());
    const StringRef line = text.slice(at, newline).rtrim();
    if (newline == text.size() || !(line.ends_with("\\") || line.ends_with("?\?/")))
      return static_cast<unsigned>(newline);
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

/// Takes off the # of a directive, however it is written.
bool isDirective(StringRef &line) {
  if (!line.consume_front("#") && !line.consume_front("%:") && !line.consume_front("?\?="))
    return false;
  line = line.ltrim();
  return true;
}

size_t lineBegin(StringRef text, size_t at) {
  const size_t before = at == 0 ? StringRef::npos : text.rfind('\n', at - 1);
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
  const size_t newline = std::min(text.find('\n', end), text.size());
  const StringRef rest = text.slice(end, newline);
  const StringRef comment = rest.ltrim();
  const bool whole =
      comment.starts_with("//") || (comment.starts_with("/*") && comment.rtrim().ends_with("*/") &&
                                    comment.find("*/") == comment.rtrim().size() - 2);
  // A comment that goes on in the next line would take in what is put there.
  return whole && newline == endOfLine(text, end) ? static_cast<unsigned>(newline) : end;
}

bool declaresFirst(const ASTContext &context) {
  return !context.getLangOpts().C99 && !context.getLangOpts().CPlusPlus;
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
  return alone && begin > 0 ? Extent{static_cast<unsigned>(begin - 1), e.end} : e;
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
      if (word == "pragma" && text.slice(at, endOfLine(text, at)).contains("_macro")) return hash;
    }
    hash = token.is(tok::hash) && token.isAtStartOfLine() ? std::optional(at) : std::nullopt;
  }
  return std::nullopt;
}

static bool isEmptyMacro(const Preprocessor &macros, StringRef word) {
  const IdentifierInfo *name = macros.getIdentifierInfo(word);
  if (!name->hadMacroDefinition()) return false;
  for (const MacroDirective *d = macros.getLocalMacroDirectiveHistory(name); d;
       d = d->getPrevious())
    if (const auto *defined = dyn_cast<DefMacroDirective>(d))
      if (defined->getInfo()->tokens_empty()) return true;
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
    if (files.getFileOffset(token.getLocation()) >= last) break;
    if (token.is(tok::raw_identifier) && isEmptyMacro(macros, token.getRawIdentifier()))
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

bool afterPragma(const CompoundStmt &block, const Stmt &s, const ASTContext &context) {
  const std::optional<Extent> extent = extentOf(s, context);
  if (!extent) return false;
  const SourceManager &files = context.getSourceManager();
  const StringRef text = mainFile(context);
  // Behind the statement before, or the block's brace.
  SourceLocation last = block.getLBracLoc();
  for (const Stmt *before : block.body()) {
    if (before == &s) break;
    last = before->getEndLoc();
    if (const std::optional<Extent> whole = extentOf(*before, context))
      last = files.getLocForStartOfFile(files.getMainFileID())
                 .getLocWithOffset(static_cast<int>(whole->end) - 1);
  }
  last = files.getExpansionRange(last).getEnd();
  if (files.getFileID(last) != files.getMainFileID()) return true;
  unsigned at = files.getFileOffset(last);
  at += Lexer::MeasureTokenLength(last, files, context.getLangOpts());
  for (at = nextWord(text, at); at < extent->begin; at = nextWord(text, at)) {
    StringRef line = text.slice(at, endOfLine(text, at));
    if (text[at] == ';') {  // of a macro's call
      ++at;
      continue;
    }
    at += static_cast<unsigned>(line.size());
    if (!isDirective(line) || line.starts_with("pragma")) return true;
  }
  return false;
}

std::optional<unsigned> includesMpi(StringRef text) {
  int conditions = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t newline = std::min(text.find('\n', at), text.size());
    StringRef line = text.slice(at, newline).trim();
    at = newline + 1;
    if (!line.consume_front("#")) continue;
    line = line.ltrim();
    if (line.starts_with("if")) ++conditions;
    if (line.starts_with("endif")) --conditions;
    if (!line.consume_front("include")) continue;
    line = line.ltrim();
    if ((line.starts_with("<mpi.h>") || line.starts_with("\"mpi.h\"")) && conditions == 0)
      return static_cast<unsigned>(newline);
  }
  return std::nullopt;
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
