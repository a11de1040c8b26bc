// SPDX-License-Identifier: BSD-3-Clause
// sink_layout.cpp - views whose elements differ in length, or do not lie one behind the other.
//
//   run gather.linear among leaders with out[i] = out[ranks_on(i)], ...
//     =>   view out of the callee, where node 0 has ranks 0, 2, 4 and node 1 has 1, 3:
//          extents out[0], out[2], out[4], out[1], out[3]; elements begin at units 0, 3
//
// A view costs an integer for each element and each atom, and its extents; a section of it
// a search among the extents, and what it names.

#include <algorithm>
#include <cassert>
#include <numeric>

#include "compiler/elaborate/sink_refuse.h"

namespace nbcc {

void Sink::openIrregular(int64_t view, Place at) {
  Operand &o = operands_.emplace_back();
  o.view = view;
  o.begin = pending_.size();
  o.at = at;
  o.regular = false;
  o.atomsBegin = atoms_.size();
  o.runsBegin = runs_.size();
}

/// Elements first ..< first + count.
int64_t Sink::appendLayout(const View &v, int64_t first, int64_t count) {
  const Layout &l = *v.layout;
  const int64_t *runs = l.elements.data() + first;
  for (int64_t i = 0; i < count; ++i) runs_.push_back(runs[i + 1] - runs[i]);
  for (int64_t a = runs[0]; a < runs[count]; ++a)
    atoms_.push_back(l.atoms[static_cast<size_t>(a) + 1] - l.atoms[static_cast<size_t>(a)]);
  operands_.back().elements += count;
  return appendUnits(v, l.atoms[static_cast<size_t>(runs[0])],
                     l.atoms[static_cast<size_t>(runs[count])]);
}

/// One element; its atoms are the operand's elements.
int64_t Sink::appendAtoms(const View &v, int64_t element) {
  size_t begin = runs_.size(), before = atoms_.size();
  if (appendLayout(v, element, 1)) return 1;
  size_t atoms = atoms_.size() - before;
  runs_.resize(begin);
  runs_.insert(runs_.end(), atoms, 1);
  operands_.back().elements = static_cast<int64_t>(atoms);
  return 0;
}

/// Units first ..< end, counted through all extents of the layout.
int64_t Sink::appendUnits(const View &v, int64_t first, int64_t end) {
  const Layout &l = *v.layout;
  iterations -= (end > first);
  if (first == end) return appendExtent({v.buffer, v.parts, l.extents[0].first, 0});
  size_t i = static_cast<size_t>(std::ranges::upper_bound(l.ends, first) - l.ends.begin());
  while (first < end) {
    const Extent &e = l.extents[i];
    int64_t begin = l.ends[i] - e.count, stop = std::min(end, l.ends[i]);
    if (appendExtent({e.buffer, e.parts, e.first + (first - begin), stop - first})) return 1;
    first = stop;
    ++i;
    --iterations;  // counted as turns of a loop, which it is
  }
  return 0;
}

int64_t Sink::units(size_t operand) const {
  int64_t count = 0;
  for (const Extent &e : extents(operand)) count += e.count;
  return count;
}

/// Of an operand with a layout, the pending lengths reach to where those of the next begin.
void Sink::atomLengths(size_t operand, std::vector<int64_t> &to) const {
  const Operand &o = operands_[operand];
  if (o.regular) {
    to.insert(to.end(), static_cast<size_t>(o.elements * o.atoms), o.width);
    return;
  }
  assert(operand + 1 == operands_.size() && "a declaration has one operand");
  to.insert(to.end(), atoms_.begin() + static_cast<ptrdiff_t>(o.atomsBegin), atoms_.end());
}

void Sink::elementLengths(size_t operand, std::vector<int64_t> &to) const {
  const Operand &o = operands_[operand];
  if (o.regular) {
    to.insert(to.end(), static_cast<size_t>(o.elements), o.atoms);
    return;
  }
  assert(operand + 1 == operands_.size() && "a declaration has one operand");
  to.insert(to.end(), runs_.begin() + static_cast<ptrdiff_t>(o.runsBegin), runs_.end());
}

Sink::View Sink::viewOver(std::vector<Extent> extents, const std::vector<int64_t> &atoms,
                          const std::vector<int64_t> &elements) {
  View v;
  v.buffer = extents[0].buffer;
  v.parts = extents[0].parts;
  v.elements = static_cast<int64_t>(elements.size());
  auto alike = [](const std::vector<int64_t> &x) {
    return std::ranges::adjacent_find(x, std::ranges::not_equal_to()) == x.end();
  };
  if (extents.size() == 1 && alike(atoms) && alike(elements)) {
    v.first = extents[0].first;
    v.width = atoms.empty() ? 1 : atoms[0];
    v.atoms = elements.empty() ? 1 : elements[0];
    v.stride = v.atoms * v.width;
    return v;
  }
  auto layout = std::make_shared<Layout>();
  auto sums = [](const std::vector<int64_t> &x, std::vector<int64_t> &to) {
    to.resize(x.size() + 1);
    std::partial_sum(x.begin(), x.end(), to.begin() + 1);
  };
  sums(atoms, layout->atoms);
  sums(elements, layout->elements);
  int64_t end = 0;
  for (const Extent &e : extents) layout->ends.push_back(end += e.count);
  assert(end == layout->atoms.back());
  layout->extents = std::move(extents);
  v.layout = std::move(layout);
  return v;
}

Sink::View Sink::viewOf(size_t operand, bool asOne) const {
  const Operand &o = operands_[operand];
  Section section = extents(operand);
  std::vector<int64_t> lengths;  // of elements, in units
  if (asOne) {
    lengths.push_back(units(operand));
  } else if (o.regular) {
    lengths.assign(static_cast<size_t>(o.elements), o.atoms * o.width);
  } else {
    std::vector<int64_t> atoms, elements;
    atomLengths(operand, atoms);
    elementLengths(operand, elements);
    auto atom = atoms.begin();
    for (int64_t n : elements) {
      lengths.push_back(std::accumulate(atom, atom + n, int64_t{0}));
      atom += n;
    }
  }
  View v =
      viewOver({section.begin(), section.end()}, lengths, std::vector<int64_t>(lengths.size(), 1));
  v.absentIn = view(o.view).absentIn;
  return v;
}

}  // namespace nbcc
