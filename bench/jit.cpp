// SPDX-License-Identifier: BSD-3-Clause
// jit.cpp - what it costs to get at a plan of an algorithm by name: compiled, and from the cache.
//
//   bench-jit [ALGORITHM [TARGET]]     allgather.bruck, mpi; 8 ranks
//
// In processes of their own, as a program meets it: the compiler is loaded, the source compiled and
// proven, a template made; then the same with what the first has left in the cache. Then in this
// process, with the compiler loaded: other sources' first time; and a plan, created and connected,
// from a library in the cache that has not been opened, and from one that has. In microseconds:
// the median of the real time, the best, and the median of the processor's time, which others on
// the machine do not change by much.

#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "devices/p2p/p2p.h"
#include "nbc/algorithms.h"
#include "test/runtime/board.h"

namespace {

namespace fs = std::filesystem;
constexpr int kRanks = 8;

double microseconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return double(t.tv_sec) * 1e6 + double(t.tv_nsec) / 1e3;
}

/// A stopwatch, or what one has shown.
struct Time {
  double real = 0, cpu = 0;
  static Time now() {
    return {microseconds(CLOCK_MONOTONIC), microseconds(CLOCK_PROCESS_CPUTIME_ID)};
  }
  Time operator-(const Time &t) const { return {real - t.real, cpu - t.cpu}; }
  Time operator+(const Time &t) const { return {real + t.real, cpu + t.cpu}; }
};

double median(const std::vector<Time> &times, double Time::*which) {
  std::vector<double> all;
  for (const Time &t : times) all.push_back(t.*which);
  std::ranges::nth_element(all, all.begin() + ptrdiff_t(all.size() / 2));
  return all[all.size() / 2];
}

void print(const char *what, const std::vector<Time> &times) {
  std::printf("%-44s %8.0f %8.0f %8.0f\n", what, median(times, &Time::real),
              std::ranges::min(times, {}, &Time::real).real, median(times, &Time::cpu));
}

/// `why` may be set by the call that gives the status.
void must(int status, const char *const &why) {
  if (!status) return;
  std::fprintf(stderr, "jit: %s\n", why);
  std::exit(1);
}

nbc_algorithms *setOf(const std::string &cache, const char *source = nullptr) {
  nbc_algorithms_options options = {};
  options.cache = cache.c_str();
  nbc_algorithms *all = nullptr;
  const char *why = "";
  must(nbc_algorithms_open(source ? &source : nullptr, source ? 1 : 0, &options, &all, &why), why);
  return all;
}

void makeTemplate(nbc_algorithms *all, const char *algorithm, const char *target) {
  nbc_build_request r = {};
  r.algorithm = algorithm, r.target = target, r.ranks = kRanks;
  void *data = nullptr;
  size_t bytes = 0;
  const char *why = "";
  must(all->build(all, &r, &data, &bytes, &why), why);
  std::free(data);
}

/// What a child process does; tells its own time from main() on through a pipe.
void once(const std::string &cache, const char *algorithm, const char *target, int pipe) {
  const Time begin = Time::now();
  nbc_algorithms *all = setOf(cache);
  makeTemplate(all, algorithm, target);
  const Time took = Time::now() - begin;
  if (write(pipe, &took, sizeof took) != ssize_t(sizeof took)) std::exit(1);
  nbc_algorithms_close(all);
}

struct Child {
  Time all, inside;
};

Child child(const std::string &cache, const char *algorithm, const char *target) {
  int ends[2];
  if (pipe(ends)) must(1, "no pipe");
  Child c;
  const double begin = Time::now().real;
  const pid_t process = fork();
  if (process == 0) {
    const std::string end = std::to_string(ends[1]);
    execl("/proc/self/exe", "bench-jit", "--once", cache.c_str(), algorithm, target, end.c_str(),
          nullptr);
    _exit(1);
  }
  int status = -1;
  rusage used = {};
  wait4(process, &status, 0, &used);
  const auto taken = [](const timeval &t) { return double(t.tv_sec) * 1e6 + double(t.tv_usec); };
  c.all = {Time::now().real - begin, taken(used.ru_utime) + taken(used.ru_stime)};
  must(status, "a child failed");
  if (read(ends[0], &c.inside, sizeof c.inside) != ssize_t(sizeof c.inside)) must(1, "no answer");
  close(ends[0]), close(ends[1]);
  return c;
}

