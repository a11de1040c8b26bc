// SPDX-License-Identifier: BSD-3-Clause
// rules.cpp - what MPI promises beside results: requests of all sorts in one array, progress,
// order, communicators that end, errors.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>

#include "test/dropin/expect.h"

namespace {

int right_sum(int n = 1) {
  return n * ranks * (ranks + 1) / 2;
}

// --- requests ---

// Ours, the MPI's own, a null one and an inactive one, by each of the functions for several.
void mixed_requests() {
  int next = (me + 1) % ranks, last = (me + ranks - 1) % ranks;
  for (int how = 0; how < 6; ++how) {
    int sum = 0, one = me + 1, got = -1, sent = me, all = -1;
    MPI_Request requests[6], idle;
    MPI_Status statuses[6];
    INIT(Allreduce)(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &idle);
    MPI_Irecv(&got, 1, MPI_INT, last, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    MPI_Isend(&sent, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[3]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[4]);
    requests[5] = idle;
    int left = 4, flag = 0, index, indices[6], found;
    switch (how) {
      case 0:
        MPI_Waitall(6, requests, statuses);
        expect(statuses[0].MPI_SOURCE == last && statuses[0].MPI_TAG == 5,
               "status of a message in MPI_Waitall");
        for (int i : {1, 2, 4, 5}) {
          int count = -1;
          MPI_Get_count(&statuses[i], MPI_BYTE, &count);
          expect(count == 0 && statuses[i].MPI_SOURCE == MPI_ANY_SOURCE &&
                     statuses[i].MPI_TAG == MPI_ANY_TAG,
                 "status %d in MPI_Waitall is not empty", i);
        }
        break;
      case 1:
        while (!flag) MPI_Testall(6, requests, &flag, statuses);
        break;
      case 2:
        for (; left; --left) {
          MPI_Waitany(6, requests, &index, statuses);
          expect(index >= 0 && index < 5 && index != 2, "MPI_Waitany gives %d", index);
        }
        MPI_Waitany(6, requests, &index, statuses);
        expect(index == MPI_UNDEFINED, "MPI_Waitany finds %d where nothing is active", index);
        break;
      case 3:
        while (left) {
          MPI_Testany(6, requests, &index, &flag, statuses);
          if (flag) expect(index >= 0 && index < 5, "MPI_Testany gives %d", index), --left;
        }
        MPI_Testany(6, requests, &index, &flag, statuses);
        expect(flag && index == MPI_UNDEFINED, "MPI_Testany, nothing active: %d, %d", flag, index);
        break;
      case 4:
        for (; left > 0; left -= found) {
          MPI_Waitsome(6, requests, &found, indices, statuses);
          expect(found > 0 && found <= left, "MPI_Waitsome finds %d of %d", found, left);
          if (found <= 0) break;
        }
        MPI_Waitsome(6, requests, &found, indices, statuses);
        expect(found == MPI_UNDEFINED, "MPI_Waitsome finds %d where nothing is active", found);
        break;
      case 5:
        while (left > 0) {
          MPI_Testsome(6, requests, &found, indices, statuses);
          left -= found;
        }
        break;
    }
    for (int i : {0, 1, 3, 4})
      expect(requests[i] == MPI_REQUEST_NULL, "request %d is left, %d", i, how);
    expect(requests[5] == idle, "the inactive request has changed");
    expect(sum == right_sum() && got == last, "mixed requests %d: %d, %d", how, sum, got);
    MPI_Request_free(&idle);
    expect(idle == MPI_REQUEST_NULL, "MPI_Request_free leaves a handle");
  }
}

void request_life() {
  int one = me + 1, sum = 0, flag = 0;
  MPI_Request r;
  MPI_Status status;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
  while (!flag) MPI_Request_get_status(r, &flag, &status);
  expect(r != MPI_REQUEST_NULL && sum == right_sum(), "MPI_Request_get_status: %d", sum);
  MPI_Test(&r, &flag, &status);
  expect(flag && r == MPI_REQUEST_NULL, "MPI_Test of what is done");

  // Who waits for one leaves its error field alone (MPI 4.0, section 3.2.5).
  enum { untouched = 4711 };
  status.MPI_ERROR = untouched;
  MPI_Ibarrier(MPI_COMM_WORLD, &r);
  MPI_Wait(&r, &status);
  expect(status.MPI_ERROR == untouched, "MPI_Wait has set the error field");

  // In Fortran's numbers and back.
  MPI_Ibarrier(MPI_COMM_WORLD, &r);
  MPI_Fint number = MPI_Request_c2f(r);
  expect(MPI_Request_f2c(number) == r, "a handle's way to Fortran and back");
  MPI_Wait(&r, MPI_STATUS_IGNORE);

  // Persistent ones together with a message's, all started by one call.
  int next = (me + 1) % ranks, last = (me + ranks - 1) % ranks, got = -1;
  MPI_Request several[4];
  INIT(Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &several[0]);
  MPI_Recv_init(&got, 1, MPI_INT, last, 6, MPI_COMM_WORLD, &several[1]);
  MPI_Send_init(&me, 1, MPI_INT, next, 6, MPI_COMM_WORLD, &several[2]);
  INIT(Barrier)(MPI_COMM_WORLD, MPI_INFO_NULL, &several[3]);
  for (int i = 0; i < 3; ++i) {
    sum = got = -1;
    MPI_Startall(4, several);
    MPI_Waitall(4, several, MPI_STATUSES_IGNORE);
    expect(sum == right_sum() && got == last, "MPI_Startall %d: %d, %d", i, sum, got);
  }
  for (MPI_Request &p : several) MPI_Request_free(&p);

  // Many at once, ended in another order.
  enum { many = 200 };
  static MPI_Request requests[many];
  static int from[many], to[many];
  for (int i = 0; i < many; ++i) {
    from[i] = element(me, i);
    MPI_Iallreduce(&from[i], &to[i], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = many; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  for (int i = 0; i < many; ++i) {
    int most = 0;
    for (int r2 = 0; r2 < ranks; ++r2) most = std::max(most, element(r2, i));
    expect(to[i] == most, "call %d of many: %d", i, to[i]);
  }
}

// Buffers are the program's again once a call is done.
void reused_buffers() {
  std::vector<double> data(3000);
  for (int turn = 0; turn < 20; ++turn) {
    std::fill(data.begin(), data.end(), turn + me);
    MPI_Request r;
    MPI_Ibcast(data.data(), static_cast<int>(data.size()), MPI_DOUBLE, turn % ranks, MPI_COMM_WORLD,
               &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect(data.front() == turn + turn % ranks && data.back() == data.front(), "bcast %d: %g", turn,
           data.front());
    std::fill(data.begin(), data.end(), -1);
  }
}

// --- progress ---

// A rank that waits in the MPI for a message moves its collective on: others wait for that.
void progress_in_messages() {
  if (ranks < 2) return;
  std::vector<int> in(5000, me), all(5000u * static_cast<unsigned>(ranks)), big(200000, 7),
      got(200000);
  for (int how = 0; how < 5; ++how) {
    MPI_Request r;
    MPI_Iallgather(in.data(), 5000, MPI_INT, all.data(), 5000, MPI_INT, MPI_COMM_WORLD, &r);
    if (me == 0) {
      MPI_Wait(&r, MPI_STATUS_IGNORE);
      for (int to = 1; to < ranks; ++to)
        MPI_Send(big.data(), how == 0 ? 1 : 200000, MPI_INT, to, 9, MPI_COMM_WORLD);
    } else {
      MPI_Status status;
      MPI_Message message;
      int count = how == 0 ? 1 : 200000;
      switch (how) {
        case 0:
        case 1:
          MPI_Recv(got.data(), count, MPI_INT, 0, 9, MPI_COMM_WORLD, &status);
          break;
        case 2:
          MPI_Probe(0, 9, MPI_COMM_WORLD, &status);
          MPI_Recv(got.data(), count, MPI_INT, 0, 9, MPI_COMM_WORLD, &status);
          break;
        case 3:
          MPI_Mprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &message, &status);
          MPI_Mrecv(got.data(), count, MPI_INT, &message, &status);
          break;
        case 4: {
          int dummy = 0, dummies = 0;
          MPI_Sendrecv(&dummy, 0, MPI_INT, MPI_PROC_NULL, 0, got.data(), count, MPI_INT, 0, 9,
                       MPI_COMM_WORLD, &status);
          MPI_Get_count(&status, MPI_INT, &dummies);
          expect(dummies == count, "MPI_Sendrecv's count: %d", dummies);
        }
      }
      expect(got[static_cast<std::size_t>(count - 1)] == 7, "message %d", how);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    bool right = true;
    for (int i = 0; i < ranks; ++i) right &= all[5000u * static_cast<unsigned>(i) + 4999] == i;
    expect(right, "allgather %d beside messages", how);
  }
  // In MPI_Ssend, in MPI_Sendrecv_replace, and in what makes communicators.
  MPI_Request r;
  MPI_Ibarrier(MPI_COMM_WORLD, &r);
  if (me == 0) {
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int from = 1; from < ranks; ++from)
      MPI_Recv(got.data(), 1, MPI_INT, from, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Ssend(big.data(), 1, MPI_INT, 0, 10, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  MPI_Ibarrier(MPI_COMM_WORLD, &r);
  int value = me;
  if (me == 0) MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(&value, 1, MPI_INT, (me + 1) % ranks, 11, (me + ranks - 1) % ranks, 11,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(value == (me + ranks - 1) % ranks, "MPI_Sendrecv_replace: %d", value);
  if (me != 0) MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Comm made;
  MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
  if (me == 0) MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &made);
  if (me != 0) MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Comm_free(&made);
}

// A message that needs its sender inside the MPI, which sits in a collective of ours.
void messages_in_collectives() {
  if (ranks < 2) return;
  std::vector<int> big(1 << 20, me), got(1 << 20);
  MPI_Request r;
  if (me == 0) MPI_Isend(big.data(), 1 << 20, MPI_INT, 1, 12, MPI_COMM_WORLD, &r);
  if (me == 1) MPI_Recv(got.data(), 1 << 20, MPI_INT, 0, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) MPI_Wait(&r, MPI_STATUS_IGNORE);
  expect(me != 1 || got.back() == 0, "a message beside a barrier");
}

// Ranks begin one communicator's first call when others have long been in the next.
void first_calls_do_not_wait() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int one = me + 1, sum = 0, token = 0;
  MPI_Request r[2];
  if (me == ranks - 1) {  // comes last, and only when another has returned from its first call
    if (ranks > 1) MPI_Recv(&token, 1, MPI_INT, 0, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &r[0]);
  MPI_Ibarrier(comm, &r[1]);
  if (me == 0 && ranks > 1) MPI_Send(&token, 1, MPI_INT, ranks - 1, 13, MPI_COMM_WORLD);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  expect(sum == right_sum(), "first call of a communicator: %d", sum);
  MPI_Comm_free(&comm);
}

// --- order, communicators ---

// Blocking, nonblocking, persistent; ours, and what only the MPI can do.
void order() {
  MPI_Comm halves, inter;
  int low = me < (ranks + 1) / 2, sum = 0, one = me + 1, all = 0;
  if (ranks < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, low, 0, &halves);
  MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, low ? (ranks + 1) / 2 : 0, 3, &inter);
  MPI_Request r[4], p;
  INIT(Allreduce)(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &p);
  for (int turn = 0; turn < 5; ++turn) {
    int other = -1, root = low ? 0 : -1, theirs = -1;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]);
    MPI_Start(&p);
    MPI_Ibarrier(inter, &r[1]);
    MPI_Iallreduce(&one, &other, 1, MPI_INT, MPI_MIN, inter, &r[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD, &r[3]);
    MPI_Allreduce(&one, &theirs, 1, MPI_INT, MPI_MAX, inter);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    MPI_Wait(&p, MPI_STATUS_IGNORE);
    expect(sum == right_sum() && all == sum, "sums %d, %d", sum, all);
    expect(other == (low ? (ranks + 1) / 2 + 1 : 1), "over an intercommunicator: %d", other);
    expect(theirs == (low ? ranks : (ranks + 1) / 2), "blocking, over an intercommunicator: %d",
           theirs);
  }
  MPI_Request_free(&p);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&halves);
}

// Calls whose plan is there take their turn behind those that wait for one: how long these do,
// ranks differ in, and the same plan carries out both.
void turns() {
  for (int turn = 0; turn < 40; ++turn) {
    MPI_Comm comm;
    MPI_Request r[3];
    int mine[] = {me + 1, 100 * (me + 1), 10000 * (me + 1)}, sums[3] = {}, shown = me, flag;
    const int all = ranks * (ranks + 1) / 2;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 2; ++i) MPI_Allreduce(&mine[0], &sums[0], 1, MPI_INT, MPI_SUM, comm);
    INIT(Allreduce)(&mine[1], &sums[1], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r[1]);
    MPI_Ibcast(&shown, 1, MPI_INT, turn % ranks, comm, &r[2]);
    for (int i = (me * 17 + turn * 5) % 60; i > 0; --i)
      MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &flag, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&mine[0], &sums[0], 1, MPI_INT, MPI_SUM, comm, &r[0]);
    MPI_Start(&r[1]);
    MPI_Allreduce(&mine[2], &sums[2], 1, MPI_INT, MPI_SUM, comm);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    expect(
        sums[0] == all && sums[1] == 100 * all && sums[2] == 10000 * all && shown == turn % ranks,
        "turn %d: %d, %d, %d, %d", turn, sums[0], sums[1], sums[2], shown);
    MPI_Request_free(&r[1]);
    MPI_Comm_free(&comm);
  }
}

// MPI 4.1, section 6.13: once they are initialised, persistent collectives are started in any
// order, another one on each rank, and so are other calls between them.
void starts_in_any_order() {
  constexpr int count = 5;
  MPI_Request r[count], shown;
  int mine[count], sums[count], value = 0;
  for (int i = 0, power = 1; i < count; ++i, power *= 10) {
    mine[i] = power * (me + 1);
    INIT(Allreduce)(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]);
  }
  for (int turn = 0; turn < 60; ++turn) {
    for (int k = 0; k < count; ++k) MPI_Start(&r[(turn + (me % 2 ? k : count - k) + me) % count]);
    if (turn % 2) MPI_Waitall(count, r, MPI_STATUSES_IGNORE);
    for (int k = 0; k < count; ++k) MPI_Wait(&r[(k * 2 + turn) % count], MPI_STATUS_IGNORE);
    for (int i = 0, power = 1; i < count; ++i, power *= 10)
      expect(sums[i] == power * right_sum(), "turn %d, request %d: %d", turn, i, sums[i]);
  }
  // The others end this one before they come to the broadcast, which is still to be made.
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Request before;
  INIT(Allreduce)(&mine[0], &sums[0], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &before);
  if (me == 0) value = 17, MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &shown);
  MPI_Start(&before);
  MPI_Wait(&before, MPI_STATUS_IGNORE);
  if (me != 0) MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &shown);
  MPI_Wait(&shown, MPI_STATUS_IGNORE);
  expect(value == 17 && sums[0] == right_sum(), "%d, %d", value, sums[0]);
  MPI_Request_free(&before);
  MPI_Comm_free(&comm);
  for (MPI_Request &one : r) MPI_Request_free(&one);
}

