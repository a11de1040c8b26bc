// SPDX-License-Identifier: BSD-3-Clause
// sink_declare.cpp - scratch and split: new buffers, and new views of old ones.
//
//   split out into 4 as s;                    =>   view s: 4 elements, each 1/4 of a block of out
//   split in[0 +: 6] into 3 as s;             =>   view s: 3 elements, each 2 blocks of in
//   scratch t like s[1 +: 2];                 =>   buffer t[2] like out[1 +: 2 of 4]
//   scratch t[3] like s;                      =>   buffer t[12] like s, s, s; t[i] is 4 blocks
//   scratch t[j in 0 ..< 3] like in[2 - j];   =>   buffer t[3] like in[2], in[1], in[0]
//
// Cost: the extents that stand in `like`; neighbours are one. And the elements, where
// they are not alike.

#include <cassert>
#include <numeric>

#include "compiler/elaborate/sink_refuse.h"

namespace nbcc {

void Sink::addBuffer(Buffer b, int64_t cut) {
  schedule_.buffers.push_back(std::move(b));
  cuts_.push_back(cut);
}

/// A scratch statement in a loop makes a buffer each time; they are told apart by
/// names that no program can write.
std::string Sink::unusedName(std::string_view wanted) {
  int64_t before = names_[std::string(wanted)]++;
  return before == 0 ? std::string(wanted) : cat(wanted, ".", before + 1);
}

int64_t Sink::checkBlocks(const char *name, int64_t elements, int64_t stride, const char *unit,
                          Place at) {
  if (elements < 0) return refuse(at, "scratch ", name, " of ", plural(elements, unit), where());
  if (stride > 0 && elements > kMaxBlocks / stride)
    return refuse(at, "scratch ", name, " of ", plural(elements, unit),
                  stride > 1 ? cat(" of ", plural(stride, "block")) : "", ": at most ", kMaxBlocks,
                  " blocks", where());
  return 0;
}

int64_t Sink::declareScratch(int64_t index, const char *name, View shape, int64_t blocks,
                             std::vector<Extent> like, Place at) {
  if (static_cast<int64_t>(schedule_.buffers.size()) >= limits_.buffers)
    return refuse(at, "more than ", limits_.buffers, " buffers", where());

  if (blocks == 0) like.clear();
  int64_t cut = like.empty() ? 1 : like[0].parts * cuts_[static_cast<size_t>(like[0].buffer)];
  extents_ += static_cast<int64_t>(like.size());

  Buffer b;
  b.name = unusedName(name);
  b.role = Role::scratch;
  b.blocks = blocks;
  b.like = std::move(like);
  b.loc = toLoc(at);
  shape.name = name;
  view(index) = std::move(shape);
  addBuffer(std::move(b), cut);
  close();
  return 0;
}

int64_t Sink::scratch(int64_t index, const char *name, Place at) {
  const Operand &model = operands_[0];
  Section like = extents(0);
  int64_t blocks = units(0);
  const auto buffer = static_cast<BufferId>(schedule_.buffers.size());
  if (!model.regular) {
    if (checkBlocks(name, blocks, 1, "block", at)) return 1;
    std::vector<int64_t> atoms, elements;
    atomLengths(0, atoms);
    elementLengths(0, elements);
    View shape = viewOver({{buffer, 1, 0, blocks}}, atoms, elements);
    return declareScratch(index, name, std::move(shape), blocks, {like.begin(), like.end()}, at);
  }
  int64_t stride = model.atoms * model.width;
  const char *unit = model.atoms > 1 ? "element" : "block";
  if (checkBlocks(name, model.elements, stride, unit, at)) return 1;
  View shape{.buffer = buffer,
             .elements = model.elements,
             .stride = stride,
             .unit = unit,
             .atoms = model.atoms,
             .width = model.width};
  return declareScratch(index, name, std::move(shape), blocks, {like.begin(), like.end()}, at);
}

int64_t Sink::scratchArray(int64_t index, const char *name, int64_t elements, Place at) {
  const Operand &model = operands_[0];
  Section one = extents(0);
  int64_t stride = units(0);
  if (checkBlocks(name, elements, stride, "element", at)) return 1;
  // One unit stands for all blocks; else the list names each.
  int64_t copies = stride > 1 && elements > 1 ? elements : 1;
  int64_t size = static_cast<int64_t>(one.size());
  if (copies > (limits_.extents - extents_) / size)
    return refuse(at, "more than ", limits_.extents, " extents: scratch ", name, " of ",
                  plural(elements, "element"), " like ", plural(size, "extent"), where());
  std::vector<Extent> like;
  like.reserve(static_cast<size_t>(copies * size));
  for (int64_t i = 0; i < copies; ++i) like.insert(like.end(), one.begin(), one.end());

  const auto buffer = static_cast<BufferId>(schedule_.buffers.size());
  View shape{.buffer = buffer,
             .elements = elements,
             .stride = stride,
             .atoms = model.elements * model.atoms,
             .width = model.width};
  if (!model.regular) {
    std::vector<int64_t> atoms, runs, allAtoms;
    atomLengths(0, atoms);
    int64_t each = static_cast<int64_t>(atoms.size());
    if (each > 0 && elements > limits_.extents / each)
      return refuse(at, "more than ", limits_.extents, " lengths: scratch ", name, " of ",
                    plural(elements, "element"), " of ", plural(each, "block"), where());
    for (int64_t i = 0; i < elements; ++i)
      allAtoms.insert(allAtoms.end(), atoms.begin(), atoms.end());
    runs.assign(static_cast<size_t>(elements), each);
    shape = viewOver({{buffer, 1, 0, elements * stride}}, allAtoms, runs);
  }
  shape.unit = "element";
  return declareScratch(index, name, std::move(shape), elements * stride, std::move(like), at);
}

int64_t Sink::scratchBegin(int64_t, const char *name, int64_t first, Place at) {
  if (first != 0)
    return refuse(at, "the elements of scratch ", name, " are numbered from 0, not from ", first,
                  where());
  arrayName_ = name;
  arrayExtents_.clear();
  arrayAtoms_.clear();
  arrayElements_.clear();
  return 0;
}

int64_t Sink::scratchElement(int64_t, Place at) {
  return addArrayElement(false, at);
}

/// The operand, as an element of its atoms or of one atom.
int64_t Sink::addArrayElement(bool asAtom, Place at) {
  if (static_cast<int64_t>(arrayAtoms_.size()) >= kMaxBlocks)
    return refuse(at, "more than ", kMaxBlocks, " blocks", where());
  size_t before = arrayAtoms_.size();
  if (asAtom)
    arrayAtoms_.push_back(units(0));
  else
    atomLengths(0, arrayAtoms_);
  arrayElements_.push_back(static_cast<int64_t>(arrayAtoms_.size() - before));
  for (const Extent &e : extents(0)) {
    if (!arrayExtents_.empty()) {
      Extent &last = arrayExtents_.back();
      if (last.first + last.count == e.first || e.count == 0) {
        last.count += e.count;
        continue;
      }
      if (last.count == 0) {
        last = e;
        continue;
      }
    }
    if (extents_ + static_cast<int64_t>(arrayExtents_.size()) >= limits_.extents)
      return refuse(at, "more than ", limits_.extents, " extents", where());
    arrayExtents_.push_back(e);
  }
  close();
  return 0;
}

int64_t Sink::scratchEnd(int64_t index, Place at) {
  int64_t blocks = 0;
  for (int64_t units : arrayAtoms_) blocks += units;
  if (checkBlocks(arrayName_, blocks, 1, "block", at)) return 1;
  View shape = viewOver({{static_cast<BufferId>(schedule_.buffers.size()), 1, 0, blocks}},
                        arrayAtoms_, arrayElements_);
  shape.unit = "element";
  return declareScratch(index, arrayName_, std::move(shape), blocks, std::move(arrayExtents_), at);
}

/// Part i of n are the units from U * i / n on, of U units: each unit is cut in n, so a part is
/// U of the finer ones.
int64_t Sink::split(int64_t index, const char *name, int64_t parts, Place at) {
  const int32_t absentIn = view(operands_[0].view).absentIn;
  Section whole = extents(0);
  std::vector<Extent> pieces(whole.begin(), whole.end());
  int64_t shared = pieces[0].parts, length = 0;
  for (const Extent &e : pieces) shared = std::gcd(std::gcd(shared, e.first), e.count);
  int64_t cut = pieces[0].parts / shared;
  int64_t most = kMaxParts / (cut * cuts_[static_cast<size_t>(pieces[0].buffer)]);
  if (parts < 1 || parts > most)
    return refuse(at, "split into ", plural(parts, "part"), ", which is not in 1..", most, where());
  for (Extent &e : pieces) {
    e = {e.buffer, static_cast<int32_t>(cut * parts), e.first / shared * parts,
         e.count / shared * parts};
    length += e.count / parts;
  }
  View shape;
  if (pieces.size() == 1) {
    // 64 blocks in 64 parts are whole blocks again.
    Extent &e = pieces[0];
    int64_t again = std::gcd(std::gcd(int64_t{e.parts}, e.first), length);
    shape.buffer = e.buffer;
    shape.parts = static_cast<int32_t>(e.parts / again);
    shape.first = e.first / again;
    shape.elements = parts;
    shape.stride = shape.width = length / again;
  } else {
    if (parts > limits_.extents)
      return refuse(at, "more than ", limits_.extents, " lengths of parts", where());
    shape = viewOver(std::move(pieces), std::vector<int64_t>(static_cast<size_t>(parts), length),
                     std::vector<int64_t>(static_cast<size_t>(parts), 1));
  }
  shape.name = name;
  shape.unit = "part";
  shape.absentIn = absentIn;
  view(index) = std::move(shape);
  close();
  return 0;
}

}  // namespace nbcc