/// Rank 0's plan, others being there.
class Plans {
 public:
  explicit Plans(const char *algorithm) {
    what_.algorithm = algorithm;
    what_.target = "mpi";
    for (int rank = 0; rank < kRanks; ++rank) contexts_.push_back({&board_, rank});
    for (int rank = 0; rank < kRanks; ++rank) {
      nbc_device *device = &fabric_.addEndpoint()->device;
      const nbc_bootstrap b = {rank,       kRanks,     &contexts_[size_t(rank)],
                               Board::put, Board::get, nullptr};
      must(nbc_comm_create(&b, &device, 1, &comms_.emplace_back()), "no communicator");
    }
  }

  /// How long rank 0 takes; `fresh`: with a set of its own, which has opened nothing.
  Time take(const std::string &cache, bool fresh) {
    std::vector<nbc_plan *> plans;
    Time took;
    for (size_t rank = comms_.size(); rank-- > 0;) {
      const Time begin = Time::now();
      if (rank > 0 || fresh || !given_) must(nbc_comm_take(comms_[rank], setOf(cache)), "take");
      const char *why = "";
      must(nbc_plan_make(comms_[rank], &what_, nullptr, &plans.emplace_back(), &why), why);
      took = Time::now() - begin;
    }
    given_ = true;
    const Time begin = Time::now();
    must(nbc_plan_connect(plans.back()), "connect");
    took = took + (Time::now() - begin);
    for (nbc_plan *plan : plans) nbc_plan_free(plan);
    return took;
  }

 private:
  p2p::Fabric fabric_{{.mode = p2p::Mode::Simulated}};
  Board board_;
  std::vector<Board::Context> contexts_;
  std::vector<nbc_comm *> comms_;
  nbc_build_request what_ = {};
  bool given_ = false;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc == 6 && !std::strcmp(argv[1], "--once")) {
    once(argv[2], argv[3], argv[4], std::atoi(argv[5]));
    return 0;
  }
  const char *algorithm = argc > 1 ? argv[1] : "allgather.bruck",
             *target = argc > 2 ? argv[2] : "mpi";
  std::string folder = (fs::temp_directory_path() / "bench-jit-XXXXXX").string();
  if (!mkdtemp(folder.data())) must(1, "no folder");
  const std::string cache = folder + "/cache";

  std::vector<Time> all[2], inside[2];
  for (int i = 0; i < 11; ++i) {
    fs::remove_all(cache);
    for (int kept = 0; kept < 2; ++kept) {
      const Child c = child(cache, algorithm, target);
      all[kept].push_back(c.all), inside[kept].push_back(c.inside);
    }
  }
  std::printf("%-44s %8s %8s %8s\n", (std::string(algorithm) + ", 8 ranks, " + target).c_str(),
              "median", "best", "cpu");
  print("first time, a process of its own", all[0]);
  print("  from main() on", inside[0]);
  print("from the cache, a process of its own", all[1]);
  print("  from main() on", inside[1]);

  // The same text under other names is another source each time.
  std::vector<Time> first;
  const std::string name = std::string(algorithm).substr(std::string(algorithm).find('.') + 1);
  const std::string kind = std::string(algorithm).substr(0, std::string(algorithm).find('.'));
  const fs::path text = fs::path(NBCC_SOURCE_DIR) / "stdlib_algos" / kind / (name + ".nbc");
  for (int i = 0; i < 21 && fs::exists(text); ++i) {
    const std::string source = folder + "/" + std::to_string(i) + ".nbc";
    fs::copy_file(text, source);
    nbc_algorithms *set = setOf(cache, source.c_str());
    const Time begin = Time::now();
    makeTemplate(set, algorithm, target);
    if (i > 0) first.push_back(Time::now() - begin);
    nbc_algorithms_close(set);
  }
  if (!first.empty()) print("first time, the compiler loaded", first);

  if (!std::strcmp(target, "mpi")) {
    Plans plans(algorithm);
    plans.take(cache, true);
    for (const bool fresh : {true, false}) {
      std::vector<Time> times;
      for (int i = 0; i < 101; ++i) times.push_back(plans.take(cache, fresh));
      print(fresh ? "a plan, its library in the cache" : "a plan, its library open", times);
    }
  }
  fs::remove_all(folder);
}
