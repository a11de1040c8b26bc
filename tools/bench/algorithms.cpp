// SPDX-License-Identifier: BSD-3-Clause
// algorithms.cpp - a library's finished template, or one built here; or a file of templates.
//
// Which of the two a file is, its first bytes say. From a library whatever is not finished for
// this number of ranks is built (nbc/build.h); a file of templates has them for one number.

#include "tools/bench/algorithms.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "nbc/build.h"
#include "nbc/template.h"
#include "tools/bench/calls.h"
#include "tools/bench/together.h"

namespace nbcc::bench {
namespace {

std::unique_ptr<void, Algorithm::Free> copyOf(const void *data, size_t bytes) {
  void *copy = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, data, bytes);
  return std::unique_ptr<void, Algorithm::Free>(copy);
}

bool contains(const std::vector<std::string> &words, const std::string &word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Which node each rank is on: numbered by the first rank there.
std::vector<int32_t> nodes() {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int32_t first = rankHere();
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT32_T, MPI_MIN, node);
  MPI_Comm_free(&node);
  std::vector<int32_t> firsts(static_cast<size_t>(rankCount()));
  MPI_Allgather(&first, 1, MPI_INT32_T, firsts.data(), 1, MPI_INT32_T, MPI_COMM_WORLD);
  const std::set<int32_t> distinct(firsts.begin(), firsts.end());
  for (int32_t &f : firsts) f = int32_t(std::distance(distinct.begin(), distinct.find(f)));
  return firsts;
}

class Loader {
 public:
  explicit Loader(const Options &o) : options_(o), nodes_(nodes()) {}

  void load(const std::string &file) {
    bool library = false;
    std::vector<uint64_t> words;  // aligned for templates
    size_t bytes = 0;
    together([&] {
      std::ifstream in(file, std::ios::binary | std::ios::ate);
      if (!in) throw Refused(file + ": cannot be read: " + std::strerror(errno));
      bytes = size_t(in.tellg());
      words.resize(bytes / 8 + 1);
      in.seekg(0).read(reinterpret_cast<char *>(words.data()), std::streamsize(bytes));
      if (!in) throw Refused(file + ": cannot be read");
      library = bytes >= 4 && !std::memcmp(words.data(), "\177ELF", 4);
    });
    if (library)
      loadLibrary(file);
    else
      loadTemplates(file, reinterpret_cast<const char *>(words.data()), bytes);
  }

  Algorithms finish() {
    together([&] {
      for (const std::string &name : options_.algorithms)
        if (!contains(met_, name))
          throw Refused("there is no algorithm '" + name + "' in " + files() + ": " + list(met_));
      for (const std::string &name : options_.collectives)
        if (std::none_of(found_.all.begin(), found_.all.end(),
                         [&](const Algorithm &a) { return a.collective->name == name; }))
          throw Refused("there is no " + name + " for target " + list(options_.targets) + " and " +
                        std::to_string(rankCount()) + " ranks in " + files());
      if (found_.all.empty())
        throw Refused("there is nothing for target " + list(options_.targets) + " in " + files());
    });
    return std::move(found_);
  }

 private:
  static std::string list(const std::vector<std::string> &words) {
    std::string text;
    for (const std::string &word : words) text += (text.empty() ? "" : ", ") + word;
    return text.empty() ? "nothing" : text;
  }
  std::string files() const { return list(options_.files); }

  /// Whether it is asked for. Remembers what there is.
  bool wants(const std::string &name, const Collective &c) {
    if (!contains(met_, name)) met_.push_back(name);
    if (!isMeasured(c)) return false;
    return (options_.collectives.empty() || contains(options_.collectives, std::string(c.name))) &&
           (options_.algorithms.empty() || contains(options_.algorithms, name));
  }

  void loadLibrary(const std::string &file) {
    const nbc_library *library = nullptr;
    together([&] {
      const char *why = "";
      if (nbc_library_open(file.c_str(), &library, &why)) throw Refused(file + ": " + why);
    });
    const auto *all =
        static_cast<const nbc_library_algorithm *>(nbc_library_table(library, library->algorithms));
    const auto *targets =
        static_cast<const nbc_library_target *>(nbc_library_table(library, library->targets));
    for (uint32_t i = 0; i < library->algorithms.count; ++i) {
      if (all[i].kind >= NBC_OWN) continue;
      const Collective &c = collective(ast::Kind(all[i].kind));
      const std::string name = nbc_library_text(library, all[i].name);
      if (!wants(name, c)) continue;
      for (uint32_t t = 0; t < library->targets.count; ++t) {
        const std::string target = nbc_library_text(library, targets[t].name);
        if (contains(options_.targets, target) && targets[t].lengths == NBC_LENGTHS_EQUAL)
          take(library, {.collective = &c, .name = name, .target = target});
      }
    }
    nbc_library_close(library);
  }

