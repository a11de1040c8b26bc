// SPDX-License-Identifier: BSD-3-Clause
// storm.cpp [SEED [TURNS]] - collectives and messages in random order, twenty under way on four
// communicators, ended by every function there is for it, while ranks sleep now and then.
//
// Which call comes next all ranks draw from one sequence; how they wait each from its own, and
// which of MPI's ways to send and to receive they take.

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "test/dropin/expect.h"

namespace {

enum { window = 20, communicators = 4, most = 600, messages = 13, kinds = 16 };

// A call under way: its buffers, and what should stand in `out` when it is done.
struct Call {
  const char *name = "";
  std::vector<int> in, out, wanted, counts, places;
};

void add(int *in, int *out, int *n, MPI_Datatype *) {
  for (int i = 0; i < *n; ++i) out[i] += in[i];
}

std::size_t size(int n) {
  return static_cast<std::size_t>(n);
}

struct Drawn {
  MPI_Comm comm;
  int me, ranks, root, count, salt;
  int way;  // this rank's own
};

// Sums of elements `first` and on, of ranks [from, to).
std::vector<int> sums(int from, int to, int first, int count, int salt) {
  std::vector<int> all(size(count));
  for (int r = from; r < to; ++r)
    for (int i = 0; i < count; ++i) all[size(i)] += element(r, first + i, salt);
  return all;
}

// Blocks of all ranks: element `first` and on of each.
std::vector<int> blocks(int ranks_there, int first, int count, int salt) {
  std::vector<int> all;
  for (int r = 0; r < ranks_there; ++r) {
    std::vector<int> part = elements(r, first, count, salt);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// From each even rank to the next.
MPI_Request message(const Drawn &d, Call &c) {
  enum { tag = 3, ways = 3 };
  MPI_Request request = MPI_REQUEST_NULL;
  const int n = d.count, from = d.me - 1;
  c.name = "message";
  if (d.me % 2 == 0 && d.me + 1 < d.ranks) {
    auto *send = d.way % ways == 0 ? MPI_Issend : MPI_Isend;
    send(c.in.data(), n, MPI_INT, d.me + 1, tag, d.comm, &request);
  }
  if (d.me % 2 == 0) return request;
  c.wanted = elements(from, 0, n, d.salt);
  if (d.way % ways == 1) MPI_Probe(from, tag, d.comm, MPI_STATUS_IGNORE);
  if (d.way % ways == 2)
    MPI_Irecv(c.out.data(), n, MPI_INT, from, tag, d.comm, &request);
  else
    MPI_Recv(c.out.data(), n, MPI_INT, from, tag, d.comm, MPI_STATUS_IGNORE);
  return request;
}

MPI_Request begin(int which, const Drawn &d, Call &c) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int n = d.count, all = n * d.ranks;
  c.in = elements(d.me, 0, all, d.salt);
  c.out.assign(size(std::max(all, 1)), -1);
  c.counts.assign(size(d.ranks), n);
  c.places.resize(size(d.ranks));
  for (int r = 0; r < d.ranks; ++r) c.places[size(r)] = r * n;
  int *in = c.in.data(), *out = c.out.data(), *counts = c.counts.data(), *places = c.places.data();
  switch (which) {
    case 0:
      c.name = "bcast";
      if (d.me == d.root) std::copy(in, in + n, out);
      MPI_Ibcast(out, n, MPI_INT, d.root, d.comm, &request);
      c.wanted = elements(d.root, 0, n, d.salt);
      break;
    case 1:
      c.name = "barrier";
      MPI_Ibarrier(d.comm, &request);
      break;
    case 2: {
      c.name = "reduce, by an operator that is freed";
      MPI_Op op;
      MPI_Op_create(reinterpret_cast<MPI_User_function *>(add), 1, &op);
      MPI_Ireduce(in, out, n, MPI_INT, op, d.root, d.comm, &request);
      MPI_Op_free(&op);
      if (d.me == d.root) c.wanted = sums(0, d.ranks, 0, n, d.salt);
      break;
    }
    case 3:
      c.name = "allreduce";
      MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, d.comm, &request);
      c.wanted = sums(0, d.ranks, 0, n, d.salt);
      break;
    case 4:
      c.name = "alltoallv";
      MPI_Ialltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, d.comm, &request);
      c.wanted = blocks(d.ranks, d.me * n, n, d.salt);
      break;
    case 5: {
      c.name = "gather, with a type that is freed";
      MPI_Datatype type;
      MPI_Type_contiguous(std::max(n, 1), MPI_INT, &type);
      MPI_Type_commit(&type);
      MPI_Igather(in, n, MPI_INT, out, n > 0, type, d.root, d.comm, &request);
      MPI_Type_free(&type);
      if (d.me == d.root) c.wanted = blocks(d.ranks, 0, n, d.salt);
      break;
    }
    case 6:
      c.name = "scatter";
      MPI_Iscatter(in, n, MPI_INT, out, n, MPI_INT, d.root, d.comm, &request);
      c.wanted = elements(d.root, d.me * n, n, d.salt);
      break;
    case 7:
      c.name = "reduce_scatter";
      MPI_Ireduce_scatter(in, out, counts, MPI_INT, MPI_SUM, d.comm, &request);
      c.wanted = sums(0, d.ranks, d.me * n, n, d.salt);
      break;
    case 8:
      c.name = "allgatherv";
      MPI_Iallgatherv(in, n, MPI_INT, out, counts, places, MPI_INT, d.comm, &request);
      c.wanted = blocks(d.ranks, 0, n, d.salt);
      break;
    case 9:
      c.name = "exscan";
      MPI_Iexscan(in, out, n, MPI_INT, MPI_SUM, d.comm, &request);
      if (d.me > 0) c.wanted = sums(0, d.me, 0, n, d.salt);
      break;
    case 10:
      c.name = "alltoall in place";
      std::copy(c.in.begin(), c.in.end(), c.out.begin());
      MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, out, n, MPI_INT, d.comm, &request);
      c.wanted = blocks(d.ranks, d.me * n, n, d.salt);
      break;
    case 11:
      c.name = "bcast, waited for";
      if (d.me == d.root) std::copy(in, in + n, out);
      MPI_Bcast(out, n, MPI_INT, d.root, d.comm);
      c.wanted = elements(d.root, 0, n, d.salt);
      break;
    case 12:
      c.name = "allreduce, waited for";
      MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, d.comm);
      c.wanted = sums(0, d.ranks, 0, n, d.salt);
      break;
    default:
      request = message(d, c);
  }
  return request;
}

