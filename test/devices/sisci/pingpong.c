// SPDX-License-Identifier: BSD-3-Clause
// pingpong.c - a program for SISCI that knows nothing of nbcc: sisci-pingpong PEER ROUNDS
//
// Two processes, each started with the other's node id. In each round the one with the lower id
// stores data and a flag; the other answers by DMA, a vector of pieces, and a flag behind it; then
// both exchange an interrupt and a data interrupt. Everything that came is compared.

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sisci_api.h"

enum { WORDS = 3000, BYTES = 65536, ADAPTER = 0, PLAIN = 17, WITH_DATA = 18 };
enum { FLAG = 0, DATA = 64 };  // words

static void demand(sci_error_t error, const char *what) {
  if (error == SCI_ERR_OK) return;
  fprintf(stderr, "%s: %s\n", what, SCIGetErrorString(error));
  exit(1);
}
#define CHECK(what) demand(error, what)

static uint64_t word(unsigned node, unsigned round, unsigned i) {
  return (uint64_t)node << 48 | (uint64_t)round << 24 | i;
}

static void wait_flag(volatile uint64_t *memory, unsigned round) {
  while (__atomic_load_n(&memory[FLAG], __ATOMIC_ACQUIRE) != round) sched_yield();
}

static void verify(volatile uint64_t *memory, unsigned peer, unsigned round) {
  for (unsigned i = 0; i < WORDS; ++i)
    if (memory[DATA + i] != word(peer, round, i)) {
      fprintf(stderr, "round %u: word %u is %llx\n", round, i,
              (unsigned long long)memory[DATA + i]);
      exit(1);
    }
}

// Until all of it is there.
static void store(volatile uint64_t *remote, sci_sequence_t sequence, unsigned node,
                  unsigned round) {
  sci_error_t error;
  sci_sequence_status_t status = SCI_SEQ_NOT_RETRIABLE;
  while (status != SCI_SEQ_OK) {
    if (status == SCI_SEQ_NOT_RETRIABLE) do {
        status = SCIStartSequence(sequence, 0, &error);
        CHECK("SCIStartSequence");
      } while (status != SCI_SEQ_OK);
    for (unsigned i = 0; i < WORDS; ++i) remote[DATA + i] = word(node, round, i);
    do {
      status = SCICheckSequence(sequence, 0, &error);
      CHECK("SCICheckSequence");
    } while (status == SCI_SEQ_PENDING);
  }
}

static void transfer(sci_dma_queue_t queue, sci_local_segment_t from, sci_remote_segment_t to) {
  const unsigned begin = DATA * 8, piece = WORDS * 8 / 3;
  dis_dma_vec_t vector[3];
  sci_error_t error;
  sci_dma_queue_state_t state;
  for (unsigned i = 0; i < 3; ++i)
    vector[i] = (dis_dma_vec_t){piece, begin + i * piece, begin + i * piece, 0};
  do {
    SCIStartDmaTransferVec(queue, from, to, 3, vector, NULL, NULL, 0, &error);
    CHECK("SCIStartDmaTransferVec");
    state = SCIWaitForDMAQueue(queue, SCI_INFINITE_TIMEOUT, 0, &error);
    CHECK("SCIWaitForDMAQueue");
  } while (state != SCI_DMAQUEUE_DONE);
}

