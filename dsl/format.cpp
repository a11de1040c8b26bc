// SPDX-License-Identifier: BSD-3-Clause
// format.cpp - one layout for all sources.
//
//     if  me==root{                          if me == root {
//   send in to me+1; // up           =>        send in       to   me + 1;   // up
//        recv out[me-1] from me-1;             recv out[me - 1] from me - 1;
//     }                                      }
//
// Works on words, not on the tree: where lines end is the author's choice, and the tree has neither
// lines nor comments. The words are the grammar's own, read by ANTLR's lexer through words(): a
// lexer here would be a second list of the language's words. In order of use:
//
//   classify   which '-' has one operand, which '{' opens a block
//   cutLines   lines as the author ended them, at most one empty line in a row
//   Indenter   how far each line stands to the right
//   cells      where columns may be: before '=' of let, around 'to' and 'from', ...
//   align      pads columns of lines that follow each other, then comments behind lines
//
// Cost: linear in the words and in the bytes written.

#include "dsl/format.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "dsl/parse.h"
#include "dsl/source.h"

namespace nbcc {

namespace {

constexpr size_t kIndent = 2;
constexpr size_t kContinued = 4;      // further lines of a statement
constexpr size_t kBeforeComment = 3;  // spaces between a line and the comment behind it
constexpr size_t kWidest = 100;       // columns that padding may not pass
constexpr size_t kDeepest = 50;       // columns that an expression may hang from

struct Piece {
  enum class Role { other, one_operand, block_open, block_close };
  Word word;
  Role role = Role::other;

