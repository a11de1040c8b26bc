/* SPDX-License-Identifier: BSD-3-Clause
 * sisci_api.h - SISCI: memory of other nodes, by stores of the CPU and by DMA.
 *
 *     SCIInitialize(0, &error);
 *     SCIOpen(&sd, 0, &error);
 *
 *     SCICreateSegment(sd, &mine, id, bytes, NULL, NULL, 0, &error);     // memory for others
 *     SCIPrepareSegment(mine, adapter, 0, &error);
 *     memory = SCIMapLocalSegment(mine, &map, 0, bytes, NULL, 0, &error);
 *     SCISetSegmentAvailable(mine, adapter, 0, &error);
 *
 *     SCIConnectSegment(sd, &theirs, node, id, adapter, NULL, NULL,      // and that of another
 *                       SCI_INFINITE_TIMEOUT, 0, &error);                // again, until it is
 * there remote = SCIMapRemoteSegment(theirs, &far, 0, bytes, NULL, 0, &error);
 *     SCICreateMapSequence(far, &sequence, 0, &error);
 *     remote[1] = data;
 *     SCIStoreBarrier(sequence, 0);                                      // the data before the
 * flag remote[0] = flag; SCIStoreBarrier(sequence, 0);
 *
 * The interface of the programs that were written for it, in words of this project, for its own
 * library of software (devices/sisci) and for any other that offers these functions. Constants
 * and structs for which drivers had no published values are marked in sisci_error.h.
 *
 * Sizes and offsets are bytes, times milliseconds (SCI_INFINITE_TIMEOUT: for ever). `flags` is 0
 * or a sum of those named with the function: another one is SCI_ERR_ILLEGAL_FLAG, one that the
 * library cannot honour SCI_ERR_FLAG_NOT_IMPLEMENTED. `error` may not be null. Every function may
 * return SCI_ERR_NOT_INITIALIZED before SCIInitialize, SCI_ERR_ILLEGAL_PARAMETER where a pointer is
 * null or a handle is of another kind or has been given back, SCI_ERR_NOSPC where memory or tables
 * are full, and SCI_ERR_SYSTEM where the operating system refuses.
 *
 * Threads: every function may be called by any of them. Two that use one object at a time see it
 * in either order; nobody may use one that another thread is removing. What waits holds up nobody.
 */
#ifndef SISCI_API_H
#define SISCI_API_H

#include "sisci_error.h"
#include "sisci_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- the library --- */

/* Comes before all others. A second call counts, and wants a second SCITerminate.
 * SCI_ERR_INCONSISTENT_VERSIONS: this library and what other processes use do not match. */
void SCIInitialize(unsigned int flags, sci_error_t *error);

/* Comes last; what is still there goes with it. */
void SCITerminate(void);

/* A static text for an error code, never null. */
const char *SCIGetErrorString(sci_error_t code);

/* A virtual device, from which resources are made. Any number of each. */
void SCIOpen(sci_desc_t *sd, unsigned int flags, sci_error_t *error);

/* SCI_ERR_BUSY: there is something left that was made from it. */
void SCIClose(sci_desc_t sd, unsigned int flags, sci_error_t *error);

/* The node id of a local adapter. SCI_ERR_NO_SUCH_ADAPTERNO. */
void SCIGetLocalNodeId(unsigned int adapterNo, unsigned int *nodeId, unsigned int flags,
                       sci_error_t *error);

/* 1: the node can be reached by this adapter; else 0, with SCI_ERR_NO_SUCH_ADAPTERNO,
 * SCI_ERR_ILLEGAL_NODEID, SCI_ERR_NO_LINK_ACCESS or SCI_ERR_NO_REMOTE_LINK_ACCESS. */
int SCIProbeNode(sci_desc_t sd, unsigned int adapterNo, unsigned int nodeId, unsigned int flags,
                 sci_error_t *error);

/* Answers a question (enum SCI_Q_ADAPTER and so on); `data` is that command's struct, which says
 * where the answer goes. SCI_ERR_ILLEGAL_QUERY, SCI_ERR_NO_SUCH_ADAPTERNO, SCI_ERR_OVERFLOW: the
 * text is longer than there is room. */
void SCIQuery(unsigned int command, void *data, unsigned int flags, sci_error_t *error);

/* --- memory of this node --- */

/* Memory that others can be given access to, zeroed. `segmentId` is the node's own;
 * SCI_FLAG_AUTO_ID: the library takes one that is free.
 * SCI_FLAG_PRIVATE: for nobody else, as the local end of DMA. SCI_FLAG_DMA_SOURCE_ONLY: likewise,
 * and DMA only reads it. SCI_FLAG_USE_CALLBACK: `callback` hears of nodes that come and go.
 * SCI_FLAG_EMPTY, _PHYSICAL, _CUDA_BUFFER, _BROADCAST: not of every library.
 * SCI_ERR_SEGMENTID_USED: when it is prepared at the latest. */
