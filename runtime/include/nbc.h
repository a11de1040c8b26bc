/* SPDX-License-Identifier: BSD-3-Clause
 * nbc.h - start a compiled collective and get on with other work.
 *
 *     struct nbc_call call = {.in = a, .out = b, .count = n, .type = NBC_F64};
 *     nbc_request r;                      // yours; must stay until the call is done
 *     nbc_start(plan, &call, &r);
 *     compute();
 *     nbc_wait(&r);
 *
 * A plan is a template bound to a communicator: queues, connections, memory. It
 * is made once, in two steps, so that one thread can make those of many ranks:
 *
 *     nbc_plan_create(comm, template, bytes, &options, &plan);   // local
 *     nbc_plan_connect(plan);                                    // collective
 *
 * create makes the queues, posts what is received ahead, and puts their numbers into
 * the bootstrap; connect gets those of the peers and takes the queues up. No call
 * may be started before all ranks have connected: the bootstrap's `fence`, at the
 * end of connect, sees to that; without one, the caller must. Likewise no rank may
 * free its plan before all ranks' calls are done: an adapter without the
 * queue cannot acknowledge what it has received.
 *
 * All ranks of a communicator create the same plans in the same order, and start
 * the same calls of a plan, with equal counts and types (where blocks have lengths of their
 * own: with those that MPI wants to be equal), in the same order; they may
 * run ahead of each other by any number of calls. Different plans do not wait for each
 * other.
 *
 * Nothing here blocks except nbc_plan_connect() and nbc_wait(). Every function
 * returns 0 or a negative nbc_status; nothing is printed, nothing aborts. A plan
 * is used by one thread at a time; different plans by different threads.
 *
 * On the path of a call (nbc_start, nbc_test) nothing is allocated or locked and
 * no system call is made, but for the first rendezvous call with a buffer that
 * was not seen before: it is registered, and stays so in a cache of the
 * communicator (nbc_register does it ahead of time).
 *
 * Who moves a call on: for coredirect the adapter. The host is needed, in
 * nbc_test or nbc_wait of any call of the plan, to reduce where the adapter
 * cannot (host steps), to copy eager data out at the end, and to send out calls
 * that were started while `depth` earlier ones were under way. For mpi and shm the host, in
 * those two functions; a test that finds nothing tests one message, or two. There nbc_start takes
 * no longer for long calls than for short ones: it posts what can be posted, and leaves copies and
 * reductions to the first nbc_test or nbc_wait. For verbs the adapter, as far as was posted, and
 * nbc_start also does what the host has to do before more can be, and looks a few microseconds for
 * peers that start at the same time (nbc/verbs.h); then the host in those two
 * functions, of which each polls once. For sci likewise, but that the host does what the adapter
 * does not: stores, and whatever follows a transfer. Or a thread: nbc_comm_progress.
 */
#ifndef NBC_H
#define NBC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return: 0, or what went wrong. Each function says which of them it may return. */
enum nbc_status {
  NBC_OK = 0,
  NBC_ERROR_ARGUMENT = -1, /* a pointer, count, type or op that cannot be */
  NBC_ERROR_TEMPLATE = -2, /* damaged, or not for this runtime, target or rank */
  NBC_ERROR_MEMORY = -3,   /* the system has no more */
  NBC_ERROR_RESOURCES =
      -4, /* the device has no more (queues, tags), or a queue would be too long */
  NBC_ERROR_TOO_LONG =
      -5, /* longer than the plan's max_bytes, or than the device carries at once */
  NBC_ERROR_UNSUPPORTED = -6, /* the template has no variant for this call */
  NBC_ERROR_DEVICE = -7,      /* a queue pair or message failed; the plan is of no more use */
  NBC_ERROR_BOOTSTRAP = -8,   /* the bootstrap could not exchange addresses */
  NBC_ERROR_BUSY = -9,        /* calls are still under way */
  NBC_ERROR_ABANDONED = -10,  /* by nbc_plan_abandon */
  NBC_ERROR_LIBRARY = -11,    /* damaged, or not for this runtime or machine (nbc/library.h) */
  NBC_ERROR_THREADS = -12     /* a progress thread needs devices that several threads may use */
};
/* What a status means, in words: "the template is damaged or not for this runtime". Never null;
 * static; thread safe. Of values that are no status, too. */
