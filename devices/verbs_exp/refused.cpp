// SPDX-License-Identifier: BSD-3-Clause
// refused.cpp - what programs for verbs may call and the software HCA has not; they are told so.
//
// Whatever libibverbs has is there, so that a program links, and finds out what it cannot have when
// it asks for it: EOPNOTSUPP, as rdma-core says of what a provider lacks.

#include <cstring>

#include "devices/verbs_exp/engine.h"

namespace verbs_exp {

namespace {

int refused() {
  return errno = EOPNOTSUPP;
}

ibv_mw *allocateWindow(ibv_pd *, ibv_mw_type) {
  return refuse(EOPNOTSUPP);
}
int bindWindow(ibv_qp *, ibv_mw *, ibv_mw_bind *) {
  return refused();
}
int freeWindow(ibv_mw *) {
  return refused();
}
int postShared(ibv_srq *, ibv_recv_wr *wr, ibv_recv_wr **bad) {
  if (bad) *bad = wr;
  return refused();
}

ibv_context_ops refusing() {
  ibv_context_ops ops = {};
  ops.alloc_mw = allocateWindow;
  ops.bind_mw = bindWindow;
  ops.dealloc_mw = freeWindow;
  ops.poll_cq = poll;
  ops.req_notify_cq = arm;
  ops.post_srq_recv = postShared;
  ops.post_send = postSend;
  ops.post_recv = postReceive;
  return ops;
}

}  // namespace

const ibv_context_ops contextOps = refusing();

}  // namespace verbs_exp

using namespace verbs_exp;

// Completion queues are as long as they were made.
int ibv_resize_cq(struct ibv_cq *, int) {
  return refused();
}

// Shared receive queues.
struct ibv_srq *ibv_create_srq(struct ibv_pd *, struct ibv_srq_init_attr *) {
  return refuse(EOPNOTSUPP);
}
int ibv_modify_srq(struct ibv_srq *, struct ibv_srq_attr *, int) {
  return refused();
}
int ibv_query_srq(struct ibv_srq *, struct ibv_srq_attr *) {
  return refused();
}
int ibv_destroy_srq(struct ibv_srq *) {
  return refused();
}

// Datagrams, and whom they go to.
struct ibv_ah *ibv_create_ah(struct ibv_pd *, struct ibv_ah_attr *) {
  return refuse(EOPNOTSUPP);
}
struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *, struct ibv_wc *, struct ibv_grh *, uint8_t) {
  return refuse(EOPNOTSUPP);
}
int ibv_init_ah_from_wc(struct ibv_context *, uint8_t, struct ibv_wc *, struct ibv_grh *,
                        struct ibv_ah_attr *) {
  return refused();
}
int ibv_destroy_ah(struct ibv_ah *) {
  return refused();
}
int ibv_attach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t) {
  return refused();
}
int ibv_detach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t) {
  return refused();
}
int ibv_resolve_eth_l2_from_gid(struct ibv_context *, struct ibv_ah_attr *, uint8_t[6],
                                uint16_t *) {
  return refused();
}

// Registrations that change, or are of other memory than the process's own.
int ibv_rereg_mr(struct ibv_mr *, int, struct ibv_pd *, void *, size_t, int) {
  errno = EOPNOTSUPP;
  return IBV_REREG_MR_ERR_INPUT;
}
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *, uint64_t, size_t, uint64_t, int, int) {
  return refuse(EOPNOTSUPP);
}

// Objects of other processes'.
struct ibv_context *ibv_import_device(int) {
  return refuse(EOPNOTSUPP);
}
struct ibv_pd *ibv_import_pd(struct ibv_context *, uint32_t) {
  return refuse(EOPNOTSUPP);
}
void ibv_unimport_pd(struct ibv_pd *) {}
struct ibv_mr *ibv_import_mr(struct ibv_pd *, uint32_t) {
  return refuse(EOPNOTSUPP);
}
void ibv_unimport_mr(struct ibv_mr *) {}
struct ibv_dm *ibv_import_dm(struct ibv_context *, uint32_t) {
  return refuse(EOPNOTSUPP);
}
void ibv_unimport_dm(struct ibv_dm *) {}

// Queue pairs with other ways to post.
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *) {
  return refuse(EOPNOTSUPP);
}
int ibv_query_qp_data_in_order(struct ibv_qp *, enum ibv_wr_opcode, uint32_t) {
  return 0;  // not promised
}
int ibv_set_ece(struct ibv_qp *, struct ibv_ece *) {
  return refused();
}
int ibv_query_ece(struct ibv_qp *, struct ibv_ece *ece) {
  memset(ece, 0, sizeof *ece);  // no options were agreed on
  return 0;
}

// Memory is read and written by the process itself, so that a fork harms none.
int ibv_fork_init(void) {
  return 0;
}
enum ibv_fork_status ibv_is_fork_initialized(void) {
  return IBV_FORK_UNNEEDED;
}

// What a program that is linked with providers names; here there is one.
extern "C" void ibv_static_providers(void *, ...) {}
