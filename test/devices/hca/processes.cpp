// SPDX-License-Identifier: BSD-3-Clause
// Adapters of real processes: messages between them, and what is left when one stops, is killed, or
// leaves a child behind.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "test/devices/hca/wired.h"

namespace hca::test {
namespace {

using Clock = std::chrono::steady_clock;

/// What processes tell each other of a queue pair.
struct Card {
  uint8_t address[32];
  uint32_t number, key;
  uint64_t memory;
};

struct Pipe {
  int file = -1;
  template <class T>
  void put(const T &t) const {
    if (write(file, &t, sizeof t) != sizeof t) _exit(3);
  }
  template <class T = char>
  T get() const {
    T t;
    if (read(file, &t, sizeof t) != sizeof t) throw std::runtime_error("the other has ended");
    return t;
  }
};

/// A process of its own; killed at the latest with this. Made before any thread is.
struct Child {
  pid_t pid;
  Pipe pipe;
  explicit Child(const std::function<void(Pipe)> &work) {
    int ends[2];
    demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    pid = fork();
    if (pid == 0) {
      close(ends[0]);
      try {
        work({ends[1]});
      } catch (const std::exception &) {
        _exit(2);
      }
      _exit(0);
    }
    close(ends[1]);
    pipe.file = ends[0];
  }
  void kill(int signal) const { ::kill(pid, signal); }
  int end() {
    int status = -1;
    if (pid > 0) waitpid(pid, &status, 0);
    pid = -1;
    return status;
  }
  ~Child() {
    if (pid > 0) kill(SIGKILL);
    end();
    close(pipe.file);
  }
};

Card cardOf(const Queue &q, const void *memory, uint32_t key) {
  Card card = {{}, q.number(), key, reinterpret_cast<uintptr_t>(memory)};
  q.hca->ops->address(q.hca, card.address);
  return card;
}

void connectTo(Queue &q, const Card &card) {
  demand(q.hca->ops->connect_qp(q.hca, q.number(), card.address, card.number) == 0);
}

void *at(const Card &card, uint64_t offset = 0) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(card.memory + offset));
}

bool listens(const Card &card) {
  uint64_t name;
  memcpy(&name, card.address, 8);
  char text[40];
  snprintf(text, sizeof text, "@nbc-hca-%016llx", static_cast<unsigned long long>(name));
  std::ifstream file("/proc/net/unix");
  for (std::string line; std::getline(file, line);)
    if (line.find(text) != std::string::npos) return true;
  return false;
}

constexpr uint32_t longBytes = 4u << 20;

/// One end, with memory that the other may do anything with.
struct End {
  Rig rig{1, wired()};
  Queue &q{rig.queue(0, {.logSend = 8})};
  std::vector<uint8_t> memory = std::vector<uint8_t>(longBytes);
  uint32_t key{rig.key(0, memory.data(), memory.size())};
  End() { rig.fabric.setRetry(q.number(), {.retryCount = 2, .ackTimeout = 10}); }
  Card card() const { return cardOf(q, memory.data(), key); }
  void meet(Pipe pipe) {
    pipe.put(card());
    other = pipe.get<Card>();
    connectTo(q, other);
    pipe.put('c');
    pipe.get();
  }
  void put(uint8_t opcode, uint32_t bytes = longBytes) {
    q.post(Wqe(opcode).remote(at(other), other.key).data(memory.data(), bytes, key).signal());
  }
  Card other = {};
};

/// Meets, and lets the adapter work until there is nobody to tell.
void serve(Pipe pipe) {
  End end;
  for (int i = 0; i < 4; ++i) end.q.receive();
  end.meet(pipe);
  pipe.get();
}

TEST(Processes, memoryOfAnotherIsReadAndWritten) {
  Child child([](Pipe pipe) {
    End end;
    for (size_t i = 0; i < end.memory.size(); ++i) end.memory[i] = static_cast<uint8_t>(i * 7);
    end.meet(pipe);
    pipe.get();
    end.rig.fabric.counters();  // what the adapter has done is done
    bool same = true;
    for (size_t i = 0; i < end.memory.size(); ++i)
      same &= end.memory[i] == static_cast<uint8_t>(i * 7 + 1);
    pipe.put(same);
  });
  End end;
  end.meet(child.pipe);
  end.put(MLX5_READ);
  end.q.ring();
  EXPECT_EQ(await(end.q, *end.q.sendCq).syndrome, 0);
  for (uint8_t &b : end.memory) ++b;
  end.put(MLX5_WRITE);
  end.q.ring();
  EXPECT_EQ(await(end.q, *end.q.sendCq).syndrome, 0);
  child.pipe.put('d');
  EXPECT_TRUE(child.pipe.get<bool>());
  EXPECT_EQ(child.end(), 0);
}

