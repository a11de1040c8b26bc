// SPDX-License-Identifier: BSD-3-Clause
// communicator.cpp - communicators of ours under a real MPI: nothing waits, nothing is left behind.
//
//   mpirun -n P communicator [--many=N] [--nodes=N] [--last:NAME=VALUE] [WHY]
//
// --many: so many communicators are made, used and freed. --nodes: as if on so many nodes. --last:
// a variable of the last rank alone. WHY: that is what there are no plans for.
//
// Each test runs on all ranks; what one of them finds wrong ends all. That something waits is seen
// by a rank that would have to be met by another one which only comes when it is told to: the
// program would hang.

#include <dirent.h>
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "test/dropin/stubs.h"

using namespace nbcc;
using namespace nbcc::dropin;

namespace {

int rank, ranks;

#define MUST(what)                                                                   \
  do {                                                                               \
    if (!(what)) {                                                                   \
      std::fprintf(stderr, "rank %d, line %d: not so: %s\n", rank, __LINE__, #what); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                  \
    }                                                                                \
  } while (0)

void finish(Communicator *c) {
  while (!c->advance()) sched_yield();
}

Communicator *ready(MPI_Comm comm) {
  Communicator *c = Communicator::of(comm);
  MUST(c);
  finish(c);
  if (c->state() != Plan::ready) std::fprintf(stderr, "rank %d: %s\n", rank, c->why());
  MUST(c->state() == Plan::ready);
  return c;
}

Operation operation(nbc_kind kind, int root = 0) {
  Operation o;
  o.kind = kind;
  o.root = root;
  return o;
}

const char *best(const Communicator &c) {
  return c.has("shm") ? "shm" : "mpi";
}

Choice choice(const Communicator &c, const char *algorithm) {
  Choice x;
  x.algorithm = algorithm;
  x.target = best(c);
  return x;
}

Outline of(std::uint64_t bytes) {
  Outline line;
  line.bytes = bytes;
  return line;
}

Plan *made(Communicator *c, const Operation &o, const Choice &x, std::uint64_t bytes = 8) {
  Plan *p = c->plan(o, x, of(bytes));
  MUST(p);
  finish(c);
  if (p->state != Plan::ready) std::fprintf(stderr, "rank %d: %s\n", rank, c->why());
  MUST(p->state == Plan::ready);
  return p;
}

void wait(nbc_request *request) {
  int done = 0;
  while (!done) {
    MUST(nbc_test(request, &done) == 0);
    if (!done) MUST(nbc_rest(request, nullptr) == 0);
  }
}

// An allgather of so many numbers, at once.
void gather(const Communicator &c, Plan *p, int salt, std::size_t count = 3) {
  std::vector<int> in(count), out(count * static_cast<std::size_t>(c.ranks()));
  for (std::size_t i = 0; i < count; ++i) in[i] = c.rank() * 1000 + salt + static_cast<int>(i);
  nbc_call call = {};
  call.in = in.data();
  call.out = out.data();
  call.count = count;
  call.type = NBC_I32;
  nbc_request request;
  MUST(nbc_start(p->plan, &call, &request) == 0);
  wait(&request);
  ++p->calls;
  for (int r = 0; r < c.ranks(); ++r)
    for (std::size_t i = 0; i < count; ++i)
      MUST(out[static_cast<std::size_t>(r) * count + i] == r * 1000 + salt + static_cast<int>(i));
}

// Rank 0 goes on; then the others do.
void rank_0_first() {
  char token = 0;
  if (rank == 0)
    for (int r = 1; r < ranks; ++r) MPI_Send(&token, 1, MPI_CHAR, r, 7, MPI_COMM_WORLD);
  else
    MPI_Recv(&token, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void nothing_waits() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (rank != 0) rank_0_first();
  Communicator *c = Communicator::of(comm);
  MUST(c);
  for (int i = 0; i < 1000 && rank == 0 && ranks > 1; ++i) MUST(!c->advance());
  MUST(rank != 0 || ranks == 1 || c->state() == Plan::making);
  if (rank == 0) rank_0_first();
  finish(c);
  MUST(c->state() == Plan::ready);

  const Choice x = choice(*c, "allgather.bruck");
  if (rank != 0) rank_0_first();
  Plan *p = c->plan(operation(NBC_ALLGATHER), x, of(12));
  for (int i = 0; i < 1000 && rank == 0 && ranks > 1; ++i) MUST(!c->advance());
  MUST(rank != 0 || ranks == 1 || p->state == Plan::making);
  if (rank == 0) rank_0_first();
  finish(c);
  MUST(p->state == Plan::ready);
  gather(*c, p, 1);
  MPI_Comm_free(&comm);
}

// What duplicates' ends rely on: MPI does not promise it.
void the_mpi_frees_without_waiting() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  if (rank != 0) rank_0_first();
  MPI_Comm_free(&comm);
  if (rank == 0) rank_0_first();
}

void ranks_come_when_they_like() {
  for (int round = 0; round < 3; ++round) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &comm);
    usleep(static_cast<unsigned>((rank * 7 + round * 5) % 11 * 10000));
    Communicator *c = ready(comm);
    MUST(c->ranks() == ranks && c->rank() == ranks - 1 - rank);
    usleep(static_cast<unsigned>((rank * 3 + round) % 5 * 10000));
    gather(*c, made(c, operation(NBC_ALLGATHER), choice(*c, "allgather.ring")), 3);
    MPI_Comm_free(&comm);
  }
}

