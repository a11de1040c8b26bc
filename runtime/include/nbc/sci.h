/* SPDX-License-Identifier: BSD-3-Clause
 * sci.h - memory that peers export, by the SISCI API: the device of target sci.
 *
 *     struct nbc_device *devices[1];
 *     nbc_sci_open(NULL, &devices[0], &why);                  // libnbc-sci, which loads libsisci
 *     nbc_comm_create(&bootstrap, devices, 1, &comm);
 *     ...
 *     nbc_comm_free(comm);                                     // closes the device
 *
 * How bytes travel. A plan exports one segment, with slots for what each peer sends
 * (nbc/sci_segment.h), and is connected to those of its peers. A message is cut into slots
 * (nbc_plan_options.eager_bytes are one), and goes there in one of two ways:
 *
 *   PIO   the CPU stores into the peer's memory
 *   DMA   the CPU copies into slots of its own segment, the adapter copies those to the peer's
 *
 * then a flag behind it is stored. Who receives copies out of the slots. Which way, the device's
 * `transfer` says, else the plan's (nbc_plan_options), else a message's length: one of at least
 * `dma_bytes` goes by DMA. As far as there is any.
 *
 * Waiting. nbc_wait polls flags in its own memory, yields, then sleeps for some microseconds at a
 * time; or, where latency matters less than the processor, until a peer interrupts. A progress
 * thread likewise. Each rank chooses for itself; who sleeps tells its peers, so that nobody else is
 * interrupted.
 *
 * Faults. Stores and transfers that were lost are made again. A peer that cannot be reached for
 * `timeout` milliseconds, has gone, or has given up its plan ends all calls that wait for it with
 * NBC_ERROR_DEVICE.
 */
#ifndef NBC_SCI_H
#define NBC_SCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nbc.h"
#include "sisci/sisci_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The target of templates that run on such a device. */
#define NBC_SCI_TARGET "sci"

/* How a rank waits that has nothing to do. */
enum nbc_sci_waiting { NBC_SCI_WAITING_AUTO, NBC_SCI_POLL, NBC_SCI_INTERRUPT };

/* How a device is opened. Zero: the default, in brackets. What is not said here the environment may
 * say: NBC_SCI_ADAPTER=0, NBC_SCI_TRANSFER=auto, pio or dma, NBC_SCI_DMA_BYTES=8192,
 * NBC_SCI_QUEUES=4, NBC_SCI_TIMEOUT=10000, NBC_SCI_WAITING=poll or interrupt,
 * NBC_SCI_PATIENCE=64. */
struct nbc_sci_options {
  unsigned int adapter;       /* from 1: adapter 0 is 1 [the first that is there] */
  enum nbc_transfer transfer; /* of all plans, whatever their options say [each plan's own] */
  uint64_t dma_bytes;         /* the least that goes by DMA [8192] */
  uint32_t queues;  /* DMA queues of a plan, at most [4, or as many channels as there are] */
  uint32_t timeout; /* milliseconds in which a connection recovers, or never [10000] */
  enum nbc_sci_waiting waiting; /* [poll] */
  uint32_t patience;            /* looks in vain before a rank sleeps [64] */
};

/* The functions that the runtime calls, as SISCI declares them. */
#define NBC_SCI_FUNCTIONS(F)  \
  F(SCIInitialize)            \
  F(SCITerminate)             \
  F(SCIOpen)                  \
  F(SCIClose)                 \
  F(SCIGetLocalNodeId)        \
  F(SCIQuery)                 \
  F(SCICreateSegment)         \
  F(SCIPrepareSegment)        \
  F(SCIMapLocalSegment)       \
  F(SCISetSegmentAvailable)   \
  F(SCISetSegmentUnavailable) \
  F(SCIRemoveSegment)         \
  F(SCIConnectSegment)        \
  F(SCIDisconnectSegment)     \
  F(SCIMapRemoteSegment)      \
  F(SCIUnmapSegment)          \
  F(SCICreateMapSequence)     \
  F(SCIRemoveSequence)        \
  F(SCIStartSequence)         \
  F(SCICheckSequence)         \
  F(SCIStoreBarrier)          \
  F(SCICreateDMAQueue)        \
  F(SCIRemoveDMAQueue)        \
  F(SCIStartDmaTransferVec)   \
  F(SCIDMAQueueState)         \
  F(SCIWaitForDMAQueue)       \
  F(SCIAbortDMAQueue)         \
  F(SCICreateInterrupt)       \
  F(SCIRemoveInterrupt)       \
  F(SCIConnectInterrupt)      \
  F(SCIDisconnectInterrupt)   \
  F(SCITriggerInterrupt)

struct nbc_sci_api {
#ifdef __cplusplus
#define NBC_SCI_FIELD(name) __typeof__(&::name) name;
#else
#define NBC_SCI_FIELD(name) __typeof__(&name) name;
#endif
  NBC_SCI_FUNCTIONS(NBC_SCI_FIELD)
#undef NBC_SCI_FIELD
};

/* Opens an adapter, by the SISCI library of the system: libsisci.so, or what $NBC_SISCI_LIBRARY
 * names, which is loaded now and stays. Local. `options` may be null. The device is the
 * communicator's: nbc_comm_free closes it. *why says in words what was looked for and what is
 * there; good until this thread's next call; may be null.
 *
 * NBC_ERROR_ARGUMENT: a null pointer, or options that cannot be; NBC_ERROR_DEVICE: no such library,
 * one that lacks a function, no such adapter, or it does not work; NBC_ERROR_MEMORY. Thread safe.
 */
int nbc_sci_open(const struct nbc_sci_options *, struct nbc_device **, const char **why);

/* The same by functions that are there already, and outlive the device: of a library that the
 * program is linked with. */
int nbc_sci_open_with(const struct nbc_sci_api *, const struct nbc_sci_options *,
                      struct nbc_device **, const char **why);

/* --- what the runtime asks of the device --- */

/* What the adapter can do, and how it is to be used. */
struct nbc_sci_facts {
  unsigned int node;   /* its id */
  uint32_t align;      /* of DMA: bytes that places and lengths are multiples of; a power of two */
  uint32_t vector;     /* elements of a transfer, at most; 0: there is no DMA */
  uint64_t longest;    /* bytes of a transfer, at most */
  uint32_t queues;     /* of a plan, at most */
  unsigned int engine; /* flags of DMA functions that choose it */
  enum nbc_transfer transfer; /* of all plans; auto: each says */
  uint64_t dma_bytes;         /* auto: messages of so many bytes go by DMA */
  uint32_t timeout;           /* ms */
  bool interrupts;            /* who waits sleeps until it is interrupted */
  uint32_t patience;          /* looks in vain before */
  uint32_t sleep; /* ms that one sleep lasts at most; 0: none lasts, as time is simulated */
};

/* A device. Functions are called by several threads, for different plans. */
struct nbc_sci {
  struct nbc_device device; /* of NBC_SCI_TARGET */
  const struct nbc_sci_api *api;
  unsigned int adapter;
  struct nbc_sci_facts facts;
};

#ifdef __cplusplus
}
#endif
#endif
