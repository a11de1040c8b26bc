// SPDX-License-Identifier: BSD-3-Clause
// data.cpp - each collective, on data of every make: what Arguments says to nbc_start, carried out,
// leaves memory as the MPI's own function does, gaps included.
//
//   mpirun -n 4 dropin-data
//   mpirun -n 4 -x LD_PRELOAD=libnbc-mpi.so dropin-data all      what is below is then to be right,
//   too
//
// Half of the ranks describe their data by other types of the same signature.

#include "dropin/data.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "dropin/room.h"
#include "dropin/shapes.h"
#include "test/dropin/carry_out.h"
#include "test/dropin/zoo.h"

using namespace nbcc::dropin;

namespace {

int rank, ranks, calls;
bool trusts_below;  // its reductions, and that it leaves gaps alone
std::string what;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::fprintf(stderr, "rank %d, line %d: %s does not hold: %s\n", rank, __LINE__, #condition, \
                   what.c_str());                                                                  \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                \
    }                                                                                              \
  } while (0)

// --- memory for images, of all lengths, some of which it keeps ---

void rooms() {
  constexpr std::size_t huge_page = 2 << 20, most = Room::most_kept;
  Room room;
  for (std::size_t bytes : {std::size_t{1}, std::size_t{65}, huge_page, huge_page + 1,
                            3 * huge_page, most - 1, most, most + 1, std::size_t{1}, huge_page}) {
    what = "memory for " + std::to_string(bytes) + " bytes";
    std::byte *at = room.take(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(at) % Room::alignment == 0);
    std::memset(at, 1, bytes);
    CHECK(room.take(bytes) == at && at[bytes - 1] == std::byte{1});
    room.leave();
    CHECK(bytes > most || room.take(1) == at);
  }
  for (std::size_t bytes : {SIZE_MAX, SIZE_MAX / 2}) {
    what = "memory that there is not";
    bool refused = false;
    try {
      room.take(bytes);
    } catch (const std::bad_alloc &) {
      refused = true;
    }
    CHECK(refused);
  }
  *room.take(1) = std::byte{1};
}

// --- operators of a program's own, of bytes, whatever the type ---

template <class Operator>
void by_bytes(void *in, void *inout, int *n, MPI_Datatype *type, Operator op) {
  int size;
  PMPI_Type_size(*type, &size);
  std::vector<unsigned char> a(size * *n + 1), b(size * *n + 1);
  int position = 0;
  PMPI_Pack(in, *n, *type, a.data(), size * *n, &position, MPI_COMM_SELF);
  position = 0;
  PMPI_Pack(inout, *n, *type, b.data(), size * *n, &position, MPI_COMM_SELF);
  for (int i = 0; i < size * *n; ++i) b[i] = op(a[i], b[i]);
  position = 0;
  PMPI_Unpack(b.data(), size * *n, &position, inout, *n, *type, MPI_COMM_SELF);
}

unsigned char sum(unsigned char a, unsigned char b) {
  return static_cast<unsigned char>(a + b);
}
unsigned char last(unsigned char a, unsigned char b) {
  return b ? b : a;
}

void add(void *in, void *inout, int *n, MPI_Datatype *type) {
  by_bytes(in, inout, n, type, sum);
}
void last_of(void *in, void *inout, int *n, MPI_Datatype *type) {
  by_bytes(in, inout, n, type, last);
}

// --- one call, twice ---

struct Call {
  Operation operation;
  Memory send, receive;
  bool send_in_place = false, receive_in_place = false;
  bool adds = true;  // the operator
};

// Marks the bytes of what is received that are data. The MPIs sometimes write into gaps, so those
// are held to what was there.
std::vector<std::byte> covered(const Call &call) {
  Memory marked = call.receive;
  std::fill(marked.bytes.begin(), marked.bytes.end(), std::byte{0});
  const Operation &o = call.operation;
  const Side &s = o.receive;
  Shape shape = shapes_of(o.kind).receive;
  auto mark = [&](std::int64_t offset, std::int64_t count, MPI_Datatype type) {
    int size, position = 0;
    PMPI_Type_size(type, &size);
    std::vector<char> ones(size * count + 1, -1);
    PMPI_Unpack(ones.data(), static_cast<int>(size * count), &position, marked.buffer + offset,
                static_cast<int>(count), type, MPI_COMM_SELF);
  };
  int blocks = shape == Shape::ranks ? ranks : shape == Shape::neighbors ? 2 : 1;
  MPI_Aint lower, extent = 1;
  if (!s.types) PMPI_Type_get_extent(s.type, &lower, &extent);
  for (int i = 0; s.counts && i < blocks; ++i)
    mark(s.displacements[i] * extent, s.counts[i], s.types ? s.types[i] : s.type);
  if (!s.counts)
    mark(0, o.kind == NBC_REDUCE_SCATTER ? o.send.counts[rank] : s.count * blocks, s.type);
  return marked.bytes;
}

