// SPDX-License-Identifier: BSD-3-Clause
// queues.c - completion queues and queue pairs: made, destroyed.
//
// What a queue pair's memory holds:
//
//   receives in it    receives | sends | doorbell record
//   in a list of its  list, to a whole page | sends | doorbell record
//
// The list (RMP) is what shared receive queues of libibverbs are made of, and queue pairs that have
// one leave its receives alone when they fail. An entry of it begins with the index of the next
// one; here these lead round once and for all, so that the list is a ring. The last of them is
// never posted, as the adapter goes on from the index that it has read. List and queue pair look at
// one half each of the same doorbell record.

#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "runtime/devx/adapter.h"

enum {
  RNR_TIMER = 12,  // 0.64 ms
  ENTRY = sizeof(struct mlx5_cqe64),
  LINK = sizeof(struct mlx5_wqe_srq_next_seg),  // in front of a list's entry
  RECORD = 8,
  PAGE = 4096,  // that offsets are a multiple of
  SEND = 0,
  RECEIVE = 1  // of cq[]
};

int devx_status_of(int error) {
  switch (error) {
    case ENOMEM:
      return NBC_ERROR_MEMORY;
    case ENOSPC:
    case EAGAIN:
      return NBC_ERROR_RESOURCES;
    default:
      return NBC_ERROR_DEVICE;
  }
}

static struct mlx5dv_devx_obj *create(struct devx_adapter *a, const uint8_t *command,
                                      uint32_t *number) {
  uint8_t reply[DEVX_REPLY_BYTES] = {0};
  errno = 0;
  struct mlx5dv_devx_obj *made =
      a->libraries.create(a->context, command, DEVX_COMMAND_BYTES, reply, sizeof reply);
  *number = devx_number(reply);
  return made;
}

bool devx_modify(struct devx_adapter *a, const struct devx_qp *qp, const uint8_t *command) {
  uint8_t reply[DEVX_REPLY_BYTES] = {0};
  const int error =
      a->libraries.modify(qp->object, command, DEVX_COMMAND_BYTES, reply, sizeof reply);
  if (error > 0) errno = error;
  return error == 0;
}

// --- completion queues ---

static void free_cq(struct devx_adapter *a, void *what) {
  struct devx_cq *cq = (struct devx_cq *)what;
  if (cq->object) a->libraries.destroy(cq->object);
  devx_give_memory(a, &cq->memory);
  free(cq);
}

static bool make_cq(struct devx_adapter *a, struct devx_cq *cq, uint32_t log, uint32_t flags) {
  const size_t bytes = (size_t)ENTRY << log;
  if (!devx_take_memory(a, bytes + RECORD, &cq->memory)) return false;
  for (size_t i = offsetof(struct mlx5_cqe64, op_own); i < bytes; i += ENTRY)
    cq->memory.at[i] = MLX5_CQE_INVALID << 4 | MLX5_CQE_OWNER_MASK;
  const uint32_t umem = cq->memory.known->umem_id;
  const struct devx_cq_wish wish = {.log_entries = log,
                                    .page = a->page->page_id,
                                    .event_queue = a->event_queue,
                                    .overruns = flags & NBC_HCA_CQ_OVERRUN_IGNORE,
                                    .ring = {umem, 0},
                                    .record = {umem, bytes}};
  uint8_t command[DEVX_COMMAND_BYTES];
  devx_put_create_cq(command, &wish);
  cq->object = create(a, command, &cq->number);
  if (log == 0) cq->only = (const struct mlx5_err_cqe *)(void *)cq->memory.at;
  return cq->object;
}

int devx_create_cq(struct nbc_hca *hca, uint32_t log, uint32_t flags, struct nbc_hca_cq *out) {
  struct devx_adapter *a = devx_adapter_of(hca);
  if (log > a->facts.max_log_cq) return NBC_ERROR_RESOURCES;
  struct devx_cq *cq = (struct devx_cq *)calloc(1, sizeof *cq);
  if (!cq) return NBC_ERROR_MEMORY;
  int status = make_cq(a, cq, log, flags) ? 0 : devx_status_of(errno);
  if (!status && !devx_enter(&a->cqs, cq->number, cq)) status = NBC_ERROR_MEMORY;
  if (status) {
    free_cq(a, cq);
    return status;
  }
  *out = (struct nbc_hca_cq){
      .number = cq->number,
      .log_entries = log,
      .entries = cq->memory.at,
      .consumer = (volatile uint32_t *)(void *)(cq->memory.at + ((size_t)ENTRY << log))};
  return 0;
}