void plans_are_found_again() {
  Communicator *c = ready(MPI_COMM_WORLD);
  Choice x = choice(*c, "allgather.bruck");
  Plan *one = made(c, operation(NBC_ALLGATHER), x);
  MUST(c->plan(operation(NBC_ALLGATHER), x, of(1 << 20)) == one);
  x.parameters = {{"k", 3}};
  Plan *three = made(c, operation(NBC_ALLGATHER), x);
  MUST(three != one && three->algorithm == "allgather.bruck:k=3");
  gather(*c, three, 5, 70000);
  const Choice b = choice(*c, "bcast.binomial");
  Plan *of_0 = made(c, operation(NBC_BCAST, 0), b);
  MUST(made(c, operation(NBC_BCAST, ranks - 1), b) != of_0 || ranks == 1);
  // As long as the choice is for, and no longer; an unknown length: any.
  x.to = 4096;
  Plan *small = made(c, operation(NBC_ALLREDUCE), choice(*c, "allreduce.ring"));
  MUST(small->most >= (std::uint64_t{1} << 36) / static_cast<unsigned>(ranks));
  Choice little = choice(*c, "allreduce.recursive_doubling");
  little.to = 4096;
  Plan *p = made(c, operation(NBC_ALLREDUCE), little);
  MUST(p->most == std::uint64_t{1} << 20);
  MUST(made(c, operation(NBC_ALLREDUCE), little, 1 << 22) != p);
  MUST(made(c, operation(NBC_ALLREDUCE), little, 1 << 20) == p);
}

void what_cannot_be_fails_on_all() {
  Communicator *c = ready(MPI_COMM_WORLD);
  Choice x = choice(*c, "allgather.none");
  MUST(c->plan(operation(NBC_ALLGATHER), x, of(8))->state == Plan::failed);
  MUST(std::strstr(c->why(), "no algorithm allgather.none"));
  x = choice(*c, "allgather.bruck");
  x.parameters = {{"q", 3}};
  MUST(c->plan(operation(NBC_ALLGATHER), x, of(8))->state == Plan::failed);
  MUST(std::strstr(c->why(), "allgather.bruck: it has no parameter q"));
  x.parameters = {{"k", 0}};  // which it requires to be positive
  Plan *p = c->plan(operation(NBC_ALLGATHER), x, of(8));
  finish(c);
  MUST(p->state == Plan::failed && std::strstr(c->why(), "allgather.bruck:k=0"));
  gather(*c, made(c, operation(NBC_ALLGATHER), choice(*c, "allgather.linear")), 9);
}

