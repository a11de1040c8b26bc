// SPDX-License-Identifier: BSD-3-Clause
// jit.cpp - nbc_jit_compile(): the C face of library_of.h. No exception leaves it.

#include "nbc/jit.h"

#include <cstring>
#include <mutex>
#include <new>

#include "compiler/compile_source/library_of.h"
#include "dsl/installed.h"

namespace nbcc {
namespace {

/// What is handed out, and what its pointers lead to.
struct Result : nbc_jit_result {
  std::vector<uint64_t> words;
  std::string text;
  std::vector<MadeLibrary::Input> files;
  std::vector<nbc_jit_input> table;
};

SourceRequest requestOf(const nbc_jit_request &given) {
  SourceRequest request;
  request.file = given.file;
  if (given.text) request.text = given.text;
  request.algorithm = given.algorithm;
  if (given.parameters)
    request.parameters.emplace(given.parameters, given.parameters + given.parameter_count);
  request.ranks = given.ranks;
  request.library = given.library
                        ? given.library
                        : algorithmsBeside(reinterpret_cast<const void *>(&nbc_jit_compile));
  return request;
}

void fill(Result &result, MadeLibrary &&made) {
  result.words.resize((made.bytes.size() + 7) / 8);
  if (!made.bytes.empty()) std::memcpy(result.words.data(), made.bytes.data(), made.bytes.size());
  result.library = made.bytes.empty() ? nullptr : result.words.data();
  result.bytes = made.bytes.size();
  result.text = std::move(made.said);
  result.said = result.text.c_str();
  result.files = std::move(made.inputs);
  for (const MadeLibrary::Input &i : result.files)
    result.table.push_back(
        {i.path.c_str(), i.text ? i.text->c_str() : nullptr, i.text ? i.text->size() : 0});
  result.inputs = result.table.data();
  result.input_count = result.table.size();
}

}  // namespace
}  // namespace nbcc

extern "C" int nbc_jit_compile(const nbc_jit_request *request, nbc_jit_result **made) {
  using namespace nbcc;
  if (!made) return NBC_ERROR_ARGUMENT;
  *made = nullptr;
  if (!request || !request->file || !request->algorithm ||
      (request->parameter_count && !request->parameters))
    return NBC_ERROR_ARGUMENT;
  Result *result = new (std::nothrow) Result();
  if (!result) return NBC_ERROR_MEMORY;
  result->said = "";
  *made = result;
  try {
    // LLVM's list of targets is filled in by whoever comes first.
    static std::mutex mutex;
    const std::lock_guard<std::mutex> alone(mutex);
    MadeLibrary library = libraryOf(requestOf(*request));
    const int status = library.status;
    fill(*result, std::move(library));
    return status;
  } catch (const std::bad_alloc &) {
    result->said = "no memory is left\n";
    return NBC_ERROR_MEMORY;
  } catch (const std::exception &) {
    result->said = "the compiler could not go on\n";
    return NBC_ERROR_RESOURCES;
  }
}

extern "C" void nbc_jit_free(nbc_jit_result *made) {
  delete static_cast<nbcc::Result *>(made);
}
