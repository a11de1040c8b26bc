// SPDX-License-Identifier: BSD-3-Clause
// read_msccl.cpp - the XML of MSCCL => its gpus, thread blocks and steps.
//
// pugixml reads the XML. Here every attribute becomes a number in its range, and what
// is missing, double or unknown is reported where its element stands: all of it, as
// one mistake mostly does not hide another. Linear in the text.

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>
#include <unordered_map>

#include "compiler/exchange/msccl.h"

namespace nbcc {

using Type = MscclStep::Type;

bool MscclStep::receives() const {
  return type == Type::r || type == Type::rcs || type == Type::rrc || type == Type::rrs ||
         type == Type::rrcs;
}
bool MscclStep::sends() const {
  return type == Type::s || type == Type::rcs || type == Type::rrs || type == Type::rrcs;
}
bool MscclStep::reads() const {
  return type == Type::s || type == Type::rrc || type == Type::rrs || type == Type::rrcs ||
         type == Type::cpy || type == Type::re;
}
bool MscclStep::writes() const {
  return type != Type::s && type != Type::rrs && type != Type::nop;
}

namespace {

constexpr int64_t kMostGpus = 1 << 16;
constexpr std::pair<std::string_view, Type> types[] = {
    {"s", Type::s},     {"r", Type::r},     {"rcs", Type::rcs},
    {"rrc", Type::rrc}, {"rrs", Type::rrs}, {"rrcs", Type::rrcs},
    {"cpy", Type::cpy}, {"re", Type::re},   {"nop", Type::nop}};

class MscclReader {
 public:
  MscclReader(uint16_t file, Diag &diag) : file_(file), diag_(diag), text_(diag.fileText(file)) {
    for (size_t i = 0; i < text_.size(); ++i)
      if (text_[i] == '\n') lines_.push_back(i + 1);
  }

  std::optional<Msccl> run() {
    const pugi::xml_parse_result read = document_.load_buffer(text_.data(), text_.size());
    if (!read) {
      std::string what = read.description();
      if (!what.empty()) what[0] = static_cast<char>(what[0] | 0x20);  // lower case
      diag_.error(place(read.offset), "this is not XML: ", what);
      return std::nullopt;
    }
    const pugi::xml_node root = document_.document_element();
    if (std::string_view(root.name()) != "algo") {
      diag_.error(place(root), "`algo` is wanted, but here is `", shown(root.name()), "`");
      return std::nullopt;
    }
    algo(root);
    for (MscclGpu &gpu : msccl_.gpus) dependences(gpu);
    if (!ok_) return std::nullopt;
    return std::move(msccl_);
  }

 private:
  void algo(pugi::xml_node node) {
    msccl_.loc = place(node);
    msccl_.name = word(node, "name");
    word(node, "proto");
    kind(node);
    const int64_t gpus = number(node, "ngpus", 1, kMostGpus);
    msccl_.chunksPerLoop = number(node, "nchunksperloop", 1, kMaxBlocks);
    msccl_.inPlace = number(node, "inplace", 0, 1, 0) != 0;
    msccl_.outOfPlace = number(node, "outofplace", 0, 1, msccl_.inPlace ? 0 : 1) != 0;
    msccl_.root = number(node, "root", 0, gpus - 1, 0);
    if (ok_ && !msccl_.inPlace && !msccl_.outOfPlace)
      fail(node, "neither `inplace` nor `outofplace` is 1: it cannot be called");
    if (!ok_) return;
    for (const pugi::xml_node child : children(node, "gpu")) gpu(child, gpus);
    if (static_cast<int64_t>(msccl_.gpus.size()) != gpus)
      fail(node, "`ngpus` is ", gpus, ", but here are ", msccl_.gpus.size());
  }