// What a reduction is by definition: of bytes, since our operators work on them.
void reduce_by_definition(Call &c) {
  const Operation &o = c.operation;
  MPI_Datatype type = o.receive.type;
  int size, position = 0, result = static_cast<int>(o.receive.count), all = result, first = 0;
  PMPI_Type_size(type, &size);
  if (o.kind == NBC_REDUCE_SCATTER_BLOCK) all *= ranks, first = rank * result;
  if (o.kind == NBC_REDUCE_SCATTER) {
    result = static_cast<int>(o.send.counts[rank]);
    for (int i = 0; i < ranks; ++i) {
      if (i == rank) first = all;
      all += static_cast<int>(o.send.counts[i]);
    }
  }
  int bytes = all * size;
  std::vector<unsigned char> mine(bytes + 1), every(bytes * ranks + 1);
  PMPI_Pack(c.send_in_place ? c.receive.buffer : c.send.buffer, all, type, mine.data(), bytes,
            &position, MPI_COMM_SELF);
  PMPI_Allgather(mine.data(), bytes, MPI_BYTE, every.data(), bytes, MPI_BYTE, o.comm);
  int end = o.kind == NBC_SCAN ? rank + 1 : o.kind == NBC_EXSCAN ? rank : ranks;
  if (end == 0 || (o.kind == NBC_REDUCE && rank != o.root)) return;
  for (int r = 1; r < end; ++r)
    for (int i = 0; i < bytes; ++i)
      every[i] = (c.adds ? sum : last)(every[i], every[r * bytes + i]);
  position = 0;
  PMPI_Unpack(every.data() + first * size, result * size, &position, c.receive.buffer, result, type,
              MPI_COMM_SELF);
}

// Holds what a call has left to what is right where it is data, and to what was there elsewhere.
void check(const Call &call, const Memory &found, const Memory &right) {
  const Operation &o = call.operation;
  std::vector<std::byte> data = covered(call);
  // Behind the result in place there may be anything.
  bool loose =
      call.send_in_place && (o.kind == NBC_REDUCE_SCATTER || o.kind == NBC_REDUCE_SCATTER_BLOCK);
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (loose && data[i] == std::byte{0}) continue;
    const Memory &expected = data[i] == std::byte{0} ? call.receive : right;
    CHECK(found.bytes[i] == expected.bytes[i]);
  }
}

void compare(const Call &call, const Peers &peers) {
  Call below = call, found = call;
  for (Call *c : {&below, &found}) {
    Operation &o = c->operation;
    o.send.buffer = c->send_in_place ? MPI_IN_PLACE : c->send.buffer;
    o.receive.buffer = c->receive_in_place ? MPI_IN_PLACE : c->receive.buffer;
  }
  const Operation &o = found.operation;
  bool reduces = shapes_of(o.kind).reduces;
  Call defined = below;
  if (!reduces || trusts_below) carry_out_below(below.operation);
  if (reduces) reduce_by_definition(defined);
  const Memory &right = reduces ? defined.receive : below.receive;
  if (trusts_below) check(call, below.receive, right);

  const char *refusal = outline(o, rank, ranks, 2, 2).refusal;
  if (refusal) what += std::string(", refused: ") + refusal;
  CHECK(!refusal);
  Arguments arguments;
  CHECK(arguments.set(o, rank, ranks, 2, 2));
  // As a persistent one, of plans that take layouts and that do not; each time with what was there
  // at first.
  for (bool lies : {false, true, true}) {
    std::memcpy(found.receive.bytes.data(), call.receive.bytes.data(), call.receive.bytes.size());
    CHECK(arguments.fill(lies));
    carry_out(o.kind, arguments.call(), o.root, peers);
    CHECK(arguments.empty());
    CHECK(found.send.bytes == call.send.bytes);
    check(call, found.receive, right);
  }
  ++calls;
}

