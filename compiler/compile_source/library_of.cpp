// SPDX-License-Identifier: BSD-3-Clause
// library_of.cpp - parse, check, prove, lower, compile, link: one algorithm of a source.
//
//   my.nbc, "allgather.mine", 24 ranks   =>   libmine.so, as bytes; what was read on the way
//
// A program is waiting, so this is nbcc -o with three differences: only the number of ranks at hand
// is proven, machine code is selected the quick way, and only one algorithm is compiled. The
// library is for all targets and for blocks of equal and of unlike length, since that costs rows in
// its tables alone. Cost: milliseconds; DESIGN.md has figures.

#include "compiler/compile_source/library_of.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "compiler/driver/compile.h"
#include "compiler/driver/prove_number.h"
#include "compiler/driver/record_proof.h"
#include "compiler/output/output.h"
#include "dsl/parse.h"
#include "nbc.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

class Making {
 public:
  explicit Making(const SourceRequest &request) : request_(request), diag_(said_) {}

  MadeLibrary make() {
    MadeLibrary made;
    made.status = compile(made.bytes);
    if (made.status != NBC_OK) made.bytes.clear();
    made.said = said_.str();
    for (uint16_t i = 0; i < diag_.files(); ++i)
      made.inputs.push_back({diag_.fileName(i), diag_.fileText(i)});
    if (file_)
      for (const std::string &path : file_->absent) made.inputs.push_back({path, std::nullopt});
    return made;
  }

 private:
  int compile(std::string &bytes) {
    if (const int status = read()) return status;
    const ast::Algorithm *algorithm = find();
    if (!algorithm || !takeParameters(*algorithm)) return NBC_ERROR_ARGUMENT;
    Compilation c(*file_, options_, diag_);
    if (!diag_.ok()) return NBC_ERROR_UNSUPPORTED;
    LibraryContent content;
    content.name = libraryName(algorithm->name);
    content.files = {file_.get()};
    content.quick = true;
    content.algorithms.push_back({.file = 0, .algorithm = algorithm, .parameters = c.parameters()});
    for (const Target *target : targets())
      for (const Blocks lengths : {Blocks::equal, Blocks::each})
        content.platforms.push_back(
            {target, {.device = &target->devices.front(), .lengths = lengths}});
    if (request_.ranks > 0 && !prove(c, content.algorithms.front())) return NBC_ERROR_UNSUPPORTED;
    bytes =
        sharedLibrary(std::move(content), cat("lib", libraryName(algorithm->name), ".so"), diag_);
    return diag_.ok() ? NBC_OK : NBC_ERROR_RESOURCES;
  }

  int read() {
    std::vector<fs::path> library;
    if (!request_.library.empty()) library.emplace_back(request_.library);
    file_ = request_.text ? parseText(request_.file, *request_.text, diag_, library)
                          : parse(request_.file, diag_, library);
    // A file that cannot be read is no source; nothing was taken in then.
    if (!file_ && diag_.files() == 0) return NBC_ERROR_ARGUMENT;
    if (diag_.ok()) check(*file_, diag_);
    return diag_.ok() ? NBC_OK : NBC_ERROR_UNSUPPORTED;
  }

  const ast::Algorithm *find() {
    std::string known;
    for (const auto &a : file_->algorithms) {
      if (fullName(*a) == request_.algorithm) {
        options_.algorithm = request_.algorithm;
        return a.get();
      }
      known += cat(known.empty() ? "; it holds " : ", ", fullName(*a));
    }
    diag_.error(Loc(), request_.file, " holds no algorithm ", request_.algorithm, known);
    return nullptr;
  }

  bool takeParameters(const ast::Algorithm &a) {
    if (request_.parameters && request_.parameters->size() != a.parameters.size()) {
      diag_.error(a.loc, fullName(a), " has ", a.parameters.size(), " parameters; ",
                  request_.parameters->size(), " were given");
      return false;
    }
    for (size_t i = 0; i < a.parameters.size(); ++i) {
      const std::string &name = a.parameters[i].variable->name;
      if (request_.parameters)
        options_.parameters[name] = (*request_.parameters)[i];
      else if (!a.parameters[i].initial)
        diag_.error(a.parameters[i].variable->loc, "parameter ", name, " of ", fullName(a),
                    " has no default, so its value has to be given");
    }
    return diag_.ok();
  }

  /// Where `requires` does not hold, who asks for a template is told so, every time.
  bool prove(Compilation &c, LibraryContent::Algorithm &a) {
    const NumberProof proof = proveNumber(c, request_.ranks, diag_);
    if (!diag_.ok() || proof.result == NumberProof::Result::failed) {
      noteFailure(proof, c, request_.ranks, diag_);
      return false;
    }
    if (proof.result == NumberProof::Result::proven)
      recordProof(proof, request_.ranks, request_.ranks, c.collective(), a);
    return true;
  }

  const SourceRequest &request_;
  std::ostringstream said_;
  Diag diag_;
  Options options_;
  std::unique_ptr<ast::File> file_;
};

}  // namespace

MadeLibrary libraryOf(const SourceRequest &request) {
  return Making(request).make();
}

}  // namespace nbcc
