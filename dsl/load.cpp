// SPDX-License-Identifier: BSD-3-Clause
// load.cpp - parse(): a file and all it needs, as one tree.
//
//   b.nbc: import "a.nbc";  fn f ...      =>      one File: the functions of a, then those of b;
//          ... run gather.linear ...              linear of gather/linear.nbc among `called`
//   a.nbc: fn g ...
//
// Imports are followed depth first, each before its importer; a cycle is an error. What `run` names
// is looked for in the file itself, in what it imports, in the folder that its own folder stands
// in, and in the library. A file is read once, however it is reached. Cost: linear in the bytes.

#include <algorithm>
#include <map>
#include <set>

#include "dsl/collectives.h"
#include "dsl/installed.h"
#include "dsl/parse.h"
#include "dsl/runs.h"
#include "dsl/source.h"
#include "dsl/suggest.h"

namespace nbcc {

namespace fs = std::filesystem;

/// Of the program that runs, which is in bin of where it was installed.
std::vector<fs::path> standardLibrary() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return {algorithmsUnder(error ? fs::path() : program.parent_path().parent_path())};
}

namespace {

class Loader {
 public:
  Loader(const std::vector<fs::path> &library, Diag &diag) : library_(library), diag_(diag) {}

  std::unique_ptr<ast::File> load(const fs::path &path, std::string text) {
    std::unique_ptr<ast::File> result = std::make_unique<ast::File>();
    result_ = result.get();
    const int before = diag_.errors();
    add(path, std::move(text));
    result->id = sources_.at(0)->file;
    if (diag_.errors() == before) resolveRuns();
    if (diag_.errors() != before) return nullptr;

    result->algorithms = std::move(sources_[0]->algorithms);
    for (const auto &source : sources_) {
      std::ranges::move(source->collectives, std::back_inserter(result->collectives));
      result->sources.push_back({source->file, {}});
      for (const Loaded *seen : visible(*source)) result->sources.back().sees.push_back(seen->file);
      for (std::unique_ptr<ast::Algorithm> &a : source->algorithms)
        if (a && reached_.contains(a.get())) result->called.push_back(std::move(a));
    }
    nameSymbols(*result);
    return result;
  }

 private:
  struct Loaded {
    fs::path path;
    uint16_t file = 0;
    std::vector<const Loaded *> imports;
    std::vector<std::unique_ptr<ast::OwnCollective>> collectives;
    std::vector<std::unique_ptr<ast::Algorithm>> algorithms;
  };

  static fs::path identity(const fs::path &path) {
    std::error_code error;
    fs::path canonical = fs::weakly_canonical(path, error);
    return error ? path.lexically_normal() : canonical;
  }

  Loaded *add(const fs::path &path, std::string text) {
    sources_.push_back(std::make_unique<Loaded>());
    Loaded &loaded = *sources_.back();
    loaded.path = path;
    loaded.file = diag_.addFile(path.string(), std::move(text));
    seen_[identity(path)] = &loaded;
    chain_.push_back(path);
    if (std::unique_ptr<ast::File> own =
            acceptable(loaded.file, diag_) ? parseOne(loaded.file, diag_) : nullptr) {
      for (const ast::Import &import : own->imports)
        if (const Loaded *imported = follow(import, path.parent_path()))
          loaded.imports.push_back(imported);
      std::ranges::move(own->imports, std::back_inserter(result_->imports));
      std::ranges::move(own->functions, std::back_inserter(result_->functions));
      loaded.algorithms = std::move(own->algorithms);
      loaded.collectives = std::move(own->collectives);
      resolveKinds(loaded);
    }
    chain_.pop_back();
    return &loaded;
  }

  const Loaded *follow(const ast::Import &import, const fs::path &folder) {
    const fs::path path = (folder / import.path).lexically_normal();
    const fs::path wanted = identity(path);
    const auto above = std::ranges::find(chain_, wanted, identity);
    if (above != chain_.end())
      diag_.error(import.loc, "these files import each other: ", cycle(above, path));
    else if (chain_.size() > static_cast<size_t>(kMaxImportDepth))
      diag_.error(import.loc, "imports go more than ", kMaxImportDepth, " files deep");
    else
      return read(path, import.loc);
    return nullptr;
  }

