// SPDX-License-Identifier: BSD-3-Clause
// cache.cpp - who may own it, write to it, and where it lies; what happens when nothing can be
// written; what goes when it is full.

#include "compiler/algorithms/cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "compiler/algorithms/digest.h"
#include "test/compiler/algorithms/folder.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kPlenty = 1 << 20;

std::string nameOf(const std::string &text) {
  return digest(text) + ".so";
}

mode_t modeOf(const std::string &path) {
  struct stat facts = {};
  EXPECT_EQ(stat(path.c_str(), &facts), 0) << path;
  return facts.st_mode & 07777;
}

std::string read(Cache &cache, const std::string &name) {
  const std::optional<CacheFile> file = cache.read(name);
  return file ? file->bytes() : "(none)";
}

TEST(Digest, isBlake3) {
  EXPECT_EQ(digest(""), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  EXPECT_EQ(digest("abc"), "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
  EXPECT_TRUE(isDigest(digest("")));
  EXPECT_FALSE(isDigest(digest("").substr(1)));
  EXPECT_NE(Digests().add("ab").add("c").get(), Digests().add("a").add("bc").get());
}

TEST(Cache, keepsWhatWasWrittenForItsOwnerAlone) {
  const Folder here;
  const std::string path = here.file("deep/nbcc");
  Cache cache(path.c_str(), kPlenty);
  EXPECT_EQ(read(cache, nameOf("a")), "(none)");
  EXPECT_FALSE(fs::exists(path)) << "reading made it";
  const mode_t before = umask(0);
  cache.write(nameOf("a"), "bytes");
  umask(before);
  EXPECT_EQ(cache.trouble(), "");
  EXPECT_EQ(read(cache, nameOf("a")), "bytes");
  EXPECT_EQ(modeOf(path), 0700u);
  EXPECT_EQ(modeOf(path + "/" + nameOf("a")), 0600u);
  Cache other((path + "//").c_str(), kPlenty);
  EXPECT_EQ(read(other, nameOf("a")), "bytes");
  other.write(nameOf("a"), "others");
  EXPECT_EQ(read(cache, nameOf("a")), "others");
  cache.remove(nameOf("a"));
  EXPECT_EQ(read(cache, nameOf("a")), "(none)");
  EXPECT_TRUE(here.all("deep/nbcc", ".part").empty());
}

/// A folder that is not to be trusted: nothing is read from it, written to it, or said to fail.
void expectRefused(const std::string &path, const std::string &name, const std::string &why) {
  Cache cache(path.c_str(), kPlenty);
  EXPECT_EQ(read(cache, name), "(none)");
  EXPECT_EQ(cache.folder(), "");
  EXPECT_EQ(cache.trouble(), path + ": " + why);
  Cache writing(path.c_str(), kPlenty);
  writing.write(nameOf("new"), "new");
  EXPECT_EQ(writing.folder(), "");
  EXPECT_FALSE(fs::exists(path + "/" + nameOf("new")));
}

TEST(Cache, refusesAFolderThatOthersMayWriteTo) {
  const Folder here;
  const std::string path = here.file("nbcc"), name = nameOf("a");
  Cache(path.c_str(), kPlenty).write(name, "bytes");
  for (const mode_t mode : {0770u, 0702u, 0777u}) {
    chmod(path.c_str(), mode);
    expectRefused(path, name, "others may write to it");
  }
  chmod(path.c_str(), 0755);
  Cache readable(path.c_str(), kPlenty);
  EXPECT_EQ(read(readable, name), "bytes");
}

TEST(Cache, refusesAFolderOfSomebodyElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives folders away";
  const Folder here;
  const std::string path = here.file("nbcc"), name = nameOf("a");
  Cache(path.c_str(), kPlenty).write(name, "bytes");
  ASSERT_EQ(chown(path.c_str(), 4321, 4321), 0);
  expectRefused(path, name, "it belongs to user 4321, not to 0");
}

TEST(Cache, refusesALink) {
  const Folder here;
  const std::string path = here.file("nbcc"), link = here.file("link"), name = nameOf("a");
  Cache(path.c_str(), kPlenty).write(name, "bytes");
  fs::create_directory_symlink(path, link);
  expectRefused(link, name, "a symbolic link or no folder");
  expectRefused(here.put("file", ""), name, "a symbolic link or no folder");
}

TEST(Cache, believesNoFileThatAnotherMayHaveWritten) {
  const Folder here;
  const std::string path = here.file("nbcc"), name = nameOf("a"), file = path + "/" + name;
  Cache cache(path.c_str(), kPlenty);
  const auto refused = [&](const char *what) {
    EXPECT_EQ(read(cache, name), "(none)") << what;
    EXPECT_FALSE(fs::exists(fs::symlink_status(file))) << what << " was left";
    fs::remove_all(file);
    cache.write(name, "bytes");
    EXPECT_EQ(read(cache, name), "bytes") << "behind " << what;
  };
  cache.write(name, "bytes");
  chmod(file.c_str(), 0620);
  refused("a file of a group");
  chmod(file.c_str(), 0602);
  refused("a file of everybody");
  fs::rename(file, here.file("elsewhere"));
  fs::create_symlink(here.file("elsewhere"), file);
  refused("a link");
  EXPECT_EQ(Folder::read(here.file("elsewhere")), "bytes") << "the link was followed";
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  refused("a pipe");
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(file.c_str(), 4321, 4321), 0);
  refused("a file of somebody else");
}

TEST(Cache, doesWithoutWhereNothingCanBeWritten) {
  Cache cache("/proc/nbcc", kPlenty);  // not even by root
  cache.write(nameOf("a"), "bytes");
  EXPECT_EQ(cache.folder(), "");
  EXPECT_EQ(cache.trouble(), "/proc/nbcc: No such file or directory");
  Cache off("off", kPlenty);
  off.write(nameOf("a"), "bytes");
  EXPECT_EQ(read(off, nameOf("a")), "(none)");
  EXPECT_EQ(off.trouble(), "no cache: it is switched off");
}

/// A limit on the length of files, as a full disk.
TEST(Cache, saysThatNothingCanBeKept) {
  const Folder here;
  const std::string path = here.file("nbcc");
  Cache cache(path.c_str(), kPlenty);
  cache.write(nameOf("a"), "bytes");
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit low = {100, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  cache.write(nameOf("b"), std::string(1000, 'b'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(cache.trouble(), path + ": nothing can be kept: File too large");
  EXPECT_EQ(read(cache, nameOf("b")), "(none)");
  EXPECT_EQ(read(cache, nameOf("a")), "bytes");
  EXPECT_TRUE(here.all("nbcc", ".part").empty());
}

TEST(Cache, letsTheOldestGoAndNothingThatIsNotItsOwn) {
  const Folder here;
  const std::string path = here.file("nbcc");
  Cache cache(path.c_str(), 1000);
  const auto hoursAgo = [&](const std::string &name, int hours) {
    fs::last_write_time(path + "/" + name,
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  cache.write(nameOf("old"), std::string(300, 'o'));
  cache.write(nameOf("older"), std::string(300, 'r'));
  cache.write(nameOf("used"), std::string(300, 'u'));
  here.put("nbcc/letter.txt", std::string(5000, 'l'));
  here.put("nbcc/.forgotten.part", "p");
  here.put("nbcc/.busy.part", "p");
  hoursAgo(nameOf("old"), 48), hoursAgo(nameOf("older"), 72), hoursAgo(nameOf("used"), 96);
  hoursAgo("letter.txt", 1000), hoursAgo(".forgotten.part", 2);
  EXPECT_EQ(read(cache, nameOf("used")), std::string(300, 'u'));  // so it is young again
  cache.write(nameOf("new"), std::string(200, 'n'));
  EXPECT_EQ(read(cache, nameOf("older")), "(none)");
  EXPECT_NE(read(cache, nameOf("old")), "(none)");
  EXPECT_NE(read(cache, nameOf("used")), "(none)");
  EXPECT_NE(read(cache, nameOf("new")), "(none)");
  EXPECT_TRUE(fs::exists(path + "/letter.txt"));
  EXPECT_TRUE(fs::exists(path + "/.busy.part"));
  EXPECT_FALSE(fs::exists(path + "/.forgotten.part"));
}

TEST(Cache, isWhereTheEnvironmentSays) {
  const Folder here;
  const auto folder = [](const char *given = nullptr) { return Cache(given, kPlenty).folder(); };
  std::string home = std::getenv("HOME") ? std::getenv("HOME") : "/";
  unsetenv("NBC_CACHE");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(folder(), "/home/someone/.cache/nbcc");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(folder(), "/home/someone/.cache/nbcc");
  setenv("XDG_CACHE_HOME", "/var/someone", 1);
  EXPECT_EQ(folder(), "/var/someone/nbcc");
  setenv("NBC_CACHE", "/tmp/mine", 1);
  EXPECT_EQ(folder(), "/tmp/mine");
  EXPECT_EQ(folder("/tmp/given"), "/tmp/given");
  setenv("NBC_CACHE", "off", 1);
  EXPECT_EQ(folder(), "");
  unsetenv("NBC_CACHE");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(folder(), "");
  setenv("HOME", home.c_str(), 1);
}

TEST(Cache, knowsItsOwnNames) {
  EXPECT_TRUE(isCacheName(digest("a") + ".so"));
  EXPECT_TRUE(isCacheName(digest("a") + ".from"));
  EXPECT_FALSE(isCacheName(digest("a")));
  EXPECT_FALSE(isCacheName(digest("a") + ".so.bak"));
  EXPECT_FALSE(isCacheName("libm.so"));
}

}  // namespace
}  // namespace nbcc