void SCICreateSegment(sci_desc_t sd, sci_local_segment_t *segment, unsigned int segmentId,
                      size_t size, sci_cb_local_segment_t callback, void *callbackArg,
                      unsigned int flags, sci_error_t *error);

/* Makes a segment ready for an adapter. SCI_FLAG_DMA_GLOBAL: for global DMA.
 * SCI_ERR_SIZE_ALIGNMENT, SCI_ERR_SEGMENTID_USED, SCI_ERR_ILLEGAL_OPERATION: it is already. */
void SCIPrepareSegment(sci_local_segment_t segment, unsigned int adapterNo, unsigned int flags,
                       sci_error_t *error);

/* Part of a segment in the program's address space. SCI_FLAG_READONLY_MAP;
 * SCI_FLAG_FIXED_MAP_ADDR: at `address`, else that is null. SCI_ERR_OUT_OF_RANGE. */
void *SCIMapLocalSegment(sci_local_segment_t segment, sci_map_t *map, size_t offset, size_t size,
                         void *address, unsigned int flags, sci_error_t *error);

/* From here on nodes may connect by this adapter. SCI_ERR_SEGMENT_NOT_PREPARED,
 * SCI_ERR_ILLEGAL_OPERATION: it is SCI_FLAG_PRIVATE, or available already. */
void SCISetSegmentAvailable(sci_local_segment_t segment, unsigned int adapterNo, unsigned int flags,
                            sci_error_t *error);

/* From here on nobody may connect; who is connected stays so. SCI_ERR_ILLEGAL_OPERATION. */
void SCISetSegmentUnavailable(sci_local_segment_t segment, unsigned int adapterNo,
                              unsigned int flags, sci_error_t *error);

/* SCI_ERR_BUSY: it is mapped, a DMA transfer uses it, or a node is still connected: call it again
 * until they are gone. */
void SCIRemoveSegment(sci_local_segment_t segment, unsigned int flags, sci_error_t *error);

/* --- memory of another node --- */

/* One attempt to connect. SCI_ERR_NO_SUCH_SEGMENT: it is not available (yet): call it again.
 * SCI_ERR_NO_SUCH_NODEID, _ILLEGAL_NODEID, _NO_LINK_ACCESS, _CONNECTION_REFUSED, _TIMEOUT.
 * SCI_FLAG_USE_CALLBACK: `callback` hears what becomes of the connection. */
void SCIConnectSegment(sci_desc_t sd, sci_remote_segment_t *segment, unsigned int nodeId,
                       unsigned int segmentId, unsigned int adapterNo,
                       sci_cb_remote_segment_t callback, void *callbackArg, unsigned int timeout,
                       unsigned int flags, sci_error_t *error);

/* Bytes; 0 for what is no connection. */
size_t SCIGetRemoteSegmentSize(sci_remote_segment_t segment);

/* Part of a remote segment in the program's address space. Loads wait for the other node; stores
 * are posted: they arrive in any order, sooner or later, until a barrier. Aligned stores of up to
 * 8 bytes arrive whole. Flags and errors as for SCIMapLocalSegment, and SCI_FLAG_SHARED_MAP;
 * the other SCI_FLAG_..._MAP are not of every library. */
volatile void *SCIMapRemoteSegment(sci_remote_segment_t segment, sci_map_t *map, size_t offset,
                                   size_t size, void *address, unsigned int flags,
                                   sci_error_t *error);

/* SCI_ERR_BUSY: a sequence uses the map. */
void SCIUnmapSegment(sci_map_t map, unsigned int flags, sci_error_t *error);

/* SCI_ERR_BUSY: it is mapped, or a DMA transfer uses it. */
void SCIDisconnectSegment(sci_remote_segment_t segment, unsigned int flags, sci_error_t *error);

/* --- stores of the CPU --- */

/* A watch over a map of a remote segment. SCI_FLAG_FAST_BARRIER changes nothing but speed. */
void SCICreateMapSequence(sci_map_t map, sci_sequence_t *sequence, unsigned int flags,
                          sci_error_t *error);

/* Ends it; the map stays. */
void SCIRemoveSequence(sci_sequence_t sequence, unsigned int flags, sci_error_t *error);

/* Begins to watch, once it says SCI_SEQ_OK; until then call it again. */
sci_sequence_status_t SCIStartSequence(sci_sequence_t sequence, unsigned int flags,
                                       sci_error_t *error);

/* What has become of the stores since it was started. It pushes them out first, unless
 * SCI_FLAG_NO_FLUSH and SCI_FLAG_NO_STORE_BARRIER say that the program has done that. */
