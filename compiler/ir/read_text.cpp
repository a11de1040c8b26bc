// SPDX-License-Identifier: BSD-3-Clause
// read_text.cpp - schedules from their text form, which schedule.h shows.
//
// One line says one thing, so the reader looks at one line at a time. The first mistake of a line
// is reported with its place, the rest of that line is skipped, and the next one is read: all
// mistakes of a text come out at once. Linear in the text.

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <unordered_map>

#include "compiler/ir/schedule.h"

namespace nbcc {

namespace {

constexpr std::pair<std::string_view, ast::Kind> kinds[] = {
#define COLLECTIVE(name, ...) {#name, ast::Kind::name},
#include "dsl/collectives.def"
};
constexpr std::pair<std::string_view, Op> ops[] = {
#define OP(name, ...) {#name, Op::name},
#include "compiler/ir/ops.def"
};
constexpr Role roles[] = {Role::in, Role::out, Role::data, Role::scratch, Role::slots};
constexpr Unit kUnits[] = {Unit::any, Unit::host_before, Unit::host, Unit::host_after, Unit::nic};

/// One line, read from left to right. After its first mistake it reads as empty,
/// whatever is asked of it, and says nothing more.
class Line {
 public:
  Line(std::string_view text, uint32_t number, uint16_t file, Diag &diag)
      : text_(text.substr(0, text.find('#'))), number_(number), file_(file), diag_(diag) {
    skip();
  }

  bool ok() const { return ok_; }
  bool atEnd() const { return text_.empty() || pos_ == text_.size(); }
  Loc here() const {
    return {number_, static_cast<uint16_t>(std::min<size_t>(pos_ + 1, UINT16_MAX)), file_};
  }

  template <class... Part>
  void fail(Loc at, const Part &...parts) {
    if (ok_) diag_.error(at, parts...);
    ok_ = false;
    text_ = {};
    pos_ = 0;
  }

  /// `x` or `->`, if it comes next.
  bool take(std::string_view what) {
    if (!next(what)) return false;
    pos_ += what.size();
    skip();
    return true;
  }

  void expect(std::string_view what) {
    if (!take(what)) fail(here(), "`", what, "` is wanted, but here is ", found());
  }

  void expectEnd() {
    if (!atEnd()) fail(here(), "nothing more is wanted on this line, but here is ", found());
  }

  /// A name or keyword; empty if there is none.
  std::string_view word() {
    size_t end = pos_;
    while (end < text_.size() && isNamePart(text_[end])) ++end;
    const std::string_view result = text_.substr(pos_, end - pos_);
    pos_ = end;
    skip();
    return result;
  }

  std::string_view expectWord(const char *what) {
    const Loc at = here();
    const std::string before = found();
    const std::string_view result = word();
    if (result.empty()) fail(at, what, " is wanted, but here is ", before);
    return result;
  }

  int64_t number(const char *what, int64_t low, int64_t high) {
    const Loc at = here();
    int64_t value = 0;
    const char *begin = text_.data() + pos_, *end = text_.data() + text_.size();
    const auto [after, error] = std::from_chars(begin, end, value);
    if (error == std::errc::invalid_argument) {
      fail(at, what, " is wanted, but here is ", found());
      return 0;
    }
    if (error == std::errc::result_out_of_range || value < low || value > high) {
      fail(at, what, " ", std::string(begin, after), " is not in ", low, "..", high);
      return 0;
    }
    pos_ += after - begin;
    skip();
    return value;
  }

  bool startsWithDigit() const { return !atEnd() && text_[pos_] >= '0' && text_[pos_] <= '9'; }

  /// What stands here, for a message.
  std::string found() const {
    if (atEnd()) return "the end of the line";
    size_t end = pos_;
    while (end < text_.size() && isNamePart(text_[end])) ++end;
    if (end == pos_) end = pos_ + 1;
    const std::string_view what = text_.substr(pos_, std::min<size_t>(end - pos_, 40));
    if (what.size() == 1 && (what[0] < ' ' || what[0] > '~'))
      return cat("byte ", static_cast<int>(static_cast<unsigned char>(what[0])));
    return cat("`", what, "`");
  }

