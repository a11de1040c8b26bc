// SPDX-License-Identifier: BSD-3-Clause
// targets.h - a way to carry out calls, as the common part of the runtime sees it.
//
// Common (plan.c, call.c, host.c): memory, the queue of calls, which variant, host
// operations, stages. The target's: the device's queues and what the bytes of
// segments mean. A call goes through
//
//   acquire   the caller's memory becomes known to the device; refused calls stop here
//   prepare   addresses into the bytes; the last that may refuse, and it has no effect
//   admit     the bytes into the queues, behind those of calls admitted before
//   enable    stage by stage, in the order in which calls were admitted
//   poll      until the stage that was enabled is over
//   lingers   what no stage has waited for
//   complete  did all go well; what it used may be used again
//   release   of what acquire took

#pragma once

#include <stdbool.h>

#include "runtime/src/tables.h"

struct call;
struct variant;

struct target {
  const char *name;

  // What calls go through, as said above.
  // Whether the host's work may wait for the first nbc_test or nbc_wait, so that nbc_start is
  // short: nothing is to be looked at, either, while plan->starting.
  bool host_waits;
  // The same of work that nothing stands behind, no message and no doorbell; but then whatever has
  // come is looked at.
  bool last_waits;
  // Of the caller's memory that the device touches in a call: all of it, or a negative
  // status and nothing. Release comes after complete, or after destroy. Null: nothing.
  int (*acquire)(nbc_plan *, struct call *);
  int (*prepare)(nbc_plan *, struct call *);
  void (*admit)(nbc_plan *, struct call *);
  // These, and the first stage enabled, of a call before which none is under way; behind the last
  // stage, what lingers. 1: there is something to wait for. 0: not. Or as prepare. Null: step by
  // step.
  int (*begin)(nbc_plan *, struct call *);
  // All of such a call, stage by stage, with the host's work, if its messages can be sent and taken
  // at once: 1. 0: call->stage is as far as it has come, and `begin` goes on from there. Or a
  // negative status. Of a variant, of blocks of so many bytes at most; 0: never. Null: none of
  // them.
  int (*at_once)(nbc_plan *, struct call *);
  uint64_t (*most_at_once)(const nbc_plan *, const struct variant *);
  // Lets the device go on to the end of call->stage. False: nothing to wait for.
  bool (*enable)(nbc_plan *, struct call *);
  // 1: the oldest stage under way is over. 0: not yet. Negative: the device failed.
  int (*poll)(nbc_plan *);
  // After the last stage: whether something of the oldest call is still under way. Then poll
  // says when it is over. Null: nothing ever is.
  bool (*lingers)(nbc_plan *, struct call *);
  int (*complete)(nbc_plan *, struct call *);
  void (*release)(nbc_plan *, struct call *);

  // On a communicator's device of this target: what all plans on it share. Null: nothing.
  int (*attach)(struct nbc_device *, void **shared);
  void (*detach)(void *shared);
  // nbc_register, nbc_deregister. Null: the device has to know of no memory.
  int (*make_known)(void *shared, void *begin, size_t bytes);
  int (*forget)(void *shared, const void *begin, size_t bytes);

  // Whether slots and staging hold nothing between calls, so plans that take turns have one memory.
  bool leaves_memory;
  // How long eager blocks are where the caller does not say. 0: as with most.
  uint64_t eager_bytes;
  // A bit for each way that nbc_plan_options.transfer may ask for. And what the device asks for, of
  // all plans. Null: nothing.
  uint32_t transfers;
  enum nbc_transfer (*transfer)(const void *shared);
  // Whether records are the host's to carry out, so that the device touches no memory for them.
  bool hosts_records;
  // Bytes that one SGE relocation may stand for.
  uint64_t (*longest)(const nbc_plan *);
  // And those of one entry together. 0: that is the target's own affair.
  uint64_t longest_message;
  // What nbc_template_check() left: the bytes of segments.
  int (*check)(const struct tables *, const char **why);
  // Makes queues and posts what is received ahead; then meets its peers.
  int (*create)(nbc_plan *);
  int (*connect)(nbc_plan *);
  // Whether its peers cannot fail to connect to it. Null: they can.
  bool (*reachable)(const nbc_plan *);
  // What becomes of calls with layouts. Null: they are refused.
  enum nbc_layouts (*layouts)(const nbc_plan *);
  // Names what a call reads of its own (warm.h). Null: nothing.
  void (*keep_warm)(nbc_plan *);
  // Whether a queue of the plan has failed, however long that takes to see.
  bool (*failed)(nbc_plan *);
  // The same for a little of it: asked often enough, it sees what `failed` does. Cheap.
  bool (*glance)(nbc_plan *);
  // Behind a start: whether to look again for what peers say that start now, too; again and again
  // until it says no, soon. Null: never.
  bool (*expects)(nbc_plan *, bool first);
  // Whoever has looked goes, from nbc_start, or from nbc_test of what is not done: what waits for
  // another look may be done without. Null: nothing is.
  void (*leave)(nbc_plan *);
  // A descriptor that becomes readable when the device has more for the plan than was looked at
  // when this returns; by calls of the plan nothing else happens. Negative: there is none. Null:
  // there never is.
  int (*arm)(nbc_plan *);
  // Sleeps until something may have changed. What was armed may tell of nothing any more. Whether
  // others may have had the processor meanwhile.
  bool (*sleep)(nbc_plan *);
  // Takes down the queues: afterwards the device touches no memory of the plan or
  // its calls. May come more than once, and after a create() that failed half-way.
  void (*destroy)(nbc_plan *);
};

// By the name in a template; null: none.
const struct target *find_target(const char *name);