const char *nbc_status_text(int status);

/* Types of elements: MPI's, by size and kind. */
enum nbc_type {
  NBC_BYTE,
  NBC_I8,
  NBC_U8,
  NBC_I16,
  NBC_U16,
  NBC_I32,
  NBC_U32,
  NBC_I64,
  NBC_U64,
  NBC_F32,
  NBC_F64,
  NBC_F80,  /* long double of x86: 16 bytes, of which 10 count */
  NBC_BOOL, /* C's _Bool: logical operators only */
  NBC_CF32, /* complex of two F32, and so on: sum and product */
  NBC_CF64,
  NBC_CF80,
  NBC_I16_I32, /* struct {int16_t value; int32_t index;}, and so on, as MPI_SHORT_INT: MINLOC,
                  MAXLOC */
  NBC_I32_I32,
  NBC_I64_I32,
  NBC_F32_I32,
  NBC_F64_I32,
  NBC_F80_I32,
  NBC_F32_F32, /* MPI_2REAL */
  NBC_F64_F64,
  NBC_TYPES,
  NBC_OPAQUE = NBC_TYPES /* nbc_call.element_bytes each, of which NBC_USER's function knows more */
};
/* Bytes of one element; 0 for no type, and for NBC_OPAQUE. Thread safe. */
size_t nbc_type_size(enum nbc_type);
/* The name of a type: "f64", "f64_i32"; null for no type. Static; thread safe. */
const char *nbc_type_name(enum nbc_type);

/* Operators of reductions: MPI's, and the caller's own. */
enum nbc_op {
  NBC_SUM,
  NBC_PROD,
  NBC_MIN,
  NBC_MAX,
  NBC_BAND,
  NBC_BOR,
  NBC_BXOR,
  NBC_LAND,
  NBC_LOR,
  NBC_LXOR,
  NBC_MINLOC, /* of pairs: the smaller value; of equal ones the lower index */
  NBC_MAXLOC,
  NBC_USER, /* nbc_call.user */
  NBC_OPS
};

/* A reduction: to[i] = left[i] op right[i] for n elements, in this order. `to` may be `left`
 * or `right`, otherwise they do not overlap. Integers wrap as in C; logical operators give 0 or 1.
 * Floating point is rounded after each operation, so that all processors get the same bits. No
 * alignment is assumed. What lies between the members of a pair, or behind the ten bytes of an F80,
 * may be anything.
 *
 * One of a user's own is called by the thread that is in nbc_start, nbc_test or nbc_wait of the
 * plan, with nbc_call.user_context; it must not call those for the same plan. It has to be
 * associative. Where it does not commute, the algorithm has to combine in the order of ranks
 * (NBC_LIBRARY_RANK_ORDER in nbc/library.h): a plan cannot know, and does not look. */
typedef void nbc_reduce_function(void *to, const void *left, const void *right, size_t n,
                                 void *context);
/* The function of a type and op, for the vectors of this processor; null where MPI has none (BAND
 * of F32). Thread safe, and as all that it returns for as long as the library is loaded. */
nbc_reduce_function *nbc_reduction(enum nbc_type, enum nbc_op);
/* The name of an operator: "sum"; null for no operator. Static; thread safe. */
const char *nbc_op_name(enum nbc_op);

/* How ranks find each other, in the manner of PMI: put, then get what others put. The functions are
 * called by the threads that create and connect plans, one plan at a time in each of these, and
 * return 0, or anything else for a failure. Keys are strings of at most 63 bytes, without '/' or
 * blanks, unique per communicator; data are at most 1024 bytes. */
