/* SPDX-License-Identifier: BSD-3-Clause
 * sisci_types.h - handles, states and flags of the SISCI API (sisci_api.h).
 */
#ifndef SISCI_TYPES_H
#define SISCI_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "sisci_error.h"

/* Handles. They are the library's; a program only keeps them. */

/* A virtual device: what resources are made from. */
typedef struct sci_desc *sci_desc_t;
/* Memory of this node that others can reach. */
typedef struct sci_local_segment *sci_local_segment_t;
/* A connection to memory of another node. */
typedef struct sci_remote_segment *sci_remote_segment_t;
/* Part of either of them in the program's address space. */
typedef struct sci_map *sci_map_t;
/* A watch over what is stored into a mapped remote segment. */
typedef struct sci_sequence *sci_sequence_t;
/* An engine that copies between a local and a remote segment. */
typedef struct sci_dma_queue *sci_dma_queue_t;
/* What other nodes can trigger. */
typedef struct sci_local_interrupt *sci_local_interrupt_t;
/* A connection to an interrupt of another node. */
typedef struct sci_remote_interrupt *sci_remote_interrupt_t;
/* What other nodes can trigger with some bytes. */
typedef struct sci_local_data_interrupt *sci_local_data_interrupt_t;
/* A connection to a data interrupt of another node. */
typedef struct sci_remote_data_interrupt *sci_remote_data_interrupt_t;

/* An address as the IO bus has it. */
typedef uint64_t sci_ioaddr_t;

/* What a callback wishes: to be called again, or not. */
typedef enum { SCI_CALLBACK_CANCEL = 1, SCI_CALLBACK_CONTINUE = 2 } sci_callback_action_t;

/* Why a segment's callback is called. */
typedef enum {
  SCI_CB_CONNECT = 1,         /* local segments: a node has connected */
  SCI_CB_DISCONNECT = 2,      /* a node has disconnected; or, remote: the owner took it away */
  SCI_CB_NOT_OPERATIONAL = 3, /* the connection does not work at present */
  SCI_CB_OPERATIONAL = 4,     /* it works again */
  SCI_CB_LOST = 5             /* it has gone for ever */
} sci_segment_cb_reason_t;

/* What a DMA queue is doing. */
typedef enum {
  SCI_DMAQUEUE_IDLE = 0,    /* nothing has been asked of it */
  SCI_DMAQUEUE_GATHER = 1,  /* transfers are enqueued, and not posted */
  SCI_DMAQUEUE_POSTED = 2,  /* under way */
  SCI_DMAQUEUE_DONE = 3,    /* all data have arrived */
  SCI_DMAQUEUE_ABORTED = 4, /* by SCIAbortDMAQueue; some data may have arrived */
  SCI_DMAQUEUE_ERROR = 5    /* failed; some data may have arrived */
} sci_dma_queue_state_t;

/* What has become of the stores since a sequence was started. */
typedef enum {
  SCI_SEQ_OK = 0,            /* they have arrived */
  SCI_SEQ_RETRIABLE = 1,     /* some have not: store them again */
  SCI_SEQ_NOT_RETRIABLE = 2, /* some have not: start the sequence until that is OK, store again */
  SCI_SEQ_PENDING = 3        /* an error is being dealt with: ask again */
} sci_sequence_status_t;

/* Callbacks. They are called on a thread of the library's, one at a time; they may call any
 * function but those that remove what they were called for, or wait. */

/* For a local segment: `node` has come or gone, by this adapter. */
typedef sci_callback_action_t (*sci_cb_local_segment_t)(void *arg, sci_local_segment_t segment,
                                                        sci_segment_cb_reason_t reason,
                                                        unsigned int node, unsigned int adapter,
                                                        sci_error_t error);
/* For a connection: something has happened to it. */
typedef sci_callback_action_t (*sci_cb_remote_segment_t)(void *arg, sci_remote_segment_t segment,
                                                         sci_segment_cb_reason_t reason,
                                                         sci_error_t status);
