// SPDX-License-Identifier: BSD-3-Clause
// main.cpp - nbc-overlap: reads the sources, looks at each collective, tells, and rewrites where it
// is told to.

#include <clang/Frontend/ASTUnit.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/thread.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <utility>

#include "tools/overlap/callers.h"
#include "tools/overlap/explain.h"
#include "tools/overlap/openmp_header.h"
#include "tools/overlap/options.h"
#include "tools/overlap/profile.h"
#include "tools/overlap/report.h"
#include "tools/overlap/source_text.h"
#include "tools/overlap/wrappers.h"

namespace nbcc::overlap {
namespace {

/// What files hold, or are to hold, by their plainName().
using Texts = std::map<std::string, std::string>;

/// Reads each source with files of its own, in the folder that its command was given in: what
/// another folder calls by the same name is another file, and a relative path leads on from there
/// for as long as the source is looked at.
class ReadSource : public clang::tooling::ToolAction {
 public:
  /// `instead`: what is not read from a file of this name, but stands here.
  ReadSource(std::vector<std::unique_ptr<clang::ASTUnit>> &sources, const Texts &instead)
      : sources_(sources), instead_(instead) {}

  bool runInvocation(std::shared_ptr<clang::CompilerInvocation> command, clang::FileManager *shared,
                     std::shared_ptr<clang::PCHContainerOperations> modules,
                     clang::DiagnosticConsumer *errors) override {
    const auto system = shared->getVirtualFileSystemPtr();
    clang::FileSystemOptions where;
    if (const llvm::ErrorOr<std::string> folder = system->getCurrentWorkingDirectory())
      where.WorkingDir = *folder;
    for (const clang::FrontendInputFile &input : command->getFrontendOpts().Inputs) {
      const auto text = instead_.find(plainName(where.WorkingDir, input.getFile().str()));
      if (text != instead_.end())
        command->getPreprocessorOpts().addRemappedFile(
            input.getFile(), llvm::MemoryBuffer::getMemBufferCopy(text->second).release());
    }
    const llvm::IntrusiveRefCntPtr<clang::FileManager> files(new clang::FileManager(where, system));
    auto diagnostics =
        clang::CompilerInstance::createDiagnostics(&command->getDiagnosticOpts(), errors, false);
    auto source = clang::ASTUnit::LoadFromCompilerInvocation(command, std::move(modules),
                                                             diagnostics, files.get());
    if (!source) return false;
    sources_.push_back(std::move(source));
    return true;
  }

