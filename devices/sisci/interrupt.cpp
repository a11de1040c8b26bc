// SPDX-License-Identifier: BSD-3-Clause
// interrupt.cpp - interrupts, with bytes and without: made, connected, triggered, waited for.

#include <algorithm>
#include <cstring>

#include "devices/sisci/engine.h"

namespace sisci {

template <Kind K>
LocalTrigger<K>::~LocalTrigger() {
  Network &n = *adapter->network;
  {
    DomainLock guard(n.domain);
    if (InterruptSlot *slot = n.domain.interrupts.at(place)) slot->used = 0;
  }
  n.wakeUp();
}

template <Kind K>
bool LocalTrigger<K>::isOn(const Network &network) const {
  return adapter->network == &network;
}

template <Kind K>
bool RemoteTrigger<K>::isOn(const Network &network) const {
  return adapter->network == &network;
}

namespace {

/// Numbers that the library gives begin here; a program's own are usually small.
constexpr uint32_t firstNumber = 0x8000;

template <class T>
void create(Call &call, sci_desc_t sd, unsigned adapterNo, unsigned *number, bool isData,
            unsigned flags, bool hasCallback, T **out) {
  auto *descriptor = call.object<Descriptor>(sd);
  Adapter *adapter = call.adapter(adapterNo);
  if (!call.given(number)) return;
  if (flags & SCI_FLAG_USE_CALLBACK && !hasCallback) return call.fail(SCI_ERR_ILLEGAL_PARAMETER);
  Domain &domain = adapter->network->domain;
  Place place;
  {
    DomainLock guard(domain);
    uint32_t no = flags & SCI_FLAG_FIXED_INTNO ? *number : firstNumber;
    if (!(flags & SCI_FLAG_FIXED_INTNO))
      while (interruptWithNumber(domain, adapter->node, no, isData) != none) ++no;
    else if (interruptWithNumber(domain, adapter->node, no, isData) != none)
      return call.fail(SCI_ERR_INTNO_USED);
    place.slot = domain.interrupts.take();
    if (place.slot == none) return call.fail(SCI_ERR_NOSPC);
    InterruptSlot &slot = domain.interrupts[place.slot];
    place.generation = slot.generation;
    slot.node = adapter->node;
    slot.process = adapter->network->process;
    slot.number = *number = no;
    slot.data = isData;
    slot.counting = isData || flags & SCI_FLAG_COUNTING_INT;
    slot.used = 1;
  }
  auto made = std::make_unique<T>(descriptor);
  made->adapter = adapter;
  made->place = place;
  *out = library().handles.add(std::move(made));
}

template <class T>
void removeInterrupt(Call &call, T *interrupt) {
  if (!interrupt) return;
  if (interrupt->calling) return call.fail(SCI_ERR_BUSY);
  library().handles.remove(interrupt);
}

template <class T, class Handle>
void connect(Call &call, sci_desc_t sd, Handle *handle, unsigned nodeId, unsigned adapterNo,
             unsigned number, bool isData) {
  auto *descriptor = call.object<Descriptor>(sd);
  Adapter *adapter = call.adapter(adapterNo);
  if (!call.given(handle)) return;
  if (nodeId == 0) return call.fail(SCI_ERR_ILLEGAL_NODEID);
  Network &n = *adapter->network;
  if (n.file) n.file->buryDead();
  auto made = std::make_unique<T>(descriptor);
  made->adapter = adapter;
  {
    DomainLock guard(n.domain);
    const uint32_t node = nodeWithId(n.domain, nodeId);
    if (node == none) return call.fail(SCI_ERR_NO_SUCH_NODEID);
    if (n.isDead(node)) return call.fail(SCI_ERR_NODE_NOT_RESPONDING);
    const uint32_t slot = interruptWithNumber(n.domain, node, number, isData);
    if (slot == none) return call.fail(SCI_ERR_NO_SUCH_INTNO);
    made->place = {slot, n.domain.interrupts[slot].generation};
  }
  *handle = handleOf<Handle>(library().handles.add(std::move(made)));
}

/// The trigger is there: the owner may see it.
void arrive(Network &n, Place place) {
  DomainLock guard(n.domain);
  InterruptSlot *slot = n.domain.interrupts.at(place);
  if (!slot) return;
  slot->pending = slot->counting ? slot->pending + 1 : 1;
  n.wakeOwner(slot->process);
  if (const Adapter *to = n.simulated ? n.adapterOf(slot->node) : nullptr)
    n.changed.push_back(to->rank);
}

void trigger(Call &call, Adapter &from, Place place, const void *data, unsigned length) {
  Network &n = *from.network;
  if (n.isDead(from.node)) return call.fail(SCI_ERR_NO_LINK_ACCESS);
  if (n.file) n.file->buryDead();
  {
    DomainLock guard(n.domain);
    InterruptSlot *slot = n.domain.interrupts.at(place);
    if (!slot) return call.fail(SCI_ERR_NO_SUCH_INTNO);
    if (slot->data) {
      if (slot->queued == dataQueued) return call.fail(SCI_ERR_NOSPC);
      Datum &datum = slot->queue[(slot->first + slot->queued++) % dataQueued];
      datum.length = length;
      std::memcpy(datum.bytes, data, length);
    }
  }
  ++n.counters.interrupts;
  if (!n.simulated) return arrive(n, place);
  n.schedule(std::max(from.hostFree, n.now) + n.options.cost.latency + (data ? 0 : n.late()),
             [&n, place] { arrive(n, place); });
}

/// One trigger that is there, with its bytes. False: there is none, or its bytes do not fit.
bool take(Network &n, Place place, Datum *datum, uint32_t room) {
  DomainLock guard(n.domain);
  InterruptSlot *slot = n.domain.interrupts.at(place);
  if (!slot || !slot->pending) return false;
  if (datum) {
    *datum = slot->queue[slot->first];
    if (datum->length > room) return false;
    slot->first = (slot->first + 1) % dataQueued;
    --slot->queued;
  }
  --slot->pending;
  return true;
}

template <class T, class Handle>
bool waitFor(Call &call, Handle handle, unsigned timeout) {
  auto *interrupt = call.object<T>(handle);
  if (!interrupt) return false;
  if (interrupt->callback || interrupt->dataCallback)
    return call.fail(SCI_ERR_ILLEGAL_OPERATION), false;
  Network &n = *interrupt->adapter->network;
  const Place place = interrupt->place;
  const bool there = n.wait(call.lock, timeout, [&] {
    if (!library().find<T>(handle)) return true;
    DomainLock guard(n.domain);
    InterruptSlot *slot = n.domain.interrupts.at(place);
    return !slot || slot->pending;
  });
  if (!library().find<T>(handle))
    call.fail(SCI_ERR_CANCELLED);
  else if (!there)
    call.fail(SCI_ERR_TIMEOUT);
  return call.ok();
}

}  // namespace

void Network::lookAtInterrupts() {
  library().handles.each<LocalInterrupt>([&](LocalInterrupt &i) {
    if (i.adapter->network != this || !i.callback) return;
    while (take(*this, i.place, nullptr, 0))
      notice(i, [callback = i.callback, argument = i.argument,
                 handle = handleOf<sci_local_interrupt_t>(&i)] {
        return callback(argument, handle, SCI_ERR_OK);
      });
  });
  library().handles.each<LocalDataInterrupt>([&](LocalDataInterrupt &i) {
    if (i.adapter->network != this || !i.dataCallback) return;
    for (Datum datum; take(*this, i.place, &datum, longestDatum);)
      notice(i, [callback = i.dataCallback, argument = i.argument, datum,
                 handle = handleOf<sci_local_data_interrupt_t>(&i)]() mutable {
        return callback(argument, handle, datum.bytes, datum.length, SCI_ERR_OK);
      });
  });
}

}  // namespace sisci

