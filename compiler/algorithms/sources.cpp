// SPDX-License-Identifier: BSD-3-Clause
// sources.cpp - what is open; what is in the cache; what has to be compiled.
//
//   key = hash of the source, its name, the algorithm, parameters, ranks, compiler
//   <key>.from   names a library by its digest, and all else that was read for it
//   <digest>.so  that library, as nbcc -o would have written it
//
// So the name of each file is a hash: of what it was made from, or of what is in it. An entry is
// found without the compiler, and a library is loaded if its digest is right, and then if
// nbc_library_open_file() takes it. It is loaded from the very file that was looked at; what could
// not be kept is loaded from memory, as a file without a name, so that there is one way to load.

#include "compiler/algorithms/sources.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cctype>

#include "compiler/algorithms/digest.h"
#include "dsl/diag.h"
#include "dsl/installed.h"

namespace nbcc {
namespace {

constexpr uint64_t kCacheBytes = uint64_t{256} << 20;
constexpr uint32_t kProveUpTo = 64;

bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Behind white space and comments.
size_t skip(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

/// A file without a name. Systems that forbid to run such files have to be asked, old ones do not
/// know the question.
int memoryFile(const std::string &bytes) {
  constexpr unsigned mayRun = 0x10;  // MFD_EXEC
  int file = memfd_create("nbc library", MFD_CLOEXEC | mayRun);
  if (file < 0) file = memfd_create("nbc library", MFD_CLOEXEC);
  if (file < 0 || writeAll(file, bytes)) return file;
  close(file);
  return -1;
}

const nbc_library *openBytes(const std::string &bytes, std::string &why) {
  const int file = memoryFile(bytes);
  if (file < 0) {
    why = "a compiled library cannot be held in memory";
    return nullptr;
  }
  const nbc_library *lib = nullptr;
  const char *said = "";
  if (nbc_library_open_file(file, &lib, &said)) {
    lib = nullptr;
    why = cat("a compiled library cannot be loaded: ", said);
  }
  close(file);
  return lib;
}

}  // namespace

bool hasHead(std::string_view source, std::string_view kind, std::string_view name) {
  std::string_view last;
  for (size_t at = skip(source, 0); at < source.size(); at = skip(source, at)) {
    size_t end = at;
    while (end < source.size() && isWordCharacter(source[end])) ++end;
    const std::string_view word = source.substr(at, end - at);
    if (last == kind && word == name) return true;
    last = word;  // empty: some other character
    at = end > at ? end : at + 1;
  }
  return false;
}

Sources::Sources(const nbc_algorithms_options &options)
    : cache_(options.cache, options.cache_bytes ? options.cache_bytes : kCacheBytes),
      compiler_(options.compiler),
      proveUpTo_(options.prove_up_to ? options.prove_up_to : kProveUpTo),
      installed_(algorithmsBeside(reinterpret_cast<const void *>(&nbc_algorithms_open))) {}

Sources::~Sources() {
  for (const auto &[key, lib] : opened_) nbc_library_close(lib);
}

std::string Sources::key(const Wanted &w, uint32_t proven) const {
  Digests all;
  all.add(compiler_.identity()).add(installed_).add(w.file).add(w.text).add(w.algorithm);
  all.add(proven).add(w.parameters ? 1 : 0);
  for (uint32_t i = 0; w.parameters && i < w.parameterCount; ++i) all.add(w.parameters[i]);
  return all.get();
}

const nbc_library *Sources::find(const Wanted &w, int &status, std::string &why) {
  const uint32_t proven = w.ranks <= proveUpTo_ ? w.ranks : 0;
  const std::string key = this->key(w, proven);
  if (const auto known = opened_.find(key); known != opened_.end()) return known->second;
  const nbc_library *lib = cached(key);
  if (lib)
    ++found_;
  else if ((lib = compile(w, proven, key, status, why)))
    ++compiled_;
  if (lib) opened_[key] = lib;
  return lib;
}

const nbc_library *Sources::cached(const std::string &key) {
  const std::optional<CacheFile> from = cache_.read(key + ".from");
  if (!from) return nullptr;
  const std::optional<Origin> origin = Origin::read(from->bytes());
  if (!origin) cache_.remove(key + ".from");
  if (!origin || !origin->holds()) return nullptr;
  const std::string name = origin->library + ".so";
  const std::optional<CacheFile> file = cache_.read(name);
  if (!file) return nullptr;
  if (digest(file->bytes()) != origin->library) {
    cache_.remove(name);
    return nullptr;
  }
  const nbc_library *lib = nullptr;
  if (nbc_library_open_file(file->file(), &lib, nullptr) == NBC_OK) return lib;
  std::string unused;  // nothing on this disk may be run, perhaps
  return openBytes(file->bytes(), unused);
}

const nbc_library *Sources::compile(const Wanted &w, uint32_t proven, const std::string &key,
                                    int &status, std::string &why) {
  nbc_jit_request request = {};
  request.file = w.file.c_str();
  request.text = w.text.c_str();
  request.algorithm = w.algorithm;
  request.parameters = w.parameters;
  request.parameter_count = w.parameterCount;
  request.ranks = proven;
  request.library = installed_.c_str();
  const Compiler::Made made = compiler_.compile(request);
  status = made.status;
  why = made.said;
  if (status) return nullptr;
  const nbc_library *lib = openBytes(made.library, why);
  if (!lib) {
    status = NBC_ERROR_RESOURCES;
    return nullptr;
  }
  for (const Origin::Input &i : made.inputs)
    if (i.path.find('\n') != std::string::npos) return lib;  // has no place in a list of lines
  const std::string name = digest(made.library);
  cache_.write(name + ".so", made.library);
  cache_.write(key + ".from", Origin{name, made.inputs}.text());
  return lib;
}

}  // namespace nbcc