// Three in a ring pass a number round and add to it; two add to a word of the third's.
TEST(Processes, threeInARing) {
  constexpr uint64_t rounds = 200;
  auto pass = [](Queue &in, Queue &out, uint64_t &word, uint32_t key, uint64_t turns) {
    for (uint64_t i = 0; i < turns; ++i) {
      await(in, *in.receiveCq);
      ++word;
      in.receive({{&word, 8, key}});
      out.post(send().data(&word, 8, key).signal());
      out.ring();
      await(out, *out.sendCq);
    }
  };
  auto member = [&](Pipe pipe) {
    Rig rig(1, wired());
    Queue &in = rig.queue(0), &out = rig.queue(0);
    uint64_t word = 0;
    uint32_t key = rig.key(0, &word, 8);
    in.receive({{&word, 8, key}});
    pipe.put(cardOf(in, nullptr, 0));
    pipe.put(cardOf(out, nullptr, 0));
    connectTo(in, pipe.get<Card>());
    connectTo(out, pipe.get<Card>());
    pipe.put('c');
    pass(in, out, word, key, rounds);
    pipe.get();
  };
  Child second(member), third(member);
  Rig rig(1, wired());
  Queue &in = rig.queue(0), &out = rig.queue(0);
  uint64_t word = 0;
  uint32_t key = rig.key(0, &word, 8);
  in.receive({{&word, 8, key}});
  Card secondIn = second.pipe.get<Card>(), secondOut = second.pipe.get<Card>();
  Card thirdIn = third.pipe.get<Card>(), thirdOut = third.pipe.get<Card>();
  second.pipe.put(cardOf(out, nullptr, 0));
  second.pipe.put(thirdIn);
  third.pipe.put(secondOut);
  third.pipe.put(cardOf(in, nullptr, 0));
  connectTo(out, secondIn);
  connectTo(in, thirdOut);
  second.pipe.get();
  third.pipe.get();
  word = 1;
  out.post(send().data(&word, 8, key).signal());
  out.ring();
  await(out, *out.sendCq);
  pass(in, out, word, key, rounds - 1);
  await(in, *in.receiveCq);
  EXPECT_EQ(word, 3 * rounds);
  second.pipe.put('d');
  third.pipe.put('d');
  EXPECT_EQ(second.end(), 0);
  EXPECT_EQ(third.end(), 0);
}

/// What is under way when the other is killed.
struct Phase {
  const char *name;
  std::function<void(End &)> before;
};

void PrintTo(const Phase &p, std::ostream *out) {
  *out << p.name;
}

class Killed : public testing::TestWithParam<Phase> {};

TEST_P(Killed, endsInAnErrorAndSoon) {
  Child child(serve);
  End end;
  end.meet(child.pipe);
  EXPECT_TRUE(listens(end.other));
  GetParam().before(end);
  child.kill(SIGKILL);
  child.end();
  auto begin = Clock::now();
  end.q.post(send().signal());
  end.q.ring();
  uint8_t first = 0;
  while (!first) first = await(end.q, *end.q.sendCq).syndrome;
  EXPECT_EQ(first, MLX5_RETRY_EXCEEDED);
  EXPECT_EQ(whyFailed(end.q), MLX5_RETRY_EXCEEDED);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  EXPECT_FALSE(listens(end.other));
}

void ringAndWaitForOne(End &end) {
  end.q.ring();
  EXPECT_EQ(await(end.q, *end.q.sendCq).syndrome, 0);
}

INSTANTIATE_TEST_SUITE_P(Processes, Killed,
                         testing::Values(Phase{"idle", [](End &) {}},
                                         Phase{"afterAMessage",
                                               [](End &e) {
                                                 e.q.post(send().signal());
                                                 ringAndWaitForOne(e);
                                               }},
                                         Phase{"whileItIsRead",
                                               [](End &e) {
                                                 for (int i = 0; i < 60; ++i) e.put(MLX5_READ);
                                                 ringAndWaitForOne(e);
                                               }},
                                         Phase{"whileItIsWritten",
                                               [](End &e) {
                                                 for (int i = 0; i < 60; ++i) e.put(MLX5_WRITE);
                                                 ringAndWaitForOne(e);
                                               }},
                                         Phase{"whileItHasNoReceive",
                                               [](End &e) {
                                                 for (int i = 0; i < 5; ++i)
                                                   e.q.post(send().signal());
                                                 e.q.ring();
                                                 while (!e.rig.fabric.counters().rnrNaks)
                                                   std::this_thread::yield();
                                               }},
                                         Phase{"whileItIsStopped",
                                               [](End &e) {
                                                 for (int i = 0; i < 60; ++i)
                                                   e.put(MLX5_WRITE, 100);
                                                 e.q.ring();
                                               }}),
                         [](const auto &one) { return one.param.name; });

// Who forks has children that hold its sockets open; that it has died is seen all the same.
TEST(Processes, aChildOfTheDeadKeepsNobodyWaiting) {
  Child child([](Pipe pipe) {
    End end;
    end.meet(pipe);
    pid_t left = fork();
    if (left == 0) {
      pause();
      _exit(0);
    }
    pipe.put(left);
    pipe.get();
  });
  End end;
  end.meet(child.pipe);
  pid_t left = child.pipe.get<pid_t>();
  child.kill(SIGKILL);
  child.end();
  end.q.post(send().signal());
  end.q.ring();
  EXPECT_EQ(await(end.q, *end.q.sendCq).syndrome, MLX5_RETRY_EXCEEDED);
  EXPECT_EQ(kill(left, 0), 0);
  kill(left, SIGKILL);
}

// One that does not run is not dead: what fits waits in the socket, the rest where it is.
TEST(Processes, aStoppedOneIsWaitedFor) {
  Child child(serve);
  End end;
  end.meet(child.pipe);
  child.kill(SIGSTOP);
  waitpid(child.pid, nullptr, WUNTRACED);  // until it has
  for (int i = 0; i < 8; ++i) end.put(MLX5_WRITE);
  for (int i = 0; i < 8; ++i) end.put(MLX5_READ);
  end.q.ring();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(end.q.sendCq->poll());
  EXPECT_EQ(end.q.failed(), 0u);
  child.kill(SIGCONT);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(await(end.q, *end.q.sendCq).syndrome, 0);
}

// The worker of a process that waits for another sleeps.
TEST(Processes, waitingCostsNothing) {
  Child child(serve);
  End end;
  end.meet(child.pipe);
  end.q.post(send().signal());
  ringAndWaitForOne(end);
  auto used = [] {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000 + t.tv_nsec;
  };
  auto before = used();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LT(used() - before, 20'000'000);
}

}  // namespace
}  // namespace hca::test
