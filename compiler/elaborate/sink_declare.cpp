// SPDX-License-Identifier: BSD-3-Clause
// sink_declare.cpp - scratch and split: new buffers, and new views of old ones.
//
//   split out into 4 as s;                    =>   view s: 4 elements, each 1/4 of a block of out
//   scratch t like s[1 +: 2];                 =>   buffer t[2] like out[1 +: 2 of 4]
//   scratch t[3] like s;                      =>   buffer t[12] like s, s, s; t[i] is 4 blocks
//   scratch t[j in 0 ..< 3] like in[2 - j];   =>   buffer t[3] like in[2], in[1], in[0]
//
// Cost: the extents that stand in `like`; neighbours are one.

#include <algorithm>
#include <cassert>

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

int64_t Sink::declareScratch(int64_t view, const char *name, int64_t elements, int64_t stride,
                             const char *unit, std::vector<Extent> like, Place at) {
  if (checkBlocks(name, elements, stride, unit, at)) return 1;
  if (static_cast<int64_t>(schedule_.buffers.size()) >= limits_.buffers)
    return refuse(at, "more than ", limits_.buffers, " buffers", where());

  if (elements * stride == 0) like.clear();
  int64_t cut = like.empty() ? 1 : like[0].parts * cuts_[static_cast<size_t>(like[0].buffer)];
  extents_ += static_cast<int64_t>(like.size());

  Buffer b;
  b.name = unusedName(name);
  b.role = Role::scratch;
  b.blocks = elements * stride;
  b.like = std::move(like);
  b.loc = toLoc(at);
  views_[static_cast<size_t>(view)] = {
      static_cast<BufferId>(schedule_.buffers.size()), 1, 0, elements, stride, name, unit};
  addBuffer(std::move(b), cut);
  close();
  return 0;
}

int64_t Sink::scratch(int64_t view, const char *name, Place at) {
  const Operand &model = operands_[0];
  Section like = extents(0);
  return declareScratch(view, name, model.elements, model.stride,
                        model.stride > 1 ? "element" : "block", {like.begin(), like.end()}, at);
}

int64_t Sink::scratchArray(int64_t view, const char *name, int64_t elements, Place at) {
  const Operand &model = operands_[0];
  Section one = extents(0);
  int64_t stride = model.elements * model.stride;
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
  return declareScratch(view, name, elements, stride, "element", std::move(like), at);
}

int64_t Sink::scratchBegin(int64_t, const char *name, int64_t first, Place at) {
  if (first != 0)
    return refuse(at, "the elements of scratch ", name, " are numbered from 0, not from ", first,
                  where());
  arrayName_ = name;
  arrayElements_ = 0;
  arrayStride_ = 1;
  arrayLike_.clear();
  return 0;
}

int64_t Sink::scratchElement(int64_t, Place at) {
  int64_t stride = operands_[0].elements * operands_[0].stride;
  if (arrayElements_ == 0) arrayStride_ = stride;
  if (stride != arrayStride_)
    return refuse(at, "element ", arrayElements_, " of scratch ", arrayName_, " has ",
                  plural(stride, "block"), ", element 0 has ", arrayStride_, where());
  ++arrayElements_;
  for (const Extent &e : extents(0)) {
    if (!arrayLike_.empty()) {
      Extent &last = arrayLike_.back();
      if (last.buffer == e.buffer && last.parts == e.parts && last.first + last.count == e.first) {
        last.count += e.count;
        continue;
      }
    }
    if (extents_ + static_cast<int64_t>(arrayLike_.size()) >= limits_.extents)
      return refuse(at, "more than ", limits_.extents, " extents", where());
    arrayLike_.push_back(e);
  }
  close();
  return 0;
}

int64_t Sink::scratchEnd(int64_t view, Place at) {
  return declareScratch(view, arrayName_, arrayElements_, arrayStride_, "element",
                        std::move(arrayLike_), at);
}

int64_t Sink::split(int64_t view, const char *name, int64_t parts, Place at) {
  const Operand &model = operands_[0];
  const View &whole = views_[static_cast<size_t>(model.view)];
  Extent e = normalize(extents(0).front());
  if (extents(0).size() != 1 || e.count != 1)
    return refuse(model.at, "split cuts one block or one part, not ",
                  plural(model.elements * model.stride, whole.parts == 1 ? "block" : "part"),
                  where());
  int64_t most = kMaxParts / (e.parts * cuts_[static_cast<size_t>(e.buffer)]);
  if (parts < 1 || parts > most)
    return refuse(at, "split into ", plural(parts, "part"), ", which is not in 1..", most, where());
  views_[static_cast<size_t>(view)] = {
      e.buffer, static_cast<int32_t>(e.parts * parts), e.first * parts, parts, 1, name, "part"};
  close();
  return 0;
}

}  // namespace nbcc
