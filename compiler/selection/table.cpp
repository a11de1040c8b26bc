// SPDX-License-Identifier: BSD-3-Clause
// table.cpp - the row that fits a call.
//
// Overrides are rows before all others. Cost: linear in the rows; callers keep the answer, which
// holds for Choice::from to Choice::to bytes.

#include "compiler/selection/table.h"

#include <algorithm>
#include <charconv>

#include "compiler/selection/rule.h"
#include "dsl/diag.h"

namespace nbcc {
namespace {

std::string listed(const std::vector<std::string_view> &targets) {
  std::string all;
  for (const std::string_view t : targets) all += cat(all.empty() ? "" : ", ", t);
  return all.empty() ? "none" : all;
}

/// Why a rule is not for a call of its kind, whatever its bytes; empty: it is.
std::string objection(const Rule &r, const Situation &s) {
  if (!r.ranks.contains(s.ranks)) return cat("it is not for ", s.ranks, " ranks");
  if (!r.nodes.contains(s.nodes))
    return cat("it is not for ", s.nodes, s.nodes == 1 ? " node" : " nodes");
  if (r.each && *r.each != s.each)
    return s.each ? "blocks have lengths of their own" : "blocks are equally long";
  if (r.commutes && *r.commutes != s.commutes)
    return s.commutes ? "the operator commutes" : "the operator does not commute";
  if (r.blocking && *r.blocking != s.blocking)
    return s.blocking ? "the call blocks" : "the call does not block";
  const bool has = std::ranges::find(s.targets, r.target) != s.targets.end();
  if (!r.target.empty() && !has)
    return cat("no target ", r.target, "; there is ", listed(s.targets));
  if (r.target.empty() && s.targets.empty()) return "there is no target";
  return "";
}

Choice choiceOf(const Rule &r, const Situation &s) {
  Choice c;
  c.algorithm = r.algorithm;
  c.parameters = r.parameters;
  c.target = r.target.empty() ? std::string(s.targets.front()) : r.target;
  c.transfer = r.transfer;
  return c;
}

/// Tries rules in order; `tried` hears of each of the kind, and why it does not fit. The first that
/// fits ends it.
template <class Tried>
std::optional<Choice> firstThatFits(const std::vector<Rule> &rules, const Situation &s,
                                    const Table::Able &able, Span &within, Tried tried) {
  for (size_t i = 0; i < rules.size(); ++i) {
    const Rule &r = rules[i];
    if (r.kind != s.kind) continue;
    std::string why = objection(r, s);
    Choice c;
    if (why.empty()) {
      c = choiceOf(r, s);
      if (able) why = able(c, s);
    }
    if (why.empty()) {
      // Here bytes decide; so of other rules they do not matter.
      r.bytes.narrow(s.bytes, within);
      if (!r.bytes.contains(s.bytes)) why = cat("it is not for ", s.bytes, " bytes");
    }
    tried(r, why);
    if (!why.empty()) continue;
    c.row = r.row.line ? static_cast<int>(i) : -1;
    return c;
  }
  return std::nullopt;
}

template <class Tried>
std::optional<Choice> search(const std::vector<Rule> &overrides, const std::vector<Rule> &rules,
                             const Situation &s, const Table::Able &able, Tried tried) {
  Span within;
  std::optional<Choice> c = firstThatFits(overrides, s, able, within, tried);
  if (!c) c = firstThatFits(rules, s, able, within, tried);
  if (c) c->from = within.from, c->to = within.to;
  return c;
}

bool isName(std::string_view text) {
  return !text.empty() && text.size() < 64 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

}  // namespace

const Collective *collectiveOfCall(std::string_view name, std::optional<bool> &each) {
  each.reset();
  if (const Collective *c = findCollective(name)) {
    // MPI_Reduce_scatter has counts always, and no other name for calls where they are alike.
    if (c->hasOwnLengths() && c->kind != ast::Kind::reduce_scatter) each = false;
    return c;
  }
  if (name.empty()) return nullptr;
  const char letter = name.back();
  const Collective *c = findCollective(name.substr(0, name.size() - 1));
  if (!c || !c->hasOwnLengths() || c->kind == ast::Kind::reduce_scatter) return nullptr;
  const bool toAll = c->kind == ast::Kind::alltoall || c->kind == ast::Kind::neighbor_alltoall;
  if (letter != 'v' && !(letter == 'w' && toAll)) return nullptr;
  each = true;
  return c;
}

bool readAlgorithm(std::string_view text, std::string_view kind, Rule &rule, std::string &why) {
  const size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon);
  if (name.starts_with(kind) && name.substr(kind.size()).starts_with('.'))
    name.remove_prefix(kind.size() + 1);
  if (!isName(name)) {
    why = cat("'", text.substr(0, colon), "' is no algorithm of ", kind,
              "; wanted is one as linear, ", "or with parameters as bruck:k=3");
    return false;
  }
  rule.algorithm = cat(kind, ".", name);
  rule.parameters.clear();
  std::string_view rest = colon == text.npos ? "" : text.substr(colon + 1);
  for (bool more = colon != text.npos; more;) {
    const size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    const size_t equals = std::min(one.find('='), one.size());
    const std::string_view value = one.substr(std::min(equals + 1, one.size()));
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (!isName(one.substr(0, equals)) || error != std::errc() ||
        end != value.data() + value.size()) {
      why = cat("'", one, "' is no parameter; wanted is one as k=3");
      return false;
    }
    const std::string parameter(one.substr(0, equals));
    for (const auto &[known, ignored] : rule.parameters)
      if (known == parameter) {
        why = cat("parameter ", parameter, " is given twice");
        return false;
      }
    rule.parameters.emplace_back(parameter, number);
    more = comma != rest.npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return true;
}

Table::Table() = default;
Table::~Table() = default;
Table::Table(Table &&) noexcept = default;
Table &Table::operator=(Table &&) noexcept = default;

bool Table::override_with(std::string_view kind, std::string_view algorithm, std::string &why) {
  std::string lower(kind);
  for (char &c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  Rule rule;
  const Collective *c = collectiveOfCall(lower, rule.each);
  if (!c) {
    why = cat("there is no collective '", kind, "'");
    return false;
  }
  rule.kind = static_cast<nbc_kind>(c->kind);
  rule.row = {cat(kind, "=", algorithm), 0};
  if (!readAlgorithm(algorithm, c->name, rule, why)) return false;
  std::erase_if(overrides_,
                [&](const Rule &r) { return r.kind == rule.kind && r.each == rule.each; });
  overrides_.push_back(std::move(rule));
  return true;
}

void Table::ask(Able able) {
  able_ = std::move(able);
}

std::optional<Choice> Table::choose(const Situation &s, Reasons *refused) const {
  return search(overrides_, rules_, s, able_, [&](const Rule &r, const std::string &why) {
    const bool is_override = !r.row.line;
    if (refused && is_override && !why.empty() && r.each.value_or(s.each) == s.each)
      refused->emplace_back(r.row, why);
  });
}

Table::Reasons Table::explain(const Situation &s) const {
  Reasons all;
  search(overrides_, rules_, s, able_,
         [&](const Rule &r, const std::string &why) { all.emplace_back(r.row, why); });
  return all;
}

Table::Reasons Table::check(const std::function<std::string(const Choice &)> &wrong,
                            bool rows) const {
  Reasons all;
  const auto add = [&](const std::vector<Rule> &rules) {
    for (const Rule &r : rules) {
      Choice c;
      c.algorithm = r.algorithm, c.parameters = r.parameters;
      if (std::string why = wrong(c); !why.empty()) all.emplace_back(r.row, std::move(why));
    }
  };
  add(overrides_);
  if (rows) add(rules_);
  return all;
}

}  // namespace nbcc