  void kind(pugi::xml_node node) {
    const std::string coll = word(node, "coll");
    if (coll == "allreduce")
      msccl_.kind = ast::Kind::allreduce;
    else if (coll == "allgather")
      msccl_.kind = ast::Kind::allgather;
    else if (coll == "alltoall")
      msccl_.kind = ast::Kind::alltoall;
    else if (coll == "broadcast")
      msccl_.kind = ast::Kind::bcast;
    else if (coll == "reduce_scatter")  // all blocks are equally long, as in NCCL
      msccl_.kind = ast::Kind::reduce_scatter_block;
    else if (coll == "custom")
      fail(node, "a `custom` collective does not say what it should do, so nothing can be proven");
    else if (ok_)
      fail(node, "collective `", shown(coll),
           "` is not known here: allreduce, allgather, alltoall, broadcast and reduce_scatter are");
  }

  void gpu(pugi::xml_node node, int64_t gpus) {
    const auto next = static_cast<int64_t>(msccl_.gpus.size());
    const int64_t id = number(node, "id", 0, gpus - 1, std::nullopt, next);
    if (id != next) fail(node, "gpu ", id, " where ", next, " is next");
    MscclGpu gpu;
    gpu.loc = place(node);
    gpu.inChunks = number(node, "i_chunks", 0, kMaxBlocks);
    gpu.outChunks = number(node, "o_chunks", 0, kMaxBlocks);
    gpu.scratchChunks = number(node, "s_chunks", 0, kMaxBlocks);
    for (const pugi::xml_node child : children(node, "tb")) block(child, gpu, next, gpus);
    msccl_.gpus.push_back(std::move(gpu));
  }

  void block(pugi::xml_node node, MscclGpu &gpu, int64_t own, int64_t gpus) {
    MscclBlock block;
    block.loc = place(node);
    block.id = number(node, "id", 0, INT32_MAX);
    block.send = number(node, "send", -1, gpus - 1);
    block.recv = number(node, "recv", -1, gpus - 1);
    block.channel = number(node, "chan", 0, INT32_MAX);
    if (ok_ && (block.send == own || block.recv == own))
      fail(node, "gpu ", own, " sends to itself or receives from itself: copy with `cpy`");
    for (const pugi::xml_node child : children(node, "step")) step(child, block);
    gpu.blocks.push_back(std::move(block));
  }

  void step(pugi::xml_node node, MscclBlock &block) {
    MscclStep step;
    step.loc = place(node);
    const auto next = static_cast<int64_t>(block.steps.size());
    const int64_t s = number(node, "s", 0, INT32_MAX, std::nullopt, next);
    if (s != next) fail(node, "step ", s, " where ", next, " is next");
    const std::string type = word(node, "type");
    const auto found = std::ranges::find(types, type, [](const auto &t) { return t.first; });
    if (found != std::end(types))
      step.type = found->second;
    else if (!type.empty())
      fail(node, "`", shown(type), "` is not a type of step");
    if (found == std::end(types)) step.type = Type::nop;  // nothing follows from it
    if (step.reads()) {
      step.from = buffer(node, "srcbuf");
      step.fromChunk = number(node, "srcoff", 0, kMaxBlocks);
    }
    if (step.writes()) {
      step.to = buffer(node, "dstbuf");
      step.toChunk = number(node, "dstoff", 0, kMaxBlocks);
    }
    if (step.type != Type::nop) step.count = number(node, "cnt", 1, kMaxBlocks);
    step.block = static_cast<int32_t>(number(node, "depid", -1, INT32_MAX));
    step.step = static_cast<int32_t>(number(node, "deps", -1, INT32_MAX));
    step.awaited = number(node, "hasdep", 0, 1) != 0;
    block.steps.push_back(step);
  }

  /// From ids of thread blocks to their places; the step waited for exists and says so.
  void dependences(MscclGpu &gpu) {
    std::unordered_map<int64_t, int32_t> places;
    for (const MscclBlock &b : gpu.blocks)
      if (!places.emplace(b.id, static_cast<int32_t>(places.size())).second)
        error(b.loc, "a second thread block ", b.id);
    for (MscclBlock &b : gpu.blocks)
      for (MscclStep &s : b.steps)
        if (ok_) dependence(gpu, places, s);
  }

