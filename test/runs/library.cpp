// SPDX-License-Identifier: BSD-3-Clause
// library.cpp - a library as a file: what is found in it is what was put there; and whatever byte
// of it is damaged, it is refused, or what is used of it is the same.

#include "nbc/library.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "compiler/output/output.h"
#include "test/runs/compiled.h"

namespace nbcc {
namespace {

constexpr int64_t kRanks = 2;

std::string readAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// libtest.so with a scan and its templates, in a folder of its own.
class SharedObject {
 public:
  SharedObject() : compiled("scan/linear", kRanks, Protocol::automatic) {
    std::string folder = (std::filesystem::temp_directory_path() / "nbc-library-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    path = folder + "/libtest.so";
    LibraryContent content;
    content.name = "test";
    content.files = {&compiled.file()};
    content.algorithms.push_back({.algorithm = compiled.compilation->algorithm()});
    content.platforms.push_back({compiled.options.target, compiled.options.targetOptions});
    for (int64_t rank = 0; rank < kRanks; ++rank)
      content.templates.push_back({0, 0, kRanks, 0, rank, compiled.templates[size_t(rank)]});
    writeLibrary(std::move(content), LibraryForm::shared, path, compiled.diag);
    EXPECT_EQ(compiled.said.str(), "");
    bytes = readAll(path);
  }
  ~SharedObject() { std::filesystem::remove_all(std::filesystem::path(path).parent_path()); }

  /// Changes the file where it lies.
  void put(size_t at, char value) const {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(std::streamoff(at)).put(value);
  }

  /// Empty: refused, with `why`; else the templates that were found, as far as they are good.
  std::vector<std::string> open(std::string &why) const {
    const nbc_library *lib = nullptr;
    const char *said = nullptr;
    std::vector<std::string> found;
    if (nbc_library_open(path.c_str(), &lib, &said)) {
      why = said;
      EXPECT_NE(why, "");
      return found;
    }
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      size_t size = 0;
      const void *t = nbc_library_find(lib, "scan.linear", "coredirect", NBC_LENGTHS_EQUAL, kRanks,
                                       rank, 0, &size);
      if (t && nbc_template_check(t, size, &said) == 0)
        found.emplace_back(static_cast<const char *>(t), size);
      else
        why = t ? said : "not found";
    }
    nbc_library_close(lib);
    return found;
  }

