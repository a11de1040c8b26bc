// SPDX-License-Identifier: BSD-3-Clause
// read_table.cpp - from JSON to rules, and what is wrong with it.
//
// The parser hands events on and recurses nowhere, so nesting costs nothing before it is refused.
// It reads through an iterator that counts: that is how lines are known, and where a row's text is.

#include <nlohmann/json.hpp>

#include "compiler/selection/rule.h"
#include "dsl/collectives.h"
#include "dsl/diag.h"
#include "nbc/transfer.h"

namespace nbcc {
namespace {

constexpr size_t kMostBytes = 16 << 20;
constexpr int kMostErrors = 20;

/// A char iterator that says how many have been read, by whichever copy of it.
struct Counting {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  const char *at;
  size_t *taken;

  reference operator*() const { return *at; }
  Counting &operator++() {
    ++at, ++*taken;
    return *this;
  }
  Counting operator++(int) {
    Counting before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Counting &other) const { return at == other.at; }
};

/// A value that is no list and no object, as text.
struct Value {
  enum class Type { text, number, boolean, other };
  Type type = Type::other;
  std::string text;
  int line = 0;
};

/// Fit for a line of a message, whatever is in it.
std::string plain(std::string_view text, size_t most) {
  std::string result(text.substr(0, most));
  for (char &c : result)
    if (c < ' ' || c == 127) c = '?';
  return text.size() > most ? result + "..." : result;
}

std::string shown(const Value &v) {
  const std::string text = plain(v.text, 60);
  return v.type == Value::Type::text ? cat("'", text, "'") : text;
}

/// nlohmann's SAX interface: each function returns whether to go on.
class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  std::vector<Rule> rules;
  std::string errors;

  size_t taken = 0;

  bool null() { return value({Value::Type::other, "null"}); }
  bool boolean(bool v) { return value({Value::Type::boolean, v ? "true" : "false"}); }
  bool number_integer(std::int64_t v) { return value({Value::Type::other, std::to_string(v)}); }
  bool number_unsigned(std::uint64_t v) { return value({Value::Type::number, std::to_string(v)}); }
  bool number_float(double, const std::string &v) { return value({Value::Type::other, v}); }
  bool string(std::string &v) { return value({Value::Type::text, v}); }
  bool binary(std::vector<std::uint8_t> &) { return false; }  // not of JSON

  bool start_object(size_t) {
    if (place_ == Place::nowhere) return enter(Place::table);
    if (place_ != Place::rows) return misplaced("an object");
    row_.clear();
    rowLine_ = line(taken);
    rowBegin_ = taken - 1;
    return enter(Place::row);
  }
  bool key(std::string &k) {
    key_ = k;
    keyLine_ = line(taken);
    if (place_ == Place::table) {
      if (key_ != "rows" && key_ != "about")
        return fatal(keyLine_, "unknown key ", shown({Value::Type::text, key_}),
                     "; a table has about and rows");
      if (key_ == "rows" && std::exchange(rowsSeen_, true))
        return fatal(keyLine_, "rows are there twice");
    }
    return true;
  }
  bool end_object() {
    if (place_ == Place::table) return enter(Place::end);
    finishRow();
    return enter(Place::rows);
  }
  bool start_array(size_t) {
    if (place_ != Place::table) return misplaced("a list");
    return enter(key_ == "rows" ? Place::rows : Place::about);
  }
  bool end_array() { return enter(Place::table); }
  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &e) {
    std::string_view what = e.what();
    if (const size_t colon = what.find(": "); colon != what.npos) what.remove_prefix(colon + 2);
    return fatal(line(position), "no JSON: ", plain(what, 200));
  }

  /// What concerns all rows.
  void finish() {
    if (!errors.empty()) return;
    if (!rowsSeen_) {
      error(1, "it has no rows");
      return;
    }
    for (const Collective &c : collectives()) {
      const Rule *last = nullptr;
      for (const Rule &r : rules)
        if (r.kind == static_cast<nbc_kind>(c.kind)) last = &r;
      if (last && !last->always())
        error(last->row.line, "the last row of ", c.name,
              " does not fit every call; one is to end them that says nothing but its algorithm");
    }
  }

