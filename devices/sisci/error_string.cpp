// SPDX-License-Identifier: BSD-3-Clause
// error_string.cpp - error codes in words.

#include "sisci/sisci_api.h"

const char *SCIGetErrorString(sci_error_t code) {
#define SAY(name, text) \
  case SCI_ERR_##name:  \
    return text
  switch (code) {
    SAY(OK, "it worked");
    SAY(BUSY, "something still uses it");
    SAY(FLAG_NOT_IMPLEMENTED, "a flag that this library cannot honour");
    SAY(ILLEGAL_FLAG, "a flag that this function does not have");
    SAY(NOSPC, "no room");
    SAY(API_NOSPC, "no room in the library");
    SAY(HW_NOSPC, "no room in the adapter");
    SAY(NOT_IMPLEMENTED, "the library cannot do that");
    SAY(ILLEGAL_ADAPTERNO, "no number that an adapter may have");
    SAY(NO_SUCH_ADAPTERNO, "no adapter has this number");
    SAY(TIMEOUT, "the time has passed");
    SAY(OUT_OF_RANGE, "out of range");
    SAY(NO_SUCH_SEGMENT, "no such segment is available");
    SAY(ILLEGAL_NODEID, "no node may have this id");
    SAY(CONNECTION_REFUSED, "the connection was refused");
    SAY(SEGMENT_NOT_CONNECTED, "the segment is not connected");
    SAY(SIZE_ALIGNMENT, "the size is not aligned");
    SAY(OFFSET_ALIGNMENT, "the offset is not aligned");
    SAY(ILLEGAL_PARAMETER, "an argument is not what it should be");
    SAY(MAX_ENTRIES, "too many entries");
    SAY(SEGMENT_NOT_PREPARED, "the segment is not prepared");
    SAY(ILLEGAL_ADDRESS, "nothing can be mapped there");
    SAY(ILLEGAL_OPERATION, "not in this state");
    SAY(ILLEGAL_QUERY, "no such question");
    SAY(SEGMENTID_USED, "another segment has this id");
    SAY(SYSTEM, "the operating system refused");
    SAY(CANCELLED, "it was taken away");
    SAY(NOT_CONNECTED, "not connected");
    SAY(NOT_AVAILABLE, "not available");
    SAY(INCONSISTENT_VERSIONS, "versions do not match");
    SAY(COND_INT_RACE_PROBLEM, "conditional interrupts met");
    SAY(OVERFLOW, "more than there is room for");
    SAY(NOT_INITIALIZED, "SCIInitialize was not called");
    SAY(ACCESS, "not allowed");
    SAY(NO_SUCH_NODEID, "no node has this id");
    SAY(NODE_NOT_RESPONDING, "the node does not answer");
    SAY(NO_REMOTE_LINK_ACCESS, "the node cannot be reached");
    SAY(NO_LINK_ACCESS, "the link is down");
    SAY(TRANSFER_FAILED, "the transfer failed");
    SAY(REMOTE_BUSY, "the other node is busy");
    SAY(NO_SUCH_INTNO, "no interrupt has this number");
    SAY(INTNO_USED, "another interrupt has this number");
    SAY(NOT_SUPPORTED, "not supported");
    SAY(DEPRECATED, "not to be used any more");
    SAY(DMA_NOT_AVAILABLE, "no such DMA engine");
    SAY(DMA_DISABLED, "DMA is disabled");
    SAY(EWOULD_BLOCK, "it would block");
    SAY(SEMAPHORE_COUNT_EXCEEDED, "too many signals");
    SAY(IRQL_ILLEGAL, "not at this interrupt level");
    SAY(LOCAL_BUSY, "this node is busy");
    SAY(ALL_BUSY, "all are busy");
    SAY(NO_SUCH_FDID, "no such file");
  }
#undef SAY
  return "no error code of SISCI";
}
