// SPDX-License-Identifier: BSD-3-Clause
// blocking.cpp - calls that wait for other ranks, while calls of ours are under way.
//
//   rank 0: MPI_Ibarrier, MPI_Wait, MPI_Send to 1
//   rank 1: MPI_Ibarrier, MPI_Recv from 0, MPI_Wait
//
// MPI wants this to end: a rank inside the MPI moves its collectives on. Ours the MPI does not
// know, so MPI_Recv becomes MPI_Irecv and a loop, for as long as there are any. What makes
// communicators, windows and files has no such form: it waits, in a loop of ours, until all of the
// communicator are there (meet()). That must be decided alike on all ranks, so it is done always.
// Not covered: synchronisation of windows, collective calls of files, MPI_Comm_create_group and
// MPI_Intercomm_create.

#include <memory>
#include <new>

#include "dropin/calls.h"
#include "dropin/operators.h"

using namespace nbcc::dropin;

namespace {

// Nothing of ours could be held up.
bool leave() {
  return not_for_us() || !busy();
}

template <class Begin>
int meanwhile(Begin begin, MPI_Status *status = MPI_STATUS_IGNORE) {
  Lock lock;
  MPI_Request request;
  int error = lock.outside([&] { return begin(&request); });
  return error ? error : wait_below(lock, &request, status);
}

template <class Look>
int until(Look look) {
  Lock lock;
  for (unsigned round = 0;; ++round) {
    int found = 0;
    int error = look(&found);
    if (error || found) return error;
    wait_a_while(lock, round);
  }
}

void gather(MPI_Comm comm) {
  if (not_for_us()) return;
  Lock lock;
  empty_queue(lock, comm);  // what is there may be the MPI's after all, and comes first
  for (unsigned round = 0; is_duplicated_before(comm); ++round) wait_a_while(lock, round);
  meet(lock, comm);
}

// Before a communicator is freed: what the queue holds may need it.
void end_queue(const MPI_Comm *comm) {
  if (!comm || leave()) return;
  Lock lock;
  empty_queue(lock, *comm);
}

}  // namespace

// --- messages ---

#define SEND(name, nonblocking)                                                            \
  extern "C" int name(const void *buffer, int count, MPI_Datatype type, int rank, int tag, \
                      MPI_Comm comm) {                                                     \
    if (leave()) return PASS(name)(buffer, count, type, rank, tag, comm);                  \
    return meanwhile([&](MPI_Request *r) {                                                 \
      return PASS(nonblocking)(buffer, count, type, rank, tag, comm, r);                   \
    });                                                                                    \
  }                                                                                        \
  ALSO(name)
SEND(MPI_Send, MPI_Isend)
SEND(MPI_Ssend, MPI_Issend)
SEND(MPI_Rsend, MPI_Irsend)

extern "C" int MPI_Recv(void *buffer, int count, MPI_Datatype type, int rank, int tag,
                        MPI_Comm comm, MPI_Status *status) {
  if (leave()) return PASS(MPI_Recv)(buffer, count, type, rank, tag, comm, status);
  return meanwhile(
      [&](MPI_Request *r) { return PASS(MPI_Irecv)(buffer, count, type, rank, tag, comm, r); },
      status);
}
ALSO(MPI_Recv)

extern "C" int MPI_Mrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message,
                         MPI_Status *status) {
  if (leave()) return PASS(MPI_Mrecv)(buffer, count, type, message, status);
  return meanwhile(
      [&](MPI_Request *r) { return PASS(MPI_Imrecv)(buffer, count, type, message, r); }, status);
}
ALSO(MPI_Mrecv)

namespace {

template <class Send>
int exchange(Send send, void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status) {
  Lock lock;
  MPI_Request requests[2];
  int error = PMPI_Irecv(to, count, type, from, tag, comm, &requests[0]);
  if (!error) error = send(&requests[1]);
  if (!error) error = wait_below(lock, &requests[1], MPI_STATUS_IGNORE);
  return error ? error : wait_below(lock, &requests[0], status);
}

}  // namespace

