// SPDX-License-Identifier: BSD-3-Clause
// service.cpp - the network's thread: it carries out DMA, calls back, and looks for the dead.
//
// In simulated time there is none; events do the same.

#include <algorithm>
#include <utility>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {
/// How often it looks for processes that have died; and, where an adversary holds stores back, lets
/// some of them go, as buffers of a CPU do.
constexpr std::chrono::milliseconds searchEvery{50}, seepEvery{1};
}  // namespace

void Network::notice(Object &object, std::function<sci_callback_action_t()> call) {
  if (!object.silent) notices.push_back({object.handle, std::move(call)});
}

bool Network::deliverNotices(std::unique_lock<std::mutex> &lock) {
  bool any = false;
  while (!notices.empty()) {
    Notice notice = std::move(notices.front());
    notices.pop_front();
    Object *object = library().handles.find(notice.handle);
    if (!object || object->silent) continue;
    object->calling = any = true;
    const int depth = std::exchange(inLibrary, 0);
    lock.unlock();
    const sci_callback_action_t action = notice.call();
    lock.lock();
    inLibrary = depth;
    object = library().handles.find(notice.handle);
    if (!object) continue;
    object->calling = false;
    object->silent = action == SCI_CALLBACK_CANCEL;
  }
  return any;
}

/// Whatever there may be to say wakes this process up.
void Network::lookAround() {
  const uint32_t woken = domain.processes[process].wake.load();
  if (woken == lookedAt_) return;
  lookedAt_ = woken;
  lookAtConnections();
  lookAtInterrupts();
}

/// Who has come to, or gone from, segments of this process; and whose segments have gone.
void Network::lookAtConnections() {
  library().handles.each<LocalSegment>([&](LocalSegment &segment) {
    if (!segment.callback) return;
    for (const LocalSegment::Prepared &p : segment.prepared) {
      if (p.adapter->network != this) continue;
      DomainLock guard(domain);
      SegmentSlot *slot = domain.segments.at(p.place);
      if (!slot || !slot->listens) continue;
      for (ConnectionSlot &c : domain.connections) {
        if (!c.used || c.segment.slot != p.place.slot ||
            c.segment.generation != p.place.generation || (c.told && c.used == Connected))
          continue;
        const uint32_t id = domain.nodes[c.node].id;
        auto say = [&](sci_segment_cb_reason_t reason) {
          notice(segment, [callback = segment.callback, argument = segment.argument,
                           handle = handleOf<sci_local_segment_t>(&segment), reason, id,
                           adapter = p.adapter->number] {
            return callback(argument, handle, reason, id, adapter, SCI_ERR_OK);
          });
        };
        if (!std::exchange(c.told, 1)) say(SCI_CB_CONNECT);
        if (c.used == Connected) continue;
        say(c.used == Left ? SCI_CB_DISCONNECT : SCI_CB_LOST);
        c.used = Unused;
      }
    }
  });
  library().handles.each<RemoteSegment>([&](RemoteSegment &segment) {
    if (segment.adapter->network != this || segment.lostTold || !segment.callback) return;
    {
      DomainLock guard(domain);
      ConnectionSlot *c = domain.connections.at(segment.connection);
      if (c && !c->ownerGone) return;
    }
    segment.lostTold = true;
    notice(segment, [callback = segment.callback, argument = segment.argument,
                     handle = handleOf<sci_remote_segment_t>(&segment)] {
      return callback(argument, handle, SCI_CB_LOST, SCI_ERR_OK);
    });
  });
}

/// One round. What it finds to do, it does until there is nothing left.
void Network::serve(std::unique_lock<std::mutex> &lock) {
  const auto time = std::chrono::steady_clock::now();
  if (file && time - lookedForDead_ > searchEvery) {
    lookedForDead_ = time;
    file->buryDead();
  }
  lookAround();
  deliverNotices(lock);
  while (!posted.empty() && !stop_) {
    uintptr_t queue = posted.front();
    posted.pop_front();
    carryOutOne(lock, queue);
    deliverNotices(lock);
  }
  if (options.adversarial) leakSomewhere();
}

void Network::startService() {
  service_ = std::thread([this] {
    std::unique_lock<std::mutex> lock(library().mutex);
    ++inLibrary;
    uint32_t seen = 0;
    std::atomic<uint32_t> &word = domain.processes[process].wake;
    const unsigned most = static_cast<unsigned>((options.adversarial ? seepEvery : searchEvery) /
                                                std::chrono::milliseconds(1));
    while (!stop_) {
      seen = word.load();
      serve(lock);
      if (!stop_) wait(lock, most, [&] { return stop_ || word.load() != seen; });
    }
    --inLibrary;
  });
}

void Network::stopService() {
  if (!service_.joinable()) return;
  {
    std::unique_lock<std::mutex> guard(library().mutex);
    stop_ = true;
  }
  wakeUp();
  service_.join();
}

}  // namespace sisci