using namespace sisci;

void SCICreateInterrupt(sci_desc_t sd, sci_local_interrupt_t *handle, unsigned adapterNo,
                        unsigned *number, sci_cb_interrupt_t callback, void *argument,
                        unsigned flags, sci_error_t *error) {
  Call call(error, flags, SCI_FLAG_FIXED_INTNO | SCI_FLAG_COUNTING_INT | SCI_FLAG_USE_CALLBACK,
            SCI_FLAG_SHARED_INT);
  LocalInterrupt *made = nullptr;
  if (call.given(handle))
    create(call, sd, adapterNo, number, false, flags, callback != nullptr, &made);
  if (!made) return;
  if (flags & SCI_FLAG_USE_CALLBACK) made->callback = callback;
  made->argument = argument;
  *handle = handleOf<sci_local_interrupt_t>(made);
}

void SCICreateDataInterrupt(sci_desc_t sd, sci_local_data_interrupt_t *handle, unsigned adapterNo,
                            unsigned *number, sci_cb_data_interrupt_t callback, void *argument,
                            unsigned flags, sci_error_t *error) {
  Call call(error, flags, SCI_FLAG_FIXED_INTNO | SCI_FLAG_USE_CALLBACK, SCI_FLAG_SHARED_INT);
  LocalDataInterrupt *made = nullptr;
  if (call.given(handle))
    create(call, sd, adapterNo, number, true, flags, callback != nullptr, &made);
  if (!made) return;
  if (flags & SCI_FLAG_USE_CALLBACK) made->dataCallback = callback;
  made->argument = argument;
  *handle = handleOf<sci_local_data_interrupt_t>(made);
}