// --- what is called ---

// A side of equal blocks. Odd ranks say it by the other type.
Side equal(const Animal &a, int count, int blocks, Memory &memory, unsigned seed) {
  bool other = rank % 2;
  memory = Memory::of(a.type, count * blocks, seed);
  if (other) memory = Memory::of(a.other, count * a.others * blocks, seed);
  return {.count = other ? count * a.others : count, .type = other ? a.other : a.type};
}

void equal_blocks(const Animal &a, nbc_kind kind, int count, int root, bool in_place,
                  const Peers &peers) {
  const Shapes &s = shapes_of(kind);
  auto blocks = [&](Shape shape) {
    return shape == Shape::ranks ? ranks : shape == Shape::one ? 1 : 2;
  };
  Call c;
  Operation &o = c.operation;
  o.kind = kind;
  o.comm = peers.comm;
  o.root = root;
  if (s.send != Shape::none) o.send = equal(a, count, blocks(s.send), c.send, rank);
  o.receive = equal(a, count, blocks(s.receive), c.receive, 100 + rank + 16 * calls);
  c.send_in_place = in_place && s.in_place != InPlace::receive_at_root &&
                    (s.in_place == InPlace::send || rank == root);
  c.receive_in_place = in_place && s.in_place == InPlace::receive_at_root && rank == root;
  compare(c, peers);
}

// So many elements go from one rank to another.
int length(int from, int to) {
  return (3 * from + 2 * to + 100) % 4;
}

// Rows, the caller's arrays.
struct Rows {
  std::vector<int> counts, displacements;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};

// A side of blocks with lengths of their own, from the last to the first, with something in
// between.
Side row(const Animal &a, bool other, const std::vector<int> &lengths, Rows &rows, Memory &memory,
         unsigned seed) {
  int at = 0;
  rows = {};
  rows.displacements.resize(lengths.size());
  for (int n : lengths) rows.counts.push_back(other ? n * a.others : n);
  for (int i = static_cast<int>(lengths.size()) - 1; i >= 0; --i) {
    rows.displacements[i] = at;
    at += rows.counts[i] + 1;
  }
  memory = Memory::of(other ? a.other : a.type, at, seed);
  return {.type = other ? a.other : a.type,
          .counts = {rows.counts.data()},
          .displacements = {rows.displacements.data()}};
}

// The same with types of their own; `pairs`: a number for each block that both ends know.
Side row(const std::vector<Animal> &zoo, const std::vector<int> &lengths,
         const std::vector<int> &pairs, bool wide, Rows &rows, Memory &memory, unsigned seed) {
  rows = {};
  std::int64_t at = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const Animal &a = zoo[pairs[i] % zoo.size()];
    bool other = (rank + i) % 2;
    rows.types.push_back(other ? a.other : a.type);
    rows.counts.push_back(other ? lengths[i] * a.others : lengths[i]);
    Memory block = Memory::of(rows.types[i], rows.counts[i], 0);
    at += block.buffer - block.bytes.data();
    rows.addresses.push_back(at / 16 * 16);
    rows.displacements.push_back(static_cast<int>(at / 16 * 16));
    at += static_cast<std::int64_t>(block.bytes.size()) + 32;
  }
  memory = Memory(0, at, seed);
  Row displacements = {rows.displacements.data()};
  if (wide) displacements = {rows.addresses.data(), true};
  return {
      .counts = {rows.counts.data()}, .displacements = displacements, .types = rows.types.data()};
}

