// SPDX-License-Identifier: BSD-3-Clause
// print_text.cpp - schedules in their text form, which schedule.h shows. One line says one thing.

#include <ostream>
#include <sstream>
#include <string>

#include "compiler/ir/schedule.h"

namespace nbcc {

namespace {

void print(const Schedule &s, const Extent &e, std::ostream &out) {
  const bool known = e.buffer >= 0 && static_cast<size_t>(e.buffer) < s.buffers.size();
  if (known)
    out << s.buffers[e.buffer].name;
  else
    out << "buffer" << e.buffer;
  if (known && s.buffers[e.buffer].blocks == 1 && e.parts == 1 && e.first == 0 && e.count == 1)
    return;
  out << '[' << e.first;
  if (e.count != 1) out << " +: " << e.count;
  if (e.parts != 1) out << " of " << e.parts;
  out << ']';
}

void print(const Schedule &s, Section section, std::ostream &out) {
  if (section.empty()) out << "[]";
  const char *between = "";
  for (const Extent &e : section) {
    out << between;
    print(s, e, out);
    between = ", ";
  }
}

void print(const Schedule &s, const Buffer &buffer, std::ostream &out) {
  out << "  " << name(buffer.role) << ' ' << buffer.name << '[' << buffer.blocks << ']';
  if (!buffer.like.empty()) {
    out << " like ";
    print(s, buffer.like, out);
  }
  if (buffer.vector) out << " vector";
  out << (buffer.significant ? "\n" : " absent\n");
}

void print(const Neighbors &n, std::ostream &out) {
  const auto list = [&](const char *word, const auto &of, const auto &each) {
    out << "  " << word;
    for (size_t i = 0; i < of.size(); ++i) each(of[i], i == 0 ? " " : ", ");
    out << '\n';
  };
  list("sources", n.sources, [&](const Neighbors::Source &source, const char *before) {
    if (source.rank == kNobody)
      out << before << "none";
    else
      out << before << source.rank << '[' << source.slot << ']';
  });
  list("destinations", n.destinations, [&](int32_t destination, const char *before) {
    if (destination == kNobody)
      out << before << "none";
    else
      out << before << destination;
  });
}

void print(const Schedule &s, const Promise &promise, std::ostream &out) {
  out << "  promise ";
  print(s, promise.to, out);
  const std::span<const Source> sources = s.sources(promise);
  out << (sources.size() > 1 || (!sources.empty() && sources[0].ranks > 1) ? " == reduce "
                                                                           : " == ");
  const Source *before = nullptr;
  for (const Source &source : sources) {
    if (before) out << ", ";
    if (!before || before->role != source.role || before->block != source.block) {
      out << name(source.role) << '[' << source.block;
      if (promise.to.count != 1) out << " +: " << promise.to.count;
      out << "] of ";
    }
    out << source.rank;
    if (source.ranks != 1) out << " +: " << source.ranks;
    before = &source;
  }
  if (promise.loc.known() && promise.loc.file != s.textFile)
    out << " at " << promise.loc.line << ':' << promise.loc.column;
  out << '\n';
}

void print(const Schedule &s, StepId id, std::ostream &out) {
  const Step &step = s.steps[id];
  out << "  %" << id << " = " << name(step.op);
  const auto section = [&](const char *word, Section what) {
    out << word;
    print(s, what, out);
  };
  switch (step.op) {
    case Op::send:
      section(" ", s.from(step));
      out << " to " << step.peer;
      break;
    case Op::recv:
      section(" ", s.to(step));
      out << " from " << step.peer;
      break;
    case Op::signal:
      out << " to " << step.peer;
      break;
    case Op::await:
      out << " from " << step.peer;
      break;
    case Op::reduce:
      section(" ", s.from(step));
      section(" with ", s.with(step));
      section(" -> ", s.to(step));
      break;
    case Op::copy:
      section(" ", s.from(step));
      section(" -> ", s.to(step));
      break;
  }
  out << " round " << step.round;
  if (step.port != 0) out << " port " << step.port;
  if (step.unit != Unit::any) out << " by " << name(step.unit);
  const char *word = " after %";
  for (const StepId wait : s.after(step)) {
    out << word << wait;
    word = ", %";
  }
  if (step.loc.known() && step.loc.file != s.textFile)
    out << " at " << step.loc.line << ':' << step.loc.column;
  out << '\n';
}

}  // namespace

void print(const Schedule &s, std::ostream &out) {
  out << "schedule @" << s.algorithm << ' ' << (s.kind == ast::Kind::own ? "own " : "")
      << kindName(s) << " rank " << s.rank << " of " << s.ranks << " root " << s.root << " order "
      << name(s.order) << " rounds " << s.rounds << (s.inPlace ? " in-place\n" : "\n");
  if (collective(s).hasGraph()) print(s.neighbors, out);
  for (const Buffer &buffer : s.buffers) print(s, buffer, out);
  for (const Promise &promise : s.promises) print(s, promise, out);
  for (size_t i = 0; i < s.steps.size(); ++i) print(s, static_cast<StepId>(i), out);
  out << "end\n";
}

std::string toString(const Schedule &s, Section section) {
  std::ostringstream out;
  print(s, section, out);
  return out.str();
}

}  // namespace nbcc