/* For a DMA queue: what was under way has ended; `status` is SCI_ERR_OK where all has arrived. */
typedef sci_callback_action_t (*sci_cb_dma_t)(void *arg, sci_dma_queue_t queue, sci_error_t status);
/* For an interrupt: it was triggered. */
typedef sci_callback_action_t (*sci_cb_interrupt_t)(void *arg, sci_local_interrupt_t interrupt,
                                                    sci_error_t status);
/* For a data interrupt: it was triggered with these bytes, which are the library's. */
typedef sci_callback_action_t (*sci_cb_data_interrupt_t)(void *arg,
                                                         sci_local_data_interrupt_t interrupt,
                                                         void *data, unsigned int length,
                                                         sci_error_t status);

/* One element of a DMA vector: bytes, and where they lie in either segment. */
typedef struct {
  unsigned int size;
  unsigned int local_offset;
  unsigned int remote_offset;
  unsigned int flags; /* 0 */
} dis_dma_vec_t;

/* Elements of a vector, at most; the capabilities of an adapter may say fewer. */
#define DIS_DMA_MAX_VECLEN 256

/* Wait for ever. Other times are in milliseconds. */
#define SCI_INFINITE_TIMEOUT 0xffffffffu

/* The node id that means all nodes of a broadcast. */
#define SCI_BROADCAST_NODEID_ALL 252u

/* Flags: which function has which is said there. */
#define SCI_FLAG_USE_CALLBACK 0x1u
#define SCI_FLAG_EMPTY 0x2u
#define SCI_FLAG_PRIVATE 0x4u
#define SCI_FLAG_DMA_SOURCE_ONLY 0x8u
#define SCI_FLAG_PHYSICAL 0x1000u
#define SCI_FLAG_CUDA_BUFFER 0x2000u
#define SCI_FLAG_BROADCAST 0x40000u
#define SCI_FLAG_AUTO_ID 0x20000000u

#define SCI_FLAG_FIXED_MAP_ADDR 0x1u
#define SCI_FLAG_READONLY_MAP 0x2u
#define SCI_FLAG_LOCK_OPERATION 0x4u
#define SCI_FLAG_CONDITIONAL_INTERRUPT_MAP 0x8u
#define SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP 0x10u
#define SCI_FLAG_IO_MAP_IOSPACE 0x80u
#define SCI_FLAG_NO_MEMORY_LOOPBACK 0x800u
#define SCI_FLAG_SHARED_MAP 0x2000u

#define SCI_FLAG_DMA_WAIT 0x4u
#define SCI_FLAG_DMA_READ 0x10u
#define SCI_FLAG_DMA_PHDMA 0x20u
#define SCI_FLAG_DMA_GLOBAL 0x40u
#define SCI_FLAG_DMA_SYSDMA 0x100u
#define SCI_FLAG_DMA_USER_MEM 0x200u
#define SCI_FLAG_DMA_ADAPTER 0x800u

#define SCI_FLAG_FIXED_INTNO 0x2u
#define SCI_FLAG_SHARED_INT 0x4u
#define SCI_FLAG_COUNTING_INT 0x20u

#define SCI_FLAG_FAST_BARRIER 0x1u
#define SCI_FLAG_NO_FLUSH 0x1u
#define SCI_FLAG_NO_STORE_BARRIER 0x2u
#define SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY 0x1u
#define SCI_FLAG_BLOCK_READ 0x2u
#define SCI_FLAG_ERROR_CHECK 0x4u
#define SCI_FLAG_ALLOW_UNICAST 0x4000u

/* What SCIQuery can be asked: the command says which struct it is given. */
enum {
  SCI_Q_ADAPTER = 1,        /* sci_query_adapter_t */
  SCI_Q_SYSTEM = 2,         /* sci_query_system_t */
  SCI_Q_LOCAL_SEGMENT = 3,  /* sci_query_local_segment_t */
  SCI_Q_REMOTE_SEGMENT = 4, /* sci_query_remote_segment_t */
  SCI_Q_MAP = 5,            /* none here */
  SCI_Q_DMA = 6,            /* sci_query_dma_t; flag SCI_FLAG_DMA_ADAPTER, _SYSDMA or _GLOBAL */
  SCI_Q_VENDORID = 7,       /* sci_query_string_t */
  SCI_Q_API = 8             /* sci_query_string_t */
};

