// SPDX-License-Identifier: BSD-3-Clause
// mpi.c - target mpi: messages over a p2p device, be it an MPI or software.
//
// All messages of a plan have one tag, the plan's number on its communicator, which is the same
// on all ranks and never used again: what an abandoned plan has left behind can meet no
// other's receives. When tags run out, no more plans are made (NBC_ERROR_RESOURCES, on all
// ranks alike); a new communicator begins anew.

#include "runtime/src/messages.h"

static struct nbc_p2p *device_of(const struct lane *lane) {
  return (struct nbc_p2p *)lane->device;
}

static void *memory_of(const struct message *m) {
  return m->bytes ? (void *)(uintptr_t)m->address : NULL;
}

static int post_send(const struct lane *lane, struct message *m) {
  struct nbc_p2p *p2p = device_of(lane);
  return p2p->ops->send(p2p, memory_of(m), m->bytes, lane->rank, lane->number, &m->handle);
}

static int post_receive(const struct lane *lane, struct message *m) {
  struct nbc_p2p *p2p = device_of(lane);
  return p2p->ops->receive(p2p, memory_of(m), m->bytes, lane->rank, lane->number, &m->handle);
}

static int test(const struct lane *lane, struct message *m) {
  struct nbc_p2p *p2p = device_of(lane);
  return p2p->ops->test(p2p, &m->handle);
}

static int forget(const struct lane *lane, struct message *m) {
  struct nbc_p2p *p2p = device_of(lane);
  return p2p->ops->forget(p2p, &m->handle, m->sent);
}

static const struct lane_ops lane_ops = {
    .send = post_send,
    .receive = post_receive,
    .test = test,
    .forget = forget,
};

static struct nbc_p2p *device(const nbc_plan *plan) {
  return plan->on ? (struct nbc_p2p *)plan->on->device : NULL;
}

int p2p_lane(const nbc_plan *plan, struct nbc_p2p *p2p, uint32_t rank, struct lane *lane) {
  if (plan->number > p2p->largest_tag) return NBC_ERROR_RESOURCES;
  *lane = (struct lane){&lane_ops, p2p, rank, plan->number};
  return 0;
}

static int create(nbc_plan *plan) {
  int status = messages_create(plan, plan->tables.header->peers.count);
  for (uint32_t i = 0; i < plan->tables.header->peers.count && !status; ++i)
    status = p2p_lane(plan, device(plan), plan->tables.peers[i], &messages_of(plan)->lanes[i]);
  return status ? status : messages_publish(plan);
}

static bool sleep_a_while(nbc_plan *plan) {
  struct nbc_p2p *p2p = device(plan);
  if (p2p) p2p->ops->sleep(p2p, 1000000);
  return true;
}

static bool always(const nbc_plan *plan) {
  (void)plan;
  return true;
}

static uint64_t longest(const nbc_plan *plan) {
  return plan->on ? device(plan)->longest : INT64_MAX;
}

const struct target mpi = {
    .name = NBC_P2P_TARGET,
    .host_waits = true,
    .leaves_memory = true,
    .longest = longest,
    .check = messages_check,
    .create = create,
    .connect = messages_connect,
    .reachable = always,
    .keep_warm = messages_keep_warm,
    .prepare = messages_prepare,
    .admit = messages_admit,
    .begin = messages_begin,
    .enable = messages_enable,
    .poll = messages_poll,
    .lingers = messages_linger,
    .complete = messages_complete,
    .failed = messages_failed,
    .glance = messages_failed,
    .sleep = sleep_a_while,
    .destroy = messages_destroy,
};
