// SPDX-License-Identifier: BSD-3-Clause
// sci_connect.c - segments: exported, connected to, let go of, and removed.
//
//   export     create, map, prepare; zeros; available
//   connect    to what the peer's card names; its area is mapped, with a sequence
//   leave      last words; sequence, map and connection are given back
//   withdraw   unavailable, unmapped, removed
//
// A segment cannot be removed while a peer is connected to it, and a peer lets go of it when its
// own plan ends, perhaps much later. Waiting for that would make nbc_plan_free collective. So such
// segments stay in a list of the process, and are removed when plans come and go; what is still
// there when the process ends, the driver removes.

#define _GNU_SOURCE  // getpid
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/src/sci.h"

// --- what is left to be removed ---

struct left {
  struct left *next;
  const struct nbc_sci_api *api;
  sci_desc_t descriptor;
  sci_local_segment_t segment;
  sci_local_interrupt_t interrupt;  // rings `bell`, until it is removed
  int bell;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct left *all_left;  // under it

// Whether it is gone, for this process.
static bool is_removed(struct left *one) {
  sci_error_t error = SCI_ERR_OK;
  if (one->interrupt) one->api->SCIRemoveInterrupt(one->interrupt, 0, &error);
  if (error == SCI_ERR_BUSY) return false;
  one->interrupt = NULL;
  if (one->bell >= 0) close(one->bell);
  one->bell = -1;
  if (one->segment) one->api->SCIRemoveSegment(one->segment, 0, &error);
  if (error == SCI_ERR_BUSY) return false;
  one->api->SCIClose(one->descriptor, 0, &error);
  return true;
}

void sci_sweep(void) {
  pthread_mutex_lock(&mutex);
  for (struct left **at = &all_left; *at;) {
    struct left *one = *at;
    if (is_removed(one)) {
      *at = one->next;
      free(one);
    } else {
      at = &one->next;
    }
  }
  pthread_mutex_unlock(&mutex);
}

static void leave_to_others(const struct left *what) {
  struct left *one = (struct left *)malloc(sizeof *one);
  if (!one) return;  // then the driver has it
  pthread_mutex_lock(&mutex);
  *one = *what;
  one->next = all_left;
  all_left = one;
  pthread_mutex_unlock(&mutex);
}

// --- the own segment ---

// Ids are the node's, which other processes use as well; so those that are used are passed over.
static int create_segment(struct sci *v) {
  static atomic_uint made;
  const uint32_t from = (uint32_t)getpid() << 16 | 0x80000000u;
  sci_error_t error = SCI_ERR_OK;
  for (int i = 0; i < IDS; ++i) {
    v->id = from + atomic_fetch_add(&made, 1) % (1u << 16);
    v->api->SCICreateSegment(v->descriptor, &v->segment, v->id, v->bytes, NULL, NULL, 0, &error);
    if (error == SCI_ERR_OK)
      v->api->SCIPrepareSegment(v->segment, v->device->adapter, 0, &error);
    else
      v->segment = NULL;
    if (error == SCI_ERR_OK) return 0;
    if (v->segment) {
      sci_error_t ignored;
      v->api->SCIRemoveSegment(v->segment, 0, &ignored);
      v->segment = NULL;
    }
    if (error != SCI_ERR_SEGMENTID_USED) break;
  }
  return NBC_ERROR_RESOURCES;
}

int sci_export(struct sci *v) {
  sci_error_t error = SCI_ERR_OK;
  v->api->SCIOpen(&v->descriptor, 0, &error);
  if (error != SCI_ERR_OK) {
    v->descriptor = NULL;
    return NBC_ERROR_RESOURCES;
  }
  int status = create_segment(v);
  if (status) return status;
  void *memory = v->api->SCIMapLocalSegment(v->segment, &v->map, 0, v->bytes, NULL, 0, &error);
  if (error != SCI_ERR_OK || !memory) {
    v->map = NULL;
    return NBC_ERROR_RESOURCES;
  }
  v->memory = (uint8_t *)memory;
  memset(v->memory, 0, v->bytes);
  v->api->SCISetSegmentAvailable(v->segment, v->device->adapter, 0, &error);
  v->available = error == SCI_ERR_OK;
  return v->available ? sci_listen(v) : NBC_ERROR_RESOURCES;
}

void sci_withdraw(struct sci *v) {
  sci_error_t error;
  if (v->available) v->api->SCISetSegmentUnavailable(v->segment, v->device->adapter, 0, &error);
  if (v->map) v->api->SCIUnmapSegment(v->map, 0, &error);
  if (v->descriptor) {
    struct left all = {NULL, v->api, v->descriptor, v->segment, v->interrupt, v->bell};
    if (!is_removed(&all)) leave_to_others(&all);
  }
  v->available = false;
  v->map = NULL;
  v->segment = NULL;
  v->interrupt = NULL;
  v->bell = -1;
  v->descriptor = NULL;
  sci_sweep();
}

// --- the peer's ---

struct card {
  uint32_t listens, interrupt;  // it wants to be interrupted, by this number
  uint64_t area_at;
  uint32_t node, segment;
  uint32_t slots_in, slots_out, slot_bytes, first;
};

size_t sci_describe(const struct lane *lane, void *card) {
  const struct sci_lane *l = (const struct sci_lane *)lane->device;
  const struct sci *v = l->of;
  const struct card mine = {.listens = v->interrupt != NULL,
                            .interrupt = v->interrupt_number,
                            .area_at = l->area_at,
                            .node = v->device->facts.node,
                            .segment = v->id,
                            .slots_in = l->slots_in,
                            .slots_out = l->slots_out,
                            .slot_bytes = v->slot_bytes,
                            .first = v->first};
  _Static_assert(sizeof mine <= MOST_CARD, "a card holds it");
  memcpy(card, &mine, sizeof mine);
  return sizeof mine;
}

static bool is_power(uint32_t n) {
  return (n & (n - 1)) == 0 && n <= NBC_SCI_MOST_SLOTS;
}

static sci_callback_action_t connection_changed(void *context, sci_remote_segment_t segment,
                                                sci_segment_cb_reason_t reason,
                                                sci_error_t status) {
  struct sci_lane *l = (struct sci_lane *)context;
  (void)segment, (void)status;
  // Not while it is only out of order: a sequence check finds that, and waits for its end.
  if (reason == SCI_CB_LOST || reason == SCI_CB_DISCONNECT)
    atomic_store_explicit(&l->gone, 1, memory_order_release);
  sci_ring(l->of);
  return SCI_CALLBACK_CONTINUE;
}

static int connect_segment(struct sci_lane *l, const struct card *theirs) {
  const struct sci *v = l->of;
  const uint32_t timeout = v->device->facts.timeout;
  const int64_t begin = sci_now();
  sci_error_t error = SCI_ERR_OK;
  do {
    v->api->SCIConnectSegment(l->descriptor, &l->remote, theirs->node, theirs->segment,
                              v->device->adapter, connection_changed, l, timeout,
                              SCI_FLAG_USE_CALLBACK, &error);
    if (error == SCI_ERR_OK) return 0;
    l->remote = NULL;
  } while ((error == SCI_ERR_NO_SUCH_SEGMENT || error == SCI_ERR_BUSY) &&
           sci_now() - begin < timeout * INT64_C(1000000));
  return NBC_ERROR_DEVICE;
}

static int map_area(struct sci_lane *l) {
  const struct nbc_sci_api *api = l->of->api;
  sci_error_t error = SCI_ERR_OK;
  volatile void *there = api->SCIMapRemoteSegment(l->remote, &l->map, l->there_at,
                                                  l->there_area.bytes, NULL, 0, &error);
  if (error != SCI_ERR_OK || !there) {
    l->map = NULL;
    return NBC_ERROR_DEVICE;
  }
  l->there = (uint8_t *)(uintptr_t)there;
  api->SCICreateMapSequence(l->map, &l->sequence, 0, &error);
  if (error == SCI_ERR_OK) return 0;
  l->sequence = NULL;
  return NBC_ERROR_DEVICE;
}

int sci_connect(const struct lane *lane, const void *card, size_t bytes) {
  struct sci_lane *l = (struct sci_lane *)lane->device;
  const struct sci *v = l->of;
  struct card theirs;
  sci_error_t error = SCI_ERR_OK;
  if (bytes != sizeof theirs) return NBC_ERROR_BOOTSTRAP;
  memcpy(&theirs, card, sizeof theirs);
  if (!is_power(theirs.slots_in) || !is_power(theirs.slots_out) || theirs.area_at % NBC_SCI_PAGE ||
      !theirs.slots_in != !l->slots_out || !theirs.slots_out != !l->slots_in)
    return NBC_ERROR_BOOTSTRAP;
  if (theirs.slot_bytes != v->slot_bytes || theirs.first != v->first) return NBC_ERROR_ARGUMENT;
  l->there_area = nbc_sci_area_of(theirs.slots_in, v->slot_bytes);
  l->there_at = theirs.area_at;
  if (theirs.slots_in < l->slots_out) l->slots_out = theirs.slots_in;
  if (theirs.slots_out < l->slots_in) l->slots_in = theirs.slots_out;
  v->api->SCIOpen(&l->descriptor, 0, &error);
  if (error != SCI_ERR_OK) {
    l->descriptor = NULL;
    return NBC_ERROR_RESOURCES;
  }
  int status = connect_segment(l, &theirs);
  if (!status) status = map_area(l);
  if (!status && theirs.listens) status = sci_connect_interrupt(l, theirs.node, theirs.interrupt);
  return status;
}

// As well as it goes: whoever does not get them finds the connection gone.
static void say_last_words(struct sci_lane *l) {
  const struct nbc_sci_api *api = l->of->api;
  sci_error_t error = SCI_ERR_OK;
  for (int i = 0; i < TRIES && !atomic_load(&l->gone); ++i) {
    if (l->broken && api->SCIStartSequence(l->sequence, 0, &error) != SCI_SEQ_OK) continue;
    l->broken = true;
    __atomic_store_n((uint64_t *)(l->there + NBC_SCI_TAKEN), l->taken, __ATOMIC_RELAXED);
    api->SCIStoreBarrier(l->sequence, 0);
    if (api->SCICheckSequence(l->sequence, 0, &error) != SCI_SEQ_OK) continue;
    __atomic_store_n((uint64_t *)(l->there + NBC_SCI_LEFT), 1, __ATOMIC_RELAXED);
    api->SCIStoreBarrier(l->sequence, 0);
    if (api->SCICheckSequence(l->sequence, 0, &error) != SCI_SEQ_OK) continue;
    sci_answer(l);
    return;
  }
}

void sci_leave(struct sci_lane *l) {
  const struct nbc_sci_api *api = l->of->api;
  sci_error_t error;
  int tries = 0;
  if (l->sequence) {
    say_last_words(l);
    api->SCIRemoveSequence(l->sequence, 0, &error);
  }
  if (l->map) api->SCIUnmapSegment(l->map, 0, &error);
  if (l->interrupt) api->SCIDisconnectInterrupt(l->interrupt, 0, &error);
  if (l->remote) {
    do api->SCIDisconnectSegment(l->remote, 0, &error);
    while (sci_busy_yet(error, &tries));
  }
  if (l->descriptor) api->SCIClose(l->descriptor, 0, &error);
  l->sequence = NULL;
  l->map = NULL;
  l->interrupt = NULL;
  l->remote = NULL;
  l->descriptor = NULL;
}
