// SPDX-License-Identifier: BSD-3-Clause
// memory.cpp - protection domains and registrations.

#include "devices/verbs_exp/engine.h"

using namespace verbs_exp;

struct ibv_pd *ibv_alloc_pd(struct ibv_context *c) {
  Context &context = self(c);
  std::lock_guard guard(context.lock);
  context.domains.push_back(std::make_unique<ibv_pd>(ibv_pd{c, 0}));
  return context.domains.back().get();
}

int ibv_dealloc_pd(struct ibv_pd *pd) {
  Context &context = self(pd->context);
  std::lock_guard guard(context.lock);
  for (const auto &mr : context.regions)
    if (mr->pd == pd) return errno = EBUSY;
  for (const auto &qp : context.queuePairs)
    if (qp->pd == pd) return errno = EBUSY;
  return takeOut(context.domains, pd) ? 0 : errno = EINVAL;
}

/// Where a program asks for an address of its own, there is none but the memory's.
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *begin, size_t bytes, uint64_t address,
                                unsigned access) {
  constexpr unsigned known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                             IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  access &= ~unsigned{IBV_ACCESS_OPTIONAL_RANGE};  // hints: nothing depends on them
  if (access & ~known || address != reinterpret_cast<uintptr_t>(begin)) return refuse(EOPNOTSUPP);
  if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
      !(access & IBV_ACCESS_LOCAL_WRITE))
    return refuse(EINVAL);
  if (bytes == 0) return refuse(EINVAL);
  uint32_t rights = access & IBV_ACCESS_LOCAL_WRITE ? 0 : NBC_HCA_READ_ONLY;
  if (access & IBV_ACCESS_REMOTE_WRITE) rights |= NBC_HCA_REMOTE_WRITE;
  if (access & IBV_ACCESS_REMOTE_READ) rights |= NBC_HCA_REMOTE_READ;
  if (access & IBV_ACCESS_REMOTE_ATOMIC) rights |= NBC_HCA_REMOTE_ATOMIC;

  Context &context = self(pd->context);
  std::lock_guard guard(context.lock);
  auto mr = std::make_unique<ibv_mr>(ibv_mr{pd->context, pd, begin, bytes, 0, 0, 0});
  int status =
      context.hca->ops->register_memory(context.hca, begin, bytes, rights, &mr->lkey, &mr->rkey);
  if (status) return refuse(errorOf(status));
  mr->handle = mr->lkey;
  context.regions.push_back(std::move(mr));
  return context.regions.back().get();
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *begin, size_t bytes, int access) {
  return ibv_reg_mr_iova2(pd, begin, bytes, reinterpret_cast<uintptr_t>(begin),
                          static_cast<unsigned>(access));
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *begin, size_t bytes, uint64_t address,
                               int access) {
  return ibv_reg_mr_iova2(pd, begin, bytes, address, static_cast<unsigned>(access));
}

struct ibv_mr *ibv_exp_reg_mr(const struct ibv_exp_reg_mr_in *in) {
  if (in->comp_mask) return refuse(EINVAL);
  if (in->exp_access >> 32) return refuse(EOPNOTSUPP);
  return ibv_reg_mr_iova2(in->pd, in->addr, in->length, reinterpret_cast<uintptr_t>(in->addr),
                          static_cast<unsigned>(in->exp_access));
}

int ibv_dereg_mr(struct ibv_mr *mr) {
  Context &context = self(mr->context);
  std::lock_guard guard(context.lock);
  std::unique_ptr<ibv_mr> ended = takeOut(context.regions, mr);
  if (!ended) return errno = EINVAL;
  context.hca->ops->deregister_memory(context.hca, ended->lkey);
  return 0;
}