  /// The file, read now or before. Null: it cannot be, which was said.
  Loaded *read(const fs::path &path, Loc at) {
    const fs::path wanted = identity(path);
    if (const auto known = seen_.find(wanted); known != seen_.end()) return known->second;
    if (seen_.size() >= kMaxFiles) {
      diag_.error(at, "more than ", kMaxFiles, " files are imported");
      return nullptr;
    }
    if (std::optional<std::string> text = readSource(path, at, diag_))
      return add(path, std::move(*text));
    return seen_[wanted] = nullptr;
  }

  std::string cycle(std::vector<fs::path>::const_iterator from, const fs::path &last) const {
    std::string text;
    for (; from != chain_.end(); ++from) text += from->filename().string() + " -> ";
    return text + last.filename().string();
  }

  /// The file itself, then what it imports, nearest first.
  static std::vector<const Loaded *> visible(const Loaded &source) {
    std::vector<const Loaded *> found{&source};
    std::set<const Loaded *> known{&source};
    for (size_t i = 0; i < found.size(); ++i)
      for (const Loaded *imported : found[i]->imports)
        if (known.insert(imported).second) found.push_back(imported);
    return found;
  }

  // What an algorithm is of

  using Collectives = std::map<std::string_view, const ast::OwnCollective *>;

  /// Those that are declared in a file and in all it imports, the nearest of each name.
  static Collectives declared(const Loaded &source) {
    Collectives result;
    for (const Loaded *seen : visible(source))
      for (const auto &c : seen->collectives) result.emplace(c->name, c.get());
    return result;
  }

  void resolveKinds(Loaded &loaded) {
    refuseDoubles(loaded);
    const Collectives own = declared(loaded);
    for (const auto &a : loaded.algorithms) {
      if (const Collective *known = findCollective(a->kindName)) {
        a->kind = known->kind;
      } else if (const auto found = own.find(a->kindName); found != own.end()) {
        a->kind = ast::Kind::own;
        a->own = found->second;
      } else {
        sayNoCollective(a->kindLoc, a->kindName, own);
      }
    }
  }

  void refuseDoubles(const Loaded &loaded) {
    Collectives seen;
    for (const Loaded *source : visible(loaded))
      for (const auto &c : source->collectives) {
        const auto [at, fresh] = seen.emplace(c->name, c.get());
        const bool here = source == &loaded;
        if (here && findCollective(c->name))
          diag_.error(c->loc, "'", c->name, "' is one of MPI's and cannot be declared");
        if (!fresh && twice_.insert({at->second, c.get()}).second) {
          // In one file at the second; else in the file nearest to this one.
          Loc first = c->loc, second = at->second->loc;
          if (first.file == second.file && second < first) std::swap(first, second);
          diag_.error(second, "collective '", c->name, "' is declared already");
          diag_.note(first, "here");
        }
      }
  }

  void sayNoCollective(Loc at, const std::string &name, const Collectives &own) {
    std::vector<std::string_view> known;
    for (const Collective &c : collectives()) known.push_back(c.name);
    for (const auto &[declared, unused] : own) known.push_back(declared);
    const std::string meant = didYouMean(name, known);
    std::string all;
    for (std::string_view k : known) all += cat(all.empty() ? "; there are " : ", ", k);
    diag_.error(at, "no collective is called '", name, "'", meant.empty() ? all : meant);
    if (meant.empty())
      diag_.note(at, "others are declared, here or in what is imported: collective ", name,
                 " { ... }");
  }

  // What `run` names

  void resolveRuns() {
    std::vector<std::pair<ast::Algorithm *, const Loaded *>> open;
    for (const auto &a : sources_[0]->algorithms) open.emplace_back(a.get(), sources_[0].get());
    while (!open.empty()) {
      const auto [caller, source] = open.back();
      open.pop_back();
      forEachRun(caller->body, [&, from = source](ast::Statement &run) {
        const auto [callee, where] = find(run, *from);
        run.callee = callee;
        if (callee && where != sources_[0].get() && reached_.insert(callee).second)
          open.emplace_back(callee, where);
      });
    }
  }

  using Callee = std::pair<ast::Algorithm *, const Loaded *>;

  static std::vector<Callee> named(const ast::Statement &run, const Loaded &source) {
    std::vector<Callee> found;
    for (const auto &a : source.algorithms)
      if (a->kindName == run.kind && a->name == run.text) found.emplace_back(a.get(), &source);
    return found;
  }