// v-variants; with a zoo, w-variants.
void own_lengths(const Animal &a, const std::vector<Animal> *zoo, nbc_kind kind, int root,
                 bool in_place, const Peers &peers) {
  const Shapes &s = shapes_of(kind);
  auto lengths = [&](Shape shape, bool sent) {
    std::vector<int> result, pairs;
    auto put = [&](int from, int to) {
      bool everybodys =
          kind == NBC_ALLGATHER || kind == NBC_NEIGHBOR_ALLGATHER || kind == NBC_GATHER;
      // In place rank i sends as much as it is sent.
      if (in_place && kind == NBC_ALLTOALL && from > to) std::swap(from, to);
      result.push_back(everybodys            ? length(from, 0)
                       : kind == NBC_SCATTER ? length(to, 1)
                                             : length(from, to));
      pairs.push_back(7 * from + 3 * to + 1000);
    };
    for (int i = 0; shape == Shape::ranks && i < ranks; ++i) sent ? put(rank, i) : put(i, rank);
    for (int i = 0; shape == Shape::neighbors && i < 2; ++i)
      sent ? put(rank, peers.destinations[i]) : put(peers.sources[i], rank);
    if (shape == Shape::one) sent ? put(rank, root) : put(root, rank);
    return std::pair(result, pairs);
  };
  Call c;
  Operation &o = c.operation;
  o.kind = kind;
  o.each = true;
  o.comm = peers.comm;
  o.root = root;
  Rows sent, received;
  bool wide = kind == NBC_NEIGHBOR_ALLTOALL;
  auto side = [&](Shape shape, bool is_sent, Rows &rows, Memory &memory, unsigned seed) {
    auto [n, pairs] = lengths(shape, is_sent);
    if (shape == Shape::one) return equal(a, n[0], 1, memory, seed);
    // Of others the MPIs choose an algorithm by what a rank receives, extents included.
    const bool other = is_sent || kind != NBC_ALLTOALL ? rank % 2 : rank / 2 % 2;
    return zoo ? row(*zoo, n, pairs, wide, rows, memory, seed)
               : row(a, other, n, rows, memory, seed);
  };
  o.send = side(s.send, true, sent, c.send, rank);
  o.receive = side(s.receive, false, received, c.receive, 100 + rank + 16 * calls);
  c.send_in_place = in_place && s.in_place != InPlace::receive_at_root &&
                    (s.in_place == InPlace::send || rank == root);
  c.receive_in_place = in_place && s.in_place == InPlace::receive_at_root && rank == root;
  compare(c, peers);
}

void reduction(const Animal &a, nbc_kind kind, MPI_Op op, bool adds, int count, int root,
               bool in_place, const Peers &peers) {
  Call c;
  Operation &o = c.operation;
  Rows rows;
  std::vector<int> lengths;
  int before = 0, all = count;
  for (int i = 0; i < ranks; ++i) lengths.push_back(count ? (i + count) % 4 : 0);
  o.kind = kind;
  o.comm = peers.comm;
  o.root = root;
  o.op = op;
  if (kind == NBC_REDUCE_SCATTER_BLOCK) all *= ranks;
  if (kind == NBC_REDUCE_SCATTER) {
    for (int n : lengths) before += n;
    all = before;
    o.each = true;
  }
  MPI_Datatype type = rank % 2 && a.others == 1 ? a.other : a.type;
  c.send = Memory::of(type, all, rank);
  c.receive = Memory::of(type, in_place ? all : count + 4, 100 + rank + 16 * calls);
  o.send = {.count = count, .type = type};
  o.receive = o.send;
  if (o.each) {
    o.send.counts = {lengths.data()};
    o.receive.count = 0;
  }
  c.adds = adds;
  c.send_in_place = in_place && (kind != NBC_REDUCE || rank == root);
  compare(c, peers);
}

// A type and an operator that are freed at once, and their handles made anew as others.
void freed(const Peers &peers) {
  MPI_Datatype column;
  PMPI_Type_vector(2, 1, 3, MPI_INT, &column);
  PMPI_Type_commit(&column);
  int in[] = {rank, -1, -2, 10 * rank}, out[] = {5, 6, 7, 8};
  Operation o = {.kind = NBC_ALLREDUCE, .comm = peers.comm};
  PMPI_Op_create(add, 1, &o.op);
  o.send = {.buffer = in, .count = 1, .type = column};
  o.receive = {.buffer = out, .count = 1, .type = column};
  Arguments arguments;
  CHECK(arguments.set(o, rank, ranks, 0, 0));
  PMPI_Type_free(&column);
  std::vector<MPI_Datatype> others(100);
  for (MPI_Datatype &t : others) PMPI_Type_vector(3, 1, 2, MPI_DOUBLE, &t), PMPI_Type_commit(&t);
  CHECK(arguments.fill(false));
  carry_out(o.kind, arguments.call(), 0, peers);
  CHECK(arguments.empty());
  int sum = ranks * (ranks - 1) / 2;
  CHECK(out[0] == sum && out[1] == 6 && out[2] == 7 && out[3] == 10 * sum);
  for (MPI_Datatype &t : others) PMPI_Type_free(&t);
  arguments.clear();
  PMPI_Op_free(&o.op);
}