// A rank that can have no more shared memory; later it can.
void what_one_rank_cannot_fails_on_all() {
  Communicator *c = ready(MPI_COMM_WORLD);
  if (ranks == 1 || !c->has("shm")) return;
  rlimit usual, none;
  getrlimit(RLIMIT_NOFILE, &usual);
  none = usual;
  none.rlim_cur = 3;
  const bool last = rank == ranks - 1;
  if (last) setrlimit(RLIMIT_NOFILE, &none);
  // What there is is used up first.
  constexpr int enough = 400;
  Plan *p = nullptr;
  for (int i = 0; i < enough && (!p || p->state != Plan::failed); ++i) {
    p = c->plan(operation(NBC_ALLGATHER), choice(*c, "allgather.linear"), of(8), true);
    finish(c);
  }
  if (last) setrlimit(RLIMIT_NOFILE, &usual);
  MUST(p->state == Plan::failed && c->state() == Plan::ready);
  // Of its own, or that of another rank, which it cannot map.
  MUST(last ? std::strstr(c->why(), "of /dev/shm for its messages: Too many open files") ||
                  std::strcmp(c->why(), "the system has no more memory") == 0
            : std::strcmp(c->why(), "another rank: the system has no more memory") == 0);
  gather(*c, made(c, operation(NBC_ALLGATHER), choice(*c, "allgather.circulant")), 6);
}

// Each neighbour gets a number that says from whom and in which slot.
void exchange(MPI_Comm comm, int in, int out) {
  Communicator *c = ready(comm);
  MUST(c->indegree() == in && c->outdegree() == out);
  Plan *p = made(c, operation(NBC_NEIGHBOR_ALLTOALL), choice(*c, "neighbor_alltoall.linear"));
  std::vector<int> sent(static_cast<std::size_t>(out) + 1),
      got(static_cast<std::size_t>(in) + 1, -1), wanted(static_cast<std::size_t>(in) + 1, -1);
  for (int i = 0; i < out; ++i) sent[static_cast<std::size_t>(i)] = c->rank() * 100 + i;
  MPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, wanted.data(), 1, MPI_INT, comm);
  nbc_call call = {};
  call.in = sent.data();
  call.out = got.data();
  call.count = 1;
  call.type = NBC_I32;
  nbc_request request;
  MUST(nbc_start(p->plan, &call, &request) == 0);
  wait(&request);
  MUST(got == wanted);
}

void neighbors_are_those_of_all_topologies() {
  MPI_Comm comm;
  const int sizes[] = {ranks, 1};
  for (const int rounded : {0, 1}) {
    const int periodic[] = {rounded, 0};
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &comm);
    exchange(comm, 4, 4);
    MPI_Comm_free(&comm);
  }

  std::vector<int> index, edges;  // a ring
  for (int r = 0; r < ranks; ++r) {
    edges.push_back((r + 1) % ranks);
    edges.push_back((r + ranks - 1) % ranks);
    index.push_back(static_cast<int>(edges.size()));
  }
  if (ranks > 2) {
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index.data(), edges.data(), 0, &comm);
    exchange(comm, 2, 2);
    MPI_Comm_free(&comm);
  }

  // Everybody sends to 0, which sends to the next.
  std::vector<int> sources, destinations = {0};
  if (rank == 0)
    for (int r = 0; r < ranks; ++r) sources.push_back(r);
  if (rank == 0 && ranks > 1) destinations.push_back(1);
  if (rank == 1) sources.push_back(0);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                                 MPI_UNWEIGHTED, static_cast<int>(destinations.size()),
                                 destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  exchange(comm, static_cast<int>(sources.size()), static_cast<int>(destinations.size()));
  MPI_Comm_free(&comm);
}

