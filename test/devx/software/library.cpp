// SPDX-License-Identifier: BSD-3-Clause
// library.cpp - libmlx5's functions that runtime/devx calls: objects are made, moved and ended.

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <list>

#include "test/devx/software/software.h"

using namespace devx;
using verbs_exp::self;

struct mlx5dv_devx_obj {
  enum Kind { Cq, List, Pair } kind;
  ibv_context *context;
  uint32_t number;
  // Of a list.
  ListWish list = {};
  // Of a queue pair.
  enum State { Reset, Init, Receives, Sends } state = Reset;
  const mlx5dv_devx_obj *receives = nullptr;
  Peer peer = {};
  uint32_t firstPacket = 0;
};

namespace {

struct Memory {
  mlx5dv_devx_umem face;  // first
  uint8_t *at;
  size_t bytes;
  const ibv_context *context;
};

struct Channel {
  mlx5dv_devx_event_channel face;  // first
  std::deque<uint64_t> waiting;
};

// Of the process; under a mutex that is held while nothing of the engine's is called.
struct {
  std::recursive_mutex mutex;
  std::map<uint32_t, Memory *> memories;
  std::map<uint32_t, Page *> pages;
  std::map<uint32_t, mlx5dv_devx_obj *> lists, pairs;
  std::map<const ibv_pd *, uint32_t> domains;
  uint32_t last = 0x10;
} all;

// Who wants to know of queue pairs. By the engine's thread, so with a mutex of its own.
struct {
  std::mutex mutex;
  std::map<uint32_t, std::pair<Channel *, uint64_t>> of;
} told;

void tell(const hca::Notice &notice) {
  std::lock_guard guard(told.mutex);
  const auto found = told.of.find(notice.number);
  if (found == told.of.end()) return;
  auto [channel, cookie] = found->second;
  channel->waiting.push_back(cookie);
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(channel->face.fd, &one, sizeof one);
}

uint8_t *at(const Place &p, size_t bytes, const char *name) {
  const auto found = all.memories.find(p.memory);
  if (found == all.memories.end())
    wrong("%s is in memory %u, of which nobody knows", name, p.memory);
  const Memory &m = *found->second;
  if (p.offset > m.bytes || bytes > m.bytes - p.offset)
    wrong("%s: %zu bytes at %llu of %zu", name, bytes, static_cast<unsigned long long>(p.offset),
          m.bytes);
  return m.at + p.offset;
}

volatile uint32_t *recordAt(const Place &p) {
  if (p.offset % 8) wrong("a doorbell record at %llu", static_cast<unsigned long long>(p.offset));
  return reinterpret_cast<volatile uint32_t *>(at(p, 8, "a doorbell record"));
}

void checkDomain(uint32_t number) {
  for (const auto &[pd, n] : all.domains)
    if (n == number) return;
  wrong("protection domain %u, of which nobody knows", number);
}

Page &pageOf(const ibv_context *context, uint32_t number) {
  const auto found = all.pages.find(number);
  if (found == all.pages.end()) wrong("page of doorbells %u, which is not there", number);
  if (found->second->context != context) wrong("page of doorbells %u is another's", number);
  return *found->second;
}

nbc_hca *adapterOf(ibv_context *context) {
  return self(context).hca;
}

/// An answer without an error.
void answer(void *out, size_t bytes, uint32_t number) {
  if (bytes != 16) wrong("room for an answer of %zu bytes", bytes);
  memset(out, 0, bytes);
  mlx5_put32(static_cast<uint8_t *>(out) + 8, number);
}

int createCq(ibv_context *context, Command &c, uint32_t &number) {
  const CqWish w = takeCreateCq(c);
  pageOf(context, w.page);
  const hca::Rings rings = {at(w.ring, size_t{MLX5_CQE} << w.log, "a CQ"), nullptr,
                            recordAt(w.record)};
  for (size_t i = 0; i >> w.log == 0; ++i)
    if (rings.send[MLX5_CQE * i + MLX5_CQE_OP_OWN] != 0xf1) wrong("entry %zu of a CQ is owned", i);
  nbc_hca_cq cq;
  const uint32_t flags = w.overruns ? uint32_t{NBC_HCA_CQ_OVERRUN_IGNORE} : 0;
  const int status = hca::Fabric::createCq(rings, adapterOf(context), w.log, flags, &cq);
  number = cq.number;
  return status;
}

int createPair(ibv_context *context, Command &c, mlx5dv_devx_obj &made) {
  const PairWish w = takeCreatePair(c);
  checkDomain(w.domain);
  Page &page = pageOf(context, w.page);
  enum { Own, Shared, None = 3 };
  hca::Rings rings;
  nbc_hca_qp_request want = {.log_sq = w.logSend,
                             .log_rq = UINT32_MAX,
                             .log_stride = 4,
                             .send_cq = w.sendCq,
                             .recv_cq = w.receiveCq,
                             .flags = (w.master ? uint32_t{NBC_HCA_QP_CROSS_CHANNEL} : 0) |
                                      (w.slave ? uint32_t{NBC_HCA_QP_MANAGED_SEND} : 0),
                             .port = 0};
  rings.record = recordAt(w.record);
  uint8_t *ring = at(w.ring, 0, "a queue pair's ring");
  size_t own = 0;
  if (w.receives == Own) {
    want.log_rq = w.logReceive;
    want.log_stride = w.logStride;
    own = size_t{1} << (w.logReceive + w.logStride);
    rings.receive = ring;
  } else if (w.logReceive || w.logStride != 4) {
    wrong("receives of its own, and a list");
  }
  if (w.receives == Shared) {
    const auto found = all.lists.find(w.list);
    if (found == all.lists.end()) wrong("a list of receives %u, which is not there", w.list);
    const ListWish &l = found->second->list;
    if (recordAt(l.record) != rings.record) wrong("a list with a doorbell record of its own");
    made.receives = found->second;
    want.log_rq = l.logEntries;
    want.log_stride = l.logStride;
    want.flags |= NBC_HCA_QP_SHARED_RECEIVES;
    rings.room = (1u << l.logStride) - MLX5_SEGMENT;
    if (rings.room > 512) rings.room = 512;
    rings.receive = at(l.ring, size_t{1} << (l.logEntries + l.logStride), "a list") + MLX5_SEGMENT;
  } else if (w.receives != Own && w.receives != None) {
    wrong("qpc.rq_type is %u", w.receives);
  }
  if (own % MLX5_WQEBB) wrong("sends begin behind %zu bytes of receives", own);
  at(w.ring, own + (size_t{MLX5_WQEBB} << w.logSend), "a queue pair's ring");
  rings.send = ring + own;
  nbc_hca_qp qp;
  const int status = hca::Fabric::createQp(rings, adapterOf(context), &want, &qp);
  made.number = qp.number;
  if (!status && !w.slave) page.add(adapterOf(context), qp);
  return status;
}

/// As the adapter goes through it: by the indices in its entries.
void checkList(const mlx5dv_devx_obj &o) {
  const ListWish &l = o.list;
  const uint8_t *ring = at(l.ring, size_t{1} << (l.logEntries + l.logStride), "a list");
  const uint32_t mask = (1u << l.logEntries) - 1;
  for (uint32_t i = 0; i <= mask; ++i)
    if (mlx5_get16(ring + (size_t{i} << l.logStride) + 2) != ((i + 1) & mask))
      wrong("entry %u of a list leads elsewhere", i);
}

int moveToReceives(mlx5dv_devx_obj &o, Command &c) {
  c.expect(0x080, 32, 0xa, "opt_param_mask");
  c.expect(0x100, 3, IBV_MTU_4096, "qpc.mtu");
  c.expect(0x103, 5, 30, "qpc.log_msg_max");
  o.peer.number = static_cast<uint32_t>(c.take(0x168, 24));
  o.peer.lid = static_cast<uint32_t>(c.take(0x1b0, 16));
  c.expect(0x2a8, 8, 1, "ads.vhca_port_num");
  c.expect(0x548, 3, 4, "qpc.log_rra_max");
  c.expect(0x550, 2, 3, "qpc.rre, rwe");
  c.expect(0x563, 5, 12, "qpc.min_rnr_nak");
  o.peer.firstPacket = static_cast<uint32_t>(c.take(0x568, 24));
  c.done("INIT2RTR_QP");
  if (o.receives) checkList(*o.receives);
  return 0;
}

int moveToSends(mlx5dv_devx_obj &o, Command &c) {
  c.expect(0x1c0, 5, 18, "ads.ack_timeout");
  c.expect(0x440, 4, 8, "qpc.log_ack_req_freq");
  c.expect(0x448, 3, 4, "qpc.log_sra_max");
  c.expect(0x44d, 3, 7, "qpc.retry_count");
  c.expect(0x450, 3, 7, "qpc.rnr_retry");
  o.firstPacket = static_cast<uint32_t>(c.take(0x488, 24));
  c.done("RTR2RTS_QP");
  const auto here = all.pairs.find(o.peer.number);
  if (o.peer.lid == verbs_exp::process().lid && here != all.pairs.end() &&
      here->second->state == mlx5dv_devx_obj::Sends &&
      (here->second->firstPacket != o.peer.firstPacket ||
       here->second->peer.firstPacket != o.firstPacket))
    wrong("queue pairs %u and %u count packets differently", o.number, o.peer.number);
  uint8_t address[32];
  hca::Fabric::addressOf(static_cast<uint16_t>(o.peer.lid), address);
  nbc_hca *hca = adapterOf(o.context);
  return verbs_exp::errorOf(hca->ops->connect_qp(hca, o.number, address, o.peer.number));
}

int moveToInit(mlx5dv_devx_obj &, Command &c) {
  c.expect(0x0d3, 2, 3, "qpc.pm_state");
  c.expect(0x2a8, 8, 1, "ads.vhca_port_num");
  c.expect(0x550, 2, 3, "qpc.rre, rwe");
  c.done("RST2INIT_QP");
  return 0;
}

constexpr struct {
  uint32_t opcode;
  mlx5dv_devx_obj::State from, to;
  int (*move)(mlx5dv_devx_obj &, Command &);
} moves[] = {{0x502, mlx5dv_devx_obj::Reset, mlx5dv_devx_obj::Init, moveToInit},
             {0x503, mlx5dv_devx_obj::Init, mlx5dv_devx_obj::Receives, moveToReceives},
             {0x504, mlx5dv_devx_obj::Receives, mlx5dv_devx_obj::Sends, moveToSends}};

}  // namespace

