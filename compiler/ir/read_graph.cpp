// SPDX-License-Identifier: BSD-3-Clause
// read_graph.cpp - graphs as the command line gives them: a grid's size, or a file.
//
//   "4px3"                              =>   Graph::cartesian({{4, true}, {3, false}})
//   "0: from 1 to 1\n1: from 0 to 0"    =>   Graph::distributed(...)
//
// All that is wrong with the lines of a file is reported, with its place; then, if each line is
// right, the first edge that does not stand at both ends. Linear in the text.

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_map>

#include "compiler/ir/graph.h"
#include "compiler/ir/schedule.h"
#include "dsl/source.h"

namespace nbcc {

namespace {

constexpr size_t kMostDimensions = 16;

bool readNatural(std::string_view text, int64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && text[0] != '-';
}

/// What is between `x` and `x`.
bool readDimension(std::string_view text, Graph::Dimension &d) {
  d.periodic = text.ends_with('p');
  if (d.periodic) text.remove_suffix(1);
  return !text.empty() && readNatural(text, d.size) && d.size >= 1;
}

class GraphReader {
 public:
  GraphReader(uint16_t file, Diag &diag) : file_(file), diag_(diag) {}

  Graph read() {
    std::istringstream text(diag_.fileText(file_));
    for (std::string line; std::getline(text, line);) readLine(line, ++number_);
    if (!diag_.ok()) return {};
    if (lines_.empty()) {
      diag_.error({1, 1, file_}, "no rank has a line here, as 0: from 1 3 to 1");
      return {};
    }
    return assemble();
  }

 private:
  struct Word {
    std::string_view text;
    Loc loc;
  };
  struct Rank {
    Loc loc;
    std::vector<std::pair<int64_t, Loc>> sources, destinations;
  };

  /// Separated by white space; `:` is one of its own.
  std::vector<Word> split(std::string_view line, uint32_t number) const {
    std::vector<Word> words;
    line = line.substr(0, line.find('#'));
    for (size_t i = 0; i < line.size();) {
      const size_t begin = line.find_first_not_of(" \t\r", i);
      if (begin == std::string_view::npos) break;
      const size_t end = line[begin] == ':'
                             ? begin + 1
                             : std::min(line.find_first_of(" \t\r:", begin), line.size());
      words.push_back(
          {line.substr(begin, end - begin),
           {number, static_cast<uint16_t>(std::min<size_t>(begin + 1, UINT16_MAX)), file_}});
      i = end;
    }
    return words;
  }

  void readLine(const std::string &line, uint32_t number) {
    const std::vector<Word> words = split(line, number);
    if (words.empty()) return;
    int64_t rank = 0;
    if (words.size() < 2 || words[1].text != ":" || !readNatural(words[0].text, rank) ||
        rank >= kMaxBlocks)
      return diag_.error(words[0].loc, "a line begins with its rank, 0..", kMaxBlocks - 1,
                         ", and a colon, as 0: from 1 3 to 1");
    const auto [entry, isNew] = lines_.emplace(rank, Rank{words[0].loc, {}, {}});
    if (!isNew) {
      diag_.error(words[0].loc, "rank ", rank, " has a line already");
      return diag_.note(entry->second.loc, "here");
    }
    std::vector<std::pair<int64_t, Loc>> *list = nullptr;
    bool hasSources = false, hasDestinations = false;
    for (size_t i = 2; i < words.size(); ++i) {
      int64_t neighbor = 0;
      if (words[i].text == "from" && !hasSources)
        list = &entry->second.sources, hasSources = true;
      else if (words[i].text == "to" && !hasDestinations)
        list = &entry->second.destinations, hasDestinations = true;
      else if (list && readNatural(words[i].text, neighbor))
        list->emplace_back(neighbor, words[i].loc);
      else
        return diag_.error(words[i].loc, "`", words[i].text, "` where ",
                           list ? "a rank" : "`from` or `to`", " is wanted");
    }
  }

  Graph assemble() {
    const auto ranks = static_cast<int64_t>(lines_.size());
    std::vector<Neighbors> of(lines_.size());
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const auto line = lines_.find(rank);
      if (line == lines_.end()) {
        diag_.error({number_ == 0 ? 1 : number_, 1, file_}, "there are lines for ", ranks,
                    ranks == 1 ? " rank" : " ranks", ", but none for rank ", rank);
        return {};
      }
      Neighbors &n = of[static_cast<size_t>(rank)];
      for (const auto &[source, loc] : line->second.sources)
        if (isRank(source, ranks, loc)) n.sources.push_back({static_cast<int32_t>(source), -1});
      for (const auto &[destination, loc] : line->second.destinations)
        if (isRank(destination, ranks, loc))
          n.destinations.push_back(static_cast<int32_t>(destination));
    }
    if (!diag_.ok()) return {};
    if (const Mismatch m = mismatch(of); m.any()) {
      diag_.error(lines_.at(m.from).loc, "rank ", m.from, " names rank ", m.to,
                  " as a destination ", times(m.asDestination), ", but rank ", m.to, " names rank ",
                  m.from, " as a source ", times(m.asSource));
      diag_.note(lines_.at(m.to).loc, "here");
      return {};
    }
    return Graph::distributed(std::move(of));
  }

  static std::string times(int64_t count) {
    return count == 0 ? "never" : count == 1 ? "once" : count == 2 ? "twice" : cat(count, " times");
  }

  bool isRank(int64_t rank, int64_t ranks, Loc loc) {
    if (rank < ranks) return true;
    diag_.error(loc, "rank ", rank, " is not in 0..", ranks - 1, ": there are lines for ", ranks,
                ranks == 1 ? " rank" : " ranks");
    return false;
  }

  uint16_t file_;
  Diag &diag_;
  uint32_t number_ = 0;
  std::unordered_map<int64_t, Rank> lines_;
};

}  // namespace

Graph readCartesian(const std::string &text, Diag &diag) {
  std::vector<Graph::Dimension> dimensions;
  int64_t ranks = 1;
  bool fine = true;
  for (size_t begin = 0; begin <= text.size() && fine;) {
    const size_t end = std::min(text.find('x', begin), text.size());
    Graph::Dimension d;
    fine = readDimension(std::string_view(text).substr(begin, end - begin), d) &&
           dimensions.size() < kMostDimensions && ranks <= kMaxBlocks / d.size;
    if (!fine) break;
    ranks *= d.size;
    dimensions.push_back(d);
    begin = end + 1;
  }
  if (fine) return Graph::cartesian(dimensions);
  diag.error(Loc(), "grid ", text, ": wanted the ranks of each dimension, with p where it is ",
             "periodic, as 4px3, at most ", kMostDimensions, " of them, of 1..", kMaxBlocks,
             " ranks in all");
  return {};
}

Graph readGraph(const std::string &path, Diag &diag) {
  const std::optional<std::string> text =
      readInput(path, 1 << 28, "the graph ",
                ": wanted a file with a line for each rank, as 0: from 1 3 to 1", diag);
  if (!text) return {};
  return GraphReader(diag.addFile(path, *text), diag).read();
}

}  // namespace nbcc