void which_communicators_have_one() {
  MUST(Communicator::of(MPI_COMM_NULL) == nullptr);
  Communicator *world = Communicator::of(MPI_COMM_WORLD);
  MUST(world && world == Communicator::of(MPI_COMM_WORLD));
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  Communicator *copy = ready(comm);
  MUST(copy != world);
  MPI_Comm_free(&comm);

  // A group of one is ready at once.
  Communicator *self = Communicator::of(MPI_COMM_SELF);
  MUST(self && self->advance() && self->state() == Plan::ready && self->nodes() == 1);
  Plan *p = self->plan(operation(NBC_ALLGATHER), choice(*self, "allgather.ring"), of(8));
  MUST(p && p->state == Plan::ready);
  gather(*self, p, 2);

  if (ranks < 2) return;
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
  MUST(Communicator::of(inter) == nullptr);
  Communicator *h = ready(half);
  gather(*h, made(h, operation(NBC_ALLGATHER), choice(*h, "allgather.linear")), 4);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

int copies, deletions;
int count_copy(MPI_Comm, int, void *, void *value, void *result, int *flag) {
  ++copies;
  *flag = 1;
  std::memcpy(result, &value, sizeof value);
  return MPI_SUCCESS;
}
int count_deletion(MPI_Comm, int, void *, void *) {
  ++deletions;
  return MPI_SUCCESS;
}

// Of several the one that all ranks mean, or none.
void what_is_freed_serves_again() {
  const auto one = [](int color, int key, MPI_Comm *comm) {
    MPI_Comm_split(MPI_COMM_WORLD, color, key, comm);
    Communicator *c = ready(*comm);
    Plan *p = made(c, operation(NBC_ALLGATHER), choice(*c, "allgather.ring"));
    gather(*c, p, 3);
    return p;
  };
  if (ranks == 1) return;
  MPI_Comm first, second, other_order;
  Plan *of_first = one(0, rank, &first), *of_second = one(0, rank, &second);
  MPI_Comm_free(rank % 2 ? &first : &second);
  MPI_Comm_free(rank % 2 ? &second : &first);
  const Plan *of_others = one(0, ranks - rank, &other_order);
  const Plan *again = one(0, rank, &first);
  MUST(of_others != of_first && of_others != of_second);
  MUST(again == of_second);
  MPI_Comm_free(&other_order);
  MPI_Comm_free(&first);
}

// Of other neighbours what is not for neighbours; of the same ones all. Of a distributed graph a
// rank between the first and the last does not see whether they are joined.
void what_is_freed_serves_other_neighbors() {
  if (ranks == 1) return;
  enum { plain, line, ring, graph, joined, open };
  const auto use = [](int topology) {
    MPI_Comm comm;
    const int rounded = topology == ring, next = (rank + 1) % ranks;
    const int before = (rank + ranks - 1) % ranks;
    const int in = topology != open || rank > 0, out = topology != open || rank < ranks - 1;
    std::vector<int> index, edges;  // each is its own neighbour
    for (int r = 0; r < ranks; ++r) index.push_back(r + 1), edges.push_back(r);
    if (topology == plain)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (topology == graph)
      MPI_Graph_create(MPI_COMM_WORLD, ranks, index.data(), edges.data(), 0, &comm);
    else if (topology >= joined)
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, &before, MPI_UNWEIGHTED, out, &next,
                                     MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    else
      MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &rounded, 0, &comm);
    if (topology == line || topology == ring)
      exchange(comm, 2, 2);
    else if (topology != plain)
      exchange(comm, in, out);
    Communicator *c = ready(comm);
    const Plan *p = made(c, operation(NBC_ALLGATHER), choice(*c, "allgather.ring"));
    MPI_Comm_free(&comm);
    return p;
  };
  const Plan *of_all = use(plain);
  const struct {
    int topology, ended;  // plans, of the one before
  } uses[] = {{ring, 0},  {ring, 0},   {plain, 1},  {line, 0}, {line, 0}, {ring, 1}, {graph, 1},
              {graph, 0}, {joined, 1}, {joined, 0}, {open, 1}, {open, 0}, {line, 1}, {plain, 1}};
  for (const auto &[topology, ended] : uses) {
    const int before = plans_counted;
    MUST(use(topology) == of_all);
    MUST(plans_counted == before + ended);
  }
}

// Of one rank, however it was made, and whatever attributes are copied.
void what_is_freed_alone_serves_again() {
  const Choice ring = choice(*ready(MPI_COMM_WORLD), "allgather.ring");
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comm);
  const Plan *before = made(ready(comm), operation(NBC_ALLGATHER), ring);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  Communicator *c = ready(comm);
  Plan *again = made(c, operation(NBC_ALLGATHER), ring);
  MUST(again == before && c->nodes() == 1);
  gather(*c, again, 3);
  MPI_Comm_free(&comm);
}