static void raise_flag(volatile uint64_t *remote, sci_sequence_t sequence, unsigned round) {
  remote[FLAG] = round;
  SCIStoreBarrier(sequence, 0);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const unsigned peer = (unsigned)atoi(argv[1]), rounds = (unsigned)atoi(argv[2]);
  unsigned node, plain = PLAIN, with_data = WITH_DATA;
  sci_error_t error;
  sci_desc_t sd;
  sci_local_segment_t mine, source;
  sci_remote_segment_t theirs;
  sci_map_t map, source_map, far;
  sci_sequence_t sequence;
  sci_dma_queue_t queue;
  sci_local_interrupt_t interrupt;
  sci_remote_interrupt_t bell;
  sci_local_data_interrupt_t data_interrupt;
  sci_remote_data_interrupt_t data_bell;

  SCIInitialize(0, &error);
  CHECK("SCIInitialize");
  SCIOpen(&sd, 0, &error);
  CHECK("SCIOpen");
  SCIGetLocalNodeId(ADAPTER, &node, 0, &error);
  CHECK("SCIGetLocalNodeId");

  SCICreateInterrupt(sd, &interrupt, ADAPTER, &plain, NULL, NULL, SCI_FLAG_FIXED_INTNO, &error);
  CHECK("SCICreateInterrupt");
  SCICreateDataInterrupt(sd, &data_interrupt, ADAPTER, &with_data, NULL, NULL, SCI_FLAG_FIXED_INTNO,
                         &error);
  CHECK("SCICreateDataInterrupt");
  SCICreateSegment(sd, &mine, node << 16 | peer << 8, BYTES, NULL, NULL, 0, &error);
  CHECK("SCICreateSegment");
  SCIPrepareSegment(mine, ADAPTER, 0, &error);
  CHECK("SCIPrepareSegment");
  volatile uint64_t *memory = SCIMapLocalSegment(mine, &map, 0, BYTES, NULL, 0, &error);
  CHECK("SCIMapLocalSegment");
  SCISetSegmentAvailable(mine, ADAPTER, 0, &error);
  CHECK("SCISetSegmentAvailable");
  SCICreateSegment(sd, &source, 0, BYTES, NULL, NULL, SCI_FLAG_PRIVATE, &error);
  CHECK("SCICreateSegment");
  SCIPrepareSegment(source, ADAPTER, 0, &error);
  CHECK("SCIPrepareSegment");
  uint64_t *out = SCIMapLocalSegment(source, &source_map, 0, BYTES, NULL, 0, &error);
  CHECK("SCIMapLocalSegment");

  do
    SCIConnectSegment(sd, &theirs, peer, peer << 16 | node << 8, ADAPTER, NULL, NULL,
                      SCI_INFINITE_TIMEOUT, 0, &error);
  while (error == SCI_ERR_NO_SUCH_SEGMENT || error == SCI_ERR_NO_SUCH_NODEID);
  CHECK("SCIConnectSegment");
  volatile uint64_t *remote = SCIMapRemoteSegment(theirs, &far, 0, BYTES, NULL, 0, &error);
  CHECK("SCIMapRemoteSegment");
  SCICreateMapSequence(far, &sequence, 0, &error);
  CHECK("SCICreateMapSequence");
  SCICreateDMAQueue(sd, &queue, ADAPTER, 4, 0, &error);
  CHECK("SCICreateDMAQueue");
  SCIConnectInterrupt(sd, &bell, peer, ADAPTER, PLAIN, SCI_INFINITE_TIMEOUT, 0, &error);
  CHECK("SCIConnectInterrupt");
  SCIConnectDataInterrupt(sd, &data_bell, peer, ADAPTER, WITH_DATA, SCI_INFINITE_TIMEOUT, 0,
                          &error);
  CHECK("SCIConnectDataInterrupt");

  for (unsigned round = 1; round <= rounds; ++round) {
    uint64_t told = word(node, round, 0), heard[8] = {0};
    unsigned length = sizeof heard;
    if (node < peer) {
      store(remote, sequence, node, round);
      raise_flag(remote, sequence, round);
      wait_flag(memory, round);
      verify(memory, peer, round);
    } else {
      wait_flag(memory, round);
      verify(memory, peer, round);
      for (unsigned i = 0; i < WORDS; ++i) out[DATA + i] = word(node, round, i);
      transfer(queue, source, theirs);
      raise_flag(remote, sequence, round);
    }
    SCITriggerInterrupt(bell, 0, &error);
    CHECK("SCITriggerInterrupt");
    SCIWaitForInterrupt(interrupt, SCI_INFINITE_TIMEOUT, 0, &error);
    CHECK("SCIWaitForInterrupt");
    SCITriggerDataInterrupt(data_bell, &told, sizeof told, 0, &error);
    CHECK("SCITriggerDataInterrupt");
    SCIWaitForDataInterrupt(data_interrupt, heard, &length, SCI_INFINITE_TIMEOUT, 0, &error);
    CHECK("SCIWaitForDataInterrupt");
    if (length != sizeof told || heard[0] != word(peer, round, 0)) return 1;
  }

  SCIDisconnectInterrupt(bell, 0, &error);
  CHECK("SCIDisconnectInterrupt");
  SCIDisconnectDataInterrupt(data_bell, 0, &error);
  CHECK("SCIDisconnectDataInterrupt");
  SCIRemoveDMAQueue(queue, 0, &error);
  CHECK("SCIRemoveDMAQueue");
  SCIRemoveSequence(sequence, 0, &error);
  CHECK("SCIRemoveSequence");
  SCIUnmapSegment(far, 0, &error);
  CHECK("SCIUnmapSegment");
  SCIDisconnectSegment(theirs, 0, &error);
  CHECK("SCIDisconnectSegment");
  SCIUnmapSegment(map, 0, &error);
  CHECK("SCIUnmapSegment");
  SCIUnmapSegment(source_map, 0, &error);
  CHECK("SCIUnmapSegment");
  SCIRemoveSegment(source, 0, &error);
  CHECK("SCIRemoveSegment");
  do SCIRemoveSegment(mine, 0, &error);
  while (error == SCI_ERR_BUSY);
  CHECK("SCIRemoveSegment");
  SCIRemoveInterrupt(interrupt, 0, &error);
  CHECK("SCIRemoveInterrupt");
  SCIRemoveDataInterrupt(data_interrupt, 0, &error);
  CHECK("SCIRemoveDataInterrupt");
  SCIClose(sd, 0, &error);
  CHECK("SCIClose");
  SCITerminate();
  printf("node %u: %u rounds with node %u\n", node, rounds, peer);
  return 0;
}