struct nbc_bootstrap {
  int rank, ranks; /* this rank, from 0; how many there are, at least 1 */
  void *context;   /* handed to the functions; the caller's */
  /* Publishes a copy of the data under the key. Returns at once. */
  int (*put)(void *context, const char *key, const void *data, size_t bytes);
  /* What that rank has put, or will put: waits for it. Sets *bytes to its length; fails where that
   * is more than `capacity`. */
  int (*get)(void *context, int rank, const char *key, void *data, size_t capacity, size_t *bytes);
  /* Returns when all ranks have called it, as often as this one. Null where one
   * thread makes the plans of all ranks: see nbc_plan_connect. */
  int (*fence)(void *context);
  /* Nobody asks any more for what this rank has put under keys that begin so. May be null. */
  void (*forget)(void *context, const char *prefix);
  /* The first that a progress thread of the communicator's does (nbc_comm_progress): to bind it to
   * a core, to name it, to know it from others. May be null. */
  void (*thread)(void *context);
};

/* What carries templates of one target out: an adapter (nbc/hca.h), messages between ranks
 * (nbc/p2p.h), the memory of a node (nbc/shm.h), memory that nodes export (nbc/sci.h), RDMA
 * (nbc/verbs.h). Every implementation's state begins with this. */
struct nbc_device {
  const char *target; /* as templates name it: "coredirect", "mpi", "sci", "shm", "verbs" */
  /* The last that nbc_comm_free does with it. Null: nothing, it stays the caller's. */
  void (*close)(struct nbc_device *);
  int one_thread; /* not 0: one thread alone may use it (an MPI below MPI_THREAD_MULTIPLE) */
};
enum { NBC_MOST_DEVICES = 16 };

/* Ranks that may run collectives together: a bootstrap and devices. */
typedef struct nbc_comm nbc_comm;
/* One algorithm on one communicator, ready to be started any number of times. */
typedef struct nbc_plan nbc_plan;

/* Makes a communicator. `devices`: `count` of them, at most one for each target; a plan runs on the
 * one that its template is for. Templates of messages (mpi, sci, shm, verbs) for a rank that sends
 * and receives nothing, as where there is one rank, need none. The devices and the bootstrap's
 * context stay the caller's and must outlive the communicator (but a device that has `close` goes
 * with it); the array and the struct need not. Local: nothing is asked of other ranks.
 *
 * Errors, after which there is no communicator and the devices are not closed:
 * NBC_ERROR_ARGUMENT for a null pointer, a rank that is not in 0 .. ranks - 1, no device or no
 * `put` or `get` where there are several ranks, a device of an unknown target, two of one target;
 * NBC_ERROR_MEMORY; and what the device says, such as NBC_ERROR_RESOURCES. Thread safe. */
int nbc_comm_create(const struct nbc_bootstrap *, struct nbc_device *const devices[], size_t count,
                    nbc_comm **);
/* Ends a communicator; devices that have `close` are closed. Null is fine. Local, unless a device
 * says otherwise. NBC_ERROR_BUSY while it has plans: then nothing has happened. By one thread,
 * while no other uses the communicator. */
int nbc_comm_free(nbc_comm *);

/* Who moves calls on while the application computes. */
enum nbc_progress {
  NBC_PROGRESS_CALLS, /* the device; else nobody but nbc_start, nbc_test and nbc_wait [default] */
  NBC_PROGRESS_THREAD /* a thread of the communicator's: it sleeps while there are no calls, else
                         looks after 0.2 to 2 ms; of verbs, and of sci with interrupts, when told */
};
/* Says who, until nbc_comm_free; ranks may choose differently. With a thread, nbc_start, nbc_test
 * and nbc_wait lock the plan, and nbc_start wakes the thread, a system call, if it has slept;
 * nbc_start_attended does not. What
 * a program does not say, its user may: NBC_PROGRESS=thread in the environment, or none; then it is
 * nbc_comm_create that returns this function's errors. NBC_ERROR_BUSY while there are plans;
 * NBC_ERROR_THREADS where a device cannot be used by several threads; NBC_ERROR_RESOURCES where
 * the system makes no more threads; NBC_ERROR_MEMORY; NBC_ERROR_ARGUMENT for null and for what
 * is none of the two. By one thread, while no other uses the communicator. */