void construct(MPI_Comm *made) {
  static Constructor by;
  Lock lock;
  PMPI_Comm_dup(MPI_COMM_WORLD, made);
  Communicator::at_construction(lock, *made, by);
}

// What ranks agree on in one serves several. They free in orders of their own; some are used.
void few_constructors_ask() {
  enum { alive = 3, rounds = 60, most = alive * rounds / 3 };
  MPI_Comm comms[alive];
  if (!duplicates_by_collectives || ranks == 1) return;
  for (int round = 0; round < rounds; ++round) {
    for (MPI_Comm &comm : comms) construct(&comm);
    if (round % 20 == 19) {
      Communicator *c = ready(comms[1]);
      gather(*c, made(c, operation(NBC_ALLGATHER), choice(*c, "allgather.ring")), round);
    }
    for (int i = 0; i < alive; ++i) PMPI_Comm_free(&comms[(i + rank) % alive]);
  }
  const Reserve *reserve = Reserve::find(MPI_COMM_WORLD);
  MUST(reserve && reserve->agreements < most);
}

void what_is_freed_ends_with_its_last_call() {
  int keyval;
  MPI_Comm_create_keyval(count_copy, count_deletion, &keyval, nullptr);
  Communicator::attributes_are_copied();
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, keyval, nullptr);
  copies = deletions = 0;
  Communicator *c = ready(comm);
  Plan *p = made(c, operation(NBC_ALLGATHER), choice(*c, "allgather.ring"));
  std::vector<int> out(static_cast<std::size_t>(ranks));
  nbc_call call = {};
  call.in = &rank;
  call.out = out.data();
  call.count = 1;
  call.type = NBC_I32;
  nbc_request request;
  c->hold();
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);  // with the others' later on: they free first
  MUST(nbc_start(p->plan, &call, &request) == 0);
  const int counted = plans_counted;
  MPI_Comm_free(&comm);
  if (rank != 0) MPI_Barrier(MPI_COMM_WORLD);
  Communicator::advance_all();
  MUST(plans_counted == counted);
  wait(&request);
  for (int r = 0; r < ranks; ++r) MUST(out[static_cast<std::size_t>(r)] == r);
  c->release();
  Communicator::advance_all();
  // Where attributes are not copied with it, it serves again.
  MUST(plans_counted == counted + (ranks > 1 && !duplicates_by_collectives));
  MUST(copies == deletions - 1);  // as often as MPI copied it for us, and the program's own
  MPI_Comm_free_keyval(&keyval);
}

void what_is_freed_half_made_ends_cleanly() {
  for (int steps = 0; steps < 40; steps += 1 + steps / 8) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    Communicator *c = Communicator::of(comm);
    MUST(c);
    for (int i = 0; i < steps; ++i) c->advance();
    MPI_Comm_free(&comm);
    Communicator::advance_all();
  }
  // With a plan half made, and ranks at different places in it.
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  Communicator *c = ready(comm);
  Plan *p = c->plan(operation(NBC_ALLGATHER), choice(*c, "allgather.ring"), of(8));
  MUST(p);
  for (int i = 0; i < rank; ++i) c->advance();
  MPI_Comm_free(&comm);
  Communicator::advance_all();
}

void lookups_are_quick() {
  MPI_Comm comms[8];
  Communicator *of[8];
  for (int i = 0; i < 8; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    of[i] = ready(comms[i]);
  }
  constexpr int times = 1000000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i)
    if (Communicator::of(comms[i % 8]) != of[i % 8]) MUST(false);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  if (rank == 0) std::printf("a lookup takes %.1f ns\n", took.count() / times);
  for (MPI_Comm &comm : comms) MPI_Comm_free(&comm);
}

