// SPDX-License-Identifier: BSD-3-Clause
// folder.h - a folder for one test, gone with all in it.

#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace nbcc {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "nbc-algorithms-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder &) = delete;

  std::string file(const std::string &name) const { return (path_ / name).string(); }
  std::string put(const std::string &name, const std::string &text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return file(name);
  }
  static std::string read(const std::filesystem::path &path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// Files below `name` that end so.
  std::vector<std::filesystem::path> all(const std::string &name, const std::string &end) const {
    std::vector<std::filesystem::path> found;
    std::error_code ignored;
    for (const auto &entry : std::filesystem::directory_iterator(path_ / name, ignored))
      if (entry.path().string().ends_with(end)) found.push_back(entry.path());
    return found;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace nbcc