  bool is(std::string_view text) const {
    return word.text == text && word.what != Word::What::comment;
  }
  bool isComment() const { return word.what == Word::What::comment; }
  bool isName() const { return word.what == Word::What::name; }
};

// ------------------------------------------------------------------------------------ classify

/// The next word at or behind `i` that is no comment; or the end.
size_t nextCode(const std::vector<Piece> &pieces, size_t i) {
  while (i < pieces.size() && pieces[i].isComment()) ++i;
  return i;
}

bool endsOperand(const Piece &p) {
  switch (p.word.what) {
    case Word::What::name:
    case Word::What::number:
      return true;
    case Word::What::keyword:
      return p.is("true") || p.is("false");
    case Word::What::symbol:
      return p.is(")") || p.is("]");
    case Word::What::quoted:
    case Word::What::comment:
      return false;
  }
  return false;
}

/// `{ j in` begins a set; no statement begins with a name.
bool opensSet(const std::vector<Piece> &pieces, size_t brace) {
  const size_t name = nextCode(pieces, brace + 1);
  const size_t in = nextCode(pieces, name + 1);
  return in < pieces.size() && pieces[name].isName() && pieces[in].is("in");
}

void classify(std::vector<Piece> &pieces) {
  std::vector<bool> braceIsBlock;
  const Piece *before = nullptr;  // the last word that is no comment
  for (size_t i = 0; i < pieces.size(); ++i) {
    Piece &p = pieces[i];
    if (p.isComment()) continue;
    if (p.is("-") && !(before && endsOperand(*before))) {
      p.role = Piece::Role::one_operand;
    } else if (p.is("{")) {
      braceIsBlock.push_back(!opensSet(pieces, i));
      if (braceIsBlock.back()) p.role = Piece::Role::block_open;
    } else if (p.is("}")) {
      if (braceIsBlock.back()) p.role = Piece::Role::block_close;
      braceIsBlock.pop_back();
    }
    before = &p;
  }
}

// ------------------------------------------------------------------------------------ cutLines

/// Characters, not bytes.
size_t width(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

constexpr size_t kNowhere = SIZE_MAX;

struct Line {
  std::vector<Piece> pieces;
  bool emptyBefore = false;
  size_t indent = 0;
  bool beginsStatement = false;
  size_t hangsFrom = kNowhere;  // the line whose "= e" this one continues, and stands below

  std::vector<std::string> cells;       // the code; columns begin with the second
  std::vector<std::string_view> kinds;  // of the columns between cells: kinds.size() + 1 cells
  std::string comment;                  // behind the code
  bool goesOn = false;                  // only a comment, below the one behind the line before

  bool onlyComment() const { return std::ranges::all_of(pieces, &Piece::isComment); }
  bool hasComment() const { return !comment.empty(); }

  /// The code without padding; all of a line without code.
  std::string code() const {
    std::string text;
    for (const std::string &cell : cells) text += (&cell == &cells.front() ? "" : " ") + cell;
    return text;
  }
};

/// White space at the ends of a comment's lines goes, a carriage return with it.
std::string trimmed(std::string_view comment) {
  std::string text;
  for (size_t begin = 0; begin <= comment.size();) {
    const size_t end = std::min(comment.find('\n', begin), comment.size());
    std::string_view line = comment.substr(begin, end - begin);
    line = line.substr(0, line.find_last_not_of(" \t\r\v\f") + 1);
    text += line;
    if (end < comment.size()) text += '\n';
    begin = end + 1;
  }
  return text;
}

std::vector<Line> cutLines(std::vector<Piece> pieces) {
  std::vector<Line> lines;
  uint32_t lastLine = 0;
  bool opened = true;  // nothing but comments behind it stands between this and a '{'
  for (Piece &p : pieces) {
    if (lines.empty() || p.word.loc.line > lastLine) {
      const bool empty = p.word.loc.line > lastLine + 1;
      lines.emplace_back();
      lines.back().emptyBefore = empty && !opened && p.role != Piece::Role::block_close;
      opened = false;
    }
    if (!p.isComment()) opened = p.role == Piece::Role::block_open;
    lastLine = p.word.lastLine;
    lines.back().pieces.push_back(std::move(p));
  }
  return lines;
}

// ------------------------------------------------------------------------------------ Indenter

bool isClause(const Piece &p) {
  return p.is("requires") || p.is("claims");
}

class Indenter {
 public:
  void indent(std::vector<Line> &lines) {
    // What a line of comments stands above; a line may be one long row of them.
    std::vector<const Piece *> next(lines.size() + 1, nullptr);
    for (size_t i = lines.size(); i-- > 0;) {
      const auto code = std::ranges::find_if_not(lines[i].pieces, &Piece::isComment);
      next[i] = code == lines[i].pieces.end() ? next[i + 1] : &*code;
    }
    for (size_t i = 0; i < lines.size(); ++i) {
      Line &line = lines[i];
      line.beginsStatement = atStart_;
      line.indent = line.onlyComment() ? ofComment(next[i]) : of(*next[i]);
      if (!atStart_) line.hangsFrom = equals_;
      walk(line, i);
    }
  }

 private:
  size_t inside() const { return blocks_.empty() ? 0 : blocks_.back() + kIndent; }

  /// Of a line that begins with this word.
  size_t of(const Piece &first) const {
    if (first.role == Piece::Role::block_close) return blocks_.back();
    if (atStart_) return inside();
    if (first.role == Piece::Role::block_open) return statement_;
    if (isClause(first)) return statement_ + kIndent;
    return clause_ > 0 ? clause_ : statement_ + kContinued;
  }

  size_t ofComment(const Piece *next) const {
    if (!next || next->role == Piece::Role::block_close || atStart_) return inside();
    return next->role == Piece::Role::block_open ? statement_ + kIndent : of(*next);
  }

  void walk(const Line &line, size_t number) {
    for (const Piece &p : line.pieces) {
      if (p.isComment()) continue;
      if (p.role == Piece::Role::block_close) {
        blocks_.pop_back();
        atStart_ = true;
        continue;
      }
      if (atStart_) {
        statement_ = line.indent;
        inFor_ = p.is("for");
        clause_ = 0;
        equals_ = kNowhere;
        if (&p == &line.pieces.front() && (p.is("fn") || p.is("let")) && hasMore(line, "="))
          equals_ = number;
      }
      atStart_ = p.role == Piece::Role::block_open || (p.is(";") && !inFor_);
      if (p.role == Piece::Role::block_open) blocks_.push_back(statement_);
      // What follows a clause's first line stands below its first condition.
      if (isClause(p))
        clause_ = &p == &line.pieces.front() ? line.indent + p.word.text.size() + 1 : 0;
    }
  }

  /// Whether the line has this word and code behind it.
  static bool hasMore(const Line &line, std::string_view text) {
    const auto found = std::ranges::find_if(line.pieces, [&](auto &p) { return p.is(text); });
    return found != line.pieces.end() &&
           !std::all_of(found + 1, line.pieces.end(), [](auto &p) { return p.isComment(); });
  }

  std::vector<size_t> blocks_;  // where the statements stand whose blocks are open
  size_t statement_ = 0;        // where this statement's first line stands
  size_t clause_ = 0;           // where a clause's further lines stand; 0: no clause
  size_t equals_ = kNowhere;    // the line with this statement's '='
  bool atStart_ = true;         // the next word begins a statement
  bool inFor_ = false;          // its head has semicolons
};

// --------------------------------------------------------------------------------------- cells

bool spaceBetween(const Piece &left, const Piece &right) {
  if (right.is(",") || right.is(";") || right.is(")") || right.is("]")) return false;
  if (left.is("(") || left.is("[") || left.role == Piece::Role::one_operand) return false;
  if (left.is(".") || right.is(".")) return false;
  if (right.is("[")) return left.isComment();
  return !(right.is("(") && left.isName());
}

/// Whether each block of the line begins and ends on it, the last one at its end.
bool isWholeBlock(const Line &line) {
  int depth = 0;
  const Piece *last = nullptr;
  for (const Piece &p : line.pieces) {
    if (p.isComment()) continue;
    depth += p.role == Piece::Role::block_open;
    depth -= p.role == Piece::Role::block_close;
    if (depth < 0) return false;
    last = &p;
  }
  return depth == 0 && last && last->role == Piece::Role::block_close;
}

struct Column {
  size_t at;  // the piece it begins with
  std::string_view kind;
};

/// The columns of a line that begins a statement:
///
///   let x = ...                split x into ...
///   send x to p;               signal p;
///   recv x from p;             await  p;
///   if c { ... }               and in `round { ... }` and `if c { ... }` on one line the
///   else { ... }               columns of the first statement
std::vector<Column> columnsOf(const Line &line) {
  std::vector<Column> columns;
  if (!line.beginsStatement) return columns;
  const std::vector<Piece> &p = line.pieces;
  // Where `wanted` stands in the statement at `from`; the end if it does not.
  const auto find = [&p](size_t from, auto wanted) {
    for (; from < p.size() && !p[from].is(";"); ++from)
      if (wanted(p[from])) return from;
    return p.size();
  };
  const auto column = [&](size_t at, std::string_view kind) {
    if (at >= p.size() || p[at].isComment() || p[at - 1].isComment()) return false;
    columns.push_back({at, kind});
    return true;
  };
  size_t i = 0;
  while (i < p.size() && (p[i].is("if") || p[i].is("else") || p[i].is("round"))) {
    if (!isWholeBlock(line)) return columns;
    const bool round = p[i].is("round");
    i = find(i, [](const Piece &q) { return q.role == Piece::Role::block_open; });
    if (!round && !column(i, "block")) return columns;
    ++i;
  }
  if (i >= p.size()) return columns;
  if (p[i].is("let")) {
    column(find(i, [](const Piece &q) { return q.is("="); }), "=");
  } else if (p[i].is("split")) {
    column(find(i, [](const Piece &q) { return q.is("into"); }), "into");
  } else if (p[i].is("signal") || p[i].is("await")) {
    column(i + 1, "signal");
  } else if (p[i].is("send") || p[i].is("recv")) {
    const size_t to = find(i, [](const Piece &q) { return q.is("to") || q.is("from"); });
    if (column(to, "to")) column(to + 1, "peer");
  }
  return columns;
}

/// Writes the pieces of a line into its cells and its comment.
void fill(Line &line) {
  const std::vector<Piece> &pieces = line.pieces;
  size_t end = pieces.size();
  if (!line.onlyComment() && pieces.back().isComment())
    line.comment = trimmed(pieces[--end].word.text);
  const std::vector<Column> columns = columnsOf(line);
  auto next = columns.begin();
  line.cells.emplace_back();
  for (size_t i = 0; i < end; ++i) {
    const Piece &p = pieces[i];
    if (next != columns.end() && next->at == i) {
      line.kinds.push_back(next++->kind);
      line.cells.emplace_back();
    } else if (i > 0 && spaceBetween(pieces[i - 1], p)) {
      line.cells.back() += ' ';
    }
    line.cells.back() += p.isComment() ? trimmed(p.word.text) : p.word.text;
  }
}

// --------------------------------------------------------------------------------------- align

/// Whether a line stands directly below the one before, as deep.
bool follows(const Line &line, const Line &before) {
  return !line.emptyBefore && line.indent == before.indent;
}

/// Calls `pad(first, last)` for each longest run of lines of which each belongs to the one before.
template <class Belongs, class Pad>
void eachRun(std::vector<Line> &lines, Belongs belongs, Pad pad) {
  for (size_t first = 0, last; first < lines.size(); first = last) {
    for (last = first + 1; last < lines.size() && belongs(lines[last], lines[last - 1]);) ++last;
    pad(lines.begin() + static_cast<std::ptrdiff_t>(first),
        lines.begin() + static_cast<std::ptrdiff_t>(last));
  }
}

/// Pads the cells before the k-th column of lines whose columns are of one kind up to there.
void alignColumn(std::vector<Line> &lines, size_t k) {
  const auto belongs = [k](const Line &line, const Line &before) {
    return follows(line, before) && line.kinds.size() > k && before.kinds.size() > k &&
           std::equal(line.kinds.begin(), line.kinds.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                      before.kinds.begin());
  };
  eachRun(lines, belongs, [k](auto first, auto last) {
    if (last - first < 2) return;
    size_t widest = 0;
    for (auto line = first; line != last; ++line) widest = std::max(widest, width(line->cells[k]));
    for (auto line = first; line != last; ++line)
      if (line->indent + width(line->code()) + widest - width(line->cells[k]) > kWidest) return;
    for (auto line = first; line != last; ++line)
      line->cells[k] += std::string(widest - width(line->cells[k]), ' ');
  });
}

/// Puts the further lines of `fn f(x) = e` and `let x = e` below the first word of e.
void hang(std::vector<Line> &lines) {
  size_t known = kNowhere, column = 0;  // of the '=' looked at last
  for (Line &line : lines) {
    if (line.hangsFrom == kNowhere) continue;
    if (line.hangsFrom != known) {
      known = line.hangsFrom;
      const std::string code = lines[known].code();
      column = lines[known].indent + width(code.substr(0, code.find(" = "))) + 3;
    }
    if (column <= kDeepest) line.indent = column;
  }
}

/// Puts comments behind the lines of a paragraph below each other. Lines without one do not count.
void alignComments(std::vector<Line> &lines) {
  const auto belongs = [](const Line &line, const Line &before) {
    return line.goesOn || (follows(line, before) && !line.onlyComment());
  };
  eachRun(lines, belongs, [](auto first, auto last) {
    size_t widest = 0, longest = 0;
    for (auto line = first; line != last; ++line) {
      if (line->hasComment()) widest = std::max(widest, line->indent + width(line->code()));
      longest = std::max(longest, width(line->hasComment() ? line->comment
                                        : line->goesOn     ? line->code()
                                                           : ""));
    }
    const bool together = widest + kBeforeComment + longest <= kWidest;
    size_t at = 0;
    for (auto line = first; line != last; ++line) {
      if (line->hasComment()) {
        const size_t code = line->indent + width(line->code());
        at = (together ? widest : code) + kBeforeComment;
        line->cells.back() += std::string(at - code, ' ') + line->comment;
      } else if (line->goesOn) {
        line->indent = at;
      }
    }
  });
}

/// A comment that the author put exactly below one behind a line belongs to that one.
void findWhatGoesOn(std::vector<Line> &lines) {
  for (size_t i = 1; i < lines.size(); ++i) {
    const Line &before = lines[i - 1];
    const Piece &above = before.goesOn ? before.pieces.front() : before.pieces.back();
    lines[i].goesOn = lines[i].onlyComment() && !lines[i].emptyBefore &&
                      (before.hasComment() || before.goesOn) &&
                      above.word.loc.column == lines[i].pieces.front().word.loc.column;
  }
}

std::string layOut(std::vector<Piece> pieces) {
  classify(pieces);
  std::vector<Line> lines = cutLines(std::move(pieces));
  Indenter().indent(lines);
  size_t most = 0;
  for (Line &line : lines) {
    fill(line);
    most = std::max(most, line.kinds.size());
  }
  for (size_t k = 0; k < most; ++k) alignColumn(lines, k);
  hang(lines);
  findWhatGoesOn(lines);
  alignComments(lines);

  std::string text;
  for (const Line &line : lines) {
    if (line.emptyBefore) text += '\n';
    text += std::string(line.indent, ' ') + line.code() + '\n';
    if (text.size() > kMaxSourceBytes) break;  // refused below
  }
  return text;
}

std::optional<std::string> formatFile(uint16_t file, Diag &diag) {
  if (!acceptable(file, diag) || !parseOne(file, diag)) return {};
  std::vector<Piece> pieces;
  for (Word &word : words(file, diag)) pieces.push_back({std::move(word)});
  std::string text = layOut(std::move(pieces));
  if (text.size() > kMaxSourceBytes) {
    diag.error({}, "'", diag.fileName(file), "', laid out, is larger than ", kMaxSourceBytes,
               " bytes");
    return {};
  }
  return text;
}

}  // namespace

std::optional<std::string> format(const std::filesystem::path &path, Diag &diag) {
  std::optional<std::string> text = readSource(path, {}, diag);
  if (!text) return {};
  return formatFile(diag.addFile(path.string(), std::move(*text)), diag);
}

std::optional<std::string> formatText(const std::string &name, std::string text, Diag &diag) {
  return formatFile(diag.addFile(name, std::move(text)), diag);
}

}  // namespace nbcc
