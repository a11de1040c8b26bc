// SPDX-License-Identifier: BSD-3-Clause
// events.c - what befalls a queue or the adapter without a completion, and whether a queue pair has
// failed.
//
// No thread sits on the descriptors: whoever asks whether a queue has failed takes in what has
// come, for all queues, once in some milliseconds. A queue pair that fails otherwise writes a
// completion, which is where CQs of one entry show it. CQs that may overrun do not fail, and others
// the runtime has not.

#include <errno.h>

#include "runtime/devx/adapter.h"
#include "runtime/verbs/glance.h"

// Events of queue pairs, by their numbers (Linux, include/linux/mlx5/device.h).
enum { WORK_QUEUE_BROKE = 0x05, REQUEST_INVALID = 0x10, ACCESS_REFUSED = 0x11 };

bool devx_watch(struct devx_adapter *a, struct devx_why *why) {
  errno = 0;
  a->channel =
      a->libraries.make_channel(a->context, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
  if (a->channel && make_nonblocking(a->channel->fd) && make_nonblocking(a->context->async_fd))
    return true;
  return devx_refuse(why, "does not tell of events: the kernel is too old (errno %d)", errno);
}

void devx_watch_no_more(struct devx_adapter *a) {
  if (a->channel) a->libraries.free_channel(a->channel);
}

bool devx_watch_qp(struct devx_adapter *a, struct devx_qp *qp) {
  uint16_t events[] = {WORK_QUEUE_BROKE, REQUEST_INVALID, ACCESS_REFUSED};
  const int error =
      a->libraries.subscribe(a->channel, qp->object, sizeof events, events, qp->number);
  if (error > 0) errno = error;
  return error == 0;
}

static void take_events(struct devx_adapter *a) {
  struct mlx5dv_devx_async_event_hdr event;
  while (a->libraries.next_event(a->channel, &event, sizeof event) >= (ssize_t)sizeof event) {
    struct devx_qp *qp = (struct devx_qp *)devx_find(&a->qps, (uint32_t)event.cookie);
    if (qp) atomic_store(&qp->failed, MLX5_CQE_SYNDROME_REMOTE_OP_ERR);
  }
  // After the adapter was removed there is nothing left to read from.
  if (errno == EIO || errno == ENODEV) atomic_store(&a->gone, 1);
  struct ibv_async_event of_adapter;
  while (a->libraries.get_event(a->context, &of_adapter) == 0) {
    if (of_adapter.event_type == IBV_EVENT_DEVICE_FATAL) atomic_store(&a->gone, 1);
    a->libraries.ack_event(&of_adapter);
  }
}

// Of a CQ with one entry, which is the latest; 0: no error.
static uint32_t error_in(const struct devx_cq *cq) {
  if (!cq->only) return 0;
  const uint8_t opcode = __atomic_load_n(&cq->only->op_own, __ATOMIC_ACQUIRE) >> 4;
  const bool is_error = opcode == MLX5_CQE_REQ_ERR || opcode == MLX5_CQE_RESP_ERR;
  return is_error ? __atomic_load_n(&cq->only->syndrome, __ATOMIC_RELAXED) : 0;
}

uint32_t devx_failed(struct nbc_hca *hca, uint32_t number) {
  struct devx_adapter *a = devx_adapter_of(hca);
  const struct devx_qp *qp = (const struct devx_qp *)devx_find(&a->qps, number);
  if (!qp) return 0;
  if (is_time_to_look(&a->looked)) take_events(a);
  if (atomic_load_explicit(&a->gone, memory_order_relaxed)) return MLX5_CQE_SYNDROME_REMOTE_OP_ERR;
  const uint32_t told = atomic_load_explicit(&qp->failed, memory_order_relaxed);
  if (told) return told;
  const uint32_t error = error_in(qp->cq[0]);
  return error ? error : error_in(qp->cq[1]);
}
