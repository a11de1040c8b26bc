// SPDX-License-Identifier: BSD-3-Clause
// report.cpp - one remark for each place, with notes below it, in the compiler's form.

#include "tools/overlap/report.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Tooling/Core/Diagnostic.h>
#include <clang/Tooling/DiagnosticsYaml.h>
#include <llvm/Support/ErrorHandling.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <utility>

#include "tools/overlap/source_text.h"

namespace nbcc::overlap {
namespace {

using namespace clang;

std::string place(SourceLocation at, const ASTContext &context) {
  const SourceManager &files = context.getSourceManager();
  const PresumedLoc where = files.getPresumedLoc(files.getExpansionLoc(at));
  if (where.isInvalid()) return "?: ";
  return std::string(where.getFilename()) + ":" + std::to_string(where.getLine()) + ":" +
         std::to_string(where.getColumn()) + ": ";
}

std::string lines(const Site &site, unsigned from, unsigned to) {
  const unsigned a = lineOf(site.statement(from)->getBeginLoc(), site.context());
  const unsigned b = lineOf(site.statement(to)->getEndLoc(), site.context());
  return a == b ? "line " + std::to_string(a)
                : "lines " + std::to_string(a) + " to " + std::to_string(b);
}

}  // namespace

std::string plainName(const std::string &folder, const std::string &name) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::path(folder) / name;
  const std::filesystem::path plain = std::filesystem::canonical(whole, failed);
  return (failed ? whole : plain).string();
}

std::string fileOf(const Site &site) {
  const SourceManager &files = site.context().getSourceManager();
  const auto entry = files.getFileEntryRefForID(files.getMainFileID());
  return plainName(files.getFileManager().getFileSystemOpts().WorkingDir, entry->getName().str());
}

std::string placeOf(const Site &site) {
  const SourceManager &files = site.context().getSourceManager();
  const SourceLocation at = files.getExpansionLoc(site.call->getBeginLoc());
  if (!files.isInMainFile(at)) return fileOf(site) + " " + place(at, site.context());
  return fileOf(site) + ":" + std::to_string(files.getFileOffset(at));
}

void printFinding(const Finding &f, const Measure *measure, std::ostream &out) {
  const Site &site = f.site;
  const ASTContext &context = site.context();
  const auto note = [&](SourceLocation at, const std::string &text) {
    out << place(at, context) << "note: " << text << '\n';
  };
  out << place(site.call->getBeginLoc(), context) << "remark: " << site.collective->blocking();
  const bool up = f.window && f.window->movesUp(site),
             down = f.window && f.window->reachesDown(site);
  if (up && down)
    out << ": " << lines(site, f.window->first, site.index - 1) << " and "
        << lines(site, site.index + 1, f.window->last) << " can run meanwhile";
  else if (up)
    out << ": " << lines(site, f.window->first, site.index - 1) << " can run meanwhile";
  else if (down)
    out << ": " << lines(site, site.index + 1, f.window->last) << " can run meanwhile";
  else
    out << ": nothing can run meanwhile";
  if (f.carried) {
    out << "; of the next turn " << lines(site, 0, f.carried->until - 1);
  }
  if (measure && f.seconds > 0)
    out << " (" << f.seconds << (measure->bytes ? " bytes" : " s") << " in the profile)";
  out << '\n';
  if (f.carried) {
    note(f.carried->ends.at, "it must be complete here in the next turn: " + f.carried->ends.text);
  } else if (f.window) {
    note(f.window->ends.at, "it must be complete here: " + f.window->ends.text);
    note(f.window->begins.at, "it cannot start before this: " + f.window->begins.text);
  }
  for (const Remark &r : site.against)
    out << place(r.at, r.context ? *r.context : context) << "note: not changed: " << r.text << '\n';
  if (site.against.empty() && !f.unchanged.empty())
    note(site.call->getBeginLoc(), "not changed: " + f.unchanged);
  if (f.notCarried && !f.fix)
    note(f.notCarried->at,
         "it cannot be under way into the next turn of the loop: " + f.notCarried->text);
  for (const Remark &r : f.advice)
    out << place(r.at, r.context ? *r.context : context) << "note: " << r.text << '\n';
  if (!f.notPersistent.empty()) note(site.call->getBeginLoc(), f.notPersistent);
  if (f.fix) note(site.call->getBeginLoc(), "fix: " + f.fix->what);
}

namespace {

/// Changes that are made together or not at all.
struct Together {
  std::string file, what;
  unsigned at;  // of the first call
  std::vector<Edit> edits;
};

bool sharePlace(const Together &a, const Together &b) {
  return a.file == b.file && std::ranges::any_of(a.edits, [&](const Edit &x) {
           return std::ranges::any_of(b.edits, [&](const Edit &y) { return x.offset == y.offset; });
         });
}

/// One edit for each place: in what is exported, two at one place have no order. Here it is that of
/// edited().
std::vector<Edit> joined(const std::vector<Edit> &edits) {
  std::multimap<std::pair<unsigned, int>, const Edit *> inOrder;
  for (const Edit &e : edits) inOrder.emplace(std::pair(e.offset, e.order()), &e);
  std::vector<Edit> result;
  for (const auto &[place, e] : inOrder) {
    if (result.empty() || result.back().offset != e->offset) {
      result.push_back(*e);
      continue;
    }
    Edit &last = result.back();
    if (llvm::StringRef(e->text).ltrim().starts_with("#include") &&
        last.text.find(e->text) != std::string::npos)
      continue;  // several want the same header
    last.text += e->text;
    last.length += e->length;
  }
  return result;
}

/// Those of one place are one change, as where two requests are declared first in their block: an
/// editor would refuse the second.
std::vector<Together> changesOf(const std::vector<Finding> &findings) {
  std::vector<Together> all;
  for (const Finding &f : findings) {
    if (!f.fix) continue;
    const SourceManager &files = f.site.context().getSourceManager();
    const unsigned at = files.getFileOffset(files.getExpansionLoc(f.site.call->getBeginLoc()));
    Together one{fileOf(f.site), f.fix->what, at, f.fix->edits};
    std::vector<Together> apart;
    for (Together &other : all) {
      if (!sharePlace(other, one)) {
        apart.push_back(std::move(other));
        continue;
      }
      other.what += "; " + one.what;
      other.edits.insert(other.edits.end(), one.edits.begin(), one.edits.end());
      one = std::move(other);
    }
    apart.push_back(std::move(one));
    all = std::move(apart);
  }
  return all;
}

}  // namespace

std::string fixesAsYaml(const std::vector<Finding> &findings) {
  tooling::TranslationUnitDiagnostics all;
  for (const Together &change : changesOf(findings)) {
    if (all.MainSourceFile.empty()) all.MainSourceFile = change.file;
    tooling::DiagnosticMessage message("a nonblocking collective hides its time here: " +
                                       change.what);
    message.FilePath = change.file;
    message.FileOffset = change.at;
    for (const Edit &e : joined(change.edits))  // half of a change is a wrong one
      if (llvm::Error failed = message.Fix[change.file].add(
              tooling::Replacement(change.file, e.offset, e.length, e.text)))
        llvm::report_fatal_error(std::move(failed));
    tooling::Diagnostic diagnostic("nbc-overlap", message, {}, tooling::Diagnostic::Remark, "");
    all.Diagnostics.push_back(diagnostic);
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::yaml::Output yaml(out);
  yaml << all;
  return text;
}

}  // namespace nbcc::overlap
