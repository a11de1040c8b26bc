// SPDX-License-Identifier: BSD-3-Clause
// habits.cpp - calls that differ from one before in one thing only, on all ranks or on one of them.

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "test/dropin/expect.h"

namespace {

constexpr int most = 6;

// An allreduce of ints from and to these buffers, twice: the second is a habit.
void allreduces(MPI_Comm comm, int size) {
  struct Arguments {
    int count;
    MPI_Op op;
  };
  int salt = 0;
  for (auto [count, op] : {Arguments{1, MPI_SUM}, {3, MPI_SUM}, {3, MPI_MAX}, {1, MPI_MAX}})
    for (int place = 0; place < 4; ++place) {
      // In place on no rank, on all, on the first, or with other buffers than before.
      ++salt;
      const bool in_place = place == 1 || (place == 2 && me == 0);
      std::vector<int> in = elements(me, 0, count, salt), out(most, -1);
      if (in_place) std::copy(in.begin(), in.end(), out.begin());
      MPI_Allreduce(in_place ? MPI_IN_PLACE : in.data(), out.data(), count, MPI_INT, op, comm);
      for (int i = 0; i < most; ++i) {
        int wanted = -1;
        for (int r = 0; r < size && i < count; ++r) {
          int e = element(r, i, salt);
          wanted = r == 0 ? e : op == MPI_SUM ? wanted + e : std::max(wanted, e);
        }
        expect(out[std::size_t(i)] == wanted, "allreduce %d, element %d: %d", salt, i,
               out[std::size_t(i)]);
      }
    }
}

// The same bytes, as elements of other types.
void types() {
  float single = 1.5f * float(me + 1), sum = 0;
  int whole = me + 1, all = 0;
  for (int k = 0; k < 2; ++k) {
    MPI_Allreduce(&whole, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(all == ranks * (ranks + 1) / 2, "ints among floats: %d", all);
    MPI_Allreduce(&single, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == 0.75f * float(ranks * (ranks + 1)), "floats among ints: %g", double(sum));
  }
}

void roots() {
  for (int k = 0; k < 2 * ranks; ++k) {
    const int root = k / 2;
    int value = me == root ? 100 + k : -1, sum = -1, mine = k + me, slot = -1;
    std::vector<int> row = elements(root, 0, ranks, k);
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    expect(value == 100 + k, "bcast %d from %d: %d", k, root, value);
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    expect(sum == (me == root ? ranks * k + ranks * (ranks - 1) / 2 : -1), "reduce %d: %d", k, sum);
    MPI_Scatter(row.data(), 1, MPI_INT, &slot, 1, MPI_INT, root, MPI_COMM_WORLD);
    expect(slot == element(root, me, k), "scatter %d from %d: %d", k, root, slot);
  }
}

// Rows, of which one number is another than before, on all ranks or where MPI looks at it.
void rows() {
  const std::size_t blocks = std::size_t(ranks);
  for (int turn = 0; turn < 12; ++turn) {
    const int longer = turn / 2 % ranks, apart = turn / 3 % 2, root = turn / 4 % ranks;
    std::vector<int> counts(blocks, 1), places(blocks), own(blocks, me == longer ? 2 : 1),
        from(blocks);
    counts[std::size_t(longer)] = 2;
    for (int i = 0; i < ranks; ++i) {
      places[std::size_t(i)] = (3 + apart) * i;
      from[std::size_t(i)] = 2 * i;
    }
    std::vector<int> given(2 * blocks), all(5 * blocks, -1), one(5 * blocks, -1), turned(all);
    for (int i = 0; i < 2 * ranks; ++i) given[std::size_t(i)] = element(me, i, turn);
    MPI_Request requests[2];
    MPI_Allgatherv(given.data(), own[0], MPI_INT, all.data(), counts.data(), places.data(), MPI_INT,
                   MPI_COMM_WORLD);
    // Elsewhere than at the root there are no counts.
    MPI_Igatherv(given.data(), own[0], MPI_INT, one.data(), me == root ? counts.data() : nullptr,
                 me == root ? places.data() : nullptr, MPI_INT, root, MPI_COMM_WORLD, &requests[0]);
    MPI_Ialltoallv(given.data(), own.data(), from.data(), MPI_INT, turned.data(), counts.data(),
                   places.data(), MPI_INT, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 5 * ranks; ++i) {
      const int r = std::min(i / (3 + apart), ranks - 1), k = i - (3 + apart) * r;
      const bool came = k < counts[std::size_t(r)];
      const std::size_t at = std::size_t(i);
      expect(all[at] == (came ? element(r, k, turn) : -1), "allgatherv %d: %d", turn, all[at]);
      expect(one[at] == (came && me == root ? element(r, k, turn) : -1), "gatherv %d: %d", turn,
             one[at]);
      expect(turned[at] == (came ? element(r, 2 * me + k, turn) : -1), "alltoallv %d: %d", turn,
             turned[at]);
    }
  }
}

// Rows of types, one of which is another than before, with the same numbers beside it.
void rows_of_types() {
  const std::size_t blocks = std::size_t(ranks);
  for (int turn = 0; turn < 12; ++turn) {
    const int half = turn / 2 % ranks;  // which blocks are short ones
    std::vector<int> counts(blocks, 2), places(blocks);
    std::vector<MPI_Datatype> types(blocks, MPI_INT);
    for (int r = 0; r < ranks; ++r) {
      places[std::size_t(r)] = 12 * r;
      if ((me + r) % ranks == half) types[std::size_t(r)] = MPI_SHORT;
    }
    const std::vector<int> given = elements(me, 0, 3 * ranks, turn);
    std::vector<int> got(3 * blocks, -1), at(got);
    MPI_Alltoallw(given.data(), counts.data(), places.data(), types.data(), got.data(),
                  counts.data(), places.data(), types.data(), MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Ialltoallw(given.data(), counts.data(), places.data(), types.data(), at.data(),
                   counts.data(), places.data(), types.data(), MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    std::vector<int> wanted(3 * blocks, -1);
    for (int r = 0; r < ranks; ++r)
      for (int i = 0; i < ((me + r) % ranks == half ? 1 : 2); ++i)
        wanted[std::size_t(3 * r + i)] = element(r, 3 * me + i, turn);
    expect(got == wanted, "alltoallw %d", turn);
    expect(at == wanted, "ialltoallw %d", turn);
  }
}

// Rows that are not there any more are a mistake, and no habit. MPICH 4.0 looks at them unasked.
void no_rows() {
#if defined(OPEN_MPI)
  const std::size_t blocks = std::size_t(ranks);
  std::vector<int> counts(blocks, 1), places(blocks), in(blocks, me), out(blocks);
  for (int r = 0; r < ranks; ++r) places[std::size_t(r)] = r;
  MPI_Errhandler before;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int turn = 0; turn < 3; ++turn) {
    const int *given = turn == 1 ? nullptr : counts.data();
    const int error = MPI_Alltoallv(in.data(), counts.data(), places.data(), MPI_INT, out.data(),
                                    given, places.data(), MPI_INT, MPI_COMM_WORLD);
    expect((error == MPI_SUCCESS) == (turn != 1), "alltoallv %d says %d", turn, error);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
#endif
}

// Counts that lead to one plan and to others, in place and not; of the kinds that a count belongs
// to.
void lengths() {
  const int counts[] = {1, 2, 7, 3, 900, 2, 40000, 41000, 1, 300000, 5, 0, 4};
  int turn = 0;
  for (const int count : counts)
    for (const bool in_place : {false, true}) {
      ++turn;
      const int root = turn / 3 % ranks;
      const std::size_t n = std::size_t(count), all = n * std::size_t(ranks);
      const std::vector<int> mine = elements(me, 0, count, turn);
      std::vector<int> row(all);
      for (int r = 0; r < ranks; ++r)
        for (int i = 0; i < count; ++i)
          row[std::size_t(r) * n + std::size_t(i)] = element(r, i, turn);
      std::vector<int> sums(n, 0), wanted_prefix(n, 0);
      for (int r = 0; r < ranks; ++r)
        for (std::size_t i = 0; i < n; ++i) {
          sums[i] += element(r, int(i), turn);
          if (r <= me) wanted_prefix[i] += element(r, int(i), turn);
        }

      std::vector<int> data = me == root ? mine : std::vector<int>(n, -1);
      MPI_Bcast(data.data(), count, MPI_INT, root, MPI_COMM_WORLD);
      expect(data == elements(root, 0, count, turn), "bcast of %d ints, turn %d", count, turn);

      std::vector<int> out = in_place ? mine : std::vector<int>(n, -1);
      MPI_Allreduce(in_place ? MPI_IN_PLACE : mine.data(), out.data(), count, MPI_INT, MPI_SUM,
                    MPI_COMM_WORLD);
      expect(out == sums, "allreduce of %d ints, turn %d", count, turn);

      out = in_place ? mine : std::vector<int>(n, -1);
      MPI_Scan(in_place ? MPI_IN_PLACE : mine.data(), out.data(), count, MPI_INT, MPI_SUM,
               MPI_COMM_WORLD);
      expect(out == wanted_prefix, "scan of %d ints, turn %d", count, turn);

      const bool here = in_place && me == root;
      out = here ? mine : std::vector<int>(n, -1);
      MPI_Reduce(here ? MPI_IN_PLACE : mine.data(), out.data(), count, MPI_INT, MPI_SUM, root,
                 MPI_COMM_WORLD);
      expect(me != root || out == sums, "reduce of %d ints, turn %d", count, turn);

      std::vector<int> blocks(all, -1);
      std::copy_n(mine.begin(), in_place ? n : 0, blocks.begin() + me * count);
      MPI_Allgather(in_place ? MPI_IN_PLACE : mine.data(), count, MPI_INT, blocks.data(), count,
                    MPI_INT, MPI_COMM_WORLD);
      expect(blocks == row, "allgather of %d ints, turn %d", count, turn);

      std::fill(blocks.begin(), blocks.end(), -1);
      std::copy_n(mine.begin(), here ? n : 0, blocks.begin() + me * count);
      MPI_Gather(here ? MPI_IN_PLACE : mine.data(), count, MPI_INT, blocks.data(), count, MPI_INT,
                 root, MPI_COMM_WORLD);
      expect(me != root || blocks == row, "gather of %d ints, turn %d", count, turn);

      out.assign(n, -1);
      MPI_Scatter(row.data(), count, MPI_INT, here ? MPI_IN_PLACE : out.data(), count, MPI_INT,
                  root, MPI_COMM_WORLD);
      expect(here || out == mine, "scatter of %d ints, turn %d", count, turn);
      expect(!here || out == std::vector<int>(n, -1), "scatter in place of %d ints", count);

      // Each rank's row is the same, so of its block all get as many times as there are ranks.
      out.assign(n, -1);
      std::vector<int> times(n);
      for (std::size_t i = 0; i < n; ++i) times[i] = ranks * mine[i];
      MPI_Reduce_scatter_block(row.data(), out.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      expect(out == times, "reduce_scatter_block of %d ints, turn %d", count, turn);
    }
}

// Where this rank's block is what is sent, MPI wants to see it: how far that is a count says.
void own_blocks() {
  std::vector<int> row(std::size_t(most * ranks));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const int count : {1, 2, 1, 3}) {
    std::vector<int> mine = elements(me, 0, count, count);
    std::copy(mine.begin(), mine.end(), row.begin() + me * count);
    // Some libraries take it, others object; nobody may lose a block.
    const int refused = MPI_Allgather(row.data() + me * count, count, MPI_INT, row.data(), count,
                                      MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks && !refused; ++r)
      for (int i = 0; i < count; ++i)
        expect(row[std::size_t(r * count + i)] == element(r, i, count),
               "allgather of %d ints out of the row: block %d", count, r);
    MPI_Allgather(mine.data(), count, MPI_INT, row.data(), count, MPI_INT, MPI_COMM_WORLD);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// What the first rank has in an exscan's second buffer it keeps.
void exscans() {
  for (int turn = 0; turn < 4; ++turn) {
    int given = element(me, 0, turn), got = -1, also = -1;
    int placed[2] = {given, given};  // now the one, now the other
    MPI_Request request;
    MPI_Iexscan(&given, &also, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Exscan(&given, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Exscan(MPI_IN_PLACE, &placed[turn % 2], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int wanted = me ? 0 : -1;
    for (int r = 0; r < me; ++r) wanted += element(r, 0, turn);
    expect(got == wanted && also == wanted, "exscan %d: %d and %d", turn, got, also);
    expect(placed[turn % 2] == (me ? wanted : given) && placed[1 - turn % 2] == given,
           "exscan %d in place: %d and %d", turn, placed[0], placed[1]);
  }
}

// A type that is freed may leave its handle to the next one, which is longer.
void handles() {
  for (int length = 1; length <= most; ++length) {
    MPI_Datatype type;
    MPI_Type_contiguous(length, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int k = 0; k < 2; ++k) {
      std::vector<int> data = elements(me == 0 ? 0 : 1, 0, most, length);
      MPI_Bcast(data.data(), 1, type, 0, MPI_COMM_WORLD);
      for (int i = 0; i < most; ++i)
        expect(data[std::size_t(i)] == element(me && i >= length ? 1 : 0, i, length),
               "bcast of %d ints as one: element %d", length, i);
    }
    MPI_Type_free(&type);
  }
}

// Columns of a matrix, of other lengths and widths each time: with gaps, and without where they are
// as wide as it is. Of few bytes and of many.
void columns() {
  for (int turn = 0; turn < 40; ++turn) {
    const int root = turn % (ranks + 1) % ranks, width = 1 + turn % 3,
              length = turn == 25 ? 200000 : 1 + turn * 37 % 50;
    const int apart = turn % 4 ? width + turn % 4 - 1 : 500, first = 5;
    MPI_Datatype type;
    MPI_Type_vector(length, width, apart, MPI_INT, &type);
    MPI_Type_commit(&type);
    std::vector<int> data(std::size_t(first + length * apart + first), -1);
    for (int i = 0; i < int(data.size()) && me == root; ++i)
      data[std::size_t(i)] = element(root, i, turn);
    MPI_Bcast(data.data() + first, 1, type, root, MPI_COMM_WORLD);
    for (int i = 0; i < int(data.size()); ++i) {
      const int row = (i - first) / apart, column = (i - first) % apart;
      const bool sent = i >= first && row < length && column < width;
      const int wanted = sent || me == root ? element(root, i, turn) : -1;
      expect(data[std::size_t(i)] == wanted, "columns, turn %d, %d: %d", turn, i,
             data[std::size_t(i)]);
    }
    int plain = me == root ? turn : -1;
    MPI_Bcast(&plain, 1, MPI_INT, root, MPI_COMM_WORLD);
    expect(plain == turn, "an int behind columns, turn %d: %d", turn, plain);
    MPI_Type_free(&type);
  }
}

void first_of(void *in, void *inout, int *n, MPI_Datatype *) {
  for (int i = 0; i < *n; ++i) static_cast<int *>(inout)[i] = static_cast<int *>(in)[i];
}

void sum_of(void *in, void *inout, int *n, MPI_Datatype *) {
  for (int i = 0; i < *n; ++i) static_cast<int *>(inout)[i] += static_cast<int *>(in)[i];
}

void most_of(void *in, void *inout, int *n, MPI_Datatype *) {
  int *to = static_cast<int *>(inout);
  for (int i = 0; i < *n; ++i) to[i] = std::max(to[i], static_cast<int *>(in)[i]);
}

// What an operator makes of ranks `from` to `to` - 1.
int of_ranks(MPI_User_function *function, int from, int to, int i, int turn) {
  int result = element(from, i, turn), length = 1;
  for (int r = from + 1; r < to; ++r) {
    int right = element(r, i, turn);
    function(&result, &right, &length, nullptr);
    result = right;
  }
  return result;
}

// Operators that are made for a call, whose handles may be the same: one after the other that
// commute alike, and not.
void operators() {
  MPI_User_function *const functions[] = {sum_of, sum_of, most_of, first_of, first_of};
  for (int turn = 0; turn < 40; ++turn) {
    MPI_User_function *const function = functions[turn % 5];
    const int count = turn / 10 == 2 ? 100000 : 1 + turn * 5 % 4, root = turn / 10 % ranks;
    MPI_Op own;
    MPI_Op_create(function, function != first_of, &own);
    const std::vector<int> mine = elements(me, 0, count, turn);
    const std::vector<int> rows = elements(me, 0, count * ranks, turn);
    std::vector<int> all(std::size_t(count), -1), one = all, until = all, before = all, block = all,
                                                  same = mine;
    MPI_Allreduce(mine.data(), all.data(), count, MPI_INT, own, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, same.data(), count, MPI_INT, own, MPI_COMM_WORLD);
    MPI_Reduce(mine.data(), me == root ? one.data() : nullptr, count, MPI_INT, own, root,
               MPI_COMM_WORLD);
    MPI_Scan(mine.data(), until.data(), count, MPI_INT, own, MPI_COMM_WORLD);
    MPI_Exscan(mine.data(), before.data(), count, MPI_INT, own, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(rows.data(), block.data(), count, MPI_INT, own, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) {
      const std::size_t at = std::size_t(i);
      const int wanted = of_ranks(function, 0, ranks, i, turn);
      expect(all[at] == wanted, "allreduce by an own operator, turn %d: %d", turn, all[at]);
      expect(same[at] == wanted, "in place, turn %d: %d", turn, same[at]);
      expect(one[at] == (me == root ? wanted : -1), "reduce, turn %d: %d", turn, one[at]);
      const int prefix = of_ranks(function, 0, me + 1, i, turn);
      expect(until[at] == prefix, "scan, turn %d: %d", turn, until[at]);
      const int short_of = me ? of_ranks(function, 0, me, i, turn) : -1;
      expect(before[at] == short_of, "exscan, turn %d: %d", turn, before[at]);
      const int own_block = of_ranks(function, 0, ranks, me * count + i, turn);
      expect(block[at] == own_block, "reduce_scatter_block, turn %d: %d", turn, block[at]);
    }
    MPI_Op_free(&own);
  }
}

// What is between the members of a pair, or behind them, is the program's.
template <class Value>
void pads(MPI_Datatype type, MPI_Comm comm) {
  struct Pair {
    Value value;
    int place;
  };
  constexpr int n = 3;
  constexpr std::size_t all = n * sizeof(Pair);
  constexpr std::size_t length = sizeof(Value) == 16 ? 10 : sizeof(Value);  // of 80 bits
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const auto fill = [&](std::vector<unsigned char> &bytes, int r, int byte) {
    bytes.assign(all, static_cast<unsigned char>(byte));
    for (int i = 0; i < n; ++i) {
      const Value value = static_cast<Value>((r * 5 + i * 3) % 7);
      unsigned char *at = bytes.data() + std::size_t(i) * sizeof(Pair);
      std::memcpy(at, &value, length);
      std::memcpy(at + offsetof(Pair, place), &r, sizeof r);
    }
  };
  for (int k = 0; k < 6; ++k) {
    const bool in_place = k % 2, least = k / 2 % 2;
    std::vector<unsigned char> in, out, wanted;
    fill(in, rank, 0x55);
    fill(out, rank, 0xaa);
    wanted = out;
    for (int i = 0; i < n; ++i) {
      int best = 0;
      for (int r = 1; r < size; ++r) {
        const int a = (r * 5 + i * 3) % 7, b = (best * 5 + i * 3) % 7;
        if (least ? a < b : a > b) best = r;
      }
      std::vector<unsigned char> other;
      fill(other, best, 0);
      unsigned char *at = wanted.data() + std::size_t(i) * sizeof(Pair);
      const unsigned char *from = other.data() + std::size_t(i) * sizeof(Pair);
      std::memcpy(at, from, length);
      std::memcpy(at + offsetof(Pair, place), from + offsetof(Pair, place), sizeof(int));
    }
    const void *given = in_place ? MPI_IN_PLACE : in.data();
    const std::vector<unsigned char> before = out;
    MPI_Allreduce(given, out.data(), n, type, least ? MPI_MINLOC : MPI_MAXLOC, comm);
    expect(out == wanted, "pads of an allreduce, turn %d", k);
    out = before;
    MPI_Request request;
    MPI_Iallreduce(given, out.data(), n, type, least ? MPI_MINLOC : MPI_MAXLOC, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(out == wanted, "pads of an iallreduce, turn %d", k);
    out = before;
    if (rank > 0) given = in.data();
    MPI_Reduce(given, out.data(), n, type, least ? MPI_MINLOC : MPI_MAXLOC, 0, comm);
    expect(out == (rank == 0 ? wanted : before), "pads of a reduce, turn %d", k);
  }
}

// What a single rank gives it gets, and nothing beside it changes.
void alone(MPI_Comm comm) {
  MPI_Op own;
  MPI_Op_create(first_of, 0, &own);
  MPI_Datatype pairs;  // an int, and one that is left out
  MPI_Type_vector(3, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  struct Way {
    int count;
    MPI_Datatype type;
    MPI_Op op;
    int ints, apart;
  };
  const Way ways[] = {{3, MPI_INT, MPI_SUM, 3, 1},     {4, MPI_INT, MPI_SUM, 4, 1},
                      {0, MPI_INT, MPI_SUM, 0, 1},     {2, MPI_2INT, MPI_MAXLOC, 4, 1},
                      {900, MPI_INT, MPI_MAX, 900, 1}, {3, MPI_INT, own, 3, 1},
                      {1, pairs, MPI_OP_NULL, 3, 2}};
  for (const Way &w : ways)
    for (int k = 0; k < 4; ++k) {
      const bool in_place = k % 2;
      const std::vector<int> in = elements(me, 0, 2 * most * 200, k);
      std::vector<int> out, before = in_place ? in : std::vector<int>(in.size(), -1);
      std::vector<int> wanted = before;
      for (int i = 0; i < w.ints; ++i)
        wanted[std::size_t(i * w.apart)] = in[std::size_t(i * w.apart)];
      const void *given = in_place ? MPI_IN_PLACE : in.data();
      const auto check = [&](const char *name) {
        expect(out == wanted, "%s alone, %d, in place %d", name, w.count, int(in_place));
        out = before;
      };
      out = before;
      if (w.op != MPI_OP_NULL) {
        MPI_Allreduce(given, out.data(), w.count, w.type, w.op, comm);
        check("allreduce");
        MPI_Reduce(given, out.data(), w.count, w.type, w.op, 0, comm);
        check("reduce");
        MPI_Scan(given, out.data(), w.count, w.type, w.op, comm);
        check("scan");
        MPI_Reduce_scatter_block(given, out.data(), w.count, w.type, w.op, comm);
        check("reduce_scatter_block");
        MPI_Reduce_scatter(given, out.data(), &w.count, w.type, w.op, comm);
        check("reduce_scatter");
        MPI_Exscan(given, out.data(), w.count, w.type, w.op, comm);
        expect(out == before, "exscan alone, %d", w.count);
        out = before;
      }
      MPI_Allgather(given, w.count, w.type, out.data(), w.count, w.type, comm);
      check("allgather");
      MPI_Gather(given, w.count, w.type, out.data(), w.count, w.type, 0, comm);
      check("gather");
      MPI_Alltoall(given, w.count, w.type, out.data(), w.count, w.type, comm);
      check("alltoall");
      MPI_Scatter(out.data(), w.count, w.type, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, comm);
      expect(out == before, "scatter in place alone, %d", w.count);
      out = before;
      MPI_Scatter(in.data(), w.count, w.type, out.data(), w.count, w.type, 0, comm);
      check("scatter");
      const int nowhere = 0;
      MPI_Allgatherv(given, w.count, w.type, out.data(), &w.count, &nowhere, w.type, comm);
      check("allgatherv");
      MPI_Bcast(out.data(), w.count, w.type, 0, comm);
      expect(out == before, "bcast alone, %d", w.count);
      MPI_Barrier(comm);
    }
  MPI_Op_free(&own);
  MPI_Type_free(&pairs);
}

// Two under way with all the same but the buffers, and a persistent one beside them.
void under_way() {
  int given[3] = {me, 10 * me, 100 * me}, got[3] = {-1, -1, -1};
  MPI_Request requests[3];
  INIT(Allreduce)(&given[2], &got[2], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                  &requests[2]);
  for (int k = 0; k < 3; ++k) {
    for (int i : {0, 1})
      MPI_Iallreduce(&given[i], &got[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    MPI_Start(&requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    const int sum = ranks * (ranks - 1) / 2;
    expect(got[0] == sum && got[1] == 10 * sum && got[2] == 100 * sum, "%d, %d, %d", got[0], got[1],
           got[2]);
    got[0] = got[1] = got[2] = -1;
  }
  MPI_Request_free(&requests[2]);
}

}  // namespace

int main(int argc, char **argv) {
  begin_program(&argc, &argv);
  allreduces(MPI_COMM_WORLD, ranks);
  // What is a habit there is none here, though the handle may be that of one that was freed.
  for (int size = ranks; size > 0; --size) {
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, me < size ? 0 : MPI_UNDEFINED, me, &some);
    if (some == MPI_COMM_NULL) continue;
    allreduces(some, size);
    MPI_Comm_free(&some);
  }
  types();
  roots();
  rows();
  rows_of_types();
  no_rows();
  lengths();
  own_blocks();
  exscans();
  handles();
  columns();
  operators();
  MPI_Comm single;
  MPI_Comm_split(MPI_COMM_WORLD, me, 0, &single);
  for (MPI_Comm comm : {MPI_COMM_WORLD, single}) {
    pads<double>(MPI_DOUBLE_INT, comm);
    pads<short>(MPI_SHORT_INT, comm);
    pads<long double>(MPI_LONG_DOUBLE_INT, comm);
    pads<float>(MPI_FLOAT_INT, comm);
  }
  alone(single);
  alone(MPI_COMM_SELF);
  MPI_Comm_free(&single);
  under_way();
  return end_program("habits");
}
