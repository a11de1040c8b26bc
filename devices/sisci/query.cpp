// SPDX-License-Identifier: BSD-3-Clause
// query.cpp - what adapters, segments and the library say of themselves; error codes in words.

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {

/// False: there is no such question.
bool askAdapter(const Adapter &adapter, const sci_query_adapter_t &q, unsigned *out) {
  const Network &n = *adapter.network;
  switch (q.subcommand) {
    case SCI_Q_ADAPTER_SERIAL_NUMBER:
      return *out = adapter.node + 1, true;
    case SCI_Q_ADAPTER_CARD_TYPE:
      return *out = 0, true;  // that of no card
    case SCI_Q_ADAPTER_NODEID:
      return *out = n.domain.nodes[adapter.node].id, true;
    case SCI_Q_ADAPTER_CONFIGURED:
    case SCI_Q_ADAPTER_NUMBER_OF_LINKS:
      return *out = 1, true;
    case SCI_Q_ADAPTER_LINK_OPERATIONAL:
      return *out = q.portNo == 0 && !n.isDead(adapter.node), true;
    case SCI_Q_ADAPTER_DMA_MTU:
      return *out = n.options.facts.longestTransfer, true;
    case SCI_Q_ADAPTER_DMA_SIZE_ALIGNMENT:
    case SCI_Q_ADAPTER_DMA_OFFSET_ALIGNMENT:
      return *out = n.options.facts.alignment, true;
    case SCI_Q_ADAPTER_MCAST_MAX_GROUPS:
      return *out = 0, true;
    default:
      return false;
  }
}

bool askDma(const Facts &facts, unsigned engine, const sci_query_dma_t &q) {
  const bool there = engine != SCI_FLAG_DMA_GLOBAL && facts.dmaChannels > 0;
  switch (q.subcommand) {
    case SCI_Q_DMA_AVAILABLE:
      *static_cast<unsigned *>(q.data) = there;
      return true;
    case SCI_Q_DMA_CAPABILITIES: {
      sci_dma_capabilities_t can = {};
      if (there)
        can = {.num_channels = facts.dmaChannels,
               .max_transfer_size = facts.longestTransfer,
               .max_vector_length = facts.longestVector,
               .support_mem2io = 1,
               .support_io2mem = 1,
               .support_io2io = 0,
               .min_align_bytes = facts.alignment,
               .suggested_align_bytes = std::max(facts.alignment, 64u)};
      *static_cast<sci_dma_capabilities_t *>(q.data) = can;
      return true;
    }
    default:
      return false;
  }
}

void answerText(Call &call, const sci_query_string_t &q, const char *text) {
  const size_t bytes = std::strlen(text) + 1;
  if (!call.given(q.str)) return;
  if (q.length < bytes) return call.fail(SCI_ERR_OVERFLOW);
  std::memcpy(q.str, text, bytes);
}

/// There is no IO bus; an address that is the segment's own will do.
template <class Segment, class Query>
void answerAddress(Call &call, Query &q, unsigned known) {
  auto *segment = call.object<Segment>(q.segment);
  if (!segment) return;
  if (q.subcommand != known) return call.fail(SCI_ERR_ILLEGAL_QUERY);
  q.data.ioaddr = reinterpret_cast<uintptr_t>(segment->memory->base);
}

}  // namespace
}  // namespace sisci

using namespace sisci;

void SCIQuery(unsigned command, void *data, unsigned flags, sci_error_t *error) {
  constexpr unsigned engines = SCI_FLAG_DMA_ADAPTER | SCI_FLAG_DMA_SYSDMA | SCI_FLAG_DMA_GLOBAL;
  Call call(error, flags, command == SCI_Q_DMA ? engines : 0);
  if (!call.given(data)) return;
  bool known = true;
  switch (command) {
    case SCI_Q_ADAPTER: {
      auto &q = *static_cast<sci_query_adapter_t *>(data);
      Adapter *adapter = library().adapter(q.localAdapterNo);
      if (!adapter) return call.fail(SCI_ERR_NO_SUCH_ADAPTERNO);
      if (call.given(q.data)) known = askAdapter(*adapter, q, static_cast<unsigned *>(q.data));
      break;
    }
    case SCI_Q_DMA: {
      auto &q = *static_cast<sci_query_dma_t *>(data);
      Adapter *adapter = library().adapter(q.localAdapterNo);
      if (!adapter) return call.fail(SCI_ERR_NO_SUCH_ADAPTERNO);
      if (call.given(q.data)) known = askDma(adapter->network->options.facts, flags, q);
      break;
    }
    case SCI_Q_SYSTEM: {
      auto &q = *static_cast<sci_query_system_t *>(data);
      known = q.subcommand == SCI_Q_SYSTEM_CPU_CACHE_LINE_SIZE;
      if (known && call.given(q.data)) *static_cast<unsigned *>(q.data) = 64;
      break;
    }
    case SCI_Q_LOCAL_SEGMENT:
      return answerAddress<LocalSegment>(call, *static_cast<sci_query_local_segment_t *>(data),
                                         SCI_Q_LOCAL_SEGMENT_IOADDR);
    case SCI_Q_REMOTE_SEGMENT:
      return answerAddress<RemoteSegment>(call, *static_cast<sci_query_remote_segment_t *>(data),
                                          SCI_Q_REMOTE_SEGMENT_IOADDR);
    case SCI_Q_VENDORID:
      return answerText(call, *static_cast<sci_query_string_t *>(data), "nbcc, in software");
    case SCI_Q_API:
      return answerText(call, *static_cast<sci_query_string_t *>(data), "SISCI in software 1");
    default:
      known = false;
  }
  if (!known) call.fail(SCI_ERR_ILLEGAL_QUERY);
}