 private:
  static bool isNamePart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  }
  /// A keyword ends where a name would: `of` is not the beginning of `offset`.
  bool next(std::string_view what) const {
    if (text_.substr(pos_, what.size()) != what) return false;
    const size_t end = pos_ + what.size();
    return !isNamePart(what.back()) || end == text_.size() || !isNamePart(text_[end]);
  }
  void skip() {
    while (pos_ < text_.size() &&
           (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\r'))
      ++pos_;
  }

  std::string_view text_;
  uint32_t number_;
  uint16_t file_;
  Diag &diag_;
  size_t pos_ = 0;
  bool ok_ = true;
};

class Reader {
 public:
  Reader(uint16_t file, Diag &diag) : file_(file), diag_(diag) {}

  std::vector<Schedule> run() {
    const std::string text = diag_.fileText(file_);  // addFile() below may move the original
    uint32_t number = 0;
    for (size_t begin = 0; begin < text.size(); ++number) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      Line line(std::string_view(text).substr(begin, end - begin), number + 1, file_, diag_);
      read(line);
      if (!line.ok()) broken_ = true;
      begin = end + 1;
    }
    if (open_) diag_.error(opened_, "this schedule has no `end`");
    if (!open_ && result_.empty() && !broken_)
      diag_.error({1, 1, file_}, "there is no schedule here");
    return std::move(result_);
  }

 private:
  void read(Line &line) {
    const Loc at = line.here();
    if (line.atEnd()) return;
    if (line.take("schedule")) {
      if (open_) line.fail(at, "the schedule before this one has no `end`");
      open(line, at);
    } else if (!open_) {
      if (!broken_) line.fail(at, "`schedule` is wanted, but here is ", line.found());
    } else if (line.take("end")) {
      line.expectEnd();
      if (!broken_ && line.ok()) result_.push_back(std::move(s_));
      open_ = false;
    } else if (line.take("%")) {
      step(line, at);
    } else if (line.take("sources")) {
      sources(line, at);
    } else if (line.take("destinations")) {
      destinations(line, at);
    } else if (line.take("promise")) {
      promise(line, at);
    } else {
      buffer(line, at);
    }
  }

  void open(Line &line, Loc at) {
    s_ = {};
    s_.textFile = file_;
    byName_.clear();
    open_ = true;
    broken_ = false;
    shift_ = 0;
    hasSources_ = hasDestinations_ = false;
    opened_ = at;
    line.expect("@");
    s_.algorithm = line.expectWord("the algorithm's name");
    const Loc kindAt = line.here();
    const std::string_view kind = line.expectWord("a collective");
    const auto found = std::ranges::find(kinds, kind, [](const auto &k) { return k.first; });
    if (kind == "own") {
      s_.kind = ast::Kind::own;
      s_.collective = line.expectWord("the collective's name");
    } else if (found == std::end(kinds))
      line.fail(kindAt, "`", kind, "` is not a collective");
    else
      s_.kind = found->second;
    line.expect("rank");
    s_.rank = line.number("a rank", 0, INT32_MAX - 1);
    line.expect("of");
    s_.ranks = line.number("the number of ranks", 1, INT32_MAX);
    line.expect("root");
    s_.root = line.number("a rank", 0, INT32_MAX - 1);
    line.expect("order");
    if (line.take("waits"))
      s_.order = Order::waits;
    else
      line.expect("rounds");
    line.expect("rounds");
    s_.rounds = static_cast<int32_t>(line.number("the number of rounds", 0, INT32_MAX - 1));
    if (line.take("in-place")) s_.inPlace = true;
    line.expectEnd();
  }

  /// Once, before the buffers, whose blocks they count.
  void neighbors(Line &line, Loc at, bool &again) {
    if (!s_.buffers.empty() || !s_.steps.empty())
      line.fail(at, "neighbours come before the buffers");
    if (again) line.fail(at, "this list stands here already");
    again = true;
  }

  void sources(Line &line, Loc at) {
    neighbors(line, at, hasSources_);
    if (line.atEnd()) return;
    do {
      Neighbors::Source source;
      if (!line.take("none")) {
        source.rank = static_cast<int32_t>(line.number("a rank or `none`", 0, INT32_MAX - 1));
        line.expect("[");
        source.slot = static_cast<int32_t>(line.number("a slot", 0, INT32_MAX - 1));
        line.expect("]");
      }
      s_.neighbors.sources.push_back(source);
    } while (line.take(","));
    line.expectEnd();
  }

  void destinations(Line &line, Loc at) {
    neighbors(line, at, hasDestinations_);
    if (line.atEnd()) return;
    do {
      int32_t rank = kNobody;
      if (!line.take("none"))
        rank = static_cast<int32_t>(line.number("a rank or `none`", 0, INT32_MAX - 1));
      s_.neighbors.destinations.push_back(rank);
    } while (line.take(","));
    line.expectEnd();
  }

  void buffer(Line &line, Loc at) {
    Buffer buffer;
    buffer.loc = at;
    const std::string before = line.found();
    const std::string_view word = line.word();
    const auto role = std::ranges::find(roles, word, [](Role r) { return name(r); });
    if (role == std::end(roles))
      return line.fail(at, "a buffer, a step or `end` is wanted, but here is ", before);
    if (!s_.steps.empty() || !s_.promises.empty())
      return line.fail(at, "buffers come before promises and steps");
    buffer.role = *role;
    const Loc nameAt = line.here();
    buffer.name = line.expectWord("the buffer's name");
    line.expect("[");
    buffer.blocks = line.number("the number of blocks", 0, kMaxBlocks);
    line.expect("]");
    if (line.take("like")) buffer.like = section(line);
    if (line.take("vector")) buffer.vector = true;
    if (line.take("absent")) buffer.significant = false;
    line.expectEnd();
    if (!line.ok()) return;
    const BufferId id = static_cast<BufferId>(s_.buffers.size());
    if (!byName_.emplace(buffer.name, id).second)
      return line.fail(nameAt, "there is a buffer `", buffer.name, "` already");
    s_.buffers.push_back(std::move(buffer));
  }

  void promise(Line &line, Loc at) {
    if (!s_.steps.empty()) return line.fail(at, "promises come before the steps");
    Promise promise;
    promise.loc = at;
    const std::vector<Extent> to = section(line);
    if (to.size() != 1 && line.ok()) line.fail(at, "a promise is of one section");
    if (!line.ok()) return;
    promise.to = to[0];
    line.expect("==");
    line.take("reduce");  // what several ranks have is always reduced
    std::vector<Source> sources;
    do {
      Source source = sources.empty() ? Source() : sources.back();
      if (sources.empty() || !line.startsWithDigit()) sourceBlock(line, promise.to.count, source);
      source.rank = static_cast<int32_t>(line.number("a rank", 0, INT32_MAX - 1));
      source.ranks =
          line.take("+:") ? static_cast<int32_t>(line.number("how many", 1, INT32_MAX)) : 1;
      sources.push_back(source);
    } while (line.ok() && line.take(","));
    if (line.take("at")) promise.loc = programPlace(line);
    line.expectEnd();
    promise.of = s_.keepSources(sources);
    s_.promises.push_back(promise);
  }

  /// `in[3 +: 2] of`: as many blocks as are promised.
  static void sourceBlock(Line &line, int64_t count, Source &source) {
    const Loc at = line.here();
    const std::string_view word = line.expectWord("`in` or `data`");
    const auto role = std::ranges::find(roles, word, [](Role r) { return name(r); });
    if (role == std::end(roles)) return line.fail(at, "`in` or `data` is wanted, not `", word, "`");
    source.role = *role;
    line.expect("[");
    source.block = line.number("a block", 0, kMaxBlocks);
    const int64_t blocks = line.take("+:") ? line.number("how many", 0, kMaxBlocks) : 1;
    line.expect("]");
    line.expect("of");
    if (line.ok() && blocks != count)
      line.fail(at, count, count == 1 ? " block is" : " blocks are", " promised to be ", blocks);
  }

  std::vector<Extent> section(Line &line) {
    std::vector<Extent> result;
    if (line.take("[")) {
      line.expect("]");
      return result;
    }
    do {
      const Loc at = line.here();
      const std::string_view name = line.expectWord("a buffer");
      const auto found = byName_.find(std::string(name));
      if (found == byName_.end()) {
        line.fail(at, "there is no buffer `", name, "`");
        return result;
      }
      Extent extent{found->second, 1, 0, 1};
      if (line.take("[")) {
        extent.first = line.number("a position", 0, kMaxBlocks * int64_t{kMaxParts});
        if (line.take("+:"))
          extent.count = line.number("how many", 0, kMaxBlocks * int64_t{kMaxParts});
        if (line.take("of"))
          extent.parts = static_cast<int32_t>(line.number("parts", 1, kMaxParts));
        line.expect("]");
      } else if (const int64_t blocks = s_.buffers[found->second].blocks; blocks != 1) {
        line.fail(at, "`", name, "` alone is for a buffer of one block, this one has ", blocks);
      }
      result.push_back(extent);
    } while (line.take(","));
    return result;
  }

  void step(Line &line, Loc at) {
    Step step;
    step.loc = at;
    const int64_t id = line.number("a step's number", 0, INT32_MAX - 1);
    const int64_t expected = static_cast<int64_t>(s_.steps.size());
    // Said once: after the first, all that follow would be off by as much.
    if (line.ok() && id != expected + shift_) {
      diag_.error(at, "step %", id, " where %", expected + shift_, " is next");
      broken_ = true;
      shift_ = id - expected;
    }
    operation(line, step);
    std::vector<StepId> waits;
    modifiers(line, step, waits);
    line.expectEnd();
    step.after = s_.keepWaits(std::move(waits));
    s_.steps.push_back(step);
  }

  void operation(Line &line, Step &step) {
    line.expect("=");
    const Loc at = line.here();
    const std::string_view word = line.expectWord("an operation");
    const auto op = std::ranges::find(ops, word, [](const auto &o) { return o.first; });
    if (op == std::end(ops)) return line.fail(at, "`", word, "` is not an operation");
    step.op = op->second;
    const auto peer = [&](const char *preposition) {
      line.expect(preposition);
      step.peer = static_cast<int32_t>(line.number("a rank", -1, INT32_MAX - 1));
    };
    switch (step.op) {
      case Op::send:
        step.from = s_.keep(section(line));
        return peer("to");
      case Op::recv:
        step.to = s_.keep(section(line));
        return peer("from");
      case Op::signal:
        return peer("to");
      case Op::await:
        return peer("from");
      case Op::reduce:
      case Op::copy:
        step.from = s_.keep(section(line));
        if (step.op == Op::reduce) {
          line.expect("with");
          step.with = s_.keep(section(line));
        }
        line.expect("->");
        step.to = s_.keep(section(line));
        return;
    }
  }

  /// In any order.
  void modifiers(Line &line, Step &step, std::vector<StepId> &waits) {
    while (line.ok() && !line.atEnd()) {
      if (line.take("round")) {
        step.round = static_cast<int32_t>(line.number("a round", 0, INT32_MAX - 1));
      } else if (line.take("port")) {
        step.port = static_cast<int16_t>(line.number("a port", 0, INT16_MAX));
      } else if (line.take("by")) {
        const Loc at = line.here();
        const std::string_view word = line.expectWord("who executes it");
        const auto unit = std::ranges::find(kUnits, word, [](Unit u) { return name(u); });
        if (unit == std::end(kUnits)) return line.fail(at, "`", word, "` executes nothing");
        step.unit = *unit;
      } else if (line.take("after")) {
        do {
          line.expect("%");
          waits.push_back(static_cast<StepId>(line.number("a step's number", 0, INT32_MAX - 1)));
        } while (line.take(","));
      } else if (line.take("at")) {
        step.loc = programPlace(line);
      } else {
        return;  // expectEnd() says what is wrong
      }
    }
  }

  /// `at` speaks of a program, whose text is not here.
  Loc programPlace(Line &line) {
    Loc loc;
    loc.line = static_cast<uint32_t>(line.number("a line", 1, UINT32_MAX));
    line.expect(":");
    loc.column = static_cast<uint16_t>(line.number("a column", 1, UINT16_MAX));
    loc.file = program();
    return loc;
  }

  uint16_t program() {
    if (!program_) program_ = diag_.addFile(cat("(program of ", diag_.fileName(file_), ")"), "");
    return *program_;
  }

  uint16_t file_;
  Diag &diag_;
  std::vector<Schedule> result_;
  Schedule s_;
  std::unordered_map<std::string, BufferId> byName_;
  Loc opened_;
  int64_t shift_ = 0;  // between the numbers written and those counted
  bool open_ = false;  // between `schedule` and `end`
  bool hasSources_ = false, hasDestinations_ = false;
  bool broken_ = false;  // something in this schedule was wrong
  std::optional<uint16_t> program_;
};

}  // namespace

std::vector<Schedule> readSchedules(uint16_t file, Diag &diag) {
  return Reader(file, diag).run();
}

}  // namespace nbcc
