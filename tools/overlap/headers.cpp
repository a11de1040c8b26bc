// SPDX-License-Identifier: BSD-3-Clause
// headers.cpp - what a header is, by its text.

#include "tools/overlap/headers.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/Expr.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Basic/SourceManagerInternals.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/overlap/buffers.h"
#include "tools/overlap/collectives.h"
#include "tools/overlap/known_calls.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;
using llvm::isa;

static bool namesCollective(llvm::StringRef text) {
  const llvm::StringRef word = "MPI_";
  for (size_t at = text.find(word); at != llvm::StringRef::npos; at = text.find(word, at + 1)) {
    const llvm::StringRef name =
        text.substr(at).take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (name == word || findCollective(name.str())) return true;  // MPI_##kind
  }
  return false;
}

/// All files of a source, and where they begin.
static std::vector<FileID> filesOf(const SourceManager &files) {
  std::vector<FileID> all;
  for (unsigned i = 0; i < files.local_sloc_entry_size(); ++i) {
    const SrcMgr::SLocEntry &entry = files.getLocalSLocEntry(i);
    if (entry.isFile() && entry.getFile().getContentCache().OrigEntry)
      all.push_back(files.getFileID(SourceLocation::getFromRawEncoding(entry.getOffset())));
  }
  return all;
}

/// From its beginning on, or from its last #line or #pragma GCC system_header on.
static void count(SourceManager &files, FileID file, SrcMgr::CharacteristicKind as) {
  const auto bytes = static_cast<unsigned>(files.getBufferData(file).size());
  const bool noted = files.getSLocEntry(file).getFile().hasLineDirectives();
  const LineEntry *last = noted ? files.getLineTable().FindNearestLineEntry(file, bytes) : nullptr;
  files.AddLineNote(files.getLocForStartOfFile(file).getLocWithOffset(
                        last ? static_cast<int>(last->FileOffset) + 1 : 0),
                    last ? last->LineNo : 2, last ? last->FilenameID : -1, false, false, as);
}

void lookInto(SourceManager &files) {
  std::vector<FileID> left = filesOf(files);
  std::erase_if(left, [&](FileID file) {
    return !files.isInSystemHeader(files.getLocForEndOfFile(file)) || comesWithMpi(file, files);
  });
  std::vector<std::string> opened;  // their names, as an #include ends
  for (bool more = true; std::exchange(more, false);)
    std::erase_if(left, [&](FileID file) {
      const llvm::StringRef text = files.getBufferData(file);
      if (!namesCollective(text) && std::ranges::none_of(opened, [&](const std::string &name) {
            return text.contains(name);
          }))
        return false;
      const llvm::StringRef path = files.getFileEntryRefForID(file)->getName();
      for (const char *end : {"\"", ">"})
        opened.push_back((llvm::sys::path::filename(path) + end).str());
      count(files, file, SrcMgr::C_User);
      return more = true;
    });
}

void leaveToMpi(SourceManager &files) {
  const auto isMpis = [&](FileID file) {
    const llvm::StringRef text = files.getBufferData(file);
    return comesWithMpi(file, files) && (text.contains("#define OMPI_MAJOR_VERSION") ||
                                         text.contains("#define MPICH_NUMVERSION"));
  };
  for (const FileID file : filesOf(files)) {
    FileID by = file;
    while (by.isValid() && by != files.getMainFileID() && !isMpis(by))
      by = files.getFileID(files.getIncludeLoc(by));
    if (by.isValid() && by != files.getMainFileID() &&
        !files.isInSystemHeader(files.getLocForEndOfFile(file)))
      count(files, file, SrcMgr::C_System);
  }
}

void findOwn(const DeclContext &in, std::set<std::string> &names) {
  for (const Decl *d : in.decls()) {
    const auto *f = dyn_cast<FunctionDecl>(d);
    if (const auto *assembly = dyn_cast<FileScopeAsmDecl>(d)) {  // any name in it may be one
      llvm::StringRef left = assembly->getAsmString()->getString();
      const auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
      while (!(left = left.drop_until(isPart)).empty()) {
        names.insert(left.take_while(isPart).str());
        left = left.drop_while(isPart);
      }
    }
    if (isa<LinkageSpecDecl, NamespaceDecl>(d)) findOwn(*Decl::castToDeclContext(d), names);
    if (f && f->isThisDeclarationADefinition() && f->isExternC() && !isOfSystem(*f))
      names.insert({f->getNameAsString(), symbolOf(*f).str()});
  }
}

}  // namespace nbcc::overlap