long reserved() {  // kB of this process
  long kilobytes = 0;
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (word == "VmSize:") file >> kilobytes;
  return kilobytes;
}

// What has been freed on all ranks serves again, though others live longer, and ranks free in
// orders of their own.
void initialised_again() {
  MPI_Request kept, r[3];
  int mine = me + 1, all = 0, sums[3];
  INIT(Allreduce)(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &kept);
  long before = 0;
  for (int turn = 0; turn < 200; ++turn) {
    if (turn == 20) before = reserved();
    for (int i = 0; i < 3; ++i)
      INIT(Allreduce)(&mine, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]);
    for (int i = 0; i < 3; ++i) MPI_Start(&r[(i + me) % 3]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; ++i) MPI_Request_free(&r[(i + turn + me) % 3]);
    MPI_Start(&kept);
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
    expect(all == right_sum(), "turn %d: %d", turn, all);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const long grown = reserved() - before;
  expect(grown < 400'000, "%ld kB more after 180 times", grown);
  MPI_Request_free(&kept);
}

void communicators() {
  MPI_Comm comms[6];
  MPI_Group all, some;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &comms[1]);  // in the other order
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  int zero = 0;
  MPI_Group_excl(all, ranks > 1, &zero, &some);
  MPI_Comm_create(MPI_COMM_WORLD, some, &comms[2]);
  comms[3] = MPI_COMM_NULL;
  if (me != 0 || ranks == 1) MPI_Comm_create_group(MPI_COMM_WORLD, some, 17, &comms[3]);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comms[4]);
  comms[5] = MPI_COMM_SELF;
  for (MPI_Comm c : comms) {
    if (c == MPI_COMM_NULL) continue;
    int rank, size, value, sum = 0;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    std::vector<int> ids(static_cast<std::size_t>(size), -1);
    MPI_Request r;
    value = rank + 1;
    MPI_Iallgather(&rank, 1, MPI_INT, ids.data(), 1, MPI_INT, c, &r);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, c);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    bool right = sum == size * (size + 1) / 2;
    for (int i = 0; i < size; ++i) right &= ids[static_cast<std::size_t>(i)] == i;
    expect(right, "a communicator of %d", size);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&some);
  for (int i = 0; i < 5; ++i)
    if (comms[i] != MPI_COMM_NULL) MPI_Comm_free(&comms[i]);
}

