// What the language or a library runs, or does not, by what an object holds: handlers of exceptions, a smart pointer's function,
// members compared as far as the first that differs, virtual functions of a library's classes, threads, what is cleaned up, get()
// for the names of a structured binding. And constructors and destructors that come to a collective by a pointer, a library or
// objects that they make.
// REQUIRES: openmpi
// RUN: for how in $(seq 0 16); do nbc-overlap %s -- mpicxx.openmpi -std=c++20 -pthread -DHOW=$how | grep "179:.*fix:\|may be made\|others on other\|this handler\|decides how often" | sed "s/.*note: /$how: /;s/; so it.*//" | sort -u; done | FileCheck %s --implicit-check-not=fix:
// CHECK: 0: fix: MPI_Iallreduce here
// CHECK: 1: not changed: an exception may lead some ranks to this handler, where MPI_Allreduce may be called
// CHECK: 2: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK: 3: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK: 4: not changed: 'a < b' may call functions that call MPI_Allreduce, and others on other ranks
// CHECK: 5: not changed: '::operator new(n)' may call functions that call MPI_Allreduce, and others on other ranks
// CHECK: 6: not changed: 'n' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK: 7: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK: 8: not changed: 'n' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK: 9: fix: MPI_Iallreduce here
// CHECK: 10: not changed: 'n' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK: 11: not changed: 'n' may differ among ranks and decides how often MPI_Allreduce is called before
// CHECK: 12: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK: 13: not changed: 'std::generate_n(&turns, n, sum)' may call functions that call MPI_Allreduce, and others on other ranks
// CHECK: 14: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK: 15: not changed: here may be made any number of objects, whose own functions call MPI_Allreduce, and more on other ranks
// CHECK: 16: not changed: 'n' may differ among ranks and decides how often MPI_Allreduce is called before
#include <mpi.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <compare>
#include <cstdio>
#include <memory>
#include <memory_resource>
#include <thread>
#include <vector>
static double x = 1, y, v[1000];
static int sum() {
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return 0;
}
#if HOW == 1
static void mayThrow(int n) {
  if (n) throw 1;
}
static void some(int n) {
  try {
    mayThrow(n);
  } catch (int) {
    sum();
  }
}
#elif HOW == 2
static void end(void *) { sum(); }
static void some(int n) { std::unique_ptr<void, void (*)(void *)> held(n ? stdout : nullptr, end); }
#elif HOW == 3
static void end(int *) { sum(); }
static void some(int n) { std::shared_ptr<int> held(n ? &n : nullptr, end); }
#elif HOW == 4
struct Key {
  int key;
  std::strong_ordering operator<=>(const Key &) const {
    sum();
    return std::strong_ordering::equal;
  }
  bool operator==(const Key &) const { return true; }
};
struct Both {
  int first;
  Key second;
  auto operator<=>(const Both &) const = default;
};
static void some(int n) {
  const Both a{0, {1}}, b{!n, {1}};
  v[0] += a < b;
}
#elif HOW == 5
struct Memory : std::pmr::memory_resource {
  void *do_allocate(std::size_t n, std::size_t) override {
    sum();
    return ::operator new(n);
  }
  void do_deallocate(void *p, std::size_t, std::size_t) override { ::operator delete(p); }
  bool do_is_equal(const memory_resource &) const noexcept override { return false; }
};
static void some(int n) {
  Memory memory;
  std::pmr::vector<int> all(std::size_t(n), &memory);
}
#elif HOW == 6
static void some(int n) {
  std::thread one;
  if (n) one = std::thread(sum);
  if (n) one.join();
}
#elif HOW == 7
static void end(void *) { sum(); }
static void some(int n) {
  pthread_cleanup_push(end, nullptr);
  pthread_cleanup_pop(n);
}
#elif HOW == 8
static void handle(int) { sum(); }
static void some(int n) {
  struct sigaction how = {};
  how.sa_handler = handle;
  sigaction(SIGUSR1, &how, nullptr);
  if (n) raise(SIGUSR1);
}
#elif HOW == 16
struct Pair {
  int first;
};
template <>
struct std::tuple_size<Pair> {
  static constexpr std::size_t value = 1;
};
template <>
struct std::tuple_element<0, Pair> {
  using type = int;
};
template <int>
int get(const Pair &p) {
  return p.first + sum();
}
static Pair pair;
static int first() {
  const auto &[one] = pair;
  return 1;
}
static void some(int n) {
  if (n) v[1] += first();
}
#elif HOW == 0
static void some(int n) { v[1] += n + sum(); }
#else
static int turns;
#if HOW == 10
static int (*chosen)() = sum;
#elif HOW == 11
struct Last {
  ~Last() { sum(); }
};
#elif HOW == 12 || HOW == 14 || HOW == 15
struct Sum {
  Sum() { sum(); }
};
#endif
#if HOW == 15
static void make(int n) { std::vector<Sum> all(n); }
#endif
struct Made {
  explicit Made(int n) : all(n) {
#if HOW == 10
    if (n) chosen();
#elif HOW == 11
    if (n) Last();
#elif HOW == 13
    std::generate_n(&turns, n, sum);
#elif HOW == 15
    make(n);
#endif
  }
#if HOW == 12
  std::vector<Sum> all;
#else
  int all;
#endif
#if HOW == 14
  ~Made() { std::vector<Sum> last(all); }
#endif
};
static void some(int n) { Made one(n); }
#endif
int main(int argc, char **argv) {
  int rank, level;
  double c = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  some(HOW ? rank == 0 : 1);
  MPI_Allreduce(&x, &c, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 1000; ++i) v[i] += i;
  std::printf("%g\n", c);
#if HOW && HOW != 9
  if (rank) sum();
#endif
  MPI_Finalize();
}
