// SPDX-License-Identifier: BSD-3-Clause
// rewrite.cpp - a call in a block becomes a start and a wait.

#include "tools/overlap/rewrite.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <cassert>

#include "tools/overlap/source_text.h"

namespace nbcc::overlap {
namespace {

using llvm::StringRef;

unsigned offsetOf(clang::SourceLocation at, const clang::ASTContext &context) {
  const clang::SourceManager &files = context.getSourceManager();
  return files.getFileOffset(files.getSpellingLoc(at));
}

/// Behind { or <%.
unsigned braceEnd(const clang::CompoundStmt &block, const clang::ASTContext &context) {
  const clang::SourceLocation brace = block.getLBracLoc();
  return offsetOf(brace, context) +
         clang::Lexer::MeasureTokenLength(brace, context.getSourceManager(), context.getLangOpts());
}

}  // namespace

Spelled spell(const Site &site) {
  const StringRef text = mainFile(site.context());
  const unsigned name = offsetOf(nameOfCall(*site.call), site.context());
  const unsigned close = offsetOf(site.call->getRParenLoc(), site.context());
  const unsigned nameEnd = name + static_cast<unsigned>(site.collective->blocking().size());
  return {text, name, nameEnd, close};
}

/// With a code to be kept, a start that failed has nothing to wait for, and the code is its own.
std::string waitFor(const Site &site, const std::string &request, const std::string &indent,
                    bool mayBeNull) {
  const std::string call = "MPI_Wait(&" + request + ", MPI_STATUS_IGNORE)";
  if (site.asks) {
    const Extent whole = *extentOf(*site.asks, site.context());
    const Spelled at = spell(site);
    return at.text.slice(whole.begin, at.name).str() + call +
           at.text.slice(at.close + 1, whole.end).str();
  }
  if (site.result) {
    const std::string rc = site.result->getNameAsString();
    const std::string kept = "if (" + rc + " == MPI_SUCCESS) " + rc + " = " + call + ";";
    if (!site.check) return kept;
    const Extent check = *extentOf(*site.check, site.context());
    return kept + "\n" + indent + mainFile(site.context()).slice(check.begin, check.end).str();
  }
  const std::string wait =
      (site.checkedBy.empty() ? call : site.checkedBy + "(" + call + ")") + ";";
  if (!mayBeNull) return wait;
  // MPI may not be initialised there, or another thread's to call.
  return "if (" + request + " != MPI_REQUEST_NULL) " +
         (site.checkedBy.empty() ? wait : "{ " + wait + " }");
}

std::string Names::fresh(const std::string &wanted) {
  const auto isThere = [&](const std::string &name) {
    return hasWord(mainFile(source_), name) || source_.Idents.find(name) != source_.Idents.end() ||
           taken_.contains(name);
  };
  std::string name = wanted;
  for (int n = 2; isThere(name); ++n) name = wanted + "_" + std::to_string(n);
  taken_.insert(name);
  return name;
}

unsigned lineOf(clang::SourceLocation at, const clang::ASTContext &context) {
  return context.getSourceManager().getExpansionLineNumber(at);
}

std::string declared(const std::string &declaration, const clang::CompoundStmt &block,
                     const std::string &indent, const clang::ASTContext &context, Fix &fix) {
  if (!declaresFirst(context)) return declaration + "\n" + indent;
  const unsigned first = behindComment(mainFile(context), braceEnd(block, context));
  fix.edits.push_back({first, 0, "\n" + indent + declaration});
  return "";
}

/// Behind a statement of the block and its comment; but a comment in front of a case may say that
/// the one before falls through.
static unsigned behind(const Site &site, unsigned i) {
  const unsigned end = extentOf(*site.statement(i), site.context())->end;
  const bool atCase =
      i + 1 < site.statements() && llvm::isa<clang::SwitchCase>(site.statement(i + 1));
  return atCase ? end : behindComment(mainFile(site.context()), end);
}

/// Where more stands on the line, it goes to one of its own, so that no `if` of the wait seems to
/// be in front of it.
static std::string parted(const Site &site, unsigned at, const std::string &indent) {
  const StringRef text = mainFile(site.context());
  const StringRef rest = text.slice(at, text.find('\n', at)).trim();
  const bool ends = rest.empty() || rest.starts_with("}") || rest.starts_with("//") ||
                    rest.starts_with("/*") || rest == "\\";
  return ends || (!site.result && !site.asks && !site.inBranch) ? "" : "\n" + indent;
}

Fix overlapInBlock(const Site &site, const Window &w, bool early, Names &names) {
  const clang::ASTContext &context = site.context();
  const StringRef text = mainFile(context);
  const Extent own = *extentOf(*site.statement(site.index), context);
  const std::string indent = indentation(text, own.begin).str();
  const std::string request = names.fresh(site.collective->request());
  const Spelled call = spell(site);
  Fix fix;
  const std::string declaration =
      declared("MPI_Request " + request + (site.beginsNull() ? " = MPI_REQUEST_NULL;" : ";"),
               *site.block, indent, context, fix);

  if (early && w.movesUp(site)) {
    const std::string start = declaration + text.slice(own.begin, call.name).str() +
                              site.collective->nonblocking() +
                              text.slice(call.nameEnd, call.close).str() + ", &" + request +
                              text.slice(call.close, own.end).str();
    // Behind what stands before, since a pragma or a comment may belong to what follows.
    const unsigned before = w.first > 0 ? extentOf(*site.statement(w.first - 1), context)->end
                                        : braceEnd(*site.block, context);
    fix.edits.push_back({behindComment(text, before), 0, "\n" + indent + start});
    fix.what = site.collective->nonblocking() + " before line " +
               std::to_string(lineOf(site.statement(w.first)->getBeginLoc(), context));
    if (w.reachesDown(site)) {
      const Extent whole = withLine(text, own);
      fix.edits.push_back({whole.begin, whole.end - whole.begin, ""});
    } else {
      fix.edits.push_back({own.begin, own.end - own.begin,
                           waitFor(site, request, indent, false) + parted(site, own.end, indent)});
      fix.what += ", MPI_Wait here";
      return fix;
    }
  } else {
    if (!declaration.empty()) fix.edits.push_back({own.begin, 0, declaration});
    fix.edits.push_back({call.name, call.nameEnd - call.name, site.collective->nonblocking()});
    fix.edits.push_back({call.close, 0, ", &" + request});
    fix.what = site.collective->nonblocking() + " here";
  }
  const clang::Stmt *last = site.statement(w.last);
  const unsigned end = behind(site, w.last);
  fix.edits.push_back(
      {end, 0,
       "\n" + indent + waitFor(site, request, indent, site.inBranch) + parted(site, end, indent)});
  fix.what += ", MPI_Wait behind line " + std::to_string(lineOf(last->getEndLoc(), context));
  return fix;
}

void endLinesAlike(Fix &fix, StringRef file) {
  for (Edit &e : fix.edits) {
    size_t end = file.find('\n', e.offset);
    if (end == StringRef::npos) end = file.rfind('\n');
    if (end == StringRef::npos || !file.take_front(end).ends_with("\r")) continue;
    std::string result;
    for (const char c : e.text) {
      if (c == '\n' && !StringRef(result).ends_with("\r")) result += '\r';
      result += c;
    }
    e.text = std::move(result);
  }
}

int Edit::order() const {
  if (length > 0) return 2;
  const bool declares =
      StringRef(text).ltrim().starts_with("MPI_Request ") && StringRef(text).count(';') == 1;
  return declares ? 0 : 1;
}

std::string edited(StringRef text, const std::vector<Edit> &edits) {
  std::multimap<std::pair<unsigned, int>, const Edit *> inOrder;
  for (const Edit &e : edits) inOrder.emplace(std::pair(e.offset, e.order()), &e);
  std::string result;
  unsigned at = 0;
  for (const auto &[place, e] : inOrder) {
    const unsigned offset = place.first;
    assert(offset >= at && "edits touch each other");
    result += text.slice(at, offset).str() + e->text;
    at = offset + e->length;
  }
  return result + text.substr(at).str();
}

}  // namespace nbcc::overlap
