// SPDX-License-Identifier: BSD-3-Clause
// events.c - asynchronous events: what befalls a queue or the adapter without a completion.
//
// No thread sits on the descriptor: whoever asks whether a queue has failed, or sleeps, takes in
// what has come, for all queues. libibverbs does not destroy a queue while an event of its is
// being looked at, so that is safe beside other threads.
//
// A port that goes down fails nothing here: if it comes back before the retries of what is under
// way are used up, calls go on; else these fail.

#include <errno.h>

#include "runtime/verbs/adapter.h"
#include "runtime/verbs/glance.h"

int watch_events(const struct rail *rail) {
  return make_nonblocking(rail->place.context->async_fd) ? 0 : NBC_ERROR_DEVICE;
}

static void take(struct adapter *a, const struct ibv_async_event *event) {
  switch ((int)event->event_type) {  // newer devices have more of them
    case IBV_EVENT_CQ_ERR:
      atomic_store(&((struct completions *)event->element.cq->cq_context)->failed, 1);
      break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      atomic_store(&((struct queue_pair *)event->element.qp->qp_context)->failed, 1);
      break;
    case IBV_EVENT_DEVICE_FATAL:
      atomic_store(&a->gone, 1);
      break;
    default:
      break;
  }
}

static void take_all(struct adapter *a, const struct rail *rail) {
  struct ibv_async_event event;
  for (;;) {
    errno = 0;
    if (ibv_get_async_event(rail->place.context, &event)) break;
    take(a, &event);
    ibv_ack_async_event(&event);
  }
  // After the device was removed there is nothing left to read from.
  if (errno == EIO || errno == ENODEV) atomic_store(&a->gone, 1);
}

void take_events(struct adapter *a) {
  for (uint32_t i = 0; i < a->rail_count; ++i) take_all(a, &a->rails[i]);
}

void glance_events(struct adapter *a) {
  if (is_time_to_look(&a->looked)) take_events(a);
}
