// SPDX-License-Identifier: BSD-3-Clause
// write_library.cpp - a library as a shared object, an archive or an object file, and as a header.

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>

#include "compiler/output/link.h"
#include "compiler/output/module.h"
#include "compiler/output/object.h"
#include "compiler/output/output.h"
#include "compiler/output/tables.h"
#include "dsl/collectives.h"

namespace nbcc {
namespace {

/// The tables are reached by 32 bits, and so is what stands behind them in a program.
constexpr size_t kMostBytes = size_t{1} << 30;

/// ALLGATHER_BRUCK
std::string macroName(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    result += std::isalnum(letter) ? static_cast<char>(std::toupper(letter)) : '_';
  }
  return result;
}

/// An object file. The content's templates are used up.
std::string compiled(LibraryContent &content, bool asSharedObject, Diag &diag) {
  LibraryTables tables = layOut(content, diag);
  if (tables.rest.size() > kMostBytes) {
    diag.error(Loc(), "the library's tables and templates come to ", tables.rest.size(),
               " bytes; at most ", kMostBytes, " are written (fewer --ranks, or --root)");
    return "";
  }
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> module =
      moduleOf(content, tables, asSharedObject, context, diag);
  return module ? objectOf(*module, content, diag) : "";
}

}  // namespace

std::string libraryName(std::string_view path) {
  std::string name = std::filesystem::path(path).filename().string();
  name = name.substr(0, name.find('.'));
  if (name.starts_with("lib") && name.size() > 3) name.erase(0, 3);
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

void writeLibrary(LibraryContent content, LibraryForm form, const std::string &path, Diag &diag) {
  const std::string bytes = [&]() -> std::string {
    switch (form) {
      case LibraryForm::shared:
        return sharedLibrary(std::move(content), std::filesystem::path(path).filename(), diag);
      case LibraryForm::archive: {
        const std::string object = compiled(content, false, diag);
        return diag.ok() ? archiveOf(object, content.name + ".o", diag) : "";
      }
      case LibraryForm::object:
        return compiled(content, false, diag);
    }
    return "";
  }();
  if (diag.ok()) writeWhole(bytes, path, diag);
}

std::string sharedLibrary(LibraryContent content, const std::string &name, Diag &diag) {
  const std::string object = compiled(content, true, diag);
  return diag.ok() ? linkShared(object, name, diag) : "";
}

void writeHeader(const LibraryContent &content, std::ostream &out) {
  const std::string guard = "NBC_LIBRARY_" + macroName(content.name) + "_H";
  out << "/* Made by nbcc " NBCC_VERSION ": what is in the library " << content.name << ". */\n"
      << "#ifndef " << guard << "\n#define " << guard << "\n\n#include \"nbc/library.h\"\n\n"
      << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      << "/* For nbc_library_use(), then nbc_library_find(). */\n"
      << "const struct nbc_library *nbc_library_" << content.name << "(void);\n\n"
      << "/* Names of its algorithms. */\n";
  std::vector<std::string> names;
  for (const LibraryContent::Algorithm &a : content.algorithms)
    names.push_back(fullName(*a.algorithm));
  std::ranges::sort(names);
  for (const std::string &name : names)
    out << "#define NBC_" << macroName(content.name) << "_" << macroName(name) << " \"" << name
        << "\"\n";
  out << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

}  // namespace nbcc