sci_sequence_status_t SCICheckSequence(sci_sequence_t sequence, unsigned int flags,
                                       sci_error_t *error);

/* Stores before it arrive before those behind it. What is no sequence does nothing. */
void SCIStoreBarrier(sci_sequence_t sequence, unsigned int flags);

/* Pushes out what is still in buffers of the CPU, and of the adapter, unless
 * SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY. */
void SCIFlush(sci_sequence_t sequence, unsigned int flags);

/* Copies `size` bytes by stores of the CPU from `memory` to the mapped remote segment, or with
 * SCI_FLAG_BLOCK_READ the other way. `remoteOffset` counts from where the map begins. The sequence
 * may be null, but for SCI_FLAG_ERROR_CHECK, which starts and checks it: SCI_ERR_TRANSFER_FAILED
 * is then a copy that has to be made again. SCI_ERR_OUT_OF_RANGE, _SIZE_ALIGNMENT,
 * _OFFSET_ALIGNMENT. */
void SCIMemCpy(sci_sequence_t sequence, void *memory, sci_map_t remoteMap, size_t remoteOffset,
               size_t size, unsigned int flags, sci_error_t *error);

/* --- DMA --- */

/* A queue, for transfers of up to `maxEntries` enqueued parts. SCI_ERR_NO_SUCH_ADAPTERNO,
 * SCI_ERR_MAX_ENTRIES: 0, or more than the adapter has. */
void SCICreateDMAQueue(sci_desc_t sd, sci_dma_queue_t *queue, unsigned int adapterNo,
                       unsigned int maxEntries, unsigned int flags, sci_error_t *error);

/* SCI_ERR_ILLEGAL_OPERATION: a transfer is under way. */
void SCIRemoveDMAQueue(sci_dma_queue_t queue, unsigned int flags, sci_error_t *error);

/* Starts to copy from the local segment to the remote one, with SCI_FLAG_DMA_READ the other way.
 * Mind the order of the three numbers. One transfer at a time: SCI_ERR_BUSY until the last one has
 * ended. SCI_FLAG_DMA_WAIT: returns when this one has. SCI_FLAG_USE_CALLBACK: `callback` hears
 * of the end. SCI_FLAG_DMA_ADAPTER, _SYSDMA, _GLOBAL choose among engines.
 * SCI_ERR_OUT_OF_RANGE, _SIZE_ALIGNMENT, _OFFSET_ALIGNMENT, _SEGMENT_NOT_PREPARED,
 * _SEGMENT_NOT_CONNECTED; SCI_ERR_TRANSFER_FAILED with SCI_FLAG_DMA_WAIT alone. */
void SCIStartDmaTransfer(sci_dma_queue_t queue, sci_local_segment_t localSegment,
                         sci_remote_segment_t remoteSegment, size_t localOffset, size_t size,
                         size_t remoteOffset, sci_cb_dma_t callback, void *callbackArg,
                         unsigned int flags, sci_error_t *error);

/* The same with memory of the program's in place of a local segment. It stays as it is until the
 * transfer has ended. */
void SCIStartDmaTransferMem(sci_dma_queue_t queue, void *localAddress,
                            sci_remote_segment_t remoteSegment, size_t size, size_t remoteOffset,
                            sci_cb_dma_t callback, void *callbackArg, unsigned int flags,
                            sci_error_t *error);

/* The same for all elements of a vector, which is read before the call returns. They arrive in any
 * order. SCI_ERR_OUT_OF_RANGE also where there are none, or more than DIS_DMA_MAX_VECLEN. */
void SCIStartDmaTransferVec(sci_dma_queue_t queue, sci_local_segment_t localSegment,
                            sci_remote_segment_t remoteSegment, size_t vectorLength,
                            dis_dma_vec_t *vector, sci_cb_dma_t callback, void *callbackArg,
                            unsigned int flags, sci_error_t *error);

/* Waits until nothing is under way, and says how it ended. SCI_ERR_TIMEOUT,
 * SCI_ERR_ILLEGAL_OPERATION: nothing was posted; SCI_ERR_CANCELLED: the queue went away. */
sci_dma_queue_state_t SCIWaitForDMAQueue(sci_dma_queue_t queue, unsigned int timeout,
                                         unsigned int flags, sci_error_t *error);

/* What the queue is doing. SCI_DMAQUEUE_ERROR for what is no queue. */
sci_dma_queue_state_t SCIDMAQueueState(sci_dma_queue_t queue);

/* Ends what is under way, which may have moved some of its bytes. SCI_ERR_ILLEGAL_OPERATION:
 * nothing was. */
void SCIAbortDMAQueue(sci_dma_queue_t queue, unsigned int flags, sci_error_t *error);

/* The older way: parts are enqueued (SCI_DMAQUEUE_GATHER), and posted together. Mind the order of
 * the three numbers, which is another one here. SCI_ERR_MAX_ENTRIES: the queue is full. */