extern "C" int MPI_Sendrecv(const void *from, int sent, MPI_Datatype send_type, int destination,
                            int send_tag, void *to, int received, MPI_Datatype type, int source,
                            int tag, MPI_Comm comm, MPI_Status *status) {
  if (leave())
    return PASS(MPI_Sendrecv)(from, sent, send_type, destination, send_tag, to, received, type,
                              source, tag, comm, status);
  return exchange(
      [&](MPI_Request *r) {
        return PMPI_Isend(from, sent, send_type, destination, send_tag, comm, r);
      },
      to, received, type, source, tag, comm, status);
}
ALSO(MPI_Sendrecv)

extern "C" int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int destination,
                                    int send_tag, int source, int tag, MPI_Comm comm,
                                    MPI_Status *status) {
  int bytes = 0, used = 0;
  if (leave() || PMPI_Pack_size(count, type, comm, &bytes))
    return PASS(MPI_Sendrecv_replace)(buffer, count, type, destination, send_tag, source, tag, comm,
                                      status);
  std::unique_ptr<char[]> copy(new (std::nothrow) char[static_cast<std::size_t>(bytes) + 1]);
  if (!copy) return raise(comm, MPI_ERR_NO_MEM);
  int error = PMPI_Pack(buffer, count, type, copy.get(), bytes, &used, comm);
  if (error) return error;
  return exchange(
      [&](MPI_Request *r) {
        return PMPI_Isend(copy.get(), used, MPI_PACKED, destination, send_tag, comm, r);
      },
      buffer, count, type, source, tag, comm, status);
}
ALSO(MPI_Sendrecv_replace)

extern "C" int MPI_Probe(int rank, int tag, MPI_Comm comm, MPI_Status *status) {
  if (leave()) return PASS(MPI_Probe)(rank, tag, comm, status);
  return until([&](int *found) { return PMPI_Iprobe(rank, tag, comm, found, status); });
}
ALSO(MPI_Probe)

extern "C" int MPI_Mprobe(int rank, int tag, MPI_Comm comm, MPI_Message *message,
                          MPI_Status *status) {
  if (leave()) return PASS(MPI_Mprobe)(rank, tag, comm, message, status);
  return until([&](int *found) { return PMPI_Improbe(rank, tag, comm, found, message, status); });
}
ALSO(MPI_Mprobe)

// Whoever asks again and again counts on progress.

extern "C" int MPI_Iprobe(int rank, int tag, MPI_Comm comm, int *found, MPI_Status *status) {
  if (!leave()) {
    Lock lock;
    move_on();
  }
  return PASS(MPI_Iprobe)(rank, tag, comm, found, status);
}
ALSO(MPI_Iprobe)

extern "C" int MPI_Improbe(int rank, int tag, MPI_Comm comm, int *found, MPI_Message *message,
                           MPI_Status *status) {
  if (!leave()) {
    Lock lock;
    move_on();
  }
  return PASS(MPI_Improbe)(rank, tag, comm, found, message, status);
}
ALSO(MPI_Improbe)

// --- communicators, windows, files ---

#define CONSTRUCTOR(name, parameters, arguments)    \
  extern "C" int name parameters {                  \
    gather(comm);                                   \
    return made_by_all(PASS(name) arguments, made); \
  }                                                 \
  ALSO(name)
CONSTRUCTOR(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
CONSTRUCTOR(MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made),
            (comm, info, made))
CONSTRUCTOR(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made),
            (comm, color, key, made))
CONSTRUCTOR(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
            (comm, type, key, info, made))
CONSTRUCTOR(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
CONSTRUCTOR(MPI_Cart_create,
            (MPI_Comm comm, int dimensions, const int sizes[], const int periodic[], int reorder,
             MPI_Comm *made),
            (comm, dimensions, sizes, periodic, reorder, made))
CONSTRUCTOR(MPI_Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made))
CONSTRUCTOR(MPI_Graph_create,
            (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
             MPI_Comm *made),
            (comm, nodes, index, edges, reorder, made))
CONSTRUCTOR(MPI_Dist_graph_create_adjacent,
            (MPI_Comm comm, int indegree, const int sources[], const int source_weights[],
             int outdegree, const int destinations[], const int destination_weights[],
             MPI_Info info, int reorder, MPI_Comm *made),
            (comm, indegree, sources, source_weights, outdegree, destinations, destination_weights,
             info, reorder, made))
CONSTRUCTOR(MPI_Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))