  Callee find(const ast::Statement &run, const Loaded &from) {
    if (const auto own = named(run, from); !own.empty()) return own.front();

    std::vector<Callee> imported;
    for (const Loaded *source : visible(from))
      std::ranges::copy(named(run, *source), std::back_inserter(imported));
    if (imported.size() > 1) {
      diag_.error(run.loc, "'", run.kind, ".", run.text, "' is imported more than once");
      for (const Callee &c : imported) diag_.note(c.first->loc, "one is here");
    }
    if (!imported.empty()) return imported.front();

    const std::vector<fs::path> places = candidates(run, from);
    for (const fs::path &path : places) {
      std::error_code ignored;
      if (!fs::exists(path, ignored)) {
        result_->absent.push_back(path.string());
        continue;
      }
      const int before = diag_.errors();
      const Loaded *source = read(path, run.loc);
      if (!source || diag_.errors() != before) return {};
      const auto found = named(run, *source);
      if (!found.empty()) return found.front();
      diag_.error(run.loc, "'", path.string(), "' holds no algorithm ", run.kind, ".", run.text);
      return {};
    }
    sayUnknown(run, from, places);
    return {};
  }

  std::vector<fs::path> candidates(const ast::Statement &run, const Loaded &from) const {
    std::vector<fs::path> places;
    for (const fs::path &folder : folders(from))
      places.push_back(folder / run.kind / (run.text + ".nbc"));
    return places;
  }

  /// The tree that the file itself stands in, then the library; each once.
  std::vector<fs::path> folders(const Loaded &from) const {
    std::vector<fs::path> result{(from.path.parent_path() / "..").lexically_normal()};
    for (const fs::path &folder : library_)
      if (identity(folder) != identity(result.front())) result.push_back(folder);
    return result;
  }

  void sayUnknown(const ast::Statement &run, const Loaded &from,
                  const std::vector<fs::path> &places) {
    const Collectives own = declared(from);
    if (!findCollective(run.kind) && !own.contains(run.kind))
      return sayNoCollective(run.kindLoc, run.kind, own);
    std::vector<std::string> known;
    for (const Loaded *source : visible(from))
      for (const auto &a : source->algorithms)
        if (a->kindName == run.kind) known.push_back(a->name);
    for (const fs::path &folder : folders(from)) {
      std::error_code error;
      for (fs::directory_iterator i(folder / run.kind, error), end; !error && i != end;
           i.increment(error))
        if (i->path().extension() == ".nbc" && known.size() < kMaxFiles)
          known.push_back(i->path().stem().string());
    }
    std::ranges::sort(known);
    diag_.error(run.loc, "there is no algorithm '", run.kind, ".", run.text, "'",
                didYouMean(run.text, known));
    std::string looked;
    for (const fs::path &path : places) looked += cat(looked.empty() ? "" : ", ", path.string());
    diag_.note(run.loc, "not in this file, not in what it imports, and there is no ", looked);
  }

  static void nameSymbols(ast::File &file) {
    std::set<std::string> taken;
    const auto giveSymbol = [&](ast::Algorithm &a) {
      a.symbol = fullName(a);
      if (!taken.insert(a.symbol).second) a.symbol += cat(".", a.loc.file);
    };
    for (const auto &a : file.algorithms) giveSymbol(*a);
    for (const auto &a : file.called) giveSymbol(*a);
    for (const auto &c : file.collectives) giveSymbol(c->ensures);
  }

  const std::vector<fs::path> &library_;
  Diag &diag_;
  ast::File *result_ = nullptr;
  std::vector<std::unique_ptr<Loaded>> sources_;  // the first is the importer's own
  std::map<fs::path, Loaded *> seen_;             // null: it could not be read
  std::vector<fs::path> chain_;                   // the file being read, and who imports it
  std::set<const ast::Algorithm *> reached_;      // of other files, by `run`
  // Of one name each, and told so.
  std::set<std::pair<const ast::OwnCollective *, const ast::OwnCollective *>> twice_;
};

}  // namespace

std::unique_ptr<ast::File> parse(const fs::path &path, Diag &diag,
                                 const std::vector<fs::path> &library) {
  std::optional<std::string> text = readSource(path, {}, diag);
  if (!text) return nullptr;
  return Loader(library, diag).load(path, std::move(*text));
}

std::unique_ptr<ast::File> parseText(const fs::path &path, std::string text, Diag &diag,
                                     const std::vector<fs::path> &library) {
  return Loader(library, diag).load(path, std::move(text));
}

}  // namespace nbcc
