// SPDX-License-Identifier: BSD-3-Clause
// write_goal.cpp - the schedules of all ranks => GOAL. goal.h says how.
//
//     %0 = send in to 1 round 0                  l0: send 32b to 1 tag 0
//     %1 = copy in -> out[0] after %0      =>    l1: calc 4
//                                                l1 requires l0
//
// Linear in steps, waits and extents.

#include <limits>
#include <ostream>
#include <unordered_map>

#include "compiler/exchange/goal.h"
#include "compiler/ir/wide.h"

namespace nbcc {
namespace {

class Writer {
 public:
  Writer(const Schedule &s, BlockLength block, std::ostream &out, Diag &diag)
      : s_(s), block_(block), out_(out), diag_(diag), label_(s.steps.size()) {}

  void write() {
    out_ << "rank " << s_.rank << " {\n";
    if (s_.order == Order::rounds)
      rounds();
    else
      waits();
    out_ << "}\n";
  }

 private:
  void rounds() {
    const size_t n = s_.steps.size();
    std::vector<int64_t> before;  // labels of what ended last
    for (size_t begin = 0; begin < n;) {
      size_t end = begin + 1;
      if (s_.steps[begin].peer >= 0)
        while (end < n && s_.steps[end].round == s_.steps[begin].round) ++end;
      if (before.size() > 1 && end - begin > 1) before = {join(before)};
      std::vector<int64_t> now;
      for (size_t i = begin; i < end; ++i) {
        operation(i);
        for (const int64_t b : before) require(label_[i], "requires", b);
        now.push_back(label_[i]);
      }
      before = std::move(now);
      begin = end;
    }
  }

  int64_t join(const std::vector<int64_t> &before) {
    const int64_t label = labels_++;
    out_ << 'l' << label << ": calc 0\n";
    for (const int64_t b : before) require(label, "requires", b);
    return label;
  }

  void waits() {
    std::unordered_map<int32_t, size_t> lastTo, lastFrom;
    for (size_t i = 0; i < s_.steps.size(); ++i) {
      const Step &step = s_.steps[i];
      operation(i);
      for (const StepId b : s_.after(step)) require(label_[i], "requires", label_[b]);
      if (step.peer < 0) continue;
      const auto [last, first] = (sends(step) ? lastTo : lastFrom).try_emplace(step.peer, i);
      if (!first) require(label_[i], "irequires", label_[last->second]);
      last->second = i;
    }
  }

  void require(int64_t label, const char *how, int64_t before) {
    out_ << 'l' << label << ' ' << how << " l" << before << '\n';
  }

  void operation(size_t i) {
    const Step &step = s_.steps[i];
    label_[i] = labels_++;
    out_ << 'l' << label_[i] << ": ";
    switch (step.op) {
      case Op::send:
      case Op::signal:
        out_ << "send " << messageBytes(step, s_.from(step)) << "b to " << step.peer << " tag "
             << sent_[step.peer]++;
        break;
      case Op::recv:
      case Op::await:
        out_ << "recv " << messageBytes(step, s_.to(step)) << "b from " << step.peer << " tag "
             << received_[step.peer]++;
        break;
      case Op::copy:
        out_ << "calc " << nanoseconds(step, kCopyPicoseconds);
        break;
      case Op::reduce:
        out_ << "calc " << nanoseconds(step, kReducePicoseconds);
        break;
    }
    out_ << '\n';
  }

  int64_t messageBytes(const Step &step, Section section) {
    return std::max<int64_t>(1, bounded(step, bytes(section)));
  }

  int64_t nanoseconds(const Step &step, int64_t picosecondsPerByte) {
    return bounded(step, (bytes(s_.to(step)) * picosecondsPerByte + 999) / 1000);
  }

  int64_t bounded(const Step &step, Wide value) {
    if (value <= std::numeric_limits<int64_t>::max()) return static_cast<int64_t>(value);
    diag_.error(step.loc, "with blocks of ", block_.elements, " elements of ", block_.elementBytes,
                " bytes a step of rank ", s_.rank, " moves more bytes than 63 bits can count");
    return 0;
  }

  /// Sums what stays below 2^126: kMaxBlocks blocks of 2^64 elements of at most 16 bytes.
  Wide bytes(Section section) const {
    Wide elements = 0;
    for (const Extent &e : resolve(s_, section))
      elements += position(e.first + e.count, e.parts) - position(e.first, e.parts);
    return elements * block_.elementBytes;
  }

  /// Where a position lies, in elements: part i of n of a block begins at floor(N i / n).
  Wide position(int64_t at, int32_t parts) const {
    const Wide length = block_.elements;
    return length * (at / parts) + length * (at % parts) / parts;
  }

  const Schedule &s_;
  BlockLength block_;
  std::ostream &out_;
  Diag &diag_;
  int64_t labels_ = 0;
  std::vector<int64_t> label_;  // of each step
  std::unordered_map<int32_t, int64_t> sent_, received_;
};

}  // namespace

void writeGoal(std::span<const Schedule> ranks, BlockLength block, std::ostream &out, Diag &diag) {
  out << "num_ranks " << ranks.size() << '\n';
  for (const Schedule &s : ranks) Writer(s, block, out, diag).write();
}

}  // namespace nbcc