// Open MPI 4.1 receives edges from anyone, with tags that its nonblocking collectives have, too,
// when there have been some twenty on a communicator: it takes one for the other, and hangs. So it
// gets one on which there have been none.
extern "C" int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                                     const int destinations[], const int weights[], MPI_Info info,
                                     int reorder, MPI_Comm *made) {
  gather(comm);
  const auto pass = [&](MPI_Comm of) {
    return PASS(MPI_Dist_graph_create)(of, n, sources, degrees, destinations, weights, info,
                                       reorder, made);
  };
#if defined(OPEN_MPI)
  MPI_Comm fresh = MPI_COMM_NULL;
  if (!not_for_us()) {
    Lock lock;
    fresh = same_group(lock, comm);
  }
  if (fresh != MPI_COMM_NULL) {
    MPI_Errhandler handler;
    int error = pass(fresh);
    PMPI_Comm_free(&fresh);
    if (error) return raise(comm, error);
    PMPI_Comm_get_errhandler(comm, &handler);
    PMPI_Comm_set_errhandler(*made, handler);
    PMPI_Errhandler_free(&handler);
    return made_by_all(MPI_SUCCESS, made);
  }
#endif
  return made_by_all(pass(comm), made);
}
ALSO(MPI_Dist_graph_create)

#define GATHERED(name, parameters, arguments) \
  extern "C" int name parameters {            \
    gather(comm);                             \
    return PASS(name) arguments;              \
  }                                           \
  ALSO(name)
GATHERED(MPI_Win_create,
         (void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *made),
         (base, bytes, unit, info, comm, made))
GATHERED(MPI_Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *made), (info, comm, made))
GATHERED(MPI_Win_allocate,
         (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),
         (bytes, unit, info, comm, base, made))
GATHERED(MPI_Win_allocate_shared,
         (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),
         (bytes, unit, info, comm, base, made))
GATHERED(MPI_File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *made),
         (comm, name, mode, info, made))

extern "C" int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
  const auto pass = [=](MPI_Request *r) { return PASS(MPI_Comm_idup)(comm, made, r); };
  return not_for_us() ? pass(request) : duplicating(comm, pass, request);
}
ALSO(MPI_Comm_idup)

#if MPI_VERSION >= 4
extern "C" int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made,
                                       MPI_Request *request) {
  const auto pass = [=](MPI_Request *r) {
    return PASS(MPI_Comm_idup_with_info)(comm, info, made, r);
  };
  return not_for_us() ? pass(request) : duplicating(comm, pass, request);
}
ALSO(MPI_Comm_idup_with_info)
#endif

extern "C" int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made) {
  return made_by_all(PASS(MPI_Comm_create_group)(comm, group, tag, made), made);
}
ALSO(MPI_Comm_create_group)

// MPI_Comm_free is allowed to wait for all ranks.
extern "C" int MPI_Comm_free(MPI_Comm *comm) {
  end_queue(comm);
  return PASS(MPI_Comm_free)(comm);
}
ALSO(MPI_Comm_free)

extern "C" int MPI_Comm_disconnect(MPI_Comm *comm) {
  end_queue(comm);
  return PASS(MPI_Comm_disconnect)(comm);
}
ALSO(MPI_Comm_disconnect)

#if !defined(OPEN_MPI)
// MPI_Comm_idup copies attributes by these.
#define ATTRIBUTES(name, Copy, Delete)                                          \
  extern "C" int name(Copy *copy, Delete *gone, int *made, void *extra_state) { \
    if (copy && !not_for_us()) {                                                \
      Lock lock;                                                                \
      Communicator::attributes_are_copied();                                    \
    }                                                                           \
    return PASS(name)(copy, gone, made, extra_state);                           \
  }                                                                             \
  ALSO(name)
ATTRIBUTES(MPI_Comm_create_keyval, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function)
ATTRIBUTES(MPI_Keyval_create, MPI_Copy_function, MPI_Delete_function)
#endif

// --- operators ---

extern "C" int MPI_Op_free(MPI_Op *op) {
  if (!op || not_for_us()) return PASS(MPI_Op_free)(op);
  {
    Lock lock;
    if (defer_free(*op)) {  // a call still uses it
      *op = MPI_OP_NULL;
      return MPI_SUCCESS;
    }
  }
  return PASS(MPI_Op_free)(op);
}
ALSO(MPI_Op_free)
