// SPDX-License-Identifier: BSD-3-Clause
// files.h - ranks as processes meet over files: a bootstrap without any MPI.

#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "nbc.h"

/// What a rank puts is a file, which has its name once it is whole.
struct Files {
  std::filesystem::path folder;
  int rank, ranks, fences = 0;

  std::filesystem::path file(int of, const std::string &key) const {
    return folder / (std::to_string(of) + "." + key);
  }
  static int put(void *context, const char *key, const void *data, size_t bytes) {
    const auto *f = static_cast<Files *>(context);
    const auto unfinished = f->folder / ("unfinished." + std::to_string(f->rank));
    std::ofstream(unfinished, std::ios::binary)
        .write(static_cast<const char *>(data), std::streamsize(bytes));
    std::filesystem::rename(unfinished, f->file(f->rank, key));
    return 0;
  }
  static int get(void *context, int rank, const char *key, void *data, size_t capacity,
                 size_t *bytes) {
    const auto *f = static_cast<Files *>(context);
    while (!std::filesystem::exists(f->file(rank, key))) usleep(100);
    std::ifstream in(f->file(rank, key), std::ios::binary);
    in.read(static_cast<char *>(data), std::streamsize(capacity));
    *bytes = size_t(in.gcount());
    return 0;
  }
  static int fence(void *context) {
    auto *f = static_cast<Files *>(context);
    const std::string key = "fence." + std::to_string(f->fences++);
    put(context, key.c_str(), "", 0);
    for (int r = 0; r < f->ranks; ++r)
      while (!std::filesystem::exists(f->file(r, key))) usleep(100);
    return 0;
  }
  nbc_bootstrap bootstrap() { return {rank, ranks, this, put, get, fence}; }
};