  void dependence(const MscclGpu &gpu, const std::unordered_map<int64_t, int32_t> &places,
                  MscclStep &step) {
    if (step.block < 0) return;
    const auto found = places.find(step.block);
    if (found == places.end())
      return error(step.loc, "there is no thread block ", step.block, " here to wait for");
    const MscclBlock &other = gpu.blocks[found->second];
    if (step.step < 0 || step.step >= static_cast<int64_t>(other.steps.size()))
      return error(step.loc, "thread block ", step.block, " has no step ", step.step,
                   " to wait for");
    const MscclStep &awaited = other.steps[step.step];
    if (!awaited.awaited) {
      error(step.loc, "this waits for step ", step.step, " of thread block ", step.block,
            ", which says hasdep=\"0\": nobody is told when it is done");
      diag_.note(awaited.loc, "it is here");
    }
    step.block = found->second;
  }

  // ----------------------------------------------------------- attributes

  template <class... Part>
  void error(Loc at, const Part &...parts) {
    diag_.error(at, parts...);
    ok_ = false;
  }
  template <class... Part>
  void fail(pugi::xml_node node, const Part &...parts) {
    error(place(node), parts...);
  }

  std::vector<pugi::xml_node> children(pugi::xml_node node, const char *wanted) {
    std::vector<pugi::xml_node> result;
    for (const pugi::xml_node child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      if (std::string_view(child.name()) == wanted)
        result.push_back(child);
      else
        fail(child, "in `", node.name(), "` only `", wanted, "` is known, but here is `",
             shown(child.name()), "`");
    }
    return result;
  }

  std::string word(pugi::xml_node node, const char *name) {
    const pugi::xml_attribute a = node.attribute(name);
    if (!a) fail(node, "`", node.name(), "` has no attribute `", name, "`");
    return a.value();
  }

  char buffer(pugi::xml_node node, const char *name) {
    const std::string value = word(node, name);
    if (value == "i" || value == "o" || value == "s") return value[0];
    if (ok_) fail(node, "`", name, "` is `", shown(value), "`, which is not i, o or s");
    return 'i';
  }

  /// `absent`: what it is where it is not written; `wrong`: where it was reported.
  int64_t number(pugi::xml_node node, const char *name, int64_t low, int64_t high,
                 std::optional<int64_t> absent = std::nullopt,
                 std::optional<int64_t> wrong = std::nullopt) {
    const pugi::xml_attribute a = node.attribute(name);
    if (!a && absent) return *absent;
    if (!a) {
      fail(node, "`", node.name(), "` has no attribute `", name, "`");
      return wrong.value_or(low);
    }
    const std::string_view text = a.value();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= low && value <= high)
      return value;
    fail(node, "`", name, "` is `", shown(text), "`, which is not a number in ", low, "..", high);
    return wrong.value_or(low);
  }

  static std::string shown(std::string_view text) {
    std::string result(text.substr(0, 40));
    for (char &c : result)
      if (c < ' ' || c > '~') c = '?';
    return result;
  }

  Loc place(pugi::xml_node node) const {
    const ptrdiff_t offset = node.offset_debug();  // of the name, behind the <
    return place(offset < 1 ? 0 : offset - 1);
  }
  Loc place(ptrdiff_t offset) const {
    const auto line = std::ranges::upper_bound(lines_, static_cast<size_t>(offset)) - 1;
    const size_t column = static_cast<size_t>(offset) - *line + 1;
    return {static_cast<uint32_t>(line - lines_.begin() + 1),
            static_cast<uint16_t>(std::min<size_t>(column, UINT16_MAX)), file_};
  }

  uint16_t file_;
  Diag &diag_;
  const std::string text_;
  std::vector<size_t> lines_{0};  // where each begins
  pugi::xml_document document_;
  Msccl msccl_;
  bool ok_ = true;
};

}  // namespace

std::optional<Msccl> readMsccl(uint16_t file, Diag &diag) {
  return MscclReader(file, diag).run();
}

}  // namespace nbcc