 private:
  enum class Place { nowhere, table, about, rows, row, end };

  bool enter(Place p) {
    place_ = p;
    return true;
  }

  template <class... Part>
  void error(int at, const Part &...parts) {
    if (++count_ > kMostErrors) return;
    errors += cat(errors.empty() ? "" : "\n", name_, ":", at, ": ", parts...);
    if (count_ == kMostErrors) errors += "\nand more";
  }
  template <class... Part>
  bool fatal(int at, const Part &...parts) {
    error(at, parts...);
    return false;
  }

  /// Lines are asked for in ascending order, so text is read once.
  int line(size_t position) {
    for (position = std::min(position, text_.size()); counted_ < position; ++counted_)
      if (text_[counted_] == '\n') ++line_;
    return line_;
  }

  bool misplaced(const char *what) {
    const char *wanted = "";
    switch (place_) {
      case Place::nowhere:
        wanted = "a table is an object with rows";
        break;
      case Place::table:
        wanted =
            key_ == "rows" ? "rows are a list of objects" : "about is text, or a list of texts";
        break;
      case Place::about:
        wanted = "about is text, or a list of texts";
        break;
      case Place::rows:
        wanted = "rows are a list of objects";
        break;
      case Place::row:
        return fatal(line(taken), key_, ": found ", what, "; wanted is a single value");
      case Place::end:
        wanted = "nothing is to follow the table";
        break;
    }
    return fatal(line(taken), "found ", what, "; ", wanted);
  }

  bool value(Value v) {
    v.line = line(taken);
    if (place_ == Place::row) {
      if (find(key_)) error(keyLine_, key_, " is there twice");
      v.line = keyLine_;
      row_.emplace_back(key_, std::move(v));
      return true;
    }
    const bool about = place_ == Place::about || (place_ == Place::table && key_ == "about");
    return (about && v.type == Value::Type::text) || misplaced(shown(v).c_str());
  }

  const Value *find(std::string_view key) const {
    for (const auto &[k, v] : row_)
      if (k == key) return &v;
    return nullptr;
  }

  void readRanges(const char *key, Ranges &ranges, std::uint64_t least) {
    const Value *v = find(key);
    if (!v) return;
    if (v->type != Value::Type::text && v->type != Value::Type::number) {
      error(v->line, key, ": found ", shown(*v), "; wanted is a number or a range, as \"2..8\"");
      return;
    }
    std::string why;
    if (!Ranges::read(v->text, ranges, why))
      error(v->line, key, ": ", why);
    else if (ranges.most() < least)
      error(v->line, key, ": ", shown(*v), " fits no call; there is at least ", least);
  }

  /// `has`: whether calls of the collective differ in it at all.
  void readFlag(const char *key, bool has, const Collective *c, std::optional<bool> &flag) {
    const Value *v = find(key);
    if (!v) return;
    if (v->type != Value::Type::boolean)
      error(v->line, key, ": found ", shown(*v), "; wanted is true or false");
    else if (c && !has)
      error(v->line, key, ": ", c->name,
            key == std::string_view("each") ? " has no v- or w-variant" : " has no operator");
    else
      flag = v->text == "true";
  }

  const Value *text(const char *key, bool needed) {
    const Value *v = find(key);
    if (!v && needed) error(rowLine_, "a row without ", key);
    if (!v || v->type == Value::Type::text) return v;
    error(v->line, key, ": found ", shown(*v), "; wanted is text");
    return nullptr;
  }

