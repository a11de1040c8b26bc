// SPDX-License-Identifier: BSD-3-Clause
// map.cpp - segments in the program's address space: the memory itself, or a shadow of it.

#include <sys/mman.h>

#include <algorithm>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {

/// Whole pages around a part of a segment.
struct Pages {
  Pages(size_t offset, size_t bytes)
      : begin(offset / pageSize() * pageSize()), length(wholePages(offset + bytes) - begin) {}
  size_t begin, length;
};

bool isInside(size_t offset, size_t bytes, size_t whole) {
  return bytes > 0 && offset <= whole && bytes <= whole - offset;
}

/// The address the program wants, if it wants one. False: nothing can be mapped there.
bool wanted(void *address, unsigned flags, size_t offset, const Pages &pages, void **fixed) {
  *fixed = nullptr;
  if (!(flags & SCI_FLAG_FIXED_MAP_ADDR)) return address == nullptr;
  const auto at = reinterpret_cast<uintptr_t>(address) - (offset - pages.begin);
  *fixed = reinterpret_cast<void *>(at);
  return address && at % pageSize() == 0;
}

}  // namespace

Map::~Map() {
  if (shadow) {
    Network &n = *remote->adapter->network;
    n.push(*this, false);
    std::erase(n.shadows, this);
    library().shadows.erase(reinterpret_cast<uintptr_t>(shadow->view()));
  }
  if (pages) munmap(pages, pageBytes);
  --(local ? local->maps : remote->maps);
}

bool Map::isOn(const Network &network) const {
  return local ? local->isOn(network) : remote->isOn(network);
}

}  // namespace sisci

using namespace sisci;

void *SCIMapLocalSegment(sci_local_segment_t handle, sci_map_t *map, size_t offset, size_t size,
                         void *address, unsigned flags, sci_error_t *error) {
  Call call(error, flags, SCI_FLAG_FIXED_MAP_ADDR | SCI_FLAG_READONLY_MAP);
  auto *segment = call.object<LocalSegment>(handle);
  if (!call.given(map)) return nullptr;
  if (!isInside(offset, size, segment->bytes)) return call.fail(SCI_ERR_OUT_OF_RANGE), nullptr;
  const Pages pages(offset, size);
  void *fixed;
  if (!wanted(address, flags, offset, pages, &fixed))
    return call.fail(SCI_ERR_ILLEGAL_ADDRESS), nullptr;
  uint8_t *at =
      segment->memory->again(pages.begin, pages.length, fixed, flags & SCI_FLAG_READONLY_MAP);
  if (!at) return call.fail(fixed ? SCI_ERR_ILLEGAL_ADDRESS : SCI_ERR_NOSPC), nullptr;
  auto made = std::make_unique<Map>();
  made->local = segment;
  ++segment->maps;
  made->offset = offset;
  made->bytes = size;
  made->pages = at;
  made->pageBytes = pages.length;
  made->view = at + (offset - pages.begin);
  *map = handleOf<sci_map_t>(library().handles.add(std::move(made)));
  return at + (offset - pages.begin);
}

volatile void *SCIMapRemoteSegment(sci_remote_segment_t handle, sci_map_t *map, size_t offset,
                                   size_t size, void *address, unsigned flags, sci_error_t *error) {
  Call call(error, flags, SCI_FLAG_FIXED_MAP_ADDR | SCI_FLAG_READONLY_MAP | SCI_FLAG_SHARED_MAP,
            SCI_FLAG_LOCK_OPERATION | SCI_FLAG_CONDITIONAL_INTERRUPT_MAP |
                SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP | SCI_FLAG_IO_MAP_IOSPACE |
                SCI_FLAG_NO_MEMORY_LOOPBACK | SCI_FLAG_BROADCAST);
  auto *segment = call.object<RemoteSegment>(handle);
  if (!call.given(map)) return nullptr;
  Network &n = *segment->adapter->network;
  if (n.isLost(*segment)) return call.fail(SCI_ERR_SEGMENT_NOT_CONNECTED), nullptr;
  if (!isInside(offset, size, segment->bytes)) return call.fail(SCI_ERR_OUT_OF_RANGE), nullptr;
  const Pages pages(offset, size);
  void *fixed;
  if (!wanted(address, flags, offset, pages, &fixed))
    return call.fail(SCI_ERR_ILLEGAL_ADDRESS), nullptr;

  const bool readOnly = flags & SCI_FLAG_READONLY_MAP;
  std::unique_ptr<Shadow> shadow;
  uint8_t *at = nullptr, *own = nullptr;
  if (n.shadowed) {
    shadow = Shadow::make(segment->memory, pages.begin, pages.length, fixed, readOnly);
    if (shadow) at = shadow->view();
  } else {
    at = own = segment->memory->again(pages.begin, pages.length, fixed, readOnly);
  }
  if (!at) return call.fail(fixed ? SCI_ERR_ILLEGAL_ADDRESS : SCI_ERR_NOSPC), nullptr;
  auto made = std::make_unique<Map>();
  made->remote = segment;
  ++segment->maps;
  made->offset = offset;
  made->bytes = size;
  made->readOnly = readOnly;
  made->pages = own;
  made->pageBytes = pages.length;
  made->view = at + (offset - pages.begin);
  made->shadow = std::move(shadow);
  Map *kept = library().handles.add(std::move(made));
  if (kept->shadow) {
    n.shadows.push_back(kept);
    library().shadows[reinterpret_cast<uintptr_t>(at)] = kept->shadow.get();
  }
  *map = handleOf<sci_map_t>(kept);
  return kept->view;
}

void SCIUnmapSegment(sci_map_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  auto *map = call.object<Map>(handle);
  if (!map) return;
  if (!map->sequences.empty()) return call.fail(SCI_ERR_BUSY);
  library().handles.remove(map);
}