void check(const Call &c) {
  expect(std::equal(c.wanted.begin(), c.wanted.end(), c.out.begin()), "%s", c.name);
}

}  // namespace

int main(int argc, char **argv) {
  begin_program(&argc, &argv);
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  const int turns = argc > 2 ? std::atoi(argv[2]) : 3000;
  std::mt19937 ours(seed), mine(seed * 1000 + static_cast<unsigned>(me));
  auto draw = [](std::mt19937 &from, int below) {
    return static_cast<int>(from() % static_cast<unsigned>(below));
  };

  MPI_Comm comms[communicators] = {MPI_COMM_WORLD};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comms[3]);

  MPI_Request requests[window];
  std::unique_ptr<Call> calls[window];
  std::fill(requests, requests + window, MPI_REQUEST_NULL);
  for (int turn = 0; turn < turns; ++turn) {
    Drawn d;
    d.comm = comms[draw(ours, communicators)];
    MPI_Comm_rank(d.comm, &d.me);
    MPI_Comm_size(d.comm, &d.ranks);
    const int which = draw(ours, kinds), root = draw(ours, 1000);
    const int longest = which < messages ? most : 50 * most;
    const int length = draw(ours, 10) ? 1 + draw(ours, 9) : draw(ours, longest);
    d.root = root % d.ranks;
    d.count = length;
    d.salt = turn;
    d.way = draw(mine, 100);

    // A place for it: one that is free, else one that comes free.
    int at = 0;
    while (at < window && requests[at] != MPI_REQUEST_NULL) ++at;
    while (at == window) {
      int index = MPI_UNDEFINED, flag = 0, found = 0, indices[window];
      switch (draw(mine, 6)) {
        case 0:
          MPI_Waitany(window, requests, &index, MPI_STATUS_IGNORE);
          break;
        case 1:
          MPI_Testany(window, requests, &index, &flag, MPI_STATUS_IGNORE);
          break;
        case 2:
          MPI_Waitsome(window, requests, &found, indices, MPI_STATUSES_IGNORE);
          break;
        case 3:
          MPI_Testsome(window, requests, &found, indices, MPI_STATUSES_IGNORE);
          break;
        case 4:
          MPI_Wait(&requests[draw(mine, window)], MPI_STATUS_IGNORE);
          break;
        case 5:
          MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
          break;
      }
      for (int i = 0; i < window; ++i)
        if (requests[i] == MPI_REQUEST_NULL && calls[i]) {
          check(*calls[i]);
          calls[i].reset();
          at = i;
        }
    }
    if (calls[at]) check(*calls[at]);
    calls[at] = std::make_unique<Call>();
    requests[at] = begin(which, d, *calls[at]);
    if (draw(mine, 400) == 0) usleep(5000);
  }
  MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
  for (auto &c : calls)
    if (c) check(*c);
  for (int i = 1; i < communicators; ++i) MPI_Comm_free(&comms[i]);
  return end_program("storm");
}