int nbc_comm_progress(nbc_comm *, enum nbc_progress);

/* Makes memory known to the devices ahead of the first call that uses it; nothing happens where no
 * device of the communicator needs that. The memory stays the caller's. NBC_ERROR_ARGUMENT for
 * null, no bytes, or an end beyond the address space; NBC_ERROR_RESOURCES where calls that are
 * under way use all registrations that there may be; or what the device says. Thread safe. */
int nbc_register(nbc_comm *, void *begin, size_t bytes);
/* Forgets all that is known of [begin, begin + bytes): to be done before memory is freed that calls
 * have used, where a device needs memory to be known. NBC_ERROR_BUSY while a call that uses some of
 * it is under way: that stays known, the rest is forgotten. NBC_ERROR_ARGUMENT as above; no bytes
 * are fine. Thread safe. */
int nbc_deregister(nbc_comm *, void *begin, size_t bytes);

struct nbc_call;

/* How bytes get into a peer's memory where there are several ways. Of target sci: the processor
 * stores them, or the adapter copies them while the processor computes. Of target verbs: they are
 * copied at both ends, and need nothing of the receiver to go; or go from place to place, written
 * by who sends, or read by who receives, or sent into a receive that is posted there; direct:
 * written, if the peer has said by then that it may be, else sent. */
enum nbc_transfer {
  NBC_TRANSFER_AUTO,
  NBC_TRANSFER_PIO, /* sci */
  NBC_TRANSFER_DMA,
  NBC_TRANSFER_EAGER, /* verbs */
  NBC_TRANSFER_WRITE,
  NBC_TRANSFER_READ,
  NBC_TRANSFER_SEND,
  NBC_TRANSFER_DIRECT,
  NBC_TRANSFERS
};

/* How a plan is made. Zero: the default, in brackets. The same on all ranks, or nbc_plan_connect
 * fails there. */
struct nbc_plan_options {
  uint32_t depth;          /* calls under way on the device at once, at most 1024 [2] */
  size_t eager_bytes;      /* blocks up to this long go eager [1024, of shm and sci 8192; less where
                              one such slot for each rank, 3 * depth times, would take more than
                              slot_memory] */
  size_t slot_memory;      /* bytes for receive slots, by that rule [16 MiB] */
  size_t max_bytes;        /* the longest block of a rendezvous call that needs scratch [1 MiB];
                              others are limited by the 2^31 - 1 bytes of a data segment only, of
                              messages by what the device can send */
  uint16_t first_sq_index; /* where queue indices begin: to test that they wrap */
  uint32_t first_cq_index; /* likewise */
  /* The one call that the plan is for, as MPI's persistent ones are: needed by templates made with
   * --protocol=direct, and by no others. Its buffers are made known to the device and told to the
   * peers, so they must stay until nbc_plan_free(), and nbc_deregister() of them is refused until
   * then; the struct itself need not stay. Count and type are equal on all ranks, buffers are each
   * rank's own. [null: any calls] */
  const struct nbc_call *call;
  /* Of targets sci and verbs, whose devices have a word in it, too (nbc/sci.h, nbc/verbs.h). Of sci
   * ranks may differ. Of verbs it is for all messages, whatever eager_bytes are: what is copied
   * then goes in parts of eager_bytes [64 KiB, by the same rule]. [each message by its length] */
  enum nbc_transfer transfer;
  /* 1: calls come again and again with the same buffers, and their program has other work
   * meanwhile, as MPI's persistent calls. Then target verbs moves long messages direct, where it
   * would write them (nbc/verbs.h). [0] */
  uint32_t persistent;
  /* 1: plans of the communicator that say so take turns, as an MPI's blocking calls do. While one
   * of them has calls under way the others have none, or nbc_start returns NBC_ERROR_BUSY; and all
   * ranks start the calls of all of them in one order. Then these plans need less: of target shm
   * they have one lane for each pair of ranks together (nbc/shm.h), so further ones are made sooner
   * and take no memory of the node. A call of theirs that fails or is given up ends them all. What
   * is said of a plan's threads holds for all of them together. [0] */
  uint32_t in_turn;
};

