// SPDX-License-Identifier: BSD-3-Clause
// task_lines.h - the lines of --emit=tasks: columns, and what the host does.

#pragma once

#include <iomanip>
#include <ostream>
#include <string>

#include "codegen/coredirect/view.h"

namespace nbcc::crosschannel {

class TaskLines {
 public:
  TaskLines(const View &view, const nbc_variant &variant, std::ostream &out)
      : view_(view), variant_(variant), out_(out) {}

 protected:
  /// Of the variant; `entries` says how many of what there are.
  void title(const std::string &entries) {
    out_ << "\nvariant " << view_.variantName(variant_) << ": "
         << count(variant_.rounds, "round", "rounds") << ", "
         << count(variant_.stages.count, "stage", "stages") << ", " << entries << "\n"
         << "  " << std::left << std::setw(kName) << "queue" << std::right
         << "  index  ds  opcode   task\n";
  }
  static std::string count(uint64_t n, const char *one, const char *many) {
    return cat(n, " ", n == 1 ? one : many);
  }

  /// `segments` is negative where there are none to be counted.
  void line(const std::string &queue, uint32_t index, int segments, const char *opcode,
            const std::string &task) {
    out_ << "  " << std::left << std::setw(kName) << queue << std::right << std::setw(7) << index;
    if (segments < 0)
      out_ << "   -";
    else
      out_ << std::setw(4) << segments;
    out_ << "  " << std::left << std::setw(9) << opcode << task << std::right << "\n";
  }

  /// Before what the stage enables.
  void hosts(uint32_t stage) {
    const nbc_stage &s = view_.stages[variant_.stages.begin + stage];
    for (const nbc_host &h : view_.hosts.subspan(s.hosts_begin, s.hosts_count))
      line("host", stage, -1, h.op == NBC_HOST_COPY ? "COPY" : "REDUCE", view_.hostText(h));
  }

  static const char *signalled(const Entry &e) { return e.signalled ? ", signalled" : ""; }

  const View &view_;
  const nbc_variant &variant_;
  std::ostream &out_;

 private:
  static constexpr int kName = 13;  // "data from 127"
};

}  // namespace nbcc::crosschannel