int devx_destroy_cq(struct nbc_hca *hca, uint32_t number) {
  struct devx_adapter *a = devx_adapter_of(hca);
  pthread_mutex_lock(&a->mutex);
  struct devx_cq *cq = (struct devx_cq *)devx_find(&a->cqs, number);
  const int status = !cq ? NBC_ERROR_ARGUMENT : cq->users ? NBC_ERROR_BUSY : 0;
  if (!status) devx_enter(&a->cqs, number, NULL);
  pthread_mutex_unlock(&a->mutex);
  if (!status) free_cq(a, cq);
  return status;
}

// --- queue pairs ---

// How its memory is cut.
struct layout {
  bool receives, list;
  uint32_t log_rq, log_stride;  // of receives in memory
  size_t sends, record, all;    // where they begin; bytes
};

static uint32_t log_of(uint32_t n) {
  uint32_t log = 0;
  while (1u << log < n) ++log;
  return log;
}

static struct layout lay_out(const struct nbc_hca_qp_request *want) {
  struct layout l = {.receives = want->log_rq != UINT32_MAX,
                     .list = want->flags & NBC_HCA_QP_SHARED_RECEIVES,
                     .log_stride = want->log_stride};
  if (!l.receives) {
    l.list = false;
  } else if (l.list) {
    l.log_stride = log_of(LINK + (1u << want->log_stride));
    l.log_rq = want->log_rq + 1;
    l.sends = (((size_t)1 << (l.log_rq + l.log_stride)) + PAGE - 1) / PAGE * PAGE;
  } else {  // sends begin with a basic block
    const uint32_t least = log_of(MLX5_SEND_WQE_BB);
    l.log_rq = want->log_rq + l.log_stride < least ? least - l.log_stride : want->log_rq;
    l.sends = (size_t)1 << (l.log_rq + l.log_stride);
  }
  l.record = l.sends + ((size_t)MLX5_SEND_WQE_BB << want->log_sq);
  l.all = l.record + RECORD;
  return l;
}

static bool make_list(struct devx_adapter *a, struct devx_qp *qp, const struct layout *l,
                      uint32_t *number) {
  for (uint32_t i = 0; i >> l->log_rq == 0; ++i) {
    struct mlx5_wqe_srq_next_seg *link =
        (struct mlx5_wqe_srq_next_seg *)(void *)(qp->memory.at + ((size_t)i << l->log_stride));
    link->next_wqe_index = htobe16((uint16_t)((i + 1) & ((1u << l->log_rq) - 1)));
  }
  const uint32_t umem = qp->memory.known->umem_id;
  const struct devx_receives_wish wish = {.log_entries = l->log_rq,
                                          .log_stride = l->log_stride,
                                          .domain = a->domain_number,
                                          .ring = {umem, 0},
                                          .record = {umem, l->record}};
  uint8_t command[DEVX_COMMAND_BYTES];
  devx_put_create_receives(command, &wish);
  qp->receives = create(a, command, number);
  return qp->receives;
}

static bool make_qp(struct devx_adapter *a, struct devx_qp *qp,
                    const struct nbc_hca_qp_request *want, const struct layout *l) {
  uint32_t list = 0;
  if (!devx_take_memory(a, l->all, &qp->memory)) return false;
  if (l->list && !make_list(a, qp, l, &list)) return false;
  const uint32_t umem = qp->memory.known->umem_id;
  const bool own = l->receives && !l->list;
  const struct devx_qp_wish wish = {.domain = a->domain_number,
                                    .page = a->page->page_id,
                                    .send_cq = qp->cq[SEND]->number,
                                    .recv_cq = qp->cq[RECEIVE]->number,
                                    .log_sq = want->log_sq,
                                    .log_rq = own ? l->log_rq : UINT32_MAX,
                                    .log_stride = l->log_stride,
                                    .receives = list,
                                    .master = want->flags & NBC_HCA_QP_CROSS_CHANNEL,
                                    .slave = want->flags & NBC_HCA_QP_MANAGED_SEND,
                                    .ring = {umem, l->list ? l->sends : 0},
                                    .record = {umem, l->record}};
  uint8_t command[DEVX_COMMAND_BYTES];
  devx_put_create_qp(command, &wish);
  qp->object = create(a, command, &qp->number);
  if (!qp->object || !devx_watch_qp(a, qp)) return false;
  // Receives are posted to it from now on.
  devx_put_init(command, qp->number, a->port.number);
  return devx_modify(a, qp, command);
}

