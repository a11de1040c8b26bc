// SPDX-License-Identifier: BSD-3-Clause
// blocking.cpp - calls that wait for other ranks, while calls of ours are under way.
//
//   rank 0: MPI_Ibarrier, MPI_Wait, MPI_Send to 1
//   rank 1: MPI_Ibarrier, MPI_Recv from 0, MPI_Wait
//
// MPI wants this to end: a rank inside the MPI moves its collectives on. Ours the MPI does not
// know, so MPI_Recv becomes MPI_Irecv and a loop, for as long as there are any. What is collective
// has no such form: constructors.cpp, windows.cpp.

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

}  // namespace

// --- messages ---

namespace {

template <class Receive, class Send>
int exchange(Receive receive, Send send, MPI_Status *status) {
  Lock lock;
  MPI_Request received, sent;
  int error = receive(&received);
  if (!error) error = send(&sent);
  if (!error) error = wait_below(lock, &sent, MPI_STATUS_IGNORE);
  return error ? error : wait_below(lock, &received, status);
}

}  // namespace

// c: _c, of counts that are COUNT.

#define SEND(c, COUNT, name, nonblocking)                                                       \
  extern "C" int name##c(const void *buffer, COUNT count, MPI_Datatype type, int rank, int tag, \
                         MPI_Comm comm) {                                                       \
    if (leave()) return PASS(name##c)(buffer, count, type, rank, tag, comm);                    \
    return meanwhile([&](MPI_Request *r) {                                                      \
      return PASS(nonblocking##c)(buffer, count, type, rank, tag, comm, r);                     \
    });                                                                                         \
  }                                                                                             \
  ALSO(name##c)

#define RECEIVE(c, COUNT)                                                                         \
  extern "C" int MPI_Recv##c(void *buffer, COUNT count, MPI_Datatype type, int rank, int tag,     \
                             MPI_Comm comm, MPI_Status *status) {                                 \
    if (leave()) return PASS(MPI_Recv##c)(buffer, count, type, rank, tag, comm, status);          \
    return meanwhile(                                                                             \
        [&](MPI_Request *r) {                                                                     \
          return PASS(MPI_Irecv##c)(buffer, count, type, rank, tag, comm, r);                     \
        },                                                                                        \
        status);                                                                                  \
  }                                                                                               \
  ALSO(MPI_Recv##c)                                                                               \
  extern "C" int MPI_Mrecv##c(void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message, \
                              MPI_Status *status) {                                               \
    if (leave()) return PASS(MPI_Mrecv##c)(buffer, count, type, message, status);                 \
    return meanwhile(                                                                             \
        [&](MPI_Request *r) { return PASS(MPI_Imrecv##c)(buffer, count, type, message, r); },     \
        status);                                                                                  \
  }                                                                                               \
  ALSO(MPI_Mrecv##c)

#define EXCHANGE(c, COUNT)                                                                        \
  extern "C" int MPI_Sendrecv##c(const void *from, COUNT sent, MPI_Datatype send_type,            \
                                 int destination, int send_tag, void *to, COUNT received,         \
                                 MPI_Datatype type, int source, int tag, MPI_Comm comm,           \
                                 MPI_Status *status) {                                            \
    if (leave())                                                                                  \
      return PASS(MPI_Sendrecv##c)(from, sent, send_type, destination, send_tag, to, received,    \
                                   type, source, tag, comm, status);                              \
    return exchange(                                                                              \
        [&](MPI_Request *r) { return PMPI_Irecv##c(to, received, type, source, tag, comm, r); },  \
        [&](MPI_Request *r) {                                                                     \
          return PMPI_Isend##c(from, sent, send_type, destination, send_tag, comm, r);            \
        },                                                                                        \
        status);                                                                                  \
  }                                                                                               \
  ALSO(MPI_Sendrecv##c)                                                                           \
  extern "C" int MPI_Sendrecv_replace##c(void *buffer, COUNT count, MPI_Datatype type,            \
                                         int destination, int send_tag, int source, int tag,      \
                                         MPI_Comm comm, MPI_Status *status) {                     \
    COUNT bytes = 0, used = 0;                                                                    \
    if (leave() || PMPI_Pack_size##c(count, type, comm, &bytes))                                  \
      return PASS(MPI_Sendrecv_replace##c)(buffer, count, type, destination, send_tag, source,    \
                                           tag, comm, status);                                    \
    std::unique_ptr<char[]> copy(new (std::nothrow) char[static_cast<std::size_t>(bytes) + 1]);   \
    if (!copy) return raise(comm, MPI_ERR_NO_MEM);                                                \
    int error = PMPI_Pack##c(buffer, count, type, copy.get(), bytes, &used, comm);                \
    if (error) return error;                                                                      \
    return exchange(                                                                              \
        [&](MPI_Request *r) { return PMPI_Irecv##c(buffer, count, type, source, tag, comm, r); }, \
        [&](MPI_Request *r) {                                                                     \
          return PMPI_Isend##c(copy.get(), used, MPI_PACKED, destination, send_tag, comm, r);     \
        },                                                                                        \
        status);                                                                                  \
  }                                                                                               \
  ALSO(MPI_Sendrecv_replace##c)

#define MESSAGES(c, COUNT)              \
  SEND(c, COUNT, MPI_Send, MPI_Isend)   \
  SEND(c, COUNT, MPI_Ssend, MPI_Issend) \
  SEND(c, COUNT, MPI_Rsend, MPI_Irsend) \
  RECEIVE(c, COUNT)                     \
  EXCHANGE(c, COUNT)

MESSAGES(, int)
#if MPI_VERSION >= 4
MESSAGES(_c, MPI_Count)
#endif

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
