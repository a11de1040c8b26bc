// SPDX-License-Identifier: BSD-3-Clause
// place.cpp - from an object file to the bytes that are loaded, by LLVM's linker for JITs.
//
//   NAME.o   =>   [room | read-only data] [code], all distances between them filled in
//
// That linker knows each machine's relocations, and takes its memory from whoever uses it: here
// from the image of a file. The data come first, as large as they may be, since the headers are
// before them; so a library has two pieces to be mapped. Cost: linear in the bytes, half a
// millisecond for one algorithm, where the system's linker takes forty.
//
// The only file that sees JITLink's headers.

#include "compiler/output/place.h"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>

#include <algorithm>

namespace nbcc {
namespace {

LLVM_ENABLE_BITMASK_ENUMS_IN_NAMESPACE();
namespace jitlink = llvm::jitlink;
using llvm::orc::ExecutorAddr;

llvm::Error failure(const std::string &why) {
  return llvm::make_error<llvm::StringError>(why, llvm::inconvertibleErrorCode());
}

/// Nothing is left to do when everything is in its place, and nothing is given back.
class Done : public jitlink::JITLinkMemoryManager::InFlightAlloc {
 public:
  void abandon(OnAbandonedFunction tell) override { tell(llvm::Error::success()); }
  void finalize(OnFinalizedFunction tell) override {
    tell(jitlink::JITLinkMemoryManager::FinalizedAlloc(ExecutorAddr(0)));
  }
};

/// Who loads the library would have to put an address in. Null: nobody has to.
const char *addressIn(jitlink::LinkGraph &graph) {
  for (jitlink::Section &section : graph.sections()) {
    if (section.getMemLifetime() == llvm::orc::MemLifetime::NoAlloc) continue;
    for (const jitlink::Block *block : section.blocks())
      for (const jitlink::Edge &edge : block->edges())
        if (const char *kind = graph.getEdgeKindName(edge.getKind());
            llvm::StringRef(kind).starts_with("Pointer"))
          return kind;
  }
  return nullptr;
}

/// Its memory is the image, and an address in it the distance from its beginning.
class Image : public jitlink::JITLinkMemoryManager {
 public:
  Image(Placed &placed, size_t room, size_t page) : placed_(placed), room_(room), page_(page) {}

  void allocate(const jitlink::JITLinkDylib *, jitlink::LinkGraph &graph,
                OnAllocatedFunction tell) override {
    jitlink::BasicLayout layout(graph);
    jitlink::BasicLayout::Segment *data = nullptr, *code = nullptr;
    for (auto &[group, segment] : layout.segments()) {
      const llvm::orc::MemProt protection = group.getMemProt();
      if ((protection & llvm::orc::MemProt::Write) != llvm::orc::MemProt::None ||
          segment.ZeroFillSize > 0)
        return tell(failure("it holds what is to be written to"));
      ((protection & llvm::orc::MemProt::Exec) != llvm::orc::MemProt::None ? code : data) =
          &segment;
    }
    if (!data || !code) return tell(failure("it holds no tables, or no code"));
    if (const char *kind = addressIn(graph))
      return tell(failure(cat("it holds addresses (", kind, "), not distances alone")));
    const uint64_t dataAt = llvm::alignTo(room_, data->Alignment);
    placed_.codeAt = llvm::alignTo(dataAt + data->ContentSize, llvm::Align(page_));
    placed_.codeEnd = placed_.codeAt + code->ContentSize;
    placed_.image.resize(placed_.codeEnd);
    const auto put = [&](jitlink::BasicLayout::Segment &segment, uint64_t at) {
      segment.Addr = ExecutorAddr(at);
      segment.WorkingMem = placed_.image.data() + at;
    };
    put(*data, dataAt);
    put(*code, placed_.codeAt);
    if (llvm::Error error = layout.apply()) return tell(std::move(error));
    tell(std::make_unique<Done>());
  }

  void deallocate(std::vector<FinalizedAlloc> all, OnDeallocatedFunction tell) override {
    for (FinalizedAlloc &one : all) one.release();
    tell(llvm::Error::success());
  }

 private:
  Placed &placed_;
  size_t room_, page_;
};

class Linking : public jitlink::JITLinkContext {
 public:
  Linking(Image &image, Placed &placed, std::string &why)
      : JITLinkContext(nullptr), image_(image), placed_(placed), why_(why) {}

  jitlink::JITLinkMemoryManager &getMemoryManager() override { return image_; }
  void notifyFailed(llvm::Error error) override { why_ = llvm::toString(std::move(error)); }

  void lookup(const LookupMap &symbols,
              std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> go) override {
    if (!symbols.empty())
      return go->run(failure("it needs " + symbols.begin()->first.str() + ", which is not in it"));
    go->run(jitlink::AsyncLookupResult());
  }

  llvm::Error notifyResolved(jitlink::LinkGraph &graph) override {
    for (jitlink::Section &section : graph.sections()) {
      const jitlink::SectionRange range(section);
      if (section.getMemLifetime() == llvm::orc::MemLifetime::NoAlloc || range.getSize() == 0)
        continue;
      placed_.sections.push_back(
          {section.getName().str(), range.getStart().getValue(), range.getSize(),
           range.getFirstBlock()->getAlignment(),
           (section.getMemProt() & llvm::orc::MemProt::Exec) != llvm::orc::MemProt::None});
    }
    std::ranges::sort(placed_.sections, {}, &PlacedSection::at);
    for (const jitlink::Symbol *symbol : graph.defined_symbols())
      if (symbol->hasName() && symbol->getScope() == jitlink::Scope::Default)
        placed_.symbols.push_back(
            {symbol->getName().str(), symbol->getAddress().getValue(), symbol->getSize()});
    std::ranges::sort(placed_.symbols, {}, &PlacedSymbol::name);
    return llvm::Error::success();
  }

  void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc done) override {
    done.release();
  }

 private:
  Image &image_;
  Placed &placed_;
  std::string &why_;
};

}  // namespace

Placed place(const std::string &object, size_t room, size_t page, Diag &diag) {
  Placed placed;
  std::string why;
  auto graph = jitlink::createLinkGraphFromObject(llvm::MemoryBufferRef(object, "library.o"));
  if (graph) {
    Image image(placed, room, page);
    jitlink::link(std::move(*graph), std::make_unique<Linking>(image, placed, why));
  } else {
    why = llvm::toString(graph.takeError());
  }
  if (!why.empty()) diag.error(Loc(), "the library's code cannot be linked: ", why);
  return placed;
}

}  // namespace nbcc
