// SPDX-License-Identifier: BSD-3-Clause
// sci_create.c - the lanes of a plan: slots, DMA queues, and all taken down.
//
// How many slots a lane has follows from how many messages a call sends to a peer at most, and
// receives from it, and how many calls may be under way (nbc/sci_segment.h); as few as make the
// segment fit into slot_memory. Both ends find out what the other has, and use the lesser number.

#include <stdlib.h>

#include "runtime/src/sci.h"

enum { ABORT_MS = 1000 };

// --- lanes ---

static int size_lanes(struct sci *v) {
  const nbc_plan *plan = v->plan;
  struct traffic *t = messages_traffic(plan);
  struct nbc_sci_traffic *all =
      (struct nbc_sci_traffic *)calloc((size_t)v->lane_count + 1, sizeof *all);
  for (uint32_t i = 0; i < v->lane_count && t && all; ++i)
    all[i] = (struct nbc_sci_traffic){t[i].sends * plan->depth, t[i].receives * plan->depth};
  const bool there = t && all;
  const uint32_t limit =
      there ? nbc_sci_limit(all, v->lane_count, v->slot_bytes, plan->slot_memory) : 0;
  for (uint32_t i = 0; i < v->lane_count && there; ++i) {
    struct sci_lane *l = &v->lanes[i];
    l->slots_in = nbc_sci_slots(all[i].receives, limit);
    l->slots_out = nbc_sci_slots(all[i].sends, limit);
    l->area = nbc_sci_area_of(l->slots_in, v->slot_bytes);
    l->area_at = v->bytes;
    v->bytes += l->area.bytes;
  }
  free(t);
  free(all);
  return there ? 0 : NBC_ERROR_MEMORY;
}

static int make_lanes(struct sci *v) {
  struct messages *s = messages_of(v->plan);
  const struct tables *t = &v->plan->tables;
  for (uint32_t i = 0; i < v->lane_count; ++i) {
    v->lanes[i] = (struct sci_lane){.of = v, .index = i, .rank = t->peers[i], .broken = true};
    s->lanes[i] = (struct lane){&sci_lane_ops, &v->lanes[i], t->peers[i], i};
  }
  int status = size_lanes(v);
  if (status) return status;
  uint64_t slots = 0;
  for (uint32_t i = 0; i < v->lane_count; ++i) {
    struct sci_lane *l = &v->lanes[i];
    l->staging_at = v->bytes;
    v->bytes += (uint64_t)l->slots_out * v->slot_bytes;
    slots += l->slots_out;
  }
  v->bytes = nbc_sci_round(v->bytes, NBC_SCI_PAGE);
  // A vector's offsets have 32 bits.
  if (v->bytes > UINT32_MAX) return NBC_ERROR_RESOURCES;
  v->out = (struct sci_slot *)calloc(slots + 1, sizeof *v->out);
  if (!v->out) return NBC_ERROR_MEMORY;
  struct sci_slot *out = v->out;
  for (uint32_t i = 0; i < v->lane_count; out += v->lanes[i++].slots_out) v->lanes[i].out = out;
  v->plan->queue_bytes += v->bytes + slots * sizeof *v->out;
  return 0;
}

// --- DMA ---

static int make_queue(struct sci *v, struct sci_queue *q) {
  sci_error_t error = SCI_ERR_OK;
  q->vector = (dis_dma_vec_t *)calloc(v->device->facts.vector, sizeof *q->vector);
  if (!q->vector) return NBC_ERROR_MEMORY;
  v->api->SCIOpen(&q->descriptor, 0, &error);
  if (error != SCI_ERR_OK) {
    q->descriptor = NULL;
    return NBC_ERROR_RESOURCES;
  }
  v->api->SCICreateDMAQueue(q->descriptor, &q->queue, v->device->adapter, 1,
                            v->device->facts.engine, &error);
  if (error == SCI_ERR_OK) return 0;
  q->queue = NULL;
  return NBC_ERROR_RESOURCES;
}

static void remove_queue(const struct nbc_sci_api *api, struct sci_queue *q) {
  sci_error_t error = SCI_ERR_OK;
  int tries = 0;
  if (q->queue && api->SCIDMAQueueState(q->queue) == SCI_DMAQUEUE_POSTED) {
    api->SCIAbortDMAQueue(q->queue, 0, &error);
    api->SCIWaitForDMAQueue(q->queue, ABORT_MS, 0, &error);
  }
  if (q->queue) {
    do api->SCIRemoveDMAQueue(q->queue, 0, &error);
    while (sci_busy_yet(error, &tries));
  }
  if (q->descriptor) api->SCIClose(q->descriptor, 0, &error);
  free(q->vector);
  *q = (struct sci_queue){0};
}

