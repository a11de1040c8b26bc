// What std::cout and its like print is in no order among ranks, unless the program says what streams do.
// REQUIRES: openmpi
// RUN: nbc-overlap --least 1 %s -- mpicxx.openmpi -std=c++17 | FileCheck %s
// RUN: cp %s %t.cpp && nbc-overlap --fix --least 1 %t.cpp -- mpicxx.openmpi -std=c++17 > /dev/null
// RUN: mpicxx.openmpi -fsyntax-only -std=c++17 %t.cpp
// RUN: nbc-overlap --least 1 %s -- mpicxx.openmpi -std=c++17 -DTHROWS | FileCheck %s --check-prefix=OWN
// RUN: nbc-overlap --least 1 %s -- mpicxx.openmpi -std=c++17 -DELSEWHERE | FileCheck %s --check-prefix=OWN
#include <mpi.h>

#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

struct Own {
  int a;
};
static std::ostream &operator<<(std::ostream &os, const Own &own) {
  return os << own.a;
}
static std::ostream &aside(std::ostream &os) {
  return os;
}
static MPI_Comm c = MPI_COMM_WORLD;

static void progress(double s, int n, const std::string &name) {
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+5]]
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // OWN: [[#@LINE+1]]:{{.*}} it must be complete here: operator<< cannot be seen into
  std::cout << "n is " << std::setw(8) << std::fixed << n << ' ' << name << std::endl;
  std::cerr << std::setprecision(3) << 1.5 << std::string("x") << "\n";
  std::clog.flush();
}

static void result(double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: s is read, which
  std::cout << "s is " << s << std::endl;
}

static void text(char *name) {
  MPI_Bcast(name, 10, MPI_CHAR, 0, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: name is read, which
  std::cout << name << '\n';
}

static void string(std::string &name) {
  MPI_Bcast(name.data(), 10, MPI_CHAR, 0, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: name is read, which
  std::cout << name;
}

static void otherStream(double s, std::ostream &os) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: operator<< cannot be seen into
  os << 3;
}

static void ownOperator(double s, Own own) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: operator<< in operator<<() cannot be seen
  std::cout << own;
}

static void ownManipulator(double s) {
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: operator<< cannot be seen into
  std::cout << aside;
}

static void address(double *p) {
  MPI_Allreduce(MPI_IN_PLACE, p, 1, MPI_DOUBLE, MPI_SUM, c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: operator<< cannot be seen into
  std::cout << p;
}

static void ordered(double s) {
  MPI_Barrier(c);
  // CHECK: [[#@LINE+1]]:{{.*}} it must be complete here: a stream writes, and a barrier may be what
  std::cout << s;
}

// Two messages that are under way at once are worth it.
static void both(double s, double t) {
  // CHECK: [[#@LINE+1]]:3: note: fix: MPI_Iallreduce here, MPI_Wait behind line [[#@LINE+2]]
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, c);
  MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, c);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  char name[10] = "hello";
  std::string longer = "hello, hello";
  double d = 1;
#ifdef THROWS
  std::cout.exceptions(std::ios::failbit);
#endif
#ifdef ELSEWHERE
  std::ostringstream other;
  std::cout.rdbuf(other.rdbuf());
#endif
  progress(1, 2, longer), result(1), text(name), string(longer), otherStream(1, std::cout);
  ownOperator(1, Own{1}), ownManipulator(1), address(&d), ordered(1), both(1, 2);
  MPI_Finalize();
}