  Compiled compiled;
  std::string path, bytes;
};

TEST(LibraryFile, holdsWhatWasPutThere) {
  const SharedObject file;
  std::string why;
  const std::vector<std::string> found = file.open(why);
  ASSERT_EQ(found.size(), size_t{kRanks}) << why;
  for (size_t rank = 0; rank < found.size(); ++rank) {
    const Template &t = file.compiled.templates[rank];
    EXPECT_EQ(found[rank], std::string(static_cast<const char *>(t.data()), t.bytes));
  }
  EXPECT_NE(found[0], found[1]);
}

TEST(LibraryFile, mayBeOpenedTwiceAndClosedOnceEach) {
  const SharedObject file;
  const nbc_library *one = nullptr, *two = nullptr;
  ASSERT_EQ(nbc_library_open(file.path.c_str(), &one, nullptr), 0);
  ASSERT_EQ(nbc_library_open(file.path.c_str(), &two, nullptr), 0);
  EXPECT_EQ(nbc_library_close(one), 0);
  EXPECT_NE(nbc_library_named(two, "scan.linear"), nullptr);
  EXPECT_EQ(nbc_library_close(two), 0);
  EXPECT_EQ(nbc_library_close(two), NBC_ERROR_ARGUMENT);
  EXPECT_EQ(nbc_library_close(nullptr), 0);
}

/// A descriptor has the number, and so the path, that another had before; the loader goes by paths.
TEST(LibraryFile, isThatOfItsDescriptorWhateverWasOpenedThereBefore) {
  const SharedObject first, second;
  std::vector<const nbc_library *> open;
  int number = -1;
  for (const std::string &path : {first.path, second.path, first.path, second.path}) {
    const int file = ::open(path.c_str(), O_RDONLY);
    if (number < 0) number = file;
    ASSERT_EQ(file, number);
    const char *why = "";
    ASSERT_EQ(nbc_library_open_file(file, &open.emplace_back(), &why), 0) << why;
    close(file);
  }
  EXPECT_NE(open[0], open[1]);
  EXPECT_EQ(open[0], open[2]);
  EXPECT_EQ(open[1], open[3]);
  for (const nbc_library *lib : open) EXPECT_EQ(nbc_library_close(lib), 0);
  const nbc_library *none = nullptr;
  const char *why = "";
  EXPECT_EQ(nbc_library_open_file(-1, &none, &why), NBC_ERROR_LIBRARY);
  EXPECT_STREQ(why, "Bad file descriptor");
}

TEST(LibraryFile, needsNoName) {
  const SharedObject file;
  const int memory = memfd_create("library", MFD_CLOEXEC);
  ASSERT_EQ(write(memory, file.bytes.data(), file.bytes.size()), ssize_t(file.bytes.size()));
  const nbc_library *lib = nullptr;
  const char *why = "";
  EXPECT_EQ(nbc_library_open_file(memory, &lib, &why), 0) << why;
  close(memory);
  EXPECT_NE(nbc_library_named(lib, "scan.linear"), nullptr);
  EXPECT_EQ(nbc_library_close(lib), 0);
}

/// What is refused says why; what is opened has templates that are refused, or all as they were.
TEST(LibraryFile, eachDamagedByteIsSeenOrOfNoAccount) {
  const SharedObject file;
  std::string why;
  const std::vector<std::string> right = file.open(why);
  ASSERT_EQ(right.size(), size_t{kRanks});
  size_t refused = 0;
  for (size_t at = 0; at < file.bytes.size(); ++at) {
    const int change = at % 2 ? 0xff : 1 << at / 2 % 8;
    file.put(at, char(file.bytes[at] ^ change));
    why.clear();
    const std::vector<std::string> found = file.open(why);
    if (found.size() < right.size()) {
      ++refused;
      EXPECT_NE(why, "") << "byte " << at;
    } else {
      EXPECT_EQ(found, right) << "byte " << at;
    }
    file.put(at, file.bytes[at]);
  }
  EXPECT_EQ(file.open(why), right) << "as it was again: " << why;
  // Of no account are gaps between segments and what only linkers and debuggers read; tables and
  // templates are all in use.
  size_t at = 0, length = 0;
  ASSERT_EQ(nbc_library_locate(file.bytes.data(), file.bytes.size(), &at, &length, nullptr), 0);
  EXPECT_GT(refused, length);
}

TEST(LibraryFile, whatIsCutOffIsRefused) {
  const SharedObject file;
  for (size_t bytes = 0; bytes < file.bytes.size(); bytes += 61) {
    std::filesystem::resize_file(file.path, 0);
    std::ofstream(file.path, std::ios::binary).write(file.bytes.data(), std::streamsize(bytes));
    std::string why;
    EXPECT_TRUE(file.open(why).empty()) << bytes;
    EXPECT_NE(why, "") << bytes;
  }
}

TEST(LibraryFile, whatIsNoLibraryIsRefused) {
  const nbc_library *lib = nullptr;
  const char *why = nullptr;
  const auto refused = [&](const char *path) -> std::string {
    EXPECT_EQ(nbc_library_open(path, &lib, &why), NBC_ERROR_LIBRARY);
    return why;
  };
  EXPECT_EQ(refused("/nowhere/libx.so"), "No such file or directory");
  EXPECT_EQ(refused("/"), "not a file");
  EXPECT_EQ(refused("/dev/null"), "not a file");
  EXPECT_EQ(refused("/proc/self/exe"), "it has no section .nbc_library: not made by nbcc");
  EXPECT_EQ(refused(NBCC_SOURCE_DIR "/README.md"), "no ELF file, so no library of nbcc");
  EXPECT_EQ(nbc_library_open(nullptr, &lib, &why), NBC_ERROR_ARGUMENT);
}

/// The headers of an ELF file are not believed: for the sanitizers.
TEST(LibraryFile, damagedHeadersLeadNowhere) {
  const SharedObject file;
  std::mt19937 random(11);
  for (int i = 0; i < 20000; ++i) {
    std::vector<char> bytes(file.bytes.begin(), file.bytes.end());
    const size_t headers = bytes.size() - 2000;  // of sections, at the end
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % 2 ? random() % 512 : headers + random() % 1990;
      const uint64_t value = random() % 2 ? UINT64_MAX - random() % 3 : random() % bytes.size();
      std::memcpy(bytes.data() + at, &value, 1 + random() % 8);
    }
    size_t at = 0, length = 0;
    const char *why = nullptr;
    if (nbc_library_locate(bytes.data(), bytes.size(), &at, &length, &why) == 0)
      nbc_library_seal(bytes.data(), bytes.size(), at);
  }
}

}  // namespace
}  // namespace nbcc