  const Collective *readCollective() {
    const Value *v = text("collective", true);
    if (!v) return nullptr;
    const Collective *c = findCollective(v->text);
    if (c) return c;
    const Collective *base =
        v->text.empty() ? nullptr : findCollective(v->text.substr(0, v->text.size() - 1));
    if (base && base->hasOwnLengths() && (v->text.back() == 'v' || v->text.back() == 'w'))
      error(v->line, "collective: ", v->text, " is ", base->name, " with \"each\": true");
    else
      error(v->line, "collective: there is no ", shown(*v));
    return nullptr;
  }

  void readTransfer(Rule &rule) {
    const Value *v = text("transfer", false);
    if (!v) return;
    for (int way = NBC_TRANSFER_AUTO + 1; way < NBC_TRANSFERS; ++way)
      if (v->text == nbc_transfer_name(nbc_transfer(way))) rule.transfer = nbc_transfer(way);
    if (!rule.transfer)
      error(
          v->line, "transfer: found ", shown(*v),
          "; wanted is pio or dma, of target sci, or eager, write, read, send or direct, of verbs");
    else if (rule.target != nbc_transfer_target(rule.transfer))
      error(v->line, "transfer: it is target ", nbc_transfer_target(rule.transfer), " that has ",
            shown(*v), "; the row is to say so");
  }

  void finishRow() {
    Rule rule;
    rule.row = {oneLine(text_.substr(rowBegin_, taken - rowBegin_)), rowLine_};
    constexpr std::string_view known[] = {"collective", "ranks",     "nodes",    "bytes",
                                          "each",       "commutes",  "blocking", "target",
                                          "transfer",   "algorithm", "note"};
    for (const auto &[k, v] : row_)
      if (std::ranges::find(known, k) == std::end(known))
        error(v.line, "unknown key ", shown({Value::Type::text, k}),
              "; a row has collective, ranks, nodes, bytes, each, commutes, blocking, target, "
              "transfer, algorithm and note");
    const Collective *c = readCollective();
    readRanges("ranks", rule.ranks, 1);
    readRanges("nodes", rule.nodes, 1);
    readRanges("bytes", rule.bytes, 0);
    readFlag("each", c && c->hasOwnLengths(), c, rule.each);
    readFlag("commutes", c && c->reduces, c, rule.commutes);
    readFlag("blocking", true, c, rule.blocking);
    if (const Value *v = text("target", false)) rule.target = v->text;
    readTransfer(rule);
    text("note", false);
    const Value *v = text("algorithm", true);
    std::string why;
    if (v && c && !readAlgorithm(v->text, c->name, rule, why)) error(v->line, "algorithm: ", why);
    if (c) rule.kind = static_cast<nbc_kind>(c->kind);
    rules.push_back(std::move(rule));
  }

  /// A row over several lines, as one.
  static std::string oneLine(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    bool broken = false;
    for (const char c : text) {
      if (c == '\n' || c == '\r') {
        broken = true;
      } else if (!broken || (c != ' ' && c != '\t')) {
        if (broken) result += ' ';
        broken = false;
        result += c;
      }
    }
    return result;
  }

  std::string_view text_, name_;
  Place place_ = Place::nowhere;
  std::string key_;
  int keyLine_ = 1, rowLine_ = 1, line_ = 1, count_ = 0;
  size_t counted_ = 0, rowBegin_ = 0;
  bool rowsSeen_ = false;
  std::vector<std::pair<std::string, Value>> row_;
};

}  // namespace

std::optional<Table> Table::read(std::string_view text, std::string_view name, std::string &why) {
  if (text.size() > kMostBytes) {
    why = cat(name, ": it has ", text.size(), " bytes; a table has at most ", kMostBytes);
    return std::nullopt;
  }
  Reader reader(text, name);
  const Counting begin{text.data(), &reader.taken}, end{text.data() + text.size(), &reader.taken};
  if (nlohmann::json::sax_parse(begin, end, &reader)) reader.finish();
  why = std::move(reader.errors);
  if (!why.empty()) return std::nullopt;
  std::optional<Table> table(std::in_place);
  table->rules_ = std::move(reader.rules);
  return table;
}

}  // namespace nbcc