/* Makes a plan of a template, which must be aligned to 8 and is copied. `options` may be null.
 * Local, but puts into the bootstrap; then nbc_plan_connect. The plan is freed before its
 * communicator.
 *
 * Errors, after which there is no plan:
 *
 * - NBC_ERROR_ARGUMENT: a null pointer, options out of range, a call for a template of any calls,
 * or none for a template of one; of such a plan also what nbc_start() would say of the call.
 * - NBC_ERROR_TEMPLATE: a damaged template, or one for another rank, another number of ranks, or a
 *   target that the communicator has no device of.
 * - NBC_ERROR_UNSUPPORTED: first indices, on a device that cannot begin there; a `transfer` that
 *   the target or the adapter does not have.
 * - NBC_ERROR_RESOURCES, NBC_ERROR_MEMORY: of the device, of the system.
 * - NBC_ERROR_DEVICE, NBC_ERROR_ABANDONED: what has happened to a plan that it would take turns
 * with.
 * - NBC_ERROR_BOOTSTRAP: `put` has failed.
 *
 * Other ranks are not told, and wait in nbc_plan_connect as long as the bootstrap's `get` does. So
 * after a failure on some ranks only, the others free their plan; what all create behind it meets
 * again, since a call of this function counts whether it fails or not.
 *
 * Thread safe; but since ranks must create the same plans in the same order, threads of a rank have
 * to agree on it. */
int nbc_plan_create(nbc_comm *, const void *template_data, size_t bytes,
                    const struct nbc_plan_options *, nbc_plan **);
/* Why this thread's latest nbc_plan_create() returned what it did, in words: of a damaged template
 * which of its tables is, of queues that would be too long which, and the numbers; else as
 * nbc_status_text() has it. Never null; good until the thread's next call of nbc_plan_create(),
 * nbc_plan_make() or nbc_template_check(). Thread safe. */
const char *nbc_plan_why(void);
/* Finds the peers and takes the device's queues up. Collective: waits for all ranks, in the
 * bootstrap. Once for each plan; on failure the plan can only be freed, and so on all ranks.
 *
 * - NBC_ERROR_ARGUMENT: null, a plan that is connected already, or a peer's plan is of another
 *   algorithm, collective, root, depth or length limits, or for a call of another length.
 * - NBC_ERROR_TEMPLATE: a peer's template does not fit.
 * - NBC_ERROR_BOOTSTRAP: `get` or `fence` has failed.
 * - NBC_ERROR_MEMORY, NBC_ERROR_RESOURCES, NBC_ERROR_DEVICE: of the system, of the device.
 *
 * Who has failed enters the fence all the same, so nobody waits for it there. By one thread at a
 * time for each communicator whose bootstrap is not thread safe. */
int nbc_plan_connect(nbc_plan *);
/* Whether the peers of a plan that was created have all they need to connect to it, so that their
 * nbc_plan_connect can fail by a mistake in a program only: 1, as with messages of an MPI, and with
 * shared memory that they have mapped for an earlier plan. 0: the system still has a say. Of
 * whoever needs to know that all ranks have connected, and learns from all that this is 1, no rank
 * has to say so again. Null: 0. */
int nbc_plan_reachable(const nbc_plan *);

struct nbc_build_request; /* nbc/build.h */

/* What makes templates of algorithms by name. nbc_algorithms_open() (nbc/algorithms.h) gives one;
 * whoever implements it has its state begin with this. */