// Who has nobody to receive from, or to send to, says that it is nothing. Open MPI, where calls are
// passed on to it, sends nothing then.
void without_neighbors() {
  enum { LENGTH = 60 };
#if defined(OPEN_MPI)
  if (std::getenv("NBC_TABLE")) return;
#endif
  if (ranks < 2) return;
  const bool sends = me == 0, receives = me == 1;
  const int first = 0, second = 1, sent = sends ? LENGTH : 0, received = receives ? LENGTH : 0;
  MPI_Comm edge;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, receives, &first, MPI_UNWEIGHTED, sends, &second,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &edge);
  for (int turn = 0; turn < 6; ++turn) {
    int in[LENGTH], out[LENGTH] = {};
    for (int i = 0; i < LENGTH; ++i) in[i] = i + turn;
    MPI_Request r = MPI_REQUEST_NULL;
    if (turn % 3 == 0)
      MPI_Neighbor_allgather(in, sent, MPI_INT, out, received, MPI_INT, edge);
    else if (turn % 3 == 1)
      MPI_Neighbor_alltoall(in, sent, MPI_INT, out, received, MPI_INT, edge);
    else
      MPI_Ineighbor_allgather(in, sent, MPI_INT, out, received, MPI_INT, edge, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    bool right = true;
    for (int i = 0; i < LENGTH; ++i) right &= out[i] == (receives ? in[i] : 0);
    expect(right, "from a neighbor, call %d", turn);
  }
  MPI_Comm_free(&edge);
}