/* Of an adapter; each answer is an unsigned int. */
enum {
  SCI_Q_ADAPTER_SERIAL_NUMBER = 1,
  SCI_Q_ADAPTER_CARD_TYPE = 2,
  SCI_Q_ADAPTER_NODEID = 3,
  SCI_Q_ADAPTER_CONFIGURED = 4, /* 1: yes */
  SCI_Q_ADAPTER_NUMBER_OF_LINKS = 5,
  SCI_Q_ADAPTER_LINK_OPERATIONAL = 6,     /* 1: yes; of link `portNo` */
  SCI_Q_ADAPTER_DMA_MTU = 7,              /* bytes of one transfer, at most */
  SCI_Q_ADAPTER_DMA_SIZE_ALIGNMENT = 8,   /* bytes that the size is a multiple of */
  SCI_Q_ADAPTER_DMA_OFFSET_ALIGNMENT = 9, /* and the offsets */
  SCI_Q_ADAPTER_MCAST_MAX_GROUPS = 10
};

/* Of DMA; the first answer is an unsigned int, the second sci_dma_capabilities_t. */
enum { SCI_Q_DMA_AVAILABLE = 1, SCI_Q_DMA_CAPABILITIES = 2 };

/* Of a segment of this node. */
enum { SCI_Q_LOCAL_SEGMENT_IOADDR = 1 };

/* Of a connection. */
enum { SCI_Q_REMOTE_SEGMENT_IOADDR = 1 };

/* Of the machine; each answer is an unsigned int. */
enum { SCI_Q_SYSTEM_CPU_CACHE_LINE_SIZE = 1 };

/* SCI_Q_ADAPTER: which adapter, which of its links, which question, where the answer goes. */
typedef struct {
  unsigned int localAdapterNo;
  unsigned int portNo;
  unsigned int subcommand;
  void *data;
} sci_query_adapter_t;

/* SCI_Q_SYSTEM: which question, where the answer goes. */
typedef struct {
  unsigned int subcommand;
  void *data;
} sci_query_system_t;

/* SCI_Q_LOCAL_SEGMENT: which segment, which question, and the answer. */
typedef struct {
  sci_local_segment_t segment;
  unsigned int subcommand;
  union {
    sci_ioaddr_t ioaddr;
  } data;
} sci_query_local_segment_t;

/* SCI_Q_REMOTE_SEGMENT: which connection, which question, and the answer. */
typedef struct {
  sci_remote_segment_t segment;
  unsigned int subcommand;
  union {
    sci_ioaddr_t ioaddr;
  } data;
} sci_query_remote_segment_t;

/* SCI_Q_DMA: which adapter, which question, where the answer goes. */
typedef struct {
  unsigned int localAdapterNo;
  unsigned int subcommand;
  void *data;
} sci_query_dma_t;

/* SCI_Q_VENDORID, SCI_Q_API: where the text goes, and how many bytes fit there with its end. */
typedef struct {
  char *str;
  unsigned int length;
} sci_query_string_t;

/* What the DMA engine of an adapter can do. */
typedef struct {
  unsigned int num_channels;          /* transfers that can be under way at a time */
  unsigned int max_transfer_size;     /* bytes, of a transfer or of one element */
  unsigned int max_vector_length;     /* elements */
  unsigned int support_mem2io;        /* 1: from one's own memory to another's */
  unsigned int support_io2mem;        /* 1: the other way (SCI_FLAG_DMA_READ) */
  unsigned int support_io2io;         /* 1: between two others */
  unsigned int min_align_bytes;       /* sizes and offsets are multiples of it */
  unsigned int suggested_align_bytes; /* and fast with multiples of this */
} sci_dma_capabilities_t;

#endif