extern "C" {

bool mlx5dv_is_supported(ibv_device *) {
  return true;
}

ibv_context *mlx5dv_open_device(ibv_device *device, mlx5dv_context_attr *attr) {
  if (attr->flags != MLX5DV_CONTEXT_FLAGS_DEVX || attr->comp_mask) wrong("opened without DevX");
  ibv_context *context = ibv_open_device(device);
  std::lock_guard guard(verbs_exp::process().told);
  verbs_exp::process().others = tell;
  return context;
}

int mlx5dv_init_obj(mlx5dv_obj *obj, uint64_t kind) {
  if (kind != MLX5DV_OBJ_PD) wrong("asked for the inside of an object of kind %d", int(kind));
  std::lock_guard guard(all.mutex);
  uint32_t &number = all.domains[obj->pd.in];
  if (!number) number = ++all.last;
  obj->pd.out->pdn = number;
  return 0;
}

int mlx5dv_devx_general_cmd(ibv_context *context, const void *in, size_t inBytes, void *out,
                            size_t outBytes) {
  Command c(in, inBytes);
  c.expect(0x00, 16, 0x100, "opcode");
  c.expect(0x30, 16, 1, "op_mod");
  c.done("QUERY_HCA_CAP");
  if (outBytes != 4112) wrong("room for %zu bytes of capabilities", outBytes);
  const nbc_hca_facts &facts = self(context).facts;
  memset(out, 0, outBytes);
  uint8_t *capability = static_cast<uint8_t *>(out) + 16;
  capability[0x10] = capability[0x11] = static_cast<uint8_t>(facts.max_log_sq);
  capability[0x19] = static_cast<uint8_t>(facts.max_log_cq);
  capability[0x44] = 0x80;
  if (facts.waits & NBC_HCA_WAITS_CQ) capability[0x45] = 0x08;
  if (facts.waits & NBC_HCA_WAITS_DATA) capability[0xd1] = 0x10;
  mlx5_put16(capability + 0x52, static_cast<uint16_t>((facts.max_gather + 2) * MLX5_SEGMENT));
  mlx5_put16(capability + 0x56, static_cast<uint16_t>((facts.max_scatter + 1) * MLX5_SEGMENT));
  return 0;
}

mlx5dv_devx_umem *mlx5dv_devx_umem_reg(ibv_context *context, void *address, size_t bytes,
                                       uint32_t access) {
  if (access != IBV_ACCESS_LOCAL_WRITE) wrong("memory for queues with access %#x", access);
  std::lock_guard guard(all.mutex);
  auto *m = new Memory{{++all.last}, static_cast<uint8_t *>(address), bytes, context};
  all.memories[m->face.umem_id] = m;
  return &m->face;
}

int mlx5dv_devx_umem_dereg(mlx5dv_devx_umem *face) {
  std::lock_guard guard(all.mutex);
  all.memories.erase(face->umem_id);
  delete reinterpret_cast<Memory *>(face);
  return 0;
}

mlx5dv_devx_uar *mlx5dv_devx_alloc_uar(ibv_context *context, uint32_t kind) {
  if (kind != MLX5DV_UAR_ALLOC_TYPE_NC) wrong("a page of doorbells of kind %u", kind);
  std::lock_guard guard(all.mutex);
  for (const auto &[number, page] : all.pages)
    if (page->context == context)
      wrong("a second page of doorbells: queues that wait for CQs or start queues share one");
  auto *page = new Page(context, ++all.last);
  all.pages[page->face.page_id] = page;
  return &page->face;
}

void mlx5dv_devx_free_uar(mlx5dv_devx_uar *face) {
  Page *page;
  {
    std::lock_guard guard(all.mutex);
    page = all.pages.at(face->page_id);
    all.pages.erase(face->page_id);
    for (const auto &[number, m] : all.memories)
      if (m->context == page->context) wrong("memory %u is left when the device is closed", number);
    for (const auto *objects : {&all.lists, &all.pairs})
      for (const auto &[number, o] : *objects)
        if (o->context == page->context)
          wrong("queue %u is left when the device is closed", number);
  }
  delete page;
}

int mlx5dv_devx_query_eqn(ibv_context *, uint32_t vector, uint32_t *number) {
  if (vector) wrong("asked for vector %u", vector);
  *number = 7;
  return 0;
}

mlx5dv_devx_obj *mlx5dv_devx_obj_create(ibv_context *context, const void *in, size_t inBytes,
                                        void *out, size_t outBytes) {
  Command c(in, inBytes);
  const uint64_t opcode = c.take(0x00, 16);
  std::lock_guard guard(all.mutex);
  auto made = std::make_unique<mlx5dv_devx_obj>();
  made->context = context;
  int status = 0;
  switch (opcode) {
    case 0x400:
      made->kind = mlx5dv_devx_obj::Cq;
      status = createCq(context, c, made->number);
      break;
    case 0x90c:
      made->kind = mlx5dv_devx_obj::List;
      made->list = takeCreateList(c);
      checkDomain(made->list.domain);
      made->number = ++all.last;
      all.lists[made->number] = made.get();
      break;
    case 0x500:
      made->kind = mlx5dv_devx_obj::Pair;
      status = createPair(context, c, *made);
      if (!status) all.pairs[made->number] = made.get();
      break;
    default:
      wrong("command %#x makes nothing that is known", unsigned(opcode));
  }
  if (status) {
    errno = verbs_exp::errorOf(status);
    return nullptr;
  }
  answer(out, outBytes, made->number);
  return made.release();
}

int mlx5dv_devx_obj_modify(mlx5dv_devx_obj *o, const void *in, size_t inBytes, void *out,
                           size_t outBytes) {
  Command c(in, inBytes);
  const uint64_t opcode = c.take(0x00, 16);
  std::lock_guard guard(all.mutex);
  if (o->kind != mlx5dv_devx_obj::Pair) wrong("what is no queue pair is moved");
  c.expect(0x048, 24, o->number, "qpn");
  for (const auto &move : moves) {
    if (move.opcode != opcode) continue;
    if (o->state != move.from) wrong("queue pair %u is moved from state %d", o->number, o->state);
    const int error = move.move(*o, c);
    if (!error) o->state = move.to;
    answer(out, outBytes, 0);
    return error;
  }
  wrong("command %#x moves to no state that is known", unsigned(opcode));
}

int mlx5dv_devx_obj_destroy(mlx5dv_devx_obj *o) {
  nbc_hca *hca = adapterOf(o->context);
  std::lock_guard guard(all.mutex);
  if (o->kind == mlx5dv_devx_obj::Cq) {
    if (hca->ops->destroy_cq(hca, o->number)) wrong("a CQ is destroyed that is used");
  } else if (o->kind == mlx5dv_devx_obj::List) {
    for (const auto &[number, pair] : all.pairs)
      if (pair->receives == o) wrong("a list is destroyed that queue pair %u uses", number);
    all.lists.erase(o->number);
  } else {
    for (const auto &[number, page] : all.pages) page->remove(o->number);
    {
      std::lock_guard telling(told.mutex);
      told.of.erase(o->number);
    }
    hca->ops->destroy_qp(hca, o->number);
    all.pairs.erase(o->number);
  }
  delete o;
  return 0;
}

mlx5dv_devx_event_channel *mlx5dv_devx_create_event_channel(
    ibv_context *, mlx5dv_devx_create_event_channel_flags flags) {
  if (flags != MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA) wrong("events with data");
  auto *channel = new Channel{{eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)}, {}};
  return &channel->face;
}

