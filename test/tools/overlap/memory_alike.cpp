// What vectors and arrays of numbers hold, and how long they are, is followed, as are references to them, and loops over
// them.
// REQUIRES: openmpi
// RUN: nbc-overlap %s -- mpicxx.openmpi -std=c++17 | FileCheck %s
#include <mpi.h>

#include <algorithm>
#include <array>
#include <vector>
static double y[1000], in, out;
static void work() {
  for (int i = 0; i < 1000; ++i) y[i] += i;
}
static int rank_of() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
static void reduced() {
  std::vector<double> mine(2), all(2);
  mine[0] = rank_of();
  MPI_Allreduce(mine.data(), all.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int s = 0; s < all[1]; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}
static void own() {
  std::vector<double> mine(2);
  mine[0] = rank_of();
  for (int s = 0; s < mine[0]; ++s) {
    // CHECK: [[#@LINE-1]]:19: note: not changed: {{.*}}'s < mine[0]'
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}
static int sum(const std::vector<int> &of) {
  int all = 0;
  for (int one : of) all += one;
  return all;
}
static void in_turns() {
  int ranks, mine = rank_of();
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> all;
  all.resize(ranks);
  MPI_Allgather(&mine, 1, MPI_INT, &all[0], 1, MPI_INT, MPI_COMM_WORLD);
  all.push_back(ranks);
  for (int s = 0; s < sum(all) + all.back(); ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
  for (int &one : all) one += ranks;
  std::array<double, 3> steps;
  steps.fill(ranks);
  for (double step : steps) {
    in = step;
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
    y[3] = out;
  }
}
static void in_others_turns() {
  std::vector<int> all(4);
  for (int &one : all) one = rank_of();
  for (int s = 0; s < all[3]; ++s) {
    // CHECK: [[#@LINE-1]]:19: note: not changed: {{.*}}'s < all[3]'
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}
static void of_another_length() {
  std::vector<int> all(4);
  if (rank_of()) all.push_back(4);
  for (int one : all) {
    in = one;
    // CHECK: [[#@LINE-3]]:7: note: not changed: {{.*}}rank_of()
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
    y[3] = out;
  }
}
static void sorted() {
  std::vector<int> all(4);
  std::fill(all.begin(), all.end(), rank_of());
  for (int s = 0; s < all[3]; ++s) {
    // CHECK: [[#@LINE-1]]:19: note: not changed: {{.*}}'s < all[3]'
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}
static void norm(double &of) {
  MPI_Allreduce(&in, &of, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static bool is_small(const double &x) {
  return x < 1e-3;
}
static void referred() {
  double x;
  norm(x);
  while (!is_small(x)) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
    y[3] = out;
    norm(x);
  }
}
static void set(double &x, double to) {
  x = to;
}
static bool is_large(const double &x) {
  return x >= 1e-3;
}
static void referred_otherwise() {
  double x;
  MPI_Allreduce(&in, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  while (is_large(x)) {
    // CHECK: [[#@LINE-1]]:10: note: not changed: {{.*}}'is_large(x)'
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
    y[3] = out;
    set(x, rank_of());
  }
}
struct Found {
  std::vector<int> all, mine;
};
static void in_field() {
  Found found;
  found.all.push_back(3);
  found.mine.push_back(rank_of());
  for (int s = 0; s < found.all[0]; ++s) {
    // CHECK: [[#@LINE+1]]:5: note: fix: MPI_Iallreduce here
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}
static void in_others_field() {
  Found found;
  found.mine.push_back(rank_of());
  for (int s = 0; s < found.mine[0]; ++s) {
    // CHECK: [[#@LINE-1]]:19: note: not changed: {{.*}}'s < found.mine[0]'
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work();
  }
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  referred();
  in_field();
  reduced();
  in_turns();
  in_others_turns();
  of_another_length();
  sorted();
  referred_otherwise();
  in_others_field();
  own();
  MPI_Finalize();
}
