// SPDX-License-Identifier: BSD-3-Clause
// link.cpp - `cc -shared`, and the seal.
//
//   NAME.o   =>   libNAME.so: nothing undefined, nothing needed, nothing to be relocated, no
//   constructors
//
// The compiler driver that is installed knows the system's linker and its options, so it is asked
// (CC, else cc) rather than a linker; it gets neither the C library nor start files. What it wrote
// is then sealed: the checksum of all that will be loaded is put into the tables.

#include "compiler/output/link.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Program.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "nbc/library.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone with all in it.
class Workshop {
 public:
  explicit Workshop(Diag &diag) {
    llvm::SmallString<128> path;
    if (const std::error_code error = llvm::sys::fs::createUniqueDirectory("nbcc", path))
      diag.error(Loc(), "no folder for temporary files can be made: ", error.message());
    else
      path_ = path.str().str();
  }
  ~Workshop() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Workshop(const Workshop &) = delete;
  Workshop &operator=(const Workshop &) = delete;

  bool ok() const { return !path_.empty(); }
  std::string file(const char *name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool put(const std::string &bytes, const std::string &path) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
  return file.good();
}

std::string driver(Diag &diag) {
  const char *given = std::getenv("CC");
  const std::string name = given && *given ? given : "cc";
  if (const auto found = llvm::sys::findProgramByName(name)) return *found;
  diag.error(Loc(), "a shared object needs the system's linker: there is no '", name,
             "' in PATH (CC names another; a library as .a or .o needs none)");
  return "";
}

void seal(std::string &shared, Diag &diag) {
  size_t at = 0, length = 0;
  const char *why = "";
  if (nbc_library_locate(shared.data(), shared.size(), &at, &length, &why))
    return diag.error(Loc(), "the linker made what is no library: ", why);
  const uint64_t value = nbc_library_seal(shared.data(), shared.size(), at);
  std::memcpy(shared.data() + at + offsetof(nbc_library, seal), &value, sizeof value);
}

}  // namespace

void linkShared(const std::string &object, const std::string &path, Diag &diag) {
  const std::string program = driver(diag);
  if (!diag.ok()) return;
  const Workshop workshop(diag);
  if (!workshop.ok()) return;
  const std::string in = workshop.file("library.o"), out = workshop.file("library.so"),
                    said = workshop.file("said");
  if (!put(object, in)) return diag.error(Loc(), "cannot write ", in);

  const std::string soname = "-Wl,-soname," + fs::path(path).filename().string();
  const std::vector<llvm::StringRef> arguments = {
      program, "-shared", "-nostdlib",
      // Nothing undefined, no stack that is executable, and the same bytes from the same input.
      "-Wl,-z,defs,-z,noexecstack,-z,now,-z,relro", "-Wl,--build-id=none", soname, "-o", out, in};
  std::string why;
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(said),
                                                      llvm::StringRef(said)};
  const int status =
      llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects, 0, 0, &why);
  if (status != 0) {
    diag.error(Loc(), program, " cannot link ", path, status > 0 ? cat(": status ", status) : "",
               why.empty() ? "" : ": " + why);
    if (const std::string text = read(said); !text.empty())
      diag.note(Loc(), "it said: ", text.substr(0, text.find('\n')));
    return;
  }
  std::string shared = read(out);
  seal(shared, diag);
  if (diag.ok()) writeWhole(shared, path, diag);
}

void writeWhole(const std::string &bytes, const std::string &path, Diag &diag) {
  const std::string beside = cat(path, ".", getpid(), ".part");
  std::error_code error;
  if (put(bytes, beside)) {
    fs::rename(beside, path, error);
    if (!error) return;
  }
  std::error_code ignored;
  fs::remove(beside, ignored);
  diag.error(Loc(), "cannot write ", path, error ? ": " + error.message() : "");
}

}  // namespace nbcc