// MPI lets a program free a communicator while calls on it are under way.
void freed_early() {
  for (int turn = 0; turn < 10; ++turn) {
    MPI_Comm comm;
    int one = me + 1, sum = 0, again = 0;
    MPI_Request r[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (turn % 2) MPI_Barrier(comm);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &r[0]);
    MPI_Iallreduce(&one, &again, 1, MPI_INT, MPI_MAX, comm, &r[1]);
    MPI_Comm_free(&comm);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    expect(sum == right_sum() && again == ranks, "calls outlive their communicator: %d, %d", sum,
           again);
  }
}

void own_operator(void *in, void *out, int *n,
                  MPI_Datatype *) {  // of 2 x 2 matrices: does not commute
  const int *a = static_cast<const int *>(in);
  int *b = static_cast<int *>(out);
  for (int i = 0; i < *n; ++i, a += 4, b += 4) {
    int c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                a[2] * b[1] + a[3] * b[3]};
    for (int k = 0; k < 4; ++k) b[k] = c[k] % 1009;
  }
}

void freed_handles() {
  MPI_Op op;
  MPI_Datatype matrix;
  MPI_Op_create(own_operator, 0, &op);
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_commit(&matrix);
  std::vector<int> in, out(12), wanted = {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1};
  for (int i = 0; i < 3; ++i)
    for (int k : {1 + me, i, 2, 1}) in.push_back(k);
  for (int r = ranks; r-- > 0;) {
    std::vector<int> left;
    for (int i = 0; i < 3; ++i)
      for (int k : {1 + r, i, 2, 1}) left.push_back(k);
    int n = 3;
    own_operator(left.data(), wanted.data(), &n, nullptr);
  }
  MPI_Request r;
  MPI_Iallreduce(in.data(), out.data(), 3, matrix, op, MPI_COMM_WORLD, &r);
  MPI_Op_free(&op);
  MPI_Type_free(&matrix);
  expect(op == MPI_OP_NULL && matrix == MPI_DATATYPE_NULL, "freed handles are null");
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  expect(out == wanted, "an operator and type that were freed meanwhile: %d, wanted %d", out[0],
         wanted[0]);
}