struct nbc_algorithms {
  /* As nbc_build_template(); *why is good until the thread's next call. */
  int (*build)(struct nbc_algorithms *, const struct nbc_build_request *, void **template_data,
               size_t *bytes, const char **why);
  void (*close)(struct nbc_algorithms *); /* may be null */
};

/* Gives a communicator the algorithms that nbc_plan_make() finds; those before are closed. They are
 * the communicator's from now on: nbc_comm_free() closes them. Null: none. Local.
 * NBC_ERROR_ARGUMENT: a null communicator, or algorithms without `build`. */
int nbc_comm_take(nbc_comm *, struct nbc_algorithms *);

/* Creates a plan of an algorithm by its name: nbc_plan_create() with this rank's template. Of the
 * request, ranks and rank are the communicator's; no target: that of its only device. On failure
 * *why says what is wrong, of a source with line and caret; it is good until this thread's next
 * call. Local; it may compile.
 *
 * - NBC_ERROR_ARGUMENT: no such algorithm, target, root or neighbour; a null pointer; the
 *   communicator was given no algorithms.
 * - NBC_ERROR_UNSUPPORTED: a source is wrong, or the algorithm cannot do what is asked for.
 * - NBC_ERROR_LIBRARY: a library does not fit.
 * - NBC_ERROR_MEMORY, NBC_ERROR_RESOURCES, and what nbc_plan_create() returns. */
int nbc_plan_make(nbc_comm *, const struct nbc_build_request *, const struct nbc_plan_options *,
                  nbc_plan **, const char **why);

/* Gives up all calls under way: they are done, with NBC_ERROR_ABANDONED, their buffers
 * are not touched any more (over an MPI, those of sends that nobody has received may still be
 * read), and the plan can only be freed. Local: peers that wait for
 * this rank see its queue pairs fail, or must abandon their plans, too (over an MPI always; over
 * shared memory never). For a call that cannot end because a peer has died: who only receives from
 * the dead is told over shared memory, verbs and the software HCA, but by no adapter of coredirect.
 * Their requests are still to be tested or waited for. NBC_ERROR_ARGUMENT for null. */
int nbc_plan_abandon(nbc_plan *);
/* Ends a plan. No rank may before all ranks' calls of it are done. Null is fine. Local.
 * NBC_ERROR_BUSY while calls are under way: then nothing has happened. A request whose call was
 * done may still be tested afterwards. */
int nbc_plan_free(nbc_plan *);

/* What a plan holds and has done, for reports and tests. */
struct nbc_plan_info {
  size_t eager_bytes;                              /* after the default was worked out */
  size_t memory;                                   /* bytes of staging, slots and rings */
  uint32_t depth;                                  /* likewise */
  uint64_t calls, eager, rendezvous, calc, queued; /* calls; queued: had to wait for depth */
  uint64_t direct;                                 /* likewise */
  uint64_t host_steps;                             /* reductions and copies between stages */
  /* How many stages of a call, at most, do not go on without nbc_test, nbc_wait or a thread. 0: an
   * adapter does all, so all is overlapped (coredirect). Where coredirect has ranks exchange within
   * a node, these messages are such a stage, and what follows one. */
  uint32_t turns;
  /* How many blocks the caller's buffers have, unless in place. Of neighbor_* the template alone
   * knows it: that of `in`, `out` has to be what the communicator says. */
  uint64_t in_blocks, out_blocks, data_blocks;
};
/* Tells what a plan holds and has done so far. As all functions of a plan, by one thread at a time.
 */
void nbc_plan_query(const nbc_plan *, struct nbc_plan_info *);

/* Stands for a buffer: MPI_IN_PLACE, as nbc_call.in (scatter: as nbc_call.out). reduce_scatter:
 * then `out` has the P blocks of `in`; the result is put in the first, the others are unspecified.
 */
#define NBC_IN_PLACE ((void *)-1)