void SCIRemoveInterrupt(sci_local_interrupt_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  removeInterrupt(call, call.object<LocalInterrupt>(handle));
}

void SCIRemoveDataInterrupt(sci_local_data_interrupt_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  removeInterrupt(call, call.object<LocalDataInterrupt>(handle));
}

void SCIConnectInterrupt(sci_desc_t sd, sci_remote_interrupt_t *handle, unsigned nodeId,
                         unsigned adapterNo, unsigned number, unsigned, unsigned flags,
                         sci_error_t *error) {
  Call call(error, flags, 0);
  connect<RemoteInterrupt>(call, sd, handle, nodeId, adapterNo, number, false);
}

void SCIConnectDataInterrupt(sci_desc_t sd, sci_remote_data_interrupt_t *handle, unsigned nodeId,
                             unsigned adapterNo, unsigned number, unsigned, unsigned flags,
                             sci_error_t *error) {
  Call call(error, flags, 0);
  connect<RemoteDataInterrupt>(call, sd, handle, nodeId, adapterNo, number, true);
}

void SCIDisconnectInterrupt(sci_remote_interrupt_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  if (auto *interrupt = call.object<RemoteInterrupt>(handle)) library().handles.remove(interrupt);
}

void SCIDisconnectDataInterrupt(sci_remote_data_interrupt_t handle, unsigned flags,
                                sci_error_t *error) {
  Call call(error, flags, 0);
  if (auto *interrupt = call.object<RemoteDataInterrupt>(handle))
    library().handles.remove(interrupt);
}

void SCITriggerInterrupt(sci_remote_interrupt_t handle, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  if (auto *interrupt = call.object<RemoteInterrupt>(handle))
    trigger(call, *interrupt->adapter, interrupt->place, nullptr, 0);
}

void SCITriggerDataInterrupt(sci_remote_data_interrupt_t handle, void *data, unsigned length,
                             unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  auto *interrupt = call.object<RemoteDataInterrupt>(handle);
  if (!call.given(data)) return;
  if (length > longestDatum) return call.fail(SCI_ERR_OUT_OF_RANGE);
  trigger(call, *interrupt->adapter, interrupt->place, data, length);
}

void SCIWaitForInterrupt(sci_local_interrupt_t handle, unsigned timeout, unsigned flags,
                         sci_error_t *error) {
  Call call(error, flags, 0);
  if (!waitFor<LocalInterrupt>(call, handle, timeout)) return;
  auto *interrupt = library().find<LocalInterrupt>(handle);
  take(*interrupt->adapter->network, interrupt->place, nullptr, 0);
}

void SCIWaitForDataInterrupt(sci_local_data_interrupt_t handle, void *data, unsigned *length,
                             unsigned timeout, unsigned flags, sci_error_t *error) {
  Call call(error, flags, 0);
  if (!call.given(data, length) || !waitFor<LocalDataInterrupt>(call, handle, timeout)) return;
  auto *interrupt = library().find<LocalDataInterrupt>(handle);
  Datum datum = {};
  const bool fits = take(*interrupt->adapter->network, interrupt->place, &datum, *length);
  *length = datum.length;
  if (!fits) return call.fail(SCI_ERR_OVERFLOW);
  std::memcpy(data, datum.bytes, datum.length);
}
