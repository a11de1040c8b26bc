// SPDX-License-Identifier: BSD-3-Clause
// rewrite_loops.cpp - a call in a loop's body gets parts before and behind the loop.

#include <clang/AST/ASTContext.h>

#include "tools/overlap/loops.h"
#include "tools/overlap/source_text.h"

namespace nbcc::overlap {

using llvm::StringRef;

/// The block that a loop is a statement of.
static const clang::CompoundStmt &blockAround(const clang::Stmt *loop, const Site &site) {
  return *llvm::cast<clang::CompoundStmt>(parentOf(loop, site.in->getASTContext()));
}

Fix overlapTurns(const Site &site, const Carried &c, Names &names) {
  const clang::ASTContext &context = site.context();
  const StringRef text = mainFile(context);
  const Extent loop = *extentOf(*c.loop, context);
  const clang::Stmt *before = site.statement(c.until - 1);
  const Extent last = *extentOf(*before, context);
  const std::string outside = indentation(text, loop.begin).str();
  const std::string inside =
      indentation(text, extentOf(*site.statement(site.index), context)->begin).str();
  const std::string request = names.fresh(site.collective->request());
  const Spelled call = spell(site);
  Fix fix;
  const std::string declaration = declared("MPI_Request " + request + " = MPI_REQUEST_NULL;",
                                           blockAround(c.loop, site), outside, context, fix);
  if (!declaration.empty()) fix.edits.push_back({loop.begin, 0, declaration});
  for (const Edit &e : {
           Edit{behindComment(text, last.end), 0,
                "\n" + inside + waitFor(site, request, inside, true)},
           Edit{call.name, call.nameEnd - call.name, site.collective->nonblocking()},
           Edit{call.close, 0, ", &" + request},
           Edit{behindComment(text, loop.end), 0,
                "\n" + outside + waitFor(site, request, outside, true)},
       })
    fix.edits.push_back(e);
  fix.what = site.collective->nonblocking() + " here, MPI_Wait behind line " +
             std::to_string(lineOf(before->getEndLoc(), context)) +
             " of the next turn and behind the loop";
  return fix;
}

Fix persistInLoop(const Site &site, const Window &w, const clang::Stmt *loop, Persistent how,
                  Names &names) {
  const clang::ASTContext &context = site.context();
  const StringRef text = mainFile(context);
  const Extent around = *extentOf(*loop, context);
  const Extent own = *extentOf(*site.statement(site.index), context);
  const Extent last = *extentOf(*site.statement(w.last), context);
  const std::string outside = indentation(text, around.begin).str();
  const std::string inside = indentation(text, own.begin).str();
  const std::string request = names.fresh(site.collective->request());
  const Spelled call = spell(site);
  std::string name = site.collective->persistent();
  if (how == Persistent::mpix) name.insert(3, "X");
  Fix fix;
  if (how == Persistent::mpix && !includes("mpi-ext.h", context))
    fix.edits.push_back({*includes("mpi.h", context), 0, "\n#include <mpi-ext.h>"});
  const std::string declaration =
      declared("MPI_Request " + request + ";", blockAround(loop, site), outside, context, fix);
  fix.edits.push_back({around.begin, 0,
                       declaration + name + text.slice(call.nameEnd, call.close).str() +
                           ", MPI_INFO_NULL, &" + request + ");\n" + outside});
  fix.edits.push_back({call.name, call.close + 1 - call.name, "MPI_Start(&" + request + ")"});
  fix.edits.push_back(
      {behindComment(text, last.end), 0, "\n" + inside + waitFor(site, request, inside, false)});
  fix.edits.push_back(
      {behindComment(text, around.end), 0, "\n" + outside + "MPI_Request_free(&" + request + ");"});
  fix.what = name + " before the loop, MPI_Start here, MPI_Wait behind line " +
             std::to_string(lineOf(site.statement(w.last)->getEndLoc(), context));
  return fix;
}

}  // namespace nbcc::overlap
