// SPDX-License-Identifier: BSD-3-Clause
// radixsort.cpp - a parallel radix sort, whose histograms travel while keys are moved.
//
// After Inozemtsev and Afsahi. For each digit, from the lowest: count; gather all ranks'
// histograms; meanwhile sort the own keys by the digit, which keeps the order of equal ones; then
// each rank knows for each of its keys where it goes, and sends it there. A rank has as many keys
// as before, so after the last digit the ranks' keys are in order, one rank behind the other.
//
// The histograms' allgather is what the variants differ in. Checked against std::sort, key by key.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "app.h"
#include "persistent.h"

namespace {

constexpr int kBits = 8, kDigits = 64 / kBits;
constexpr std::size_t kBuckets = 1 << kBits;

std::size_t digit(std::uint64_t key, int place) {
  return key >> (place * kBits) & (kBuckets - 1);
}

struct Sorter {
  app &of;
  std::vector<std::uint64_t> keys, moved;  // moved: sorted by the digit, here
  std::vector<int> histogram = std::vector<int>(kBuckets), histograms;
  std::vector<int> sent, sentAt, received, receivedAt;
  MPI_Request request = MPI_REQUEST_NULL;

  Sorter(app &a, std::size_t count)
      : of(a),
        keys(count),
        moved(count),
        histograms(kBuckets * a.ranks),
        sent(a.ranks),
        sentAt(a.ranks),
        received(a.ranks),
        receivedAt(a.ranks) {
    if (of.variant == APP_PERSISTENT)
      MPI_Allgather_init(histogram.data(), kBuckets, MPI_INT, histograms.data(), kBuckets, MPI_INT,
                         MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  }
  Sorter(const Sorter &) = delete;
  Sorter &operator=(const Sorter &) = delete;
  ~Sorter() {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

  void count(int place) {
    std::fill(histogram.begin(), histogram.end(), 0);
    for (std::uint64_t key : keys) ++histogram[digit(key, place)];
  }

  void moveHere(int place) {
    std::vector<std::size_t> next(kBuckets);
    for (std::size_t b = 1; b < kBuckets; ++b) next[b] = next[b - 1] + histogram[b - 1];
    for (std::uint64_t key : keys) moved[next[digit(key, place)]++] = key;
  }

  void gatherBlocking(int place) {
    double begin = app_enter();
    MPI_Allgather(histogram.data(), kBuckets, MPI_INT, histograms.data(), kBuckets, MPI_INT,
                  MPI_COMM_WORLD);
    app_leave(&of, begin);
    moveHere(place);
  }

  void gatherOverlapped(int place) {
    double begin = app_enter();
    if (of.variant == APP_PERSISTENT)
      MPI_Start(&request);
    else
      MPI_Iallgather(histogram.data(), kBuckets, MPI_INT, histograms.data(), kBuckets, MPI_INT,
                     MPI_COMM_WORLD, &request);
    app_leave_started(&of, begin);
    moveHere(place);
    app_wait(&of, &request);
  }

  /// f(sender, receiver, keys): how many keys of one bucket go from one rank to another; in the
  /// order in which they stand at the end.
  template <class F>
  void forEachRun(F f) const {
    std::int64_t at = 0, share = static_cast<std::int64_t>(keys.size());
    for (std::size_t b = 0; b < kBuckets; ++b)
      for (int from = 0; from < of.ranks; ++from)
        for (int left = histograms[from * kBuckets + b]; left > 0;) {
          std::int64_t to = at / share;
          int run = static_cast<int>(std::min<std::int64_t>(left, (to + 1) * share - at));
          f(from, static_cast<int>(to), run);
          at += run;
          left -= run;
        }
  }

  /// Keys come by rank; they belong by bucket, and only in it by rank.
  void moveThere() {
    std::fill(sent.begin(), sent.end(), 0);
    std::fill(received.begin(), received.end(), 0);
    forEachRun([&](int from, int to, int run) {
      if (from == of.rank) sent[to] += run;
      if (to == of.rank) received[from] += run;
    });
    for (int r = 1; r < of.ranks; ++r) {
      sentAt[r] = sentAt[r - 1] + sent[r - 1];
      receivedAt[r] = receivedAt[r - 1] + received[r - 1];
    }
    std::vector<std::uint64_t> arrived(keys.size());
    MPI_Alltoallv(moved.data(), sent.data(), sentAt.data(), MPI_UINT64_T, arrived.data(),
                  received.data(), receivedAt.data(), MPI_UINT64_T, MPI_COMM_WORLD);
    std::vector<int> next = receivedAt;
    auto place = keys.begin();
    forEachRun([&](int from, int to, int run) {
      if (to != of.rank) return;
      place = std::copy_n(arrived.begin() + next[from], run, place);
      next[from] += run;
    });
  }

  void sort() {
    for (int place = 0; place < kDigits; ++place) {
      count(place);
      if (of.variant == APP_BLOCKING)
        gatherBlocking(place);
      else
        gatherOverlapped(place);
      moveThere();
    }
  }
};

/// Rank 0 sorts them all by itself. Collective.
bool inOrder(const Sorter &sorter, const std::vector<std::uint64_t> &before) {
  int count = static_cast<int>(before.size()),
      all = sorter.of.rank == 0 ? count * sorter.of.ranks : 0;
  std::vector<std::uint64_t> wanted(all), found(all);
  MPI_Gather(before.data(), count, MPI_UINT64_T, wanted.data(), count, MPI_UINT64_T, 0,
             MPI_COMM_WORLD);
  MPI_Gather(sorter.keys.data(), count, MPI_UINT64_T, found.data(), count, MPI_UINT64_T, 0,
             MPI_COMM_WORLD);
  std::sort(wanted.begin(), wanted.end());
  return wanted == found;
}

}  // namespace

int main(int argc, char **argv) {
  long count = 1 << 19, distinct = 0;
  app a;
  const app_option options[] = {
      {"size", "keys of a rank", &count, 1, 1 << 26},
      {"distinct", "how many keys differ; 0: any number may occur", &distinct, 0, 0},
      {}};
  app_open(&a, &argc, &argv, "radixsort", options);
  bool right;
  {
    Sorter sorter(a, count);
    for (long i = 0; i < count; ++i) {
      std::uint64_t key =
          app_random(static_cast<std::uint64_t>(a.rank) << 32 | static_cast<std::uint64_t>(i));
      sorter.keys[i] = distinct ? app_random(key % distinct) : key;
    }
    std::vector<std::uint64_t> before = sorter.keys;
    app_start_clock(&a);
    sorter.sort();
    app_stop_clock(&a);
    right = inOrder(sorter, before);
  }
  return app_close(&a, right, "");
}