// --- errors ---

void errors() {
  MPI_Comm comm;
  int a = 1, b = 0, got;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  auto of = [](int error) {
    int its = 0;
    MPI_Error_class(error, &its);
    return its;
  };
  expect(of(MPI_Bcast(&a, 1, MPI_INT, ranks, comm)) == MPI_ERR_ROOT, "a root that is none");
  expect(of(MPI_Bcast(&a, -1, MPI_INT, 0, comm)) == MPI_ERR_COUNT, "a negative count");
  expect(of(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, comm)) == MPI_ERR_OP, "no operator");
  got = of(MPI_Allreduce(&a, &b, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
  expect(got == MPI_ERR_TYPE || got == MPI_ERR_OP, "no type: class %d",
         got);  // by which it looks at first
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
}

// --- operators ---

void operators() {
  struct {
    double value;
    int index;
  } pair = {std::fabs(me - ranks / 2.0), me}, least = {-1, -1};
  MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  double best = 1e9;
  int where = -1;
  for (int r = 0; r < ranks; ++r)
    if (std::fabs(r - ranks / 2.0) < best) best = std::fabs(r - ranks / 2.0), where = r;
  expect(least.value == best && least.index == where, "MINLOC: %g at %d", least.value, least.index);

  // Integers wrap as in C.
  signed char small = 100, sum = 0;
  MPI_Allreduce(&small, &sum, 1, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == static_cast<signed char>(100 * ranks), "a sum of bytes: %d", sum);
  short mean = 30000, total = 0;
  MPI_Allreduce(&mean, &total, 1, MPI_SHORT, MPI_SUM, MPI_COMM_WORLD);
  expect(total == static_cast<short>(30000 * ranks), "a sum of shorts: %d", total);

  // All ranks have the same bits.
  double d = 1.0 / (3 + me), result = 0;
  MPI_Allreduce(&d, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::vector<double> results(static_cast<std::size_t>(ranks));
  MPI_Allgather(&result, 1, MPI_DOUBLE, results.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
  for (double r : results)
    expect(std::memcmp(&r, &result, sizeof r) == 0, "another rank has %.17g", r);
}

}  // namespace

int main(int argc, char **argv) {
  begin_program(&argc, &argv);
  mixed_requests();
  request_life();
  reused_buffers();
  first_calls_do_not_wait();
  progress_in_messages();
  messages_in_collectives();
  order();
  turns();
  starts_in_any_order();
  initialised_again();
  communicators();
  without_neighbors();
  freed_early();
  freed_handles();
  errors();
  operators();
  return end_program("rules");
}
