// SPDX-License-Identifier: BSD-3-Clause
// process.cpp - the device is found, opened and closed; the process takes its place among others.
//
// All contexts of a process share a fabric: one thread executes, and one LID reaches it. LIDs are
// tried from a random one on, so that one that was given up is not soon somebody else's.
//
//   NBC_HCA_DEVICE=connectx5   whose facts the device has (nbc/hca_devices.def) [soft]
//   NBC_HCA_SEED=7             against the program, by this seed (devices/hca/hca.h)

#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "devices/verbs_exp/engine.h"

namespace verbs_exp {

namespace {

constexpr uint16_t lids = 0xbfff;  // unicast; 0 is none

ibv_device theDevice() {
  ibv_device d = {};
  d.node_type = IBV_NODE_CA;
  d.transport_type = IBV_TRANSPORT_IB;
  strcpy(d.name, "mlx5_soft0");  // programs take what begins with "mlx"
  strcpy(d.dev_name, "uverbs0");
  return d;
}
ibv_device device = theDevice();

/// Null, and errno, where it cannot be.
std::unique_ptr<hca::Fabric> begin(uint16_t &lid) {
  hca::Options options;
  const char *why;
  if (!complete(nullptr, options, why)) {
    fprintf(stderr, "verbs: %s\n", why);  // a program has an errno, and a person wants to know
    return refuse(EINVAL);
  }
  options.told = takeNotice;
  uint16_t first;
  if (getrandom(&first, sizeof first, 0) != sizeof first) return nullptr;
  for (uint32_t i = 0; i < lids; ++i) {
    lid = options.lid = static_cast<uint16_t>((first + i) % lids + 1);
    try {
      return std::make_unique<hca::Fabric>(options);
    } catch (const std::system_error &e) {
      if (e.code().value() != EADDRINUSE) return refuse(e.code().value());
    }
  }
  return refuse(EADDRINUSE);
}

/// A receive is seen before its sender has been answered. Who then ends at once ends here first:
/// the thread has finished its turn when the lock is free.
struct AtExit {
  ~AtExit() {
    Process &p = process();
    std::unique_lock guard(p.mutex, std::try_to_lock);
    if (guard && p.fabric && p.pid == getpid()) p.fabric->counters();
  }
} atExit;

}  // namespace

Process &process() {
  static Process *const only = new Process;
  return *only;
}

Context::~Context() {
  for (const auto &channel : channels) close(channel->fd);
  if (async_fd >= 0) close(async_fd);
}

int errorOf(int status) {
  switch (status) {
    case NBC_OK:
      return 0;
    case NBC_ERROR_ARGUMENT:
      return EINVAL;
    case NBC_ERROR_BUSY:
      return EBUSY;
    case NBC_ERROR_DEVICE:
      return EHOSTUNREACH;
    case NBC_ERROR_RESOURCES:
      return ENOSPC;
    default:
      return ENOMEM;
  }
}

}  // namespace verbs_exp

using namespace verbs_exp;

struct ibv_device **ibv_get_device_list(int *count) {
  auto **list = static_cast<ibv_device **>(calloc(2, sizeof(ibv_device *)));
  if (count) *count = list ? 1 : 0;
  if (!list) return refuse(ENOMEM);
  list[0] = &device;
  return list;
}

void ibv_free_device_list(struct ibv_device **list) {
  free(list);
}

const char *ibv_get_device_name(struct ibv_device *d) {
  return d->name;
}

int ibv_get_device_index(struct ibv_device *) {
  return -1;  // the kernel has none
}

struct ibv_context *ibv_open_device(struct ibv_device *d) {
  if (d != &device) return refuse(ENODEV);
  Process &p = process();
  std::lock_guard guard(p.mutex);
  if (p.fabric && p.pid != getpid()) {
    // The parent's: its thread is not here, nor are its peers ours.
    p.fabric.release();
    for (auto &context : p.contexts) context.release();
    p.contexts.clear();
    p.completionQueues.clear();
    p.queuePairs.clear();
  }
  if (!p.fabric) {
    p.fabric = begin(p.lid);
    if (!p.fabric) return nullptr;
    p.pid = getpid();
  }

  auto context = std::make_unique<Context>();
  context->device = d;
  context->ops = contextOps;
  context->cmd_fd = -1;
  context->num_comp_vectors = 1;
  pthread_mutex_init(&context->mutex, nullptr);
  context->async_fd = context->asynchronous.file = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  if (context->async_fd < 0) return nullptr;
  context->hca = p.fabric->addAdapter();
  context->hca->ops->facts(context->hca, &context->facts);
  p.contexts.push_back(std::move(context));
  return p.contexts.back().get();
}

int ibv_close_device(struct ibv_context *c) {
  Process &p = process();
  std::unique_ptr<hca::Fabric> ended;  // its thread is waited for without the lock
  std::lock_guard guard(p.mutex);
  std::unique_ptr<Context> context = takeOut(p.contexts, &self(c));
  if (!context) return errno = EINVAL;
  {
    std::lock_guard looking(p.told);
    for (const auto &cq : context->completionQueues) p.completionQueues.erase(cq->ring.number);
    for (const auto &qp : context->queuePairs) p.queuePairs.erase(qp->qp_num);
  }
  p.fabric->removeAdapter(context->hca);
  if (p.contexts.empty()) ended = std::move(p.fabric);
  return 0;
}