void all_of(const Animal &a, const Peers &line, const std::vector<MPI_Op> &ops) {
  const nbc_kind moving[] = {NBC_ALLGATHER,        NBC_ALLTOALL, NBC_BCAST,
                             NBC_GATHER,           NBC_SCATTER,  NBC_NEIGHBOR_ALLGATHER,
                             NBC_NEIGHBOR_ALLTOALL};
  const nbc_kind reducing[] = {NBC_ALLREDUCE,      NBC_REDUCE,
                               NBC_REDUCE_SCATTER, NBC_REDUCE_SCATTER_BLOCK,
                               NBC_SCAN,           NBC_EXSCAN};
  auto say = [&](nbc_kind kind, const char *form, int count, int root, bool in_place) {
    what = a.name + ", kind " + std::to_string(kind) + form + ", count " + std::to_string(count) +
           ", root " + std::to_string(root) + (in_place ? ", in place" : "");
  };
  for (int root : {0, 2})
    for (bool in_place : {false, true}) {
      for (nbc_kind kind : moving) {
        const Shapes &s = shapes_of(kind);
        bool rooted = s.send_at_root || s.receive_at_root || kind == NBC_BCAST;
#ifdef OPEN_MPI  // which frees what it has not allocated
        if (!trusts_below && a.name == "columns from the last" &&
            (kind == NBC_GATHER || kind == NBC_SCATTER))
          continue;
#endif
        if ((in_place && s.in_place == InPlace::never) || (root && !rooted)) continue;
        for (int count : {0, 1, 3})
          say(kind, "", count, root, in_place), equal_blocks(a, kind, count, root, in_place, line);
        if (kind == NBC_BCAST) continue;
        say(kind, "v", 0, root, in_place);
        own_lengths(a, nullptr, kind, root, in_place, line);
      }
      for (nbc_kind kind : reducing)
        for (std::size_t op = 0; op < ops.size() && (!root || kind == NBC_REDUCE); ++op)
          for (int count : {0, 1, 3})
            say(kind, op ? ", in order" : "", count, root, in_place),
                reduction(a, kind, ops[op], op == 0, count, root, in_place, line);
    }
}

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  trusts_below = argc > 1;
  rooms();
  Peers line = {};
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int open = 0;
  PMPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &open, 0, &line.comm);
  line.rank = rank;
  line.ranks = ranks;
  line.sources[0] = line.destinations[0] = rank ? rank - 1 : MPI_PROC_NULL;
  line.sources[1] = line.destinations[1] = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

  std::vector<MPI_Op> ops(2);
  PMPI_Op_create(add, 1, &ops[0]);
  PMPI_Op_create(last_of, 0, &ops[1]);
  std::vector<Animal> zoo = make_zoo(), dense;
  for (const Animal &a : zoo) {
    all_of(a, line, ops);
    if (a.dense) dense.push_back(a);
  }
  for (const std::vector<Animal> *some : {&zoo, &dense})
    for (nbc_kind kind : {NBC_ALLTOALL, NBC_NEIGHBOR_ALLTOALL})
      for (bool in_place : {false, true}) {
        if (in_place && kind != NBC_ALLTOALL) continue;
        what = std::string("w-variant of kind ") + std::to_string(kind) +
               (in_place ? ", in place" : "");
        own_lengths(zoo[0], some, kind, 0, in_place, line);
      }
  // Longer than what a user's operator is given at once.
  for (const Animal &a : {zoo[0], zoo[1]})
    for (MPI_Op op : ops) {
      what = "long vectors of " + a.name;
      reduction(a, NBC_ALLREDUCE, op, op == ops[0], 20011, 0, false, line);
    }
  what = "what is freed at once";
  freed(line);

  for (MPI_Op &op : ops) PMPI_Op_free(&op);
  PMPI_Comm_free(&line.comm);
  if (rank == 0) std::printf("%d calls, all alike\n", calls);
  MPI_Finalize();
}
