// SPDX-License-Identifier: BSD-3-Clause
// transposed.cpp - matrices of which each rank has some rows, transposed by what MPI can do with
// types: a rank sends parts of its rows as they lie, which arrive as columns.
//
//   mpirun -n 3 -x LD_PRELOAD=libnbc-mpi.so dropin-transposed
//
// Parts are long enough to be gathered and scattered on their way, where a call waits
// (dropin/moved.cpp).

#include <algorithm>

#include "test/dropin/expect.h"

namespace {

constexpr int COPIES = 2;  // under way at once

double element_at(int row, int column, int seed) {
  return row * 100003. + column * 7. + seed;
}

/// Rows of this rank, `each` of them; a border of one element that is nobody's on either side.
class Rows {
 public:
  Rows(int each, int seed) : each_(each), wide_(each * ranks + 2) {
    data_.resize(std::size_t(each) * std::size_t(wide_));
    clear();
    for (int i = 0; seed && i < each; ++i)
      for (int j = 0; j < each * ranks; ++j) at(i, j) = element_at(me * each + i, j, seed);
  }
  void clear() { std::fill(data_.begin(), data_.end(), -1); }
  double *begin() { return data_.data(); }
  double &at(int i, int j) {
    return data_[std::size_t(i) * std::size_t(wide_) + std::size_t(j) + 1];
  }
  /// Whether it is what was sent, as parts or as columns, and nothing else was written.
  bool isTransposed(bool columns, int seed) {
    bool right = true;
    for (int i = 0; i < each_; ++i) {
      for (int j = 0; j < each_ * ranks; ++j) {
        const int from = j / each_ * each_, row = columns ? j % each_ : i,
                  column = columns ? i : j % each_;
        right &= at(i, j) == element_at(from + row, me * each_ + column, seed);
      }
      right &= at(i, -1) == -1 && at(i, each_ * ranks) == -1;
    }
    return right;
  }

 private:
  int each_, wide_;
  std::vector<double> data_;
};

struct Arrays {
  std::vector<MPI_Datatype> parts, columns, received;
  std::vector<int> ones, counts, zeros;
};

/// What goes to each rank, as it lies; and what comes from each, likewise or column by column.
Arrays arraysOf(int each, bool columns) {
  const auto n = std::size_t(ranks);
  Arrays a;
  for (int r = 0; r < ranks; ++r) {
    const int whole[] = {each, each * ranks + 2}, part[] = {each, each}, at[] = {0, each * r + 1};
    const int one[] = {each, 1};
    MPI_Datatype rows, column, next;
    MPI_Type_create_subarray(2, whole, part, at, MPI_ORDER_C, MPI_DOUBLE, &rows);
    MPI_Type_create_subarray(2, whole, one, at, MPI_ORDER_C, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &next);
    MPI_Type_free(&column);
    for (MPI_Datatype *t : {&rows, &next}) MPI_Type_commit(t);
    a.parts.push_back(rows);
    a.columns.push_back(next);
  }
  a.received = columns ? a.columns : a.parts;
  a.ones.assign(n, 1);
  a.counts.assign(n, columns ? each : 1);
  a.zeros.assign(n, 0);
  return a;
}

void freeAll(Arrays &a) {
  for (auto *types : {&a.parts, &a.columns})
    for (MPI_Datatype &t : *types) MPI_Type_free(&t);
}

void transpose(int each, bool columns) {
  std::vector<Rows> in, out;
  for (int i = 0; i < COPIES; ++i) {
    in.emplace_back(each, i + 1);
    out.emplace_back(each, 0);
  }
  const auto check = [&](const char *how) {
    for (int i = 0; i < COPIES; ++i) {
      expect(out[std::size_t(i)].isTransposed(columns, i + 1), "%s of %d rows, %d, %d", how, each,
             columns, i);
      out[std::size_t(i)].clear();
    }
  };
  Arrays a = arraysOf(each, columns);
  for (std::size_t i = 0; i < COPIES; ++i)
    MPI_Alltoallw(in[i].begin(), a.ones.data(), a.zeros.data(), a.parts.data(), out[i].begin(),
                  a.counts.data(), a.zeros.data(), a.received.data(), MPI_COMM_WORLD);
  check("MPI_Alltoallw");
  MPI_Request requests[COPIES];
  for (std::size_t i = 0; i < COPIES; ++i)
    MPI_Ialltoallw(in[i].begin(), a.ones.data(), a.zeros.data(), a.parts.data(), out[i].begin(),
                   a.counts.data(), a.zeros.data(), a.received.data(), MPI_COMM_WORLD,
                   &requests[i]);
  freeAll(a);  // which calls that are under way keep
  MPI_Waitall(COPIES, requests, MPI_STATUSES_IGNORE);
  check("MPI_Ialltoallw");
  a = arraysOf(each, columns);
  for (std::size_t i = 0; i < COPIES; ++i)
    INIT(Alltoallw)(in[i].begin(), a.ones.data(), a.zeros.data(), a.parts.data(), out[i].begin(),
                    a.counts.data(), a.zeros.data(), a.received.data(), MPI_COMM_WORLD,
                    MPI_INFO_NULL, &requests[i]);
  freeAll(a);
  for (int start = 0; start < 2; ++start) {
    MPI_Startall(COPIES, requests);
    MPI_Waitall(COPIES, requests, MPI_STATUSES_IGNORE);
    check("the persistent one");
  }
  for (MPI_Request &r : requests) MPI_Request_free(&r);
}

/// Around a ring, to one side as they lie and to the other as columns.
void pass(int each) {
  const int ring[] = {1}, size[] = {ranks};
  const int left = (me + ranks - 1) % ranks, right = (me + 1) % ranks;
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, size, ring, 0, &comm);
  Arrays a = arraysOf(each, true);
  Rows in(each, 1), out(each, 0);
  const std::vector<MPI_Datatype> sent(2, a.parts[0]);
  const std::vector<MPI_Datatype> received = {a.columns[0], a.parts[std::size_t(ranks - 1)]};
  const int ones[] = {1, 1}, counts[] = {each, 1};
  const MPI_Aint zeros[] = {0, 0};
  MPI_Neighbor_alltoallw(in.begin(), ones, zeros, sent.data(), out.begin(), counts, zeros,
                         received.data(), comm);
  Rows expected(each, 0);
  for (int i = 0; i < each; ++i)
    for (int j = 0; j < each; ++j) {
      expected.at(j, i) = element_at(left * each + i, j, 1);
      expected.at(i, (ranks - 1) * each + j) = element_at(right * each + i, j, 1);
    }
  bool same = true;
  for (int i = 0; i < each; ++i)
    for (int j = -1; j <= ranks * each; ++j) same &= out.at(i, j) == expected.at(i, j);
  expect(same, "MPI_Neighbor_alltoallw of %d rows", each);
  freeAll(a);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char **argv) {
  begin_program(&argc, &argv);
  for (int each : {5, 363, 601}) {  // 363 squared are more than 1 MiB
    for (bool columns : {false, true}) transpose(each, columns);
    if (ranks > 1) pass(each);
  }
  return end_program("transposed");
}