 private:
  std::vector<std::unique_ptr<clang::ASTUnit>> &sources_;
  const Texts &instead_;
};

struct Sources {
  std::vector<std::unique_ptr<clang::ASTUnit>> read;
  std::vector<std::string> unread;  // that are not understood, and clang has said why
};

Sources parse(const Options &o, const Texts &instead) {
  Sources sources;
  const auto wrappers = askWrappers();
  for (const std::string &name : o.sources) {
    clang::tooling::ClangTool tool(*o.commands, name);
    tool.appendArgumentsAdjuster(
        [&](clang::tooling::CommandLineArguments command, llvm::StringRef) {
          if (!o.compiler.empty()) command.at(0) = o.compiler;
          return command;
        });
    tool.appendArgumentsAdjuster(wrappers);
    // What a compiler takes with a warning, as gcc before 14 does, is no error here.
    tool.appendArgumentsAdjuster(clang::tooling::getInsertArgumentAdjuster(
        {"-resource-dir", NBCC_CLANG_RESOURCES, "-idirafter", openmpFolder,
         "-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int",
         "-Wno-error=int-conversion", "-Wno-error=incompatible-function-pointer-types"},
        clang::tooling::ArgumentInsertPosition::BEGIN));
    tool.mapVirtualFile(openmpHeader, openmpText);
    std::vector<std::unique_ptr<clang::ASTUnit>> units;
    ReadSource read(units, instead);
    const bool good = tool.run(&read) == 0 && std::ranges::none_of(units, [](const auto &unit) {
                        return unit->getDiagnostics().hasUncompilableErrorOccurred();
                      });
    if (good)
      std::ranges::move(units, std::back_inserter(sources.read));
    else
      sources.unread.push_back(name);
  }
  return sources;
}

bool sameEdits(const std::optional<Fix> &a, const std::optional<Fix> &b) {
  return a.has_value() == b.has_value() && (!a || a->edits == b->edits);
}

/// Where nothing but the end of its block is in the way, and the block is a branch of an if, the
/// call may be under way behind that.
void reachOutside(Finding &f, Program &program) {
  std::optional<Site> site = f.site;
  Window window = *f.window;
  while (window.last + 1 == site->statements()) {
    const long inside = window.workBehind;
    site = outside(*site, program);
    if (!site) return;
    window = findWindow(*site, program, 0);
    window.workBehind += inside;
    if (!window.reachesDown(*site)) continue;
    f.site = *site;
    f.window = window;
  }
}

using AllNames = std::map<const clang::ASTContext *, Names>;

/// `earlier`: others with a fix in the same block.
void fix(Finding &f, Program &program, const Options &o, const std::vector<Finding> &earlier,
         AllNames &names) {
  const clang::ASTContext *context = &f.site.context();
  Names &fresh = names.try_emplace(context, *context).first->second;
  const bool early = f.window->workBefore >= o.least, behind = f.window->workBehind >= o.least;
  // The wait of the turn before would stand behind a call that was moved up to where its inputs
  // were ready.
  const bool noneMoved =
      std::ranges::none_of(earlier, [](const Finding &e) { return e.window->movesUp(e.site); });
  if (!early && noneMoved)
    if (const std::optional<Carried> carried =
            carriedOver(f.site, *f.window, program, f.notCarried);
        carried && carried->work >= f.window->workBehind + o.least) {
      f.carried = carried;
      f.fix = overlapTurns(f.site, *carried, fresh);
      return;
    }
  if (!early && !behind) {
    f.unchanged = "there is too little to do meanwhile (--least=" + std::to_string(o.least) + ")";
    return;
  }
  // One that is persistent meets no other kind.
  if (o.persistent != Persistent::none && behind && !f.site.with)
    if (const clang::Stmt *loop = invariantIn(f.site, program, o.persistent, f.notPersistent)) {
      f.fix = persistInLoop(f.site, *f.window, loop, o.persistent, fresh);
      return;
    }
  f.fix = overlapInBlock(f.site, *f.window, early, fresh);
}

/// Of two that meet each other, in whatever way a source is compiled, both are changed, or none.
void changeTogether(std::vector<Finding> &findings,
                    const std::vector<std::pair<size_t, size_t>> &meetings) {
  for (bool again = true; again;) {
    again = false;
    for (const auto &[one, other] : meetings) {
      Finding &f = findings[one];
      if (!f.fix || findings[other].fix) continue;
      const Site &met = findings[other].site;
      f.fix.reset();
      f.unchanged = "it meets the one of " + placeOf(*met.call, *met.in) + ", which is not changed";
      again = true;
    }
  }
  for (Finding &f : findings) {
    const Site &s = f.site;
    if (f.fix || !s.with || !s.uneven) continue;
    f.site.against.push_back({s.uneven->at, s.uneven->text + "; so it meets the one of " +
                                                placeOf(*s.with, *s.in) +
                                                ", and both change or neither"});
  }
}

std::vector<Finding> look(Program &program, const Options &o) {
  AllNames names;
  std::map<const clang::CompoundStmt *, std::vector<Finding>> earlier;  // with a fix
  std::map<std::string, size_t> seen;
  std::map<const clang::CallExpr *, size_t> found;
  std::vector<std::pair<size_t, const clang::CallExpr *>> met;
  std::vector<Finding> findings;
  for (Site &site : findSites(program)) {
    Finding f{.site = std::move(site)};
    if (f.site.block) {
      // What one before this one gives is there only behind its wait, unless that comes behind this
      // one, too.
      unsigned from = 0;
      for (const Finding &e : earlier[f.site.block]) {
        if (e.carried) from = std::max(from, e.carried->until);
        if (e.window->last < f.site.index) from = std::max(from, e.window->last + 1);
      }
      f.window = findWindow(f.site, program, from);
      reachOutside(f, program);
    }
    if (f.window && f.site.against.empty()) {
      fix(f, program, o, earlier[f.site.block], names);
      if (f.fix) {
        endLinesAlike(*f.fix, mainFile(f.site.context()));
        earlier[f.site.block].push_back(f);
      }
    }
    if (f.window && !f.fix) f.advice = adviceToCallers(f.site, *f.window, program, o.least);
    // A source that is compiled twice is changed if both ways agree.
    const std::string place = placeOf(f.site);
    const auto [at, first] = seen.emplace(place, findings.size());
    found[f.site.call] = at->second;
    if (f.site.with) met.emplace_back(at->second, f.site.with);
    if (first) {
      findings.push_back(std::move(f));
    } else if (Finding &other = findings[at->second]; !sameEdits(f.fix, other.fix)) {
      other.fix.reset();
      other.unchanged = "the source is compiled in several ways, and they differ here";
    }
  }
  std::vector<std::pair<size_t, size_t>> meetings;
  for (const auto &[place, with] : met) meetings.emplace_back(place, found.at(with));
  changeTogether(findings, meetings);
  return findings;
}

std::string realName(const std::string &name) {
  llvm::SmallString<256> real;
  return llvm::sys::fs::real_path(name, real) ? name : real.str().str();
}

/// Whether there was one.
bool complain(llvm::Error error, const std::string &name) {
  if (!error) return false;
  std::cerr << "nbc-overlap: cannot write " << name << ": " << llvm::toString(std::move(error))
            << '\n';
  return true;
}

/// Beside the file, with its permissions. False: it could not be written.
bool write(const std::string &name, const std::string &text,
           std::vector<llvm::sys::fs::TempFile> &written) {
  const auto mode = llvm::sys::fs::getPermissions(name);
  auto file = llvm::sys::fs::TempFile::create(
      realName(name) + ".%%%%%%%%", llvm::sys::fs::owner_read | llvm::sys::fs::owner_write);
  if (!file) return !complain(file.takeError(), name);
  llvm::raw_fd_ostream out(file->FD, /*shouldClose=*/false);
  out << text;
  out.flush();
  std::error_code failed = out.error();
  out.clear_error();
  if (!failed && mode) failed = llvm::sys::fs::setPermissions(file->FD, *mode);
  written.push_back(std::move(*file));
  return !complain(llvm::errorCodeToError(failed), name);
}

struct Changed {
  llvm::StringRef original;
  std::vector<Edit> edits;
};
using Changes = std::map<std::string, Changed>;  // by the file

Changes changesOf(const std::vector<Finding> &findings) {
  Changes files;
  for (const Finding &f : findings) {
    if (!f.fix) continue;
    auto &[original, edits] = files[fileOf(f.site)];
    original = mainFile(f.site.context());
    for (const Edit &e : f.fix->edits)  // several may want the same header
      if (!e.text.starts_with("\n#include") || std::ranges::find(edits, e) == edits.end())
        edits.push_back(e);
  }
  return files;
}

/// False: a file could not be written, and none is changed, unless replacing them failed.
bool rewrite(const Changes &files, const Texts &texts) {
  for (const auto &[name, changed] : files) {
    const auto there = llvm::MemoryBuffer::getFile(name);
    if (!there || (*there)->getBuffer() != changed.original) {
      std::cerr << "nbc-overlap: " << name << " is no longer what was read; nothing is written\n";
      return false;
    }
  }
  // What was read may be the file itself, mapped. So each is replaced by a new one, which is whole.
  std::vector<llvm::sys::fs::TempFile> written;
  bool good = true;
  for (const auto &[name, text] : texts) good = good && write(name, text, written);
  auto at = written.begin();
  for (auto file = files.begin(); good && file != files.end(); ++file)
    good = !complain(at++->keep(realName(file->first)), file->first);
  for (; at != written.end(); ++at) llvm::consumeError(at->discard());
  return good;
}

/// What is not read may be anything, so nothing is changed where it is a part of the program.
void leaveAlone(std::vector<Finding> &findings, const std::vector<std::string> &unread) {
  for (Finding &f : findings)
    if (std::exchange(f.fix, std::nullopt)) f.unchanged = unread.front() + " could not be read";
  std::cerr << "nbc-overlap: " << unread.size() << " of the sources could not be read, "
            << unread.front() << " for one: nothing is changed\n";
}

/// Tells and rewrites once. again: only what is changed now is told. An exit status; and the
/// sources as they are behind, if they have changed.
int goOver(const Options &o, const Profile &profile, bool again, Sources sources,
           std::optional<Sources> &next) {
  Program program(std::move(sources.read), o.promises);
  if (!again && !program.followsPointers())
    std::cerr << "nbc-overlap: there is too much to follow each pointer through all sources; some "
                 "may point at anything\n";
  std::vector<Finding> findings = look(program, o);
  if (!sources.unread.empty()) leaveAlone(findings, sources.unread);
  const Measure measure = profile.rank(findings);
  for (const Finding &f : findings)
    if (!again || f.fix) printFinding(f, o.profile.empty() ? nullptr : &measure, std::cout);
  if (!o.exportFixes.empty() && !again) {
    std::ofstream out(o.exportFixes);
    out << fixesAsYaml(findings);
    if (!out.flush()) {
      std::cerr << "nbc-overlap: cannot write " << o.exportFixes << '\n';
      return 2;
    }
  }
  const Changes changes = o.fix ? changesOf(findings) : Changes();
  if (!changes.empty()) {
    Texts texts;
    for (const auto &[name, changed] : changes)
      texts[name] = edited(changed.original, changed.edits);
    next = parse(o, texts);
    if (!next->unread.empty()) {
      std::cerr
          << "nbc-overlap: " << next->unread.front()
          << " would no longer compile, which is a fault of nbc-overlap; nothing is written\n";
      return 2;
    }
    if (!rewrite(changes, texts)) return 2;
  }
  return sources.unread.empty() ? 0 : 1;
}

int run(int argc, char **argv) {
  Options o;
  if (const std::optional<int> done = readOptions(argc, argv, o)) return *done;
  if (o.explain) {
    std::cout << explanation();
    return 0;
  }
  Profile profile;
  if (!o.profile.empty() && !profile.read(o.profile, std::cerr)) return 2;
  // Where one call was moved up, another one may follow it there: then all is read again.
  constexpr int kMost = 8;
  std::optional<Sources> sources = parse(o, {});
  for (int round = 0; round < kMost && sources; ++round) {
    std::optional<Sources> next;
    if (const int failed = goOver(o, profile, round > 0, std::move(*sources), next)) return failed;
    sources = std::move(next);
  }
  return 0;
}

}  // namespace
}  // namespace nbcc::overlap

int main(int argc, char **argv) {
  // An expression of thousands of operands is followed operand by operand. The process ends with
  // the thread: clang leaves it a stack for signals, which asan would take down as its own.
  constexpr std::optional<unsigned> stack = 1u << 29;
  llvm::thread reader(stack, [&] { std::exit(nbcc::overlap::run(argc, argv)); });
  reader.join();
  return 0;
}