// Not its CQs' users: those are counted under the mutex.
static void free_qp(struct devx_adapter *a, void *what) {
  struct devx_qp *qp = (struct devx_qp *)what;
  if (qp->object) a->libraries.destroy(qp->object);
  if (qp->receives) a->libraries.destroy(qp->receives);
  devx_give_memory(a, &qp->memory);
  free(qp);
}

static bool use_cqs(struct devx_adapter *a, struct devx_qp *qp,
                    const struct nbc_hca_qp_request *want) {
  pthread_mutex_lock(&a->mutex);
  qp->cq[SEND] = (struct devx_cq *)devx_find(&a->cqs, want->send_cq);
  qp->cq[RECEIVE] = (struct devx_cq *)devx_find(&a->cqs, want->recv_cq);
  const bool there = qp->cq[SEND] && qp->cq[RECEIVE];
  for (int side = SEND; side <= RECEIVE && there; ++side) ++qp->cq[side]->users;
  pthread_mutex_unlock(&a->mutex);
  return there;
}

static void release_cqs(struct devx_adapter *a, struct devx_qp *qp) {
  pthread_mutex_lock(&a->mutex);
  for (int side = SEND; side <= RECEIVE; ++side) --qp->cq[side]->users;
  pthread_mutex_unlock(&a->mutex);
}

static int possible(const struct devx_adapter *a, const struct nbc_hca_qp_request *want) {
  const bool receives = want->log_rq != UINT32_MAX;
  if (want->port || want->rnr_timer > 31 ||
      (receives && (want->log_stride < 4 || want->log_stride > 9)))
    return NBC_ERROR_ARGUMENT;
  if (want->log_sq > a->facts.max_log_sq || (receives && want->log_rq > a->facts.max_log_rq))
    return NBC_ERROR_RESOURCES;
  if (want->flags & NBC_HCA_QP_MANAGED_RECEIVES) return NBC_ERROR_UNSUPPORTED;  // nothing needs it
  const uint32_t counted = NBC_HCA_QP_CROSS_CHANNEL | NBC_HCA_QP_MANAGED_SEND;
  return want->flags & counted && !(a->facts.waits & NBC_HCA_WAITS_CQ) ? NBC_ERROR_UNSUPPORTED : 0;
}

int devx_create_qp(struct nbc_hca *hca, const struct nbc_hca_qp_request *want,
                   struct nbc_hca_qp *out) {
  struct devx_adapter *a = devx_adapter_of(hca);
  int status = possible(a, want);
  if (status) return status;
  struct devx_qp *qp = (struct devx_qp *)calloc(1, sizeof *qp);
  if (!qp) return NBC_ERROR_MEMORY;
  qp->rnr_timer = want->rnr_timer ? want->rnr_timer : RNR_TIMER;
  if (!use_cqs(a, qp, want)) {
    free(qp);
    return NBC_ERROR_ARGUMENT;
  }
  const struct layout l = lay_out(want);
  if (!make_qp(a, qp, want, &l))
    status = devx_status_of(errno);
  else if (!devx_enter(&a->qps, qp->number, qp))
    status = NBC_ERROR_MEMORY;
  if (status) {
    release_cqs(a, qp);
    free_qp(a, qp);
    return status;
  }
  *out = (struct nbc_hca_qp){.number = qp->number,
                             .log_sq = want->log_sq,
                             .log_rq = l.receives ? l.log_rq : UINT32_MAX,
                             .log_stride = l.log_stride,
                             .sq = qp->memory.at + l.sends,
                             .rq = l.receives ? qp->memory.at + (l.list ? LINK : 0) : NULL,
                             .doorbell = (volatile uint32_t *)(void *)(qp->memory.at + l.record)};
  return 0;
}

int devx_destroy_qp(struct nbc_hca *hca, uint32_t number) {
  struct devx_adapter *a = devx_adapter_of(hca);
  struct devx_qp *qp = (struct devx_qp *)devx_find(&a->qps, number);
  if (!qp) return NBC_ERROR_ARGUMENT;
  devx_enter(&a->qps, number, NULL);
  release_cqs(a, qp);
  free_qp(a, qp);
  return 0;
}

void devx_destroy_queues(struct devx_adapter *a) {
  devx_for_all(a, &a->qps, free_qp);
  devx_for_all(a, &a->cqs, free_cq);
  devx_free_table(&a->qps);
  devx_free_table(&a->cqs);
}
