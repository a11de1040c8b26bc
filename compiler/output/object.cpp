// SPDX-License-Identifier: BSD-3-Clause
// object.cpp - from a module to the bytes of an object file, or of an archive of one.
//
// Compiled for a level of x86-64 that many machines have: `build` is integers and calls, in which
// newer instructions show nowhere (a step is spent in the sink). So the default is the first.
//
// The only file that sees the headers of LLVM's archives.

#include "compiler/output/object.h"

#include <llvm/Object/Archive.h>
#include <llvm/Object/ArchiveWriter.h>

#include "compiler/lower/emit_object.h"

namespace nbcc {

int hostCpuLevel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return 4;
  if (__builtin_cpu_supports("x86-64-v3")) return 3;
  if (__builtin_cpu_supports("x86-64-v2")) return 2;
#endif
  return 1;
}

std::string objectOf(llvm::Module &module, const LibraryContent &content, Diag &diag) {
  std::string why;
  std::string bytes =
      emitObject(module, {.cpuLevel = content.cpuLevel, .quick = content.quick}, why);
  if (bytes.empty()) diag.error(Loc(), why);
  return bytes;
}

std::string archiveOf(const std::string &object, const std::string &member, Diag &diag) {
  const auto buffer = llvm::MemoryBuffer::getMemBuffer(object, member, false);
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archive = llvm::writeArchiveToBuffer(
      llvm::NewArchiveMember(*buffer), llvm::SymtabWritingMode::NormalSymtab,
      llvm::object::Archive::K_GNU, true, false);
  if (archive) return (*archive)->getBuffer().str();
  diag.error(Loc(), "the archive cannot be made: ", llvm::toString(archive.takeError()));
  return "";
}

std::vector<std::string> membersOf(const std::string &archive, std::string &why) {
  std::vector<std::string> members;
  auto opened = llvm::object::Archive::create(llvm::MemoryBufferRef(archive, "archive"));
  if (!opened) {
    why = llvm::toString(opened.takeError());
    return {};
  }
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child &child : (*opened)->children(error)) {
    llvm::Expected<llvm::StringRef> bytes = child.getBuffer();
    if (bytes)
      members.push_back(bytes->str());
    else
      why = llvm::toString(bytes.takeError());
  }
  if (error) why = llvm::toString(std::move(error));
  return members;
}

}  // namespace nbcc
