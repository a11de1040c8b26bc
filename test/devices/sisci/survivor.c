// SPDX-License-Identifier: BSD-3-Clause
// survivor.c - one of two nodes is killed while it is connected: sisci-survivor PEER
// victim|survivor

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sisci_api.h"

enum { BYTES = 8192, ID = 3 };

static atomic_int came, gone, lost;

static sci_callback_action_t owner(void *arg, sci_local_segment_t segment,
                                   sci_segment_cb_reason_t reason, unsigned node, unsigned adapter,
                                   sci_error_t error) {
  (void)segment, (void)node, (void)adapter, (void)error;
  if (arg != &came) abort();
  if (reason == SCI_CB_CONNECT) ++came;
  if (reason == SCI_CB_LOST) ++gone;
  return SCI_CALLBACK_CONTINUE;
}

static sci_callback_action_t user(void *arg, sci_remote_segment_t segment,
                                  sci_segment_cb_reason_t reason, sci_error_t status) {
  (void)arg, (void)segment, (void)status;
  if (reason == SCI_CB_LOST) ++lost;
  return SCI_CALLBACK_CONTINUE;
}

static void expect(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "not so: %s\n", what);
  _exit(1);
}
#define EXPECT(condition) expect(condition, #condition)
#define OK EXPECT(error == SCI_ERR_OK)

static void until(atomic_int *counter) {
  for (int i = 0; i < 10000 && !*counter; ++i) usleep(1000);
  EXPECT(*counter == 1);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const unsigned peer = (unsigned)atoi(argv[1]);
  const int dies = !strcmp(argv[2], "victim");
  unsigned number = 5;
  sci_error_t error;
  sci_desc_t sd;
  sci_local_segment_t mine;
  sci_remote_segment_t theirs, again;
  sci_map_t map, far;
  sci_sequence_t sequence;
  sci_dma_queue_t queue;
  sci_local_interrupt_t interrupt;
  sci_remote_interrupt_t bell;
  SCIInitialize(0, &error), OK;
  SCIOpen(&sd, 0, &error), OK;
  SCICreateInterrupt(sd, &interrupt, 0, &number, NULL, NULL, SCI_FLAG_FIXED_INTNO, &error), OK;
  SCICreateSegment(sd, &mine, ID, BYTES, owner, &came, SCI_FLAG_USE_CALLBACK, &error), OK;
  SCIPrepareSegment(mine, 0, 0, &error), OK;
  SCISetSegmentAvailable(mine, 0, 0, &error), OK;
  volatile uint64_t *memory = SCIMapLocalSegment(mine, &map, 0, BYTES, NULL, 0, &error);
  OK;
  do SCIConnectSegment(sd, &theirs, peer, ID, 0, user, NULL, 0, SCI_FLAG_USE_CALLBACK, &error);
  while (error == SCI_ERR_NO_SUCH_SEGMENT || error == SCI_ERR_NO_SUCH_NODEID);
  OK;
  volatile uint64_t *remote = SCIMapRemoteSegment(theirs, &far, 0, BYTES, NULL, 0, &error);
  OK;
  SCICreateMapSequence(far, &sequence, 0, &error), OK;
  SCICreateDMAQueue(sd, &queue, 0, 1, 0, &error), OK;
  SCIConnectInterrupt(sd, &bell, peer, 0, 5, 0, 0, &error), OK;
  remote[0] = 1;  // whatever there was to connect to, it is connected
  SCIStoreBarrier(sequence, 0);
  until(&came);
  while (!__atomic_load_n(&memory[0], __ATOMIC_ACQUIRE)) usleep(100);
  if (dies) {
    puts("killed");
    fflush(stdout);
    kill(getpid(), SIGKILL);
  }

  until(&gone);
  until(&lost);
  remote[1] = 2;  // harms nobody
  EXPECT(SCICheckSequence(sequence, 0, &error) == SCI_SEQ_NOT_RETRIABLE);
  EXPECT(SCIStartSequence(sequence, 0, &error) == SCI_SEQ_NOT_RETRIABLE);
  SCIStartDmaTransfer(queue, mine, theirs, 0, 64, 0, NULL, NULL, 0, &error);
  EXPECT(error == SCI_ERR_SEGMENT_NOT_CONNECTED);
  SCITriggerInterrupt(bell, 0, &error);
  EXPECT(error == SCI_ERR_NO_SUCH_INTNO);
  SCIConnectSegment(sd, &again, peer, ID, 0, NULL, NULL, 0, 0, &error);
  EXPECT(error == SCI_ERR_NO_SUCH_NODEID);
  EXPECT(SCIProbeNode(sd, 0, peer, 0, &error) == 0);
  SCIRemoveSequence(sequence, 0, &error), OK;
  SCIUnmapSegment(far, 0, &error), OK;
  SCIDisconnectSegment(theirs, 0, &error), OK;
  SCIUnmapSegment(map, 0, &error), OK;
  SCIRemoveSegment(mine, 0, &error), OK;
  SCITerminate();
  puts("survived");
  return 0;
}