// The least that goes by DMA. Whoever opened the device has the first word.
static uint64_t dma_bytes_of(const struct nbc_sci_facts *f, enum nbc_transfer wanted) {
  switch (f->transfer ? f->transfer : wanted) {
    case NBC_TRANSFER_PIO:
      return UINT64_MAX;
    case NBC_TRANSFER_DMA:
      return 0;
    default:
      return f->dma_bytes;
  }
}

// As many as the adapter gives, and no more than there are peers to send to. Without any, messages
// go by PIO, but where DMA was asked for.
static int make_queues(struct sci *v) {
  const struct nbc_sci_facts *f = &v->device->facts;
  uint32_t wanted = 0;
  for (uint32_t i = 0; i < v->lane_count; ++i) wanted += v->lanes[i].slots_out > 0;
  if (wanted > f->queues) wanted = f->queues;
  if (v->dma_bytes == UINT64_MAX || f->vector == 0) wanted = 0;
  v->queues = (struct sci_queue *)calloc((size_t)wanted + 1, sizeof *v->queues);
  if (!v->queues) return NBC_ERROR_MEMORY;
  int status = 0;
  while (v->queue_count < wanted && !status) {
    status = make_queue(v, &v->queues[v->queue_count]);
    if (!status)
      ++v->queue_count;
    else
      remove_queue(v->api, &v->queues[v->queue_count]);
  }
  return status == NBC_ERROR_RESOURCES && (v->queue_count || v->dma_bytes) ? 0 : status;
}

// --- the plan ---

static int make_all(struct sci *v) {
  struct messages *s = messages_of(v->plan);
  const size_t messages = (size_t)v->plan->depth * s->most;
  const struct nbc_sci_facts *f = &v->device->facts;
  // Slots follow each other as DMA can write them, and no word of another line is in one.
  const uint64_t align = f->align > NBC_SCI_LINE ? f->align : NBC_SCI_LINE;
  v->slot_bytes = (uint32_t)nbc_sci_round(v->plan->eager_bytes, align);
  v->first = v->plan->first_cq_index << 8;  // of 24 bits, so that 2^24 - 1 wraps soon
  v->lanes = (struct sci_lane *)calloc(v->lane_count, sizeof *v->lanes);
  v->under_way = (struct sci_message *)calloc(messages + 1, sizeof *v->under_way);
  if (!v->lanes || !v->under_way) return NBC_ERROR_MEMORY;
  v->plan->queue_bytes += messages * sizeof *v->under_way + v->lane_count * sizeof *v->lanes;
  int status = make_lanes(v);
  if (!status) status = sci_export(v);
  return status ? status : make_queues(v);
}

int sci_create(nbc_plan *plan) {
  int status = messages_create(plan, plan->tables.header->peers.count);
  if (status || plan->tables.header->peers.count == 0) return status;
  struct messages *s = messages_of(plan);
  struct sci *v = (struct sci *)calloc(1, sizeof *v);
  if (!v) return NBC_ERROR_MEMORY;
  s->own = v;
  s->settle = sci_settle;
  v->plan = plan;
  v->bell = -1;
  v->device = sci_device(plan);
  v->api = v->device->api;
  v->lane_count = plan->tables.header->peers.count;
  v->dma_bytes = dma_bytes_of(&v->device->facts, plan->transfer);
  if (v->dma_bytes == 0 && v->device->facts.vector == 0) {
    plan->why = "the adapter has no DMA";
    return NBC_ERROR_UNSUPPORTED;
  }
  if (v->lane_count > 1) s->others = sci_others;
  sci_sweep();
  status = make_all(v);
  return status ? status : messages_publish(plan);
}

void sci_destroy(nbc_plan *plan) {
  struct sci *v = sci_of(plan);
  if (v) {
    for (uint32_t i = 0; v->queues && i < v->queue_count; ++i) remove_queue(v->api, &v->queues[i]);
    for (uint32_t i = 0; v->lanes && i < v->lane_count; ++i) sci_leave(&v->lanes[i]);
    sci_withdraw(v);
    free(v->queues);
    free(v->lanes);
    free(v->out);
    free(v->under_way);
    free(v);
  }
  messages_destroy(plan);
}
