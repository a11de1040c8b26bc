// SPDX-License-Identifier: BSD-3-Clause
// algorithms.cpp - nbc_algorithms: the list of what was given, and who of it has an algorithm.
//
// The C face: what a caller gives is checked here, and no exception leaves it. One thread at a time
// is inside a set.

#include "nbc/algorithms.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <vector>

#include "compiler/algorithms/origin.h"
#include "compiler/algorithms/sources.h"
#include "compiler/shipped/refused.h"
#include "dsl/diag.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

/// One thing that was given: a library, a folder, or a source.
struct Given {
  std::string path;
  const nbc_library *library = nullptr;
  bool opened = false;  // the library is a file of ours
  std::optional<std::string> text;
};

struct Algorithms : nbc_algorithms {
  explicit Algorithms(const nbc_algorithms_options &options) : nbc_algorithms(), sources(options) {}
  ~Algorithms() {
    for (const Given &g : given)
      if (g.opened) nbc_library_close(g.library);
  }
  std::vector<Given> given;
  Sources sources;
  std::mutex mutex;
};

/// What `why` leads to; the compiler's words may be many.
const char *keep(std::string text) {
  thread_local std::string kept;
  while (text.ends_with('\n')) text.pop_back();
  kept = std::move(text);
  return kept.c_str();
}

/// Runs `work`; what it throws becomes a status and `*why`.
template <class Work>
int guarded(const char **why, Work work) {
  const char *unused;
  if (!why) why = &unused;
  *why = "";
  try {
    work();
    return NBC_OK;
  } catch (const Refused &refused) {
    *why = keep(refused.why);
    return refused.status;
  } catch (const std::bad_alloc &) {
    *why = "no memory is left";
    return NBC_ERROR_MEMORY;
  } catch (const std::exception &e) {
    *why = keep(e.what());
    return NBC_ERROR_RESOURCES;
  }
}

Given open(const char *path) {
  Given g;
  if (!path) refuse(NBC_ERROR_ARGUMENT, "a null path");
  g.path = path;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return g;
  if (g.path.ends_with(".so")) {
    const char *why = "";
    if (const int status = nbc_library_open(path, &g.library, &why))
      refuse(status, path, ": ", why);
    g.opened = true;
    return g;
  }
  g.text = sourceText(g.path);
  if (!g.text)
    refuse(NBC_ERROR_ARGUMENT, path, ": ",
           fs::exists(path, ignored) ? "it cannot be read, or is longer than a source may be"
                                     : "there is no such file");
  return g;
}