/* Where a buffer's bytes lie, if that is not one behind the other: columns, parts of a matrix, what
 * an MPI's derived types describe. To the algorithm the buffer is its bytes in their order, as if
 * they had been packed; what goes through memory that is copied anyway is gathered and scattered by
 * these functions on its way, and never packed as a whole.
 *
 * They get the struct itself for whatever else they have to know, and are called by the thread that
 * is in nbc_start, nbc_test or nbc_wait of the plan, or the communicator's, for parts of any length
 * that is not 0, in any order. They must not call those for the same plan. */
struct nbc_layout {
  /* Copies `bytes` of them, from `offset` on, to where they are one behind the other. */
  void (*gather)(const struct nbc_layout *, uint64_t offset, void *to, size_t bytes);
  /* Likewise from there. */
  void (*scatter)(const struct nbc_layout *, uint64_t offset, const void *from, size_t bytes);
};
/* What becomes of calls with layouts: refused; taken; or taken and quicker than if their caller
 * packed. */
enum nbc_layouts { NBC_LAYOUTS_REFUSED, NBC_LAYOUTS_TAKEN, NBC_LAYOUTS_QUICK };
/* Of a plan that was created. They are taken by plans of target shm whose peers are all in the
 * node, of collectives that do not reduce, and quick where each rank has a core. Ranks need not
 * agree on it: who has a layout sends the same bytes as who has none. Null: refused. Thread safe.
 */
enum nbc_layouts nbc_plan_layouts(const nbc_plan *);

/* What a call is about: buffers, how much, which operation. Read by nbc_start; need not stay. */
struct nbc_call {
  const void *in; /* contributions; null where a rank has none (bcast, barrier; scatter's others) */
  void *out;      /* results; null where a rank has none */
  void *data;     /* bcast's one buffer, and whatever a declared collective calls `data` */
  size_t count;   /* elements of a block, or of the vector; of a barrier not looked at */
  enum nbc_type type;        /* of an element */
  enum nbc_op op;            /* reductions */
  nbc_reduce_function *user; /* NBC_USER */
  void *user_context;        /* handed to `user` */
  size_t element_bytes;      /* NBC_OPAQUE: of an element, at least 1 */

  /* MPI's v- and w-variants, for plans of templates made with --lengths=each (else
   * NBC_ERROR_UNSUPPORTED): of each rank's block in `in` and `out`, where that buffer has a
   * block for each rank or neighbour (reduce_scatter: in_counts are MPI's recvcounts; the result is
   * as long as this rank's says). Counts and displacements are in elements. Null counts: all are
   * `count` long; null displacements: blocks lie one behind the other. The single block of
   * allgather, gather and scatter is `count` long, and must be as long as this rank's own in the
   * row. A rank that is its own neighbour has to say one length at both ends. Nobody's block has a
   * place and a length, as all others; it is left as it is.
   * With types (alltoall, neighbor_alltoall) each block is of a type of its own and displacements
   * are in bytes. What MPI does not look at (in place, or elsewhere than at the root) is not looked
   * at here.
   *
   * The arrays stay the caller's and must not change until the call is done, as MPI has it for
   * its nonblocking calls: a call that waits for its turn reads them only then. Blocks
   * that are written must not overlap. All blocks of a buffer are registered as one piece of
   * memory, gaps included. */
  const size_t *in_counts, *out_counts;
  const ptrdiff_t *in_displacements, *out_displacements; /* as said with in_counts */
  const enum nbc_type *in_types, *out_types;             /* likewise */
  /* A number that the caller has given to these arrays, or 0. In calls of one plan with one number
   * they hold the same, wherever they lie: then nbc_start does not compare them with those of the
   * call before. */
  uint64_t arrays;

  /* How `in` and `out` lie, which are not looked at then; displacements count in the packed bytes.
   * Null: as they are. They must stay until the call is done. NBC_ERROR_UNSUPPORTED where
   * nbc_plan_layouts() says so. */
  const struct nbc_layout *in_layout, *out_layout;
};