  void take(const nbc_library *library, Algorithm a) {
    try {
      together([&] {
        const uint32_t ranks = uint32_t(rankCount()), rank = uint32_t(rankHere());
        const uint32_t root = a.collective->hasRoot() ? uint32_t(options_.root) : 0;
        if (const void *made = nbc_library_find(library, a.name.c_str(), a.target.c_str(),
                                                NBC_LENGTHS_EQUAL, ranks, rank, root, &a.bytes)) {
          a.data = copyOf(made, a.bytes);
          return;
        }
        nbc_build_request r = {};
        r.algorithm = a.name.c_str();
        r.target = a.target.c_str();
        r.ranks = ranks, r.rank = rank, r.root = root;
        r.node_of = nodes_.data();
        char why[512] = "";
        void *made = nullptr;
        const int status = nbc_build_template(library, &r, &made, &a.bytes, why, sizeof why);
        if (status) throw Refused(*why ? why : nbc_status_text(status));
        a.data.reset(made);
      });
      found_.all.push_back(std::move(a));
    } catch (const Refused &refused) {
      if (!options_.algorithms.empty())
        throw Refused(a.name + " for " + std::to_string(rankCount()) + " ranks: " + refused.what());
      found_.skipped.push_back({a.name, a.target, refused.what()});
    }
  }

  void loadTemplates(const std::string &file, const char *data, size_t bytes) {
    Algorithm found = {};
    bool wanted = false;
    together([&] {
      std::set<uint32_t> numbers;
      for (size_t at = 0; at < bytes;) {
        nbc_template t;
        if (bytes - at < sizeof t) throw Refused(file + ": neither a library nor templates");
        std::memcpy(&t, data + at, sizeof t);
        if (t.magic != NBC_TEMPLATE_MAGIC || t.bytes > bytes - at || t.bytes < sizeof t)
          throw Refused(file + ": neither a library nor templates");
        numbers.insert(t.ranks);
        if (int(t.ranks) == rankCount() && int(t.rank) == rankHere()) {
          found.data = copyOf(data + at, t.bytes);
          found.bytes = t.bytes;
          break;
        }
        at += t.bytes;
      }
      if (!found.data) {
        std::string there;
        for (uint32_t n : numbers) there += (there.empty() ? "" : ", ") + std::to_string(n);
        throw Refused(file + ": holds templates for " + there + " ranks, not for " +
                      std::to_string(rankCount()));
      }
      const char *why = "";
      if (nbc_template_check(found.data.get(), found.bytes, &why)) throw Refused(file + ": " + why);
      const auto *t = static_cast<const nbc_template *>(found.data.get());
      if (t->kind >= NBC_OWN || !isMeasured(collective(ast::Kind(t->kind))))
        throw Refused(file + ": a collective that no MPI function stands for is not measured");
      if (t->lengths != NBC_LENGTHS_EQUAL)
        throw Refused(file + ": blocks with lengths of their own are not measured");
      found.collective = &collective(ast::Kind(t->kind));
      found.name = std::string(found.collective->name) + "." + t->algorithm;
      found.target = t->target;
      wanted = wants(found.name, *found.collective) && contains(options_.targets, found.target);
      if (wanted && found.collective->hasRoot() && int(t->root) != options_.root)
        throw Refused(file + ": its root is " + std::to_string(t->root) + ", not " +
                      std::to_string(options_.root));
    });
    if (wanted) found_.all.push_back(std::move(found));
  }

  const Options &options_;
  std::vector<int32_t> nodes_;
  std::vector<std::string> met_;
  Algorithms found_;
};

}  // namespace

Algorithms loadAlgorithms(const Options &o) {
  Loader loader(o);
  for (const std::string &file : o.files) loader.load(file);
  return loader.finish();
}

}  // namespace nbcc::bench