void mlx5dv_devx_destroy_event_channel(mlx5dv_devx_event_channel *face) {
  auto *channel = reinterpret_cast<Channel *>(face);
  std::lock_guard guard(told.mutex);
  for (const auto &[number, whom] : told.of)
    if (whom.first == channel) wrong("queue pair %u tells a channel that is gone", number);
  close(face->fd);
  delete channel;
}

int mlx5dv_devx_subscribe_devx_event(mlx5dv_devx_event_channel *channel, mlx5dv_devx_obj *o,
                                     uint16_t bytes, uint16_t events[], uint64_t cookie) {
  if (o->kind != mlx5dv_devx_obj::Pair || bytes != 6 || events[0] != 0x05 || events[1] != 0x10 ||
      events[2] != 0x11)
    wrong("subscribed to other events than those of a queue pair that fails");
  std::lock_guard guard(told.mutex);
  told.of[o->number] = {reinterpret_cast<Channel *>(channel), cookie};
  return 0;
}

ssize_t mlx5dv_devx_get_event(mlx5dv_devx_event_channel *face, mlx5dv_devx_async_event_hdr *event,
                              size_t bytes) {
  auto *channel = reinterpret_cast<Channel *>(face);
  uint64_t one;
  if (read(face->fd, &one, sizeof one) != sizeof one) return -1;
  std::lock_guard guard(told.mutex);
  if (bytes < sizeof *event || channel->waiting.empty()) wrong("an event of %zu bytes", bytes);
  event->cookie = channel->waiting.front();
  channel->waiting.pop_front();
  return sizeof *event;
}

}  // extern "C"