/* A call under way. Opaque; owned by the caller, in use from nbc_start until nbc_test says done or
 * nbc_wait returns. Must not move meanwhile. One of zeros is of no call, which is done. */
typedef struct nbc_request {
  uint64_t opaque[40]; /* the runtime's */
} nbc_request;

/* Starts a call and returns at once. A plan may have any number of calls under way, each with a
 * request of its own; they are done in the order in which they were started. `call` may go
 * afterwards, but not its arrays. Until the call is done the buffers must stay, and not be touched
 * (`in` may be read).
 *
 * Of a plan for one call (nbc_plan_options.call) `call` is that one, or null; operator and
 * user_context may be others. It is under way once at a time: its peers write into its buffers.
 *
 * Errors, after which nothing is under way on this rank and the request is not in use:
 *
 * - NBC_ERROR_ARGUMENT: a null pointer, also of a buffer that this rank needs for more than no
 *   bytes; a plan that is not connected; a type or operator that does not exist, or not for each
 *   other; NBC_IN_PLACE for the wrong buffer; counts, displacements or types that cannot be; a
 *   plan for one call, and this is another.
 * - NBC_ERROR_BUSY: a plan for one call, which is under way; one that takes turns, and it is
 *   another's.
 * - NBC_ERROR_TOO_LONG: more bytes than the plan, or the device, can do.
 * - NBC_ERROR_UNSUPPORTED: counts of its own for each block where the template is for equal ones,
 * or in place where it has no variant for that; a layout, which nbc_plan_layouts() says is refused.
 * - NBC_ERROR_RESOURCES, NBC_ERROR_MEMORY: no memory can be registered any more.
 * - NBC_ERROR_TEMPLATE: the template passed its checks, and yet is none that nbcc makes.
 * - NBC_ERROR_DEVICE, NBC_ERROR_ABANDONED: what has happened to the plan before, or to one that it
 *   takes turns with.
 *
 * Other ranks are not told: if they have started the call, it does not end there. Semantics are
 * those of MPI's nonblocking and persistent collectives (MPI 4.1, sections 6.12 and 6.13), but for
 * the order, which is that of the plan's calls instead of the communicator's. */
int nbc_start(nbc_plan *, const struct nbc_call *, nbc_request *);
/* The same for who stays with the call: tests or waits until it is done, and does not compute
 * meanwhile. The communicator's thread, if there is one, is not woken and does not look for it. */
int nbc_start_attended(nbc_plan *, const struct nbc_call *, nbc_request *);

/* Sets *done to 1 when the call is done (then the request is free again), else 0. Moves all calls
 * of the plan on. Never waits. Of a request that is free: done.
 *
 * A failed call is done and returns its status, once: NBC_ERROR_DEVICE, NBC_ERROR_ABANDONED. Then
 * so do all calls of the plan that are under way. NBC_ERROR_ARGUMENT for null. */
int nbc_test(nbc_request *, int *done);

/* Returns once the call is done, with what nbc_test would return; sleeps, or yields the processor,
 * when there is nothing to do. Moves the calls of this plan alone, as others may be another
 * thread's: ranks that have calls of several plans under way, and do not wait for them in the same
 * order, test them in turn, or have a thread (nbc_comm_progress). */
int nbc_wait(nbc_request *);

/* For whoever waits in a loop of their own, for this and for something else: to be called between
 * two nbc_test that found nothing. Does what nbc_wait would do then: spins, yields, or sleeps, for
 * at most a millisecond; and sees whether those that are waited for are still there, so that the
 * next nbc_test may say NBC_ERROR_DEVICE. Moves nothing. Of a request that is free or done, returns
 * at once. *away, which may be null, is 0 where it has only spun, and 1 where others may have had
 * the processor: whatever else is waited for may have come. NBC_ERROR_ARGUMENT for a request that
 * is null. */
int nbc_rest(nbc_request *, int *away);

#ifdef __cplusplus
}
#endif
#endif
