// SPDX-License-Identifier: BSD-3-Clause
// read_goal.cpp - the text of GOAL => its operations and what they require.
//
// Words are separated by blanks and line ends, statements by nothing or by `;`;
// `//`, `#` and /* */ are comments. Ranks stand in order, each once. A label is given
// before it is required, as LogGOPSim wants it. The first mistake ends the reading: what
// comes after a lost brace means nothing. Linear in the text.
//
// Receives from any rank or with any tag (-1 in LogGOPSim) are refused: which message they
// take is a matter of time, and of that a checker knows nothing.

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

#include "compiler/exchange/goal.h"

namespace nbcc {
namespace {

class GoalReader {
 public:
  GoalReader(uint16_t file, Diag &diag) : file_(file), diag_(diag) {
    goal_.text = diag.fileText(file);
    text_ = goal_.text;
    skip();
  }

  std::optional<Goal> run() {
    expect("num_ranks");
    ranks_ = number("the number of ranks", 1, kMostRanks);
    for (int64_t r = 0; r < ranks_ && ok_; ++r) rank(r);
    if (ok_ && !atEnd()) fail(here(), "nothing more is wanted, but here is ", found());
    if (!ok_) return std::nullopt;
    return std::move(goal_);
  }

 private:
  static constexpr int64_t kMostRanks = 1 << 24;
  static constexpr int64_t kMostOperations = INT32_MAX;

  void rank(int64_t r) {
    expect("rank");
    const Loc at = here();
    if (number("a rank", 0, ranks_ - 1) != r && ok_) fail(at, "rank ", r, " is wanted here");
    expect("{");
    rank_ = r;
    labels_.clear();
    while (ok_ && !take("}")) statement();
    goal_.firstOperation.push_back(static_cast<int32_t>(goal_.operations.size()));
  }

  void statement() {
    if (take(";")) return;
    const Loc at = here();
    const size_t begin = pos_;
    const std::string seen = found();
    const std::string_view label = word();
    if (take(":")) {
      const Loc operation = here();
      if (!isLabel(label)) return fail(at, "a label is wanted, but here is ", seen);
      const auto next = static_cast<int32_t>(goal_.operations.size());
      const auto [first, fresh] = labels_.emplace(label, next);
      if (!fresh) {
        fail(at, "rank ", rank_, " has a label `", label, "` already");
        return diag_.note(goal_.operations[first->second].loc, "it is here");
      }
      return this->operation(word(), operation, begin, label.size());
    }
    const bool starts = take("irequires");
    if (!starts && !take("requires")) return operation(label, at, begin, 0);
    const int32_t waiting = labelled(label, at);
    const Loc beforeAt = here();
    const int32_t before = ok_ ? labelled(word(), beforeAt) : -1;
    if (ok_) goal_.waits.push_back({waiting, before, starts, at});
  }

  int32_t labelled(std::string_view label, Loc at) {
    const auto found = labels_.find(label);
    if (found != labels_.end()) return found->second;
    fail(at, "rank ", rank_, " has no label `", label.substr(0, kMostShown), "` up to here");
    return -1;
  }

  void operation(std::string_view what, Loc at, size_t label, size_t labelSize) {
    GoalOperation o;
    o.loc = at;
    o.label = static_cast<uint32_t>(label);
    o.labelSize = static_cast<uint32_t>(labelSize);
    if (what == "calc") {
      o.kind = GoalOperation::Kind::calc;
      o.amount = number("nanoseconds", 0, INT64_MAX);
    } else if (what == "send" || what == "recv") {
      o.kind = what == "send" ? GoalOperation::Kind::send : GoalOperation::Kind::recv;
      o.amount = number("how many bytes", 0, INT64_MAX);
      expect("b");
      expect(what == "send" ? "to" : "from");
      const Loc peerAt = here();
      if (what == "recv") refuseAny("rank");
      o.peer = static_cast<int32_t>(number("a rank", 0, ranks_ - 1));
      if (ok_ && o.peer == rank_) fail(peerAt, "rank ", rank_, " cannot ", what, " by itself");
      if (take("tag")) {
        refuseAny("tag");
        o.tag = static_cast<uint32_t>(number("a tag", 0, UINT32_MAX));
      }
    } else {
      return fail(at, "`send`, `recv`, `calc` or `}` is wanted, but here is ",
                  what.empty() ? found() : cat("`", what.substr(0, kMostShown), "`"));
    }
    for (bool more = true; more && ok_;) {
      more = take("cpu") || take("nic");
      if (more) number("which one", 0, INT32_MAX);
    }
    if (static_cast<int64_t>(goal_.operations.size()) >= kMostOperations)
      return fail(at, "these are more than ", kMostOperations, " operations");
    goal_.operations.push_back(o);
  }