sci_dma_queue_state_t SCIEnqueueDMATransfer(sci_dma_queue_t queue, sci_local_segment_t localSegment,
                                            sci_remote_segment_t remoteSegment, size_t localOffset,
                                            size_t remoteOffset, size_t size, unsigned int flags,
                                            sci_error_t *error);

/* Starts what was enqueued. SCI_ERR_ILLEGAL_OPERATION: nothing was. */
void SCIPostDMAQueue(sci_dma_queue_t queue, sci_cb_dma_t callback, void *callbackArg,
                     unsigned int flags, sci_error_t *error);

/* Forgets what was enqueued or has ended: SCI_DMAQUEUE_IDLE. SCI_ERR_ILLEGAL_OPERATION: a transfer
 * is under way. */
void SCIResetDMAQueue(sci_dma_queue_t queue, unsigned int flags, sci_error_t *error);

/* --- interrupts --- */

/* What nodes can trigger by its number, which is returned in `interruptNo`, or taken from there
 * with SCI_FLAG_FIXED_INTNO (SCI_ERR_INTNO_USED). SCI_FLAG_COUNTING_INT: each trigger counts; else
 * several that nobody has seen may be one. SCI_FLAG_USE_CALLBACK. */
void SCICreateInterrupt(sci_desc_t sd, sci_local_interrupt_t *interrupt, unsigned int adapterNo,
                        unsigned int *interruptNo, sci_cb_interrupt_t callback, void *callbackArg,
                        unsigned int flags, sci_error_t *error);

/* Who waits for it is told SCI_ERR_CANCELLED. SCI_ERR_BUSY: its callback is being called. */
void SCIRemoveInterrupt(sci_local_interrupt_t interrupt, unsigned int flags, sci_error_t *error);

/* One attempt to connect, whatever the time given: SCI_ERR_NO_SUCH_INTNO: call it again. */
void SCIConnectInterrupt(sci_desc_t sd, sci_remote_interrupt_t *interrupt, unsigned int nodeId,
                         unsigned int adapterNo, unsigned int interruptNo, unsigned int timeout,
                         unsigned int flags, sci_error_t *error);

/* Ends a connection. */
void SCIDisconnectInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags,
                            sci_error_t *error);

/* SCI_ERR_NO_SUCH_INTNO: it has gone. It is in no order with stores or DMA. */
void SCITriggerInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags, sci_error_t *error);

/* Waits for a trigger, and takes it. SCI_ERR_TIMEOUT, SCI_ERR_CANCELLED,
 * SCI_ERR_ILLEGAL_OPERATION: it has a callback. */
void SCIWaitForInterrupt(sci_local_interrupt_t interrupt, unsigned int timeout, unsigned int flags,
                         sci_error_t *error);

/* As SCICreateInterrupt; triggers bring bytes, and queue. */
void SCICreateDataInterrupt(sci_desc_t sd, sci_local_data_interrupt_t *interrupt,
                            unsigned int adapterNo, unsigned int *interruptNo,
                            sci_cb_data_interrupt_t callback, void *callbackArg, unsigned int flags,
                            sci_error_t *error);

/* As SCIRemoveInterrupt. */
void SCIRemoveDataInterrupt(sci_local_data_interrupt_t interrupt, unsigned int flags,
                            sci_error_t *error);

/* As SCIConnectInterrupt. */
void SCIConnectDataInterrupt(sci_desc_t sd, sci_remote_data_interrupt_t *interrupt,
                             unsigned int nodeId, unsigned int adapterNo, unsigned int interruptNo,
                             unsigned int timeout, unsigned int flags, sci_error_t *error);

/* Ends a connection. */
void SCIDisconnectDataInterrupt(sci_remote_data_interrupt_t interrupt, unsigned int flags,
                                sci_error_t *error);

/* Brings `length` bytes, which are read before it returns. SCI_ERR_NOSPC: the receiver's queue is
 * full: call it again. SCI_ERR_OUT_OF_RANGE: more bytes than one trigger can bring. */
void SCITriggerDataInterrupt(sci_remote_data_interrupt_t interrupt, void *data, unsigned int length,
                             unsigned int flags, sci_error_t *error);

/* Waits for a trigger and takes its bytes; `length` says how many fit, and then how many came.
 * SCI_ERR_OVERFLOW: more than fit; they stay, and `length` says how many they are. SCI_ERR_TIMEOUT,
 * SCI_ERR_CANCELLED, SCI_ERR_ILLEGAL_OPERATION: it has a callback. */
void SCIWaitForDataInterrupt(sci_local_data_interrupt_t interrupt, void *data, unsigned int *length,
                             unsigned int timeout, unsigned int flags, sci_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
