// SPDX-License-Identifier: BSD-3-Clause
// A network's file: entered and left, outlived by nothing, and survived by those who stay.

#include "devices/sisci/domain.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

using namespace sisci;

namespace {

using File = std::unique_ptr<DomainFile>;

/// A network of this test's own.
struct Domains {
  std::string name = "unit-" + std::to_string(getpid());
  std::string path = "/dev/shm/nbcsisci-" + std::to_string(geteuid()) + "-" + name;

  ~Domains() { unlink(path.c_str()); }
  File open(sci_error_t expected = SCI_ERR_OK) const {
    File file;
    EXPECT_EQ(DomainFile::open(name, file), expected);
    return file;
  }
  bool isThere() const { return access(path.c_str(), F_OK) == 0; }
  /// What a process does that then dies in the middle of it.
  template <class F>
  void inAProcessThatDies(F f) const {
    if (pid_t child = fork(); child != 0) {
      waitpid(child, nullptr, 0);
      return;
    }
    File file;
    DomainFile::open(name, file);
    f(*file);
    _exit(0);
  }
};

uint32_t nodeOf(DomainFile &file, uint32_t id) {
  DomainLock guard(file.domain());
  return takeNode(file.domain(), file.process(), id);
}

TEST(Domain, goesWithTheLastThatLeaves) {
  Domains domains;
  File first = domains.open(), second = domains.open();
  EXPECT_NE(first->process(), second->process());
  EXPECT_TRUE(first->isAlive(second->process()));
  const uint32_t mine = nodeOf(*first, 0), theirs = nodeOf(*second, 0);
  EXPECT_EQ(first->domain().nodes[mine].id, 4u);
  EXPECT_EQ(first->domain().nodes[theirs].id, 8u);
  EXPECT_EQ(nodeOf(*second, 4), none);
  first.reset();
  EXPECT_TRUE(domains.isThere());
  EXPECT_EQ(nodeOf(*second, 4), mine);
  second.reset();
  EXPECT_FALSE(domains.isThere());
}

TEST(Domain, buriesWhoHasDied) {
  Domains domains;
  File here = domains.open();
  EXPECT_FALSE(here->buryDead());
  domains.inAProcessThatDies([](DomainFile &file) { nodeOf(file, 40); });
  {
    DomainLock guard(here->domain());
    EXPECT_NE(nodeWithId(here->domain(), 40), none);
  }
  EXPECT_TRUE(here->buryDead());
  DomainLock guard(here->domain());
  EXPECT_EQ(nodeWithId(here->domain(), 40), none);
}

TEST(Domain, isLockedByNobodyWhoHasDied) {
  Domains domains;
  File here = domains.open();
  domains.inAProcessThatDies([](DomainFile &file) { new DomainLock(file.domain()); });
  EXPECT_NE(nodeOf(*here, 0), none);
  ASSERT_EQ(pthread_mutex_trylock(&here->domain().mutex), 0);  // it still keeps others out
  pthread_mutex_unlock(&here->domain().mutex);
}

TEST(Domain, beginsAnewWhereAllHaveDied) {
  Domains domains;
  domains.inAProcessThatDies([](DomainFile &file) {
    nodeOf(file, 4);
    new DomainLock(file.domain());
  });
  EXPECT_TRUE(domains.isThere());
  File here = domains.open();
  EXPECT_EQ(here->process(), 0u);
  EXPECT_NE(nodeOf(*here, 4), none);
}

TEST(Domain, ofAnotherVersionIsRefused) {
  Domains domains;
  File here = domains.open();
  here->domain().version += 1;
  domains.open(SCI_ERR_INCONSISTENT_VERSIONS);
  here->domain().version -= 1;
  File second = domains.open();
  EXPECT_TRUE(second);
}

TEST(Domain, hasRoomForSoMany) {
  Domains domains;
  std::vector<File> all;
  for (uint32_t i = 0; i < mostProcesses; ++i) all.push_back(domains.open());
  domains.open(SCI_ERR_NOSPC);
  all.pop_back();
  EXPECT_TRUE(domains.open());
}

}  // namespace
