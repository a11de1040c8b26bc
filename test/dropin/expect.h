// SPDX-License-Identifier: BSD-3-Clause
// expect.h - for programs that know MPI and nothing of nbcc: data, and what has become of them.

#pragma once

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

inline int failures = 0, checks = 0;
inline int me = 0, ranks = 1;

template <class... Values>
void expect(bool right, const char *what, Values... values) {
  ++checks;
  if (right) return;
  if (++failures > 20) return;
  char text[256];
  if constexpr (sizeof...(values) == 0)
    std::snprintf(text, sizeof text, "%s", what);
  else
    std::snprintf(text, sizeof text, what, values...);
  std::printf("rank %d of %d: %s\n", me, ranks, text);
  std::fflush(stdout);
}

// Element i of what a rank contributes in a call: small, so that sums are exact in any type.
inline int element(int rank, int i, int salt = 0) {
  return 1 + (rank * 31 + i * 7 + salt * 13) % 97;
}

inline std::vector<int> elements(int rank, int first, int count, int salt = 0) {
  std::vector<int> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = element(rank, first + i, salt);
  return all;
}

// All ranks' failures, on rank 0; what main returns.
inline int end_program(const char *name) {
  int all = 0, done = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&checks, &done, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) std::printf("%s on %d: %d checks, %d failed\n", name, ranks, done, all);
  std::fflush(stdout);
  MPI_Finalize();
  return failures != 0;
}

inline void begin_program(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}
