// SPDX-License-Identifier: BSD-3-Clause
// output.h - algorithms compiled ahead of time: what goes into a library, and writing it.
//
//   trees, templates   =>   tables (runtime/include/nbc/library.h) + machine code   =>   libNAME.so
//
// No LLVM header is needed to use it.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/target.h"
#include "dsl/ast.h"
#include "dsl/diag.h"

namespace nbcc {

/// What a library is to hold. Trees are checked, and outlive this.
struct LibraryContent {
  std::string name;  // "colls" of libcolls.so
  std::vector<const ast::File *> files;
  int cpuLevel = 1;    // x86-64-v1 to -v4; elsewhere not looked at
  bool quick = false;  // compiled in half the time, to code that is half as good

  struct Algorithm {
    size_t file = 0;
    const ast::Algorithm *algorithm = nullptr;
    std::vector<int64_t> parameters;
    int64_t provenFrom = 0, provenTo = 0;  // 0, 0: not
    bool rankOrder = false, bitwiseSame = false, anyLengths = false;
  };
  std::vector<Algorithm> algorithms;

  struct Platform {
    const Target *target = nullptr;
    TargetOptions options;
  };
  std::vector<Platform> platforms;

  struct Finished {
    size_t algorithm = 0, platform = 0;
    int64_t ranks = 1, root = 0, rank = 0;
    Template bytes;
  };
  std::vector<Finished> templates;

  /// Users' operators; the bitcode has one function, kOperatorKernel (compiler/operators).
  struct Operator {
    std::string name, type, bitcode;
    size_t elementBytes = 0;
  };
  std::vector<Operator> operators;
};

enum class LibraryForm { shared, archive, object };

/// Writes a library to `path`. Nothing is there, or what was there before, where anything is
/// wrong: it cannot be linked, or the file not be written, which is reported.
void writeLibrary(LibraryContent, LibraryForm, const std::string &path, Diag &);

/// The bytes of a shared object that the loader will call `name`; empty: something is wrong, which
/// was reported.
std::string sharedLibrary(LibraryContent, const std::string &name, Diag &);

/// --emit=header: a C header that declares the library and says what is in it.
void writeHeader(const LibraryContent &, std::ostream &);

/// --inspect: what is in a library, from the file alone; nothing of it is run. Reports why a file
/// is none, or cannot be used here.
void inspectLibrary(const std::string &path, std::ostream &, Diag &);

/// The n of x86-64-vn that this machine is; elsewhere 1.
int hostCpuLevel();

/// "colls" of "lib/libcolls.so"; characters that no C name has become _.
std::string libraryName(std::string_view path);

}  // namespace nbcc
