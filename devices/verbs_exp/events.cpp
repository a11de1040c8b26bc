// SPDX-License-Identifier: BSD-3-Clause
// events.cpp - completion channels, and what happens to queues otherwise.
//
// An event is an entry of a list, and one unit of an eventfd, which is what a program polls. Who
// ends a queue is held up until it has acknowledged what it was told of it, as verbs have it, and
// what it was not told yet is dropped.

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "devices/verbs_exp/engine.h"

namespace verbs_exp {

template <class Event>
void Events<Event>::put(const Event &event) {
  std::lock_guard guard(mutex);
  waiting.push_back(event);
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(file, &one, sizeof one);
}

template <class Event>
bool Events<Event>::take(Event &event) {
  for (;;) {
    uint64_t one;
    if (read(file, &one, sizeof one) != sizeof one) return false;
    std::lock_guard guard(mutex);
    if (waiting.empty()) continue;  // it was dropped meanwhile
    event = waiting.front();
    waiting.pop_front();
    return true;
  }
}

template <class Event>
template <class Which>
void Events<Event>::drop(Which which) {
  std::lock_guard guard(mutex);
  for (size_t gone = std::erase_if(waiting, which); gone; --gone) {
    pollfd readable = {file, POLLIN, 0};
    uint64_t one;
    if (::poll(&readable, 1, 0) == 1) [[maybe_unused]]
      ssize_t taken = read(file, &one, sizeof one);
  }
}

namespace {

bool isOfCq(const ibv_async_event &e) {
  return e.event_type == IBV_EVENT_CQ_ERR;
}

/// Until `done` of the object is what the program was told.
void await(pthread_mutex_t &mutex, pthread_cond_t &changed, const uint32_t &done,
           const uint32_t &told) {
  pthread_mutex_lock(&mutex);
  while (done != told) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

void acknowledge(pthread_mutex_t &mutex, pthread_cond_t &changed, uint32_t &done, uint32_t more) {
  pthread_mutex_lock(&mutex);
  done += more;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

void count(pthread_mutex_t &mutex, uint32_t &told) {
  pthread_mutex_lock(&mutex);
  ++told;
  pthread_mutex_unlock(&mutex);
}

}  // namespace

/// By the fabric's thread, which must not be held up.
void takeNotice(const hca::Notice &notice) {
  Process &p = process();
  std::lock_guard guard(p.told);
  const bool solicited = notice.kind == hca::Notice::SolicitedEntry;
  const bool entry = notice.kind == hca::Notice::Entry || solicited;
  const bool ofCq = entry || notice.kind == hca::Notice::CqOverrun;
  ibv_async_event event = {};
  if (ofCq) {
    auto found = p.completionQueues.find(notice.number);
    if (found == p.completionQueues.end()) return;
    Cq &cq = *found->second;
    if (entry) {
      if (cq.armed == Armed::no || (cq.armed == Armed::solicited && !solicited)) return;
      cq.armed = Armed::no;
      if (cq.channel) static_cast<Channel *>(cq.channel)->events.put(&cq);
      return;
    }
    event.element.cq = &cq;
    event.event_type = IBV_EVENT_CQ_ERR;
    self(cq.context).asynchronous.put(event);
    return;
  }
  auto found = p.queuePairs.find(notice.number);
  if (found == p.queuePairs.end()) {
    if (p.others) p.others(notice);
    return;
  }
  event.element.qp = found->second;
  event.event_type = notice.kind == hca::Notice::QpFatal    ? IBV_EVENT_QP_FATAL
                     : notice.kind == hca::Notice::QpAccess ? IBV_EVENT_QP_ACCESS_ERR
                                                            : IBV_EVENT_QP_REQ_ERR;
  self(found->second->context).asynchronous.put(event);
}

void forget(Cq &cq) {
  Process &p = process();
  {
    std::lock_guard guard(p.told);
    p.completionQueues.erase(cq.ring.number);
  }
  if (cq.channel)
    static_cast<Channel *>(cq.channel)->events.drop([&](const Cq *c) { return c == &cq; });
  self(cq.context).asynchronous.drop([&](const ibv_async_event &e) {
    return isOfCq(e) && e.element.cq == &cq;
  });
  await(cq.mutex, cq.cond, cq.comp_events_completed, cq.events);
  await(cq.mutex, cq.cond, cq.async_events_completed, cq.asyncEvents);
}

void forget(Qp &qp) {
  Process &p = process();
  {
    std::lock_guard guard(p.told);
    p.queuePairs.erase(qp.qp_num);
  }
  self(qp.context).asynchronous.drop([&](const ibv_async_event &e) {
    return !isOfCq(e) && e.element.qp == &qp;
  });
  await(qp.mutex, qp.cond, qp.events_completed, qp.asyncEvents);
}

}  // namespace verbs_exp

using namespace verbs_exp;

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c) {
  auto channel = std::make_unique<Channel>();
  channel->context = c;
  channel->fd = channel->events.file = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  channel->refcnt = 0;
  if (channel->fd < 0) return nullptr;
  Context &context = self(c);
  std::lock_guard guard(context.lock);
  context.channels.push_back(std::move(channel));
  return context.channels.back().get();
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *c) {
  Context &context = self(c->context);
  std::lock_guard guard(context.lock);
  if (c->refcnt) return errno = EBUSY;
  std::unique_ptr<Channel> channel = takeOut(context.channels, static_cast<Channel *>(c));
  if (!channel) return errno = EINVAL;
  close(channel->fd);
  return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *c, struct ibv_cq **cq, void **said) {
  Cq *of;
  if (!static_cast<Channel *>(c)->events.take(of)) return -1;
  count(of->mutex, of->events);
  *cq = of;
  *said = of->cq_context;
  return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned events) {
  if (events) acknowledge(cq->mutex, cq->cond, cq->comp_events_completed, events);
}

int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *event) {
  if (!self(c).asynchronous.take(*event)) return -1;
  if (isOfCq(*event))
    count(event->element.cq->mutex, self(event->element.cq).asyncEvents);
  else
    count(event->element.qp->mutex, self(event->element.qp).asyncEvents);
  return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event) {
  if (isOfCq(*event)) {
    ibv_cq *cq = event->element.cq;
    acknowledge(cq->mutex, cq->cond, cq->async_events_completed, 1);
  } else {
    ibv_qp *qp = event->element.qp;
    acknowledge(qp->mutex, qp->cond, qp->events_completed, 1);
  }
}
