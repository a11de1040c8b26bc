/* SPDX-License-Identifier: BSD-3-Clause
 * sisci_error.h - the error codes of the SISCI API.
 *
 * Every function reports through its last argument, `sci_error_t *error`: SCI_ERR_OK, or one of
 * these. What a call was to return is then null or 0, and nothing has changed, unless the function
 * says otherwise.
 *
 * Codes from 0x900 on are those that drivers have used since the first version of the API. The
 * values of SCI_ERR_NO_SUCH_INTNO, SCI_ERR_INTNO_USED and of the names behind them, which came
 * later, are this header's own: programs that are only compiled against it never notice.
 */
#ifndef SISCI_ERROR_H
#define SISCI_ERROR_H

/* What a call has come to. */
typedef enum {
  SCI_ERR_OK = 0x000,

  SCI_ERR_BUSY = 0x40000900,                  /* something still uses it */
  SCI_ERR_FLAG_NOT_IMPLEMENTED = 0x40000901,  /* a flag that this library cannot honour */
  SCI_ERR_ILLEGAL_FLAG = 0x40000902,          /* a flag that this function does not have */
  SCI_ERR_NOSPC = 0x40000904,                 /* no room: memory, table entries, a queue */
  SCI_ERR_API_NOSPC = 0x40000905,             /* no room in the library */
  SCI_ERR_HW_NOSPC = 0x40000906,              /* no room in the adapter */
  SCI_ERR_NOT_IMPLEMENTED = 0x40000907,       /* the library cannot do that */
  SCI_ERR_ILLEGAL_ADAPTERNO = 0x40000908,     /* no number that an adapter may have */
  SCI_ERR_NO_SUCH_ADAPTERNO = 0x40000909,     /* this machine has no such adapter */
  SCI_ERR_TIMEOUT = 0x4000090a,               /* the time given has passed */
  SCI_ERR_OUT_OF_RANGE = 0x4000090b,          /* beyond the end of a segment or map */
  SCI_ERR_NO_SUCH_SEGMENT = 0x4000090c,       /* not there, or not available (yet) */
  SCI_ERR_ILLEGAL_NODEID = 0x4000090d,        /* no number that a node may have */
  SCI_ERR_CONNECTION_REFUSED = 0x4000090e,    /* the segment's owner said no */
  SCI_ERR_SEGMENT_NOT_CONNECTED = 0x4000090f, /* the connection has gone */
  SCI_ERR_SIZE_ALIGNMENT = 0x40000910,        /* no size that the adapter can move */
  SCI_ERR_OFFSET_ALIGNMENT = 0x40000911,      /* no offset that the adapter can begin at */
  SCI_ERR_ILLEGAL_PARAMETER = 0x40000912,     /* a null pointer, a handle that is none */
  SCI_ERR_MAX_ENTRIES = 0x40000913,           /* more entries than the queue has, or can have */
  SCI_ERR_SEGMENT_NOT_PREPARED = 0x40000914,  /* SCIPrepareSegment comes first */
  SCI_ERR_ILLEGAL_ADDRESS = 0x40000915,       /* nothing can be mapped there */
  SCI_ERR_ILLEGAL_OPERATION = 0x40000916,     /* not in the state that it is in */
  SCI_ERR_ILLEGAL_QUERY = 0x40000917,         /* no such question */
  SCI_ERR_SEGMENTID_USED = 0x40000918,        /* another segment of the node has this id */
  SCI_ERR_SYSTEM = 0x40000919,                /* the operating system refused something */
  SCI_ERR_CANCELLED = 0x4000091a,             /* it was taken away while somebody waited */
  SCI_ERR_NOT_CONNECTED = 0x4000091b,
  SCI_ERR_NOT_AVAILABLE = 0x4000091c,
  SCI_ERR_INCONSISTENT_VERSIONS = 0x4000091d, /* library and driver do not belong together */
  SCI_ERR_COND_INT_RACE_PROBLEM = 0x4000091e,
  SCI_ERR_OVERFLOW = 0x4000091f,        /* more came than fitted */
  SCI_ERR_NOT_INITIALIZED = 0x40000920, /* SCIInitialize comes first */
  SCI_ERR_ACCESS = 0x40000921,          /* not allowed */

  SCI_ERR_NO_SUCH_NODEID = 0x40000a00,        /* nobody has this node id */
  SCI_ERR_NODE_NOT_RESPONDING = 0x40000a02,   /* the node is there and does not answer */
  SCI_ERR_NO_REMOTE_LINK_ACCESS = 0x40000a04, /* the node cannot be reached at present */
  SCI_ERR_NO_LINK_ACCESS = 0x40000a05,        /* one's own link is down */
  SCI_ERR_TRANSFER_FAILED = 0x40000a06,       /* not all has arrived: to be done again */
  SCI_ERR_REMOTE_BUSY = 0x40000b00,

  SCI_ERR_NO_SUCH_INTNO = 0x40000e00, /* the node has no such interrupt */
  SCI_ERR_INTNO_USED = 0x40000e01,    /* another interrupt of the node has this number */
  SCI_ERR_NOT_SUPPORTED = 0x40000e02,
  SCI_ERR_DEPRECATED = 0x40000e03,
  SCI_ERR_DMA_NOT_AVAILABLE = 0x40000e04, /* the adapter has no DMA engine of that kind */
  SCI_ERR_DMA_DISABLED = 0x40000e05,
  SCI_ERR_EWOULD_BLOCK = 0x40000e06,
  SCI_ERR_SEMAPHORE_COUNT_EXCEEDED = 0x40000e07,
  SCI_ERR_IRQL_ILLEGAL = 0x40000e08,
  SCI_ERR_LOCAL_BUSY = 0x40000e09,
  SCI_ERR_ALL_BUSY = 0x40000e0a,
  SCI_ERR_NO_SUCH_FDID = 0x40000e0b
} sci_error_t;

#endif
