// SPDX-License-Identifier: BSD-3-Clause
// timeline.h - ranks against time, as an SVG picture.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace nbcc {

/// What a run did, in nanoseconds from its start.
struct Timeline {
  enum class Activity { wait, reduce };  // of a management queue, of the host
  struct Bar {
    int rank;
    Activity activity;
    double begin, end;
  };
  struct Message {
    int from, to;
    double sent, delivered;
    uint64_t bytes;  // 0: a signal, a credit or clear-to-send
  };
  struct Mark {  // a call is complete on a rank
    int rank;
    double at;
  };

  std::string title;
  int ranks = 0;
  std::vector<Bar> bars;
  std::vector<Message> messages;
  std::vector<Mark> marks;
};

/// At most this many rows are drawn; a note in the picture says so.
inline constexpr int kMostRows = 64;

void draw(const Timeline &, std::ostream &);

}  // namespace nbcc