int entries(const char *folder, const char *prefix) {
  int count = 0;
  DIR *d = opendir(folder);
  while (const dirent *e = d ? readdir(d) : nullptr)
    count += std::strncmp(e->d_name, prefix, std::strlen(prefix)) == 0;
  closedir(d);
  return count;
}

struct Resources {
  int files = 0, pieces = 0, named = 0;  // of shared memory: mapped; and with a name in /dev/shm
  std::size_t bytes = 0;
};
Resources resources() {
  Communicator::advance_all();
  Resources r;
  r.files = entries("/proc/self/fd", "");
  r.bytes = mallinfo2().uordblks;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/dev/shm/nbc-") == std::string::npos) continue;
    ++r.pieces;
    r.named += line.find("(deleted)") == std::string::npos;
  }
  return r;
}

void use_one(int i) {
  MPI_Comm comm;
  if (i % 2)
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  else
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
  Communicator *c = ready(comm);
  gather(*c, made(c, operation(NBC_ALLGATHER), choice(*c, "allgather.linear")), i);
  MPI_Comm_free(&comm);
}

void many_leave_nothing(int many) {
  for (int i = 0; i < many / 10 + 20; ++i) use_one(i);  // the MPI's own tables have grown by then
  const Resources before = resources();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < many; ++i) use_one(i);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const Resources after = resources();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("%d communicators: %.2f ms each; files %+d, pieces %+d, bytes %+lld\n", many,
                took.count() * 1000 / many, after.files - before.files,
                after.pieces - before.pieces,
                static_cast<long long>(after.bytes) - static_cast<long long>(before.bytes));
  MUST(after.files <= before.files && after.pieces <= before.pieces && after.named == 0);
  // Not 30 bytes each; what the MPI keeps grows and shrinks by some.
  MUST(after.bytes < before.bytes + 30u * static_cast<unsigned>(many) + 16384);
}

// All ranks know that one of them cannot, and one knows what.
void expect_failure(const char *words) {
  Communicator *c = Communicator::of(MPI_COMM_WORLD);
  MUST(c);
  finish(c);
  MUST(c->state() == Plan::failed);
  std::printf("rank %d: %s\n", rank, c->why());
  MUST(std::strstr(c->why(), words) || std::strstr(c->why(), "another rank"));
  MUST(rank != ranks - 1 || std::strstr(c->why(), words));
  MUST(c->plan(operation(NBC_ALLGATHER), choice(*c, "allgather.ring"), of(8)) == nullptr);
}

}  // namespace

int main(int count, char **words) {
  int many = 100;
  const char *failure = nullptr;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int nodes = 1;
  for (int i = 1; i < count; ++i) {
    if (!std::strncmp(words[i], "--many=", 7)) {
      many = std::atoi(words[i] + 7);
    } else if (!std::strncmp(words[i], "--nodes=", 8)) {
      nodes = std::atoi(words[i] + 8);
      setenv("NBC_NODE", std::to_string(rank % nodes).c_str(), 1);
    } else if (!std::strncmp(words[i], "--last:", 7)) {  // a variable, on the last rank alone
      if (rank == ranks - 1) putenv(words[i] + 7);
    } else {
      failure = words[i];
    }
  }
  if (failure) {
    expect_failure(failure);
  } else {
    which_communicators_have_one();
    MUST(ready(MPI_COMM_WORLD)->nodes() == nodes);
    nothing_waits();
    the_mpi_frees_without_waiting();
    ranks_come_when_they_like();
    plans_are_found_again();
    what_cannot_be_fails_on_all();
    what_one_rank_cannot_fails_on_all();
    neighbors_are_those_of_all_topologies();
    what_is_freed_serves_again();
    what_is_freed_serves_other_neighbors();
    what_is_freed_alone_serves_again();
    what_is_freed_ends_with_its_last_call();
    what_is_freed_alone_serves_again();
    few_constructors_ask();
    what_is_freed_half_made_ends_cleanly();
    lookups_are_quick();
    many_leave_nothing(many);
  }
  Communicator::end_all();
  MUST(Communicator::of(MPI_COMM_WORLD) == nullptr);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d ranks, %d nodes: all kept\n", ranks, nodes);
  MPI_Finalize();
}
