// Structures that hold more of themselves, by types of the library.
// RUN: nbc-overlap %s -- mpicxx -std=c++17 -DOMPI_SKIP_MPICXX | FileCheck %s

#include <mpi.h>

#include <list>
#include <map>
#include <memory>
#include <vector>

struct Node {
  std::vector<Node> children;
};
struct Tree {
  int key = 0;
  std::unique_ptr<Tree> left, right;
};
struct B;
struct A {
  std::shared_ptr<B> b;
};
struct B {
  std::list<A> all;
  std::map<int, B> more;
};

static double w[1000];

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Node root;
  Tree tree;
  A a;
  B b;
  int in = 1, out = 0;
  // CHECK: trees.cpp:[[#@LINE+1]]:3: remark: MPI_Allreduce: line [[#@LINE+2]] can run meanwhile
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) w[i] = i;
  MPI_Finalize();
  return out == 0 || !root.children.empty() || tree.key || a.b || !b.all.empty();
}