  void refuseAny(const char *what) {
    const Loc at = here();
    if (take("-1"))
      fail(at, "-1 is any ", what,
           ": which message meets which is then a matter of time, which is ", "not checked");
  }

  // ----------------------------------------------------------- words

  template <class... Part>
  void fail(Loc at, const Part &...parts) {
    if (ok_) diag_.error(at, parts...);
    ok_ = false;
    pos_ = text_.size();
  }

  static bool isWordPart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  static bool isLabel(std::string_view word) {
    return !word.empty() && !(word[0] >= '0' && word[0] <= '9');
  }
  bool atEnd() const { return pos_ >= text_.size(); }
  Loc here() const {
    return {line_, static_cast<uint16_t>(std::min<size_t>(pos_ - lineBegin_ + 1, UINT16_MAX)),
            file_};
  }

  std::string found() const {
    if (atEnd()) return "the end of the text";
    size_t end = pos_;
    while (end < text_.size() && isWordPart(text_[end])) ++end;
    const std::string_view what = text_.substr(pos_, std::clamp<size_t>(end - pos_, 1, kMostShown));
    if (what.size() == 1 && (what[0] < ' ' || what[0] > '~'))
      return cat("byte ", static_cast<int>(static_cast<unsigned char>(what[0])));
    return cat("`", what, "`");
  }

  std::string_view word() {
    size_t end = pos_;
    while (end < text_.size() && isWordPart(text_[end])) ++end;
    const std::string_view result = text_.substr(pos_, end - pos_);
    pos_ = end;
    skip();
    return result;
  }

  /// A word ends where a name would; `b` of `40b` begins behind a digit.
  bool take(std::string_view what) {
    if (text_.substr(pos_, what.size()) != what) return false;
    const size_t end = pos_ + what.size();
    if (isWordPart(what.back()) && end < text_.size() && isWordPart(text_[end])) return false;
    pos_ = end;
    skip();
    return true;
  }

  void expect(std::string_view what) {
    if (!take(what)) fail(here(), "`", what, "` is wanted, but here is ", found());
  }

  int64_t number(const char *what, int64_t low, int64_t high) {
    const Loc at = here();
    int64_t value = 0;
    const char *begin = text_.data() + pos_, *last = text_.data() + text_.size();
    const auto [end, error] = std::from_chars(begin, last, value);
    if (error == std::errc::invalid_argument) {
      fail(at, what, " is wanted, but here is ", found());
      return low;
    }
    if (error == std::errc::result_out_of_range || value < low || value > high) {
      const std::string_view digits(begin, std::min<size_t>(end - begin, kMostShown));
      fail(at, what, " ", digits, " is not in ", low, "..", high);
      return low;
    }
    pos_ += end - begin;
    skip();
    return value;
  }

  /// To the next word: over blanks and comments, counting lines.
  void skip() {
    while (pos_ < text_.size()) {
      const std::string_view two = text_.substr(pos_, 2);
      const char c = text_[pos_];
      if (c == '#' || two == "//") {
        advance(std::min(text_.find('\n', pos_), text_.size()));
      } else if (two == "/*") {
        const Loc at = here();
        const size_t end = text_.find("*/", pos_ + 2);
        if (end == text_.npos) return fail(at, "this comment has no end");
        advance(end + 2);
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        advance(pos_ + 1);
      } else {
        return;
      }
    }
  }
  void advance(size_t to) {
    for (; pos_ < to; ++pos_)
      if (text_[pos_] == '\n') {
        ++line_;
        lineBegin_ = pos_ + 1;
      }
  }

  static constexpr size_t kMostShown = 40;
  uint16_t file_;
  Diag &diag_;
  Goal goal_;
  std::string_view text_;
  size_t pos_ = 0, lineBegin_ = 0;
  uint32_t line_ = 1;
  bool ok_ = true;
  int64_t ranks_ = 0, rank_ = 0;
  std::unordered_map<std::string_view, int32_t> labels_;
};

}  // namespace

std::optional<Goal> readGoal(uint16_t file, Diag &diag) {
  return GoalReader(file, diag).run();
}

}  // namespace nbcc