bool isName(std::string_view text) {
  for (const char c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return !text.empty();
}

struct Built {
  void *data = nullptr;
  size_t bytes = 0;
};

/// As it lies in the library, where it was finished; else made.
Built build(const nbc_library &lib, const nbc_build_request &r) {
  Built built;
  const void *finished = r.parameters ? nullptr
                                      : nbc_library_find(&lib, r.algorithm, r.target, r.lengths,
                                                         r.ranks, r.rank, r.root, &built.bytes);
  if (finished) {
    built.data = std::malloc(built.bytes);
    if (!built.data) throw std::bad_alloc();
    std::memcpy(built.data, finished, built.bytes);
    return built;
  }
  std::string why(1 << 12, '\0');
  if (const int status =
          nbc_build_template(&lib, &r, &built.data, &built.bytes, why.data(), why.size()))
    refuse(status, why.c_str());
  return built;
}

Built buildFrom(Algorithms &all, const std::string &file, const std::string &text,
                const nbc_build_request &r) {
  int status = 0;
  std::string why;
  const nbc_library *lib = all.sources.find(
      {file, text, r.algorithm, r.parameters, r.parameter_count, r.ranks}, status, why);
  if (!lib) refuse(status, why);
  return build(*lib, r);
}

Built find(Algorithms &all, const nbc_build_request &r) {
  const std::string_view full = r.algorithm;
  const size_t dot = std::min(full.find('.'), full.size());
  const std::string kind(full.substr(0, dot)), name(full.substr(std::min(dot + 1, full.size())));
  if (!isName(kind) || !isName(name))
    refuse(NBC_ERROR_ARGUMENT, "'", full, "' is no name of an algorithm: allgather.bruck is one");

  const Given last{.path = all.sources.installed()};
  std::string looked;
  for (size_t i = 0; i <= all.given.size(); ++i) {
    const Given &g = i < all.given.size() ? all.given[i] : last;
    if (g.library) {
      if (nbc_library_named(g.library, r.algorithm)) return build(*g.library, r);
    } else if (g.text) {
      if (hasHead(*g.text, kind, name)) return buildFrom(all, g.path, *g.text, r);
    } else {
      const std::string file = (fs::path(g.path) / kind / (name + ".nbc")).string();
      if (const std::optional<std::string> text = sourceText(file))
        return buildFrom(all, file, *text, r);
    }
    looked += cat(looked.empty() ? "" : ", ", g.path);
  }
  refuse(NBC_ERROR_ARGUMENT, "there is no algorithm ", full, " in ", looked);
}

int buildTemplate(nbc_algorithms *self, const nbc_build_request *request, void **template_data,
                  size_t *bytes, const char **why) {
  return guarded(why, [&] {
    if (!self || !request || !request->algorithm || !request->target || !template_data || !bytes)
      refuse(NBC_ERROR_ARGUMENT, "no request, or no place for the template");
    Algorithms &all = *static_cast<Algorithms *>(self);
    const std::lock_guard<std::mutex> alone(all.mutex);
    const Built built = find(all, *request);
    *template_data = built.data;
    *bytes = built.bytes;
  });
}

void closeAll(nbc_algorithms *self) {
  delete static_cast<Algorithms *>(self);
}

}  // namespace
}  // namespace nbcc

extern "C" int nbc_algorithms_open(const char *const from[], size_t count,
                                   const nbc_algorithms_options *options, nbc_algorithms **result,
                                   const char **why) {
  using namespace nbcc;
  return guarded(why, [&] {
    if (!result || (count && !from)) refuse(NBC_ERROR_ARGUMENT, "no list, or no place for the set");
    auto all = std::make_unique<Algorithms>(options ? *options : nbc_algorithms_options());
    all->build = buildTemplate;
    all->close = closeAll;
    for (size_t i = 0; i < count; ++i) all->given.push_back(open(from[i]));
    *result = all.release();
  });
}

extern "C" int nbc_algorithms_add(nbc_algorithms *self, const char *name, const char *text) {
  using namespace nbcc;
  return guarded(nullptr, [&] {
    if (!self || !name || !text) refuse(NBC_ERROR_ARGUMENT, "");
    Algorithms &all = *static_cast<Algorithms *>(self);
    const std::lock_guard<std::mutex> alone(all.mutex);
    all.given.push_back({.path = name, .text = text});
  });
}

extern "C" int nbc_algorithms_add_library(nbc_algorithms *self, const nbc_library *lib,
                                          const char **why) {
  using namespace nbcc;
  return guarded(why, [&] {
    if (!self || !lib) refuse(NBC_ERROR_ARGUMENT, "no set, or no library");
    const char *said = "";
    if (const int status = nbc_library_use(lib, &said)) refuse(status, said);
    Algorithms &all = *static_cast<Algorithms *>(self);
    const std::lock_guard<std::mutex> alone(all.mutex);
    all.given.push_back({.path = lib->name, .library = lib});
  });
}

extern "C" void nbc_algorithms_close(nbc_algorithms *self) {
  nbcc::closeAll(self);
}

extern "C" void nbc_algorithms_query(const nbc_algorithms *self, nbc_algorithms_info *info) {
  using namespace nbcc;
  const Sources &sources = static_cast<const Algorithms *>(self)->sources;
  info->cache = sources.cache().folder().empty() ? nullptr : sources.cache().folder().c_str();
  info->trouble = sources.cache().trouble().c_str();
  info->found = sources.found();
  info->compiled = sources.compiled();
}
