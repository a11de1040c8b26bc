// SPDX-License-Identifier: BSD-3-Clause
// timeline.cpp - a row for each rank: grey while the adapter waits, an arrow for each message,
// orange where the host reduces, a tick where the call is complete.

#include "compiler/driver/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

namespace nbcc {
namespace {

constexpr double kLeft = 70, kTop = 58, kRow = 34, kBar = 12, kWidth = 1040;

/// 1, 2 or 5 times a power of ten: some eight ticks.
double tickStep(double end) {
  double raw = end / 8, power = std::pow(10, std::floor(std::log10(raw)));
  for (double step : {1.0, 2.0, 5.0})
    if (step * power >= raw) return step * power;
  return 10 * power;
}

struct Style {
  const char *name, *colour;
};
constexpr std::array<Style, 2> kActivities{
    {{"adapter waits", "#d9dee5"}, {"host reduces", "#e8882e"}}};
constexpr const char *kData = "#2b62b8", *kControl = "#b0446f", *kText = "#333";

void text(std::ostream &out, double x, double y, const std::string &what, const char *anchor,
          const char *colour = kText) {
  out << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\" fill=\""
      << colour << "\">" << what << "</text>\n";
}

void legend(std::ostream &out) {
  double x = kLeft;
  for (const Style &s : kActivities) {
    out << "<rect x=\"" << x << "\" y=\"30\" width=\"14\" height=\"10\" fill=\"" << s.colour
        << "\"/>\n";
    text(out, x + 19, 39, s.name, "start");
    x += 120;
  }
  for (auto [name, colour] :
       {Style{"data", kData}, Style{"no bytes: clear-to-send, credit, signal", kControl}}) {
    out << "<path d=\"M" << x << " 35h18\" stroke=\"" << colour << "\" stroke-width=\"1.6\"/>\n";
    text(out, x + 24, 39, name, "start");
    x += 75;
  }
  x += 175;
  out << "<path d=\"M" << x << " 29v12\" stroke=\"" << kText << "\" stroke-width=\"2.5\"/>\n";
  text(out, x + 7, 39, "call complete", "start");
}

}  // namespace

void draw(const Timeline &t, std::ostream &out) {
  int rows = std::min(t.ranks, kMostRows);
  double end = 1;
  for (const auto &b : t.bars) end = std::max(end, b.end);
  for (const auto &m : t.messages) end = std::max(end, m.delivered);
  for (const auto &m : t.marks) end = std::max(end, m.at);
  double scale = kWidth / end, bottom = kTop + rows * kRow;
  auto x = [&](double time) { return kLeft + time * scale; };
  auto y = [&](int rank) { return kTop + rank * kRow + kRow / 2; };

  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kLeft + kWidth + 30
      << "\" height=\"" << bottom + 44 << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
      << "<defs>";
  for (auto [id, colour] : {Style{"data", kData}, Style{"control", kControl}})
    out << "<marker id=\"" << id
        << "\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"6\" "
        << "markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"" << colour
        << "\"/></marker>";
  out << "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  text(out, kLeft, 19,
       t.title + (rows < t.ranks ? " (ranks 0.." + std::to_string(rows - 1) + ")" : ""), "start");
  legend(out);

  double step = tickStep(end);
  for (int i = 0; i * step <= end * 1.0001; ++i) {
    out << "<path d=\"M" << x(i * step) << " " << kTop << "V" << bottom << "\" stroke=\"#eee\"/>\n";
    double us = std::round(i * step) / 1000;
    std::string label = std::to_string(us);
    label.erase(label.find_last_not_of('0') + 1);
    if (label.back() == '.') label.pop_back();
    text(out, x(i * step), bottom + 17, label, "middle", "#777");
  }
  text(out, kLeft + kWidth, bottom + 35, "microseconds", "end", "#777");

  for (int r = 0; r < rows; ++r) {
    text(out, kLeft - 10, y(r) + 4, "rank " + std::to_string(r), "end");
    out << "<path d=\"M" << kLeft << " " << y(r) << "H" << kLeft + kWidth
        << "\" stroke=\"#ccc\"/>\n";
  }
  for (const auto &b : t.bars)
    if (b.rank < rows)
      out << "<rect x=\"" << x(b.begin) << "\" y=\"" << y(b.rank) - kBar / 2 << "\" width=\""
          << std::max(1.0, (b.end - b.begin) * scale) << "\" height=\"" << kBar << "\" fill=\""
          << kActivities[static_cast<size_t>(b.activity)].colour << "\"/>\n";
  for (const auto &m : t.messages) {
    if (m.from >= rows || m.to >= rows) continue;
    const char *colour = m.bytes ? kData : kControl;
    out << "<path d=\"M" << x(m.sent) << " " << y(m.from) << "L" << x(m.delivered) << " " << y(m.to)
        << "\" stroke=\"" << colour
        << "\" stroke-width=\"1.1\" stroke-opacity=\"0.75\" marker-end=\"url(#"
        << (m.bytes ? "data" : "control") << ")\"><title>" << m.from << " to " << m.to << ", "
        << m.bytes << " bytes</title></path>\n";
  }
  for (const auto &m : t.marks)
    if (m.rank < rows)
      out << "<path d=\"M" << x(m.at) << " " << y(m.rank) - 9 << "v18\" stroke=\"" << kText
          << "\" stroke-width=\"2.5\"/>\n";
  out << "</svg>\n";
}

}  // namespace nbcc
