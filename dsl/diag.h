// SPDX-License-Identifier: BSD-3-Clause
// diag.h - how nbcc tells the user what is wrong: place, line, caret, values.

#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace nbcc {

/// A place in a source file. line and column count from 1; line 0: no place.
struct Loc {
  uint32_t line = 0;
  uint16_t column = 0;
  uint16_t file = 0;  // as Diag::addFile() numbered it

  bool known() const { return line != 0; }
  friend auto operator<=>(const Loc &, const Loc &) = default;
};

/// Text, and numbers that are no characters to a stream.
template <class Part>
constexpr bool kIsPlain = std::is_convertible_v<const Part &, std::string_view> ||
                          std::is_same_v<Part, int> || std::is_same_v<Part, unsigned> ||
                          std::is_same_v<Part, long> || std::is_same_v<Part, unsigned long>;

/// The parts of a message, one after the other. To make a stream takes some hundred times as long
/// as to append text.
template <class... Part>
std::string cat(const Part &...parts) {
  if constexpr ((... && kIsPlain<Part>)) {
    std::string result;
    const auto append = [&](const auto &part) {
      if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(part)>>)
        result += std::to_string(part);
      else
        result += std::string_view(part);
    };
    (append(parts), ...);
    return result;
  } else {
    std::ostringstream s;
    (s << ... << parts);
    return s.str();
  }
}

/// Reports what is wrong with the user's program, and remembers whether
/// anything was. It never stops the compiler: each stage reports all it finds
/// and the driver looks at ok() between stages. Our own mistakes are asserts.
///
/// The same error at the same place is said once: the ranks of a collective
/// make the same mistake in the same line. After kMost errors it only counts.
///
/// Not thread safe: one thread reports.
class Diag {
 public:
  static constexpr int kMost = 50;

  explicit Diag(std::ostream &out) : out_(&out) {}

  /// Takes a source in, so that its lines can be shown. Returns Loc::file.
  uint16_t addFile(std::string name, std::string text);
  /// Calls `add`, which takes in all sources, when something is first reported: a library has a
  /// hundred, and nobody asks for their names where all is well.
  void addFilesLate(std::function<void(Diag &)> add) { addLate_ = std::move(add); }
  uint16_t files() const { return static_cast<uint16_t>(files_.size()); }
  const std::string &fileName(uint16_t file) const { return files_[file].name; }
  const std::string &fileText(uint16_t file) const { return files_[file].text; }

  /// Say what is wrong and with which values: "rank 4 is not in 0..3".
  /// Lower case, no full stop.
  template <class... Part>
  void error(Loc at, const Part &...parts) {
    report(Severity::error, at, cat(parts...));
  }

  /// Points at a second place that explains the error just made.
  template <class... Part>
  void note(Loc at, const Part &...parts) {
    report(Severity::note, at, cat(parts...));
  }

  template <class... Part>
  void warning(Loc at, const Part &...parts) {
    report(Severity::warning, at, cat(parts...));
  }

  bool ok() const { return errors_ == 0; }
  int errors() const { return errors_; }

 private:
  enum class Severity { error, warning, note };
  struct File {
    std::string name, text;
    std::vector<size_t> lines;  // where each line begins
  };

  void report(Severity, Loc, const std::string &message);

  std::ostream *out_;
  std::vector<File> files_;
  std::function<void(Diag &)> addLate_;
  std::set<std::string> said_;
  int errors_ = 0;
  bool muted_ = false;  // the error that notes would explain was not printed
};

}  // namespace nbcc
