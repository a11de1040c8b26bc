// SPDX-License-Identifier: BSD-3-Clause
// What no adapter would send: nothing but the liar's own connection suffers from it.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "devices/hca/engine.h"
#include "test/devices/hca/wired.h"

namespace hca::test {
namespace {

Identity identityOf(const Queue &q) {
  uint8_t bytes[32];
  q.hca->ops->address(q.hca, bytes);
  Identity i;
  memcpy(&i.name, bytes, 8);
  memcpy(i.secret, bytes + 16, 16);
  return i;
}

/// A process that knows the packets, and says what it likes.
struct Liar {
  Wire wire;
  int requests = -1;
  explicit Liar(const Queue &victim) {
    int status;
    Peer *peer = wire.meet(identityOf(victim), status);
    demand(peer != nullptr);
    requests = peer->requests;
  }
  /// The victim's queue pair believes that `number` of the liar's is its peer.
  void connect(Queue &victim, uint32_t number) const {
    uint8_t bytes[32] = {};
    memcpy(bytes, &wire.identity.name, 8);
    memcpy(bytes + 16, wire.identity.secret, 16);
    demand(victim.hca->ops->connect_qp(victim.hca, victim.number(), bytes, number) == 0);
  }
  /// The victim's requests: the socket it has opened.
  int served() {
    wait(wire.listener);
    wire.accept();
    for (const auto &[socket, peer] : wire.sockets)
      if (!peer) {
        int file = socket;
        wait(file);
        demand(wire.greet(file));
        return file;
      }
    return -1;
  }
  static void wait(int file) {
    pollfd one = {file, POLLIN, 0};
    demand(poll(&one, 1, 5000) == 1);
  }
  static bool say(int socket, const Packet &p, size_t bytes = 0) {
    static uint8_t zeros[pieceBytes];
    Spans spans;
    if (bytes) spans.add(zeros, bytes);
    for (int i = 0; i < 5000; ++i) {
      Sent sent = Wire::send(socket, p, spans);
      if (sent != Sent::Full) return sent == Sent::Whole;
      usleep(1000);
    }
    return false;
  }
  /// Whether the victim ends the connection, soon.
  static bool closed(int socket) {
    for (;;) {
      pollfd one = {socket, POLLIN, 0};
      if (poll(&one, 1, 2000) != 1) return false;
      uint8_t rest[4096];
      ssize_t n = recv(socket, rest, sizeof rest, 0);
      if (n == 0 || (n < 0 && errno == ECONNRESET)) return true;
    }
  }
};

constexpr uint32_t liarsNumber = 99;

Packet request(uint8_t opcode, const Queue &to) {
  Packet p = {};
  p.kind = PacketKind::Request;
  p.opcode = opcode;
  p.from = liarsNumber;
  p.to = to.number();
  return p;
}

/// Another pair goes on as if nothing were.
void goesOn(Wired &w) {
  w.b.receive();
  w.a.post(send().signal());
  w.a.ring();
  EXPECT_EQ(await(w.a, *w.a.sendCq).syndrome, 0);
}

TEST(Nonsense, requestsThatCannotBe) {
  struct Case {
    const char *what;
    std::function<size_t(Packet &)> spoil;
  };
  const Case cases[] = {
      {"no such opcode", [](Packet &p) { return p.opcode = 0x77, 0; }},
      {"an answer", [](Packet &p) { return p.kind = PacketKind::Done, 0; }},
      {"another greeting", [](Packet &p) { return p.kind = PacketKind::Hello, 0; }},
      {"no kind", [](Packet &p) { return p.kind = PacketKind(77), 0; }},
      {"more than the message", [](Packet &p) { return p.bytes = 10, 11; }},
      {"behind the message", [](Packet &p) { return p.bytes = 10, p.offset = 8, 4; }},
      {"no piece of a message", [](Packet &p) { return p.bytes = 10, 0; }},
      {"longer than any", [](Packet &p) { return p.bytes = 2u << 30, 4; }},
      {"a READ with data", [](Packet &p) { return p.opcode = MLX5_READ, p.bytes = 4, 4; }},
      {"a READ that is too long",
       [](Packet &p) { return p.opcode = MLX5_READ, p.bytes = UINT32_MAX, 0; }},
      {"a short atomic", [](Packet &p) { return p.opcode = MLX5_ATOMIC_FA, p.bytes = 4, 0; }},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(c.what);
    Wired w;
    Queue &victim = w.there.queue(0);
    Liar liar(victim);
    liar.connect(victim, liarsNumber);
    Packet p = request(MLX5_SEND, victim);
    size_t bytes = c.spoil(p);
    Liar::say(liar.requests, p, bytes);
    EXPECT_TRUE(Liar::closed(liar.requests));
    EXPECT_EQ(w.there.fabric.findings().size(), 1u);
    EXPECT_EQ(victim.receiveCq->count(), 0);
    goesOn(w);
  }
}

TEST(Nonsense, pieceOfAnotherLength) {
  Wired w;
  Queue &victim = w.there.queue(0);
  std::vector<uint8_t> memory(100, 7);
  uint32_t key = w.there.key(0, memory.data(), 50);
  Liar liar(victim);
  liar.connect(victim, liarsNumber);
  victim.receive({{memory.data(), 50, key}});
  Packet p = request(MLX5_SEND, victim);
  p.bytes = 50;
  Liar::say(liar.requests, p, 40);
  p.bytes = 100;
  p.offset = 40;
  Liar::say(liar.requests, p, 60);
  EXPECT_TRUE(Liar::closed(liar.requests));
  EXPECT_EQ(memory[50], 7);
  goesOn(w);
}

TEST(Nonsense, answersThatCannotBe) {
  struct Case {
    const char *what;
    uint8_t opcode;
    std::function<size_t(Packet &)> spoil;
  };
  const Case cases[] = {
      {"a request", MLX5_WRITE, [](Packet &) { return 0; }},
      {"data of a WRITE", MLX5_WRITE, [](Packet &p) { return p.kind = PacketKind::Data, 8; }},
      {"no data", MLX5_READ, [](Packet &p) { return p.kind = PacketKind::Data, 0; }},
      {"too many data", MLX5_READ, [](Packet &p) { return p.kind = PacketKind::Data, 65; }},
      {"data not in order", MLX5_READ,
       [](Packet &p) { return p.kind = PacketKind::Data, p.offset = 1, 8; }},
      {"a READ that is over without data", MLX5_READ,
       [](Packet &p) { return p.kind = PacketKind::Done, 0; }},
      {"an error that no peer can tell of", MLX5_WRITE,
       [](Packet &p) { return p.kind = PacketKind::Done, p.syndrome = MLX5_LOCAL_PROT, 0; }},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(c.what);
    Wired w;
    Queue &victim = w.there.queue(0);
    w.there.fabric.setRetry(victim.number(), {.retryCount = 1, .ackTimeout = 8});
    std::vector<uint8_t> memory(200, 7);
    uint32_t key = w.there.key(0, memory.data() + 50, 64);
    Liar liar(victim);
    liar.connect(victim, liarsNumber);
    int served = liar.served();
    victim.post(Wqe(c.opcode).remote(nullptr, 0).data(memory.data() + 50, 64, key));
    victim.ring();
    Liar::wait(served);
    Packet p;
    ASSERT_GE(liar.wire.receive(served, p), 0);
    std::swap(p.from, p.to);
    size_t bytes = c.spoil(p);
    Liar::say(served, p, bytes);
    EXPECT_TRUE(Liar::closed(served));
    EXPECT_EQ(await(victim, *victim.sendCq).syndrome, MLX5_RETRY_EXCEEDED);
    EXPECT_EQ(memory, std::vector<uint8_t>(200, 7));
    goesOn(w);
  }
}

// Of an attempt that is over: it is not taken for the one that is under way.
TEST(Nonsense, aRefusalThatComesLate) {
  Wired w;
  Queue &victim = w.there.queue(0);
  Liar liar(victim);
  liar.connect(victim, liarsNumber);
  int served = liar.served();
  victim.post(send().signal());
  victim.ring();
  Packet first, second;
  Liar::wait(served);
  ASSERT_GE(liar.wire.receive(served, first), 0);
  std::swap(first.from, first.to);
  first.kind = PacketKind::NotReady;
  Liar::say(served, first);
  Liar::wait(served);
  ASSERT_GE(liar.wire.receive(served, second), 0);
  EXPECT_NE(first.epoch, second.epoch);
  Liar::say(served, first);
  second.kind = PacketKind::Done;
  std::swap(second.from, second.to);
  Liar::say(served, second);
  EXPECT_EQ(await(victim, *victim.sendCq).syndrome, 0);
  EXPECT_EQ(w.there.fabric.counters().rnrNaks, 1u);
}

TEST(Nonsense, whoKnowsNoSecretIsNotLetIn) {
  Wired w;
  Identity wrong = identityOf(w.b);
  wrong.secret[1] ^= 1;
  Wire wire;
  int status;
  Peer *peer = wire.meet(wrong, status);
  ASSERT_TRUE(peer);
  EXPECT_TRUE(Liar::closed(peer->requests));
  goesOn(w);
}

TEST(Nonsense, aGreetingOfNoSense) {
  for (size_t length : {size_t{0}, size_t{1}, sizeof(Hello), sizeof(Packet), size_t{5000}}) {
    SCOPED_TRACE(length);
    Wired w;
    Liar liar(w.b);
    // Once more, as the same: the first is there.
    Wire other;
    other.identity = liar.wire.identity;
    int status;
    Peer *peer = other.meet(identityOf(w.b), status);
    ASSERT_TRUE(peer);
    std::vector<uint8_t> rubbish(length, 0xee);
    send(peer->requests, rubbish.data(), length, MSG_NOSIGNAL);
    EXPECT_TRUE(Liar::closed(peer->requests));
    goesOn(w);
  }
}

// Packets that are nearly right, by seed: guards around the memory stand, and others get on.
TEST(Nonsense, randomPackets) {
  uint64_t taken = 0, carriedOut = 0, ended = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Wired w;
    constexpr size_t guard = 256, size = 4096;
    std::vector<uint8_t> memory(size + 2 * guard, 0xa5);
    uint32_t key = w.there.key(0, memory.data() + guard, size);
    Queue &victim = w.there.queue(0, {.logReceive = 6, .logStride = 5});
    for (int i = 0; i < 60; ++i)
      victim.receive(
          {{memory.data() + guard + random() % 100, static_cast<uint32_t>(random() % 3000), key}});
    Liar liar(victim);
    liar.connect(victim, liarsNumber);
    auto pick = [&](std::initializer_list<uint64_t> likely) {
      return random() % 40 == 0 ? random() : likely.begin()[random() % likely.size()];
    };
    Packet p = {};
    for (int i = 0; i < 300; ++i) {
      bool goOn = p.offset < p.bytes && !isRead(p.opcode) && random() % 40;
      if (!goOn) {
        p = request(static_cast<uint8_t>(pick({MLX5_SEND, MLX5_SEND_IMM, MLX5_WRITE, MLX5_WRITE_IMM,
                                               MLX5_READ, MLX5_ATOMIC_FA})),
                    victim);
        p.sequence = static_cast<uint32_t>(taken + pick({0, 0, 0, 1}));
        p.bytes = isAtomic(p.opcode)
                      ? 8
                      : static_cast<uint32_t>(pick({0, 8, 100, 4096, 5000}) % (1u << 20));
        p.key = static_cast<uint32_t>(pick({key}));
        p.remote = reinterpret_cast<uintptr_t>(memory.data()) + guard +
                   pick({0, 0, 8, 64, size}) % (2 * size) - 8 * (random() % 20 == 0);
        p.from = static_cast<uint32_t>(pick({liarsNumber}));
      }
      size_t left = p.bytes >= p.offset ? p.bytes - p.offset : 0;
      size_t bytes =
          isRead(p.opcode) ? 0 : std::min<size_t>(left, random() % 2 ? left : random() % 200);
      if (random() % 100 == 0) bytes = random() % pieceBytes;
      if (!Liar::say(liar.requests, p, std::min<size_t>(bytes, pieceBytes))) {
        ++ended;
        break;
      }
      p.offset += static_cast<uint32_t>(bytes);
      // What is carried out is told; go on with the next.
      uint8_t answer[sizeof(Packet) + 9000];
      pollfd one = {liar.requests, POLLIN, 0};
      while (poll(&one, 1, p.offset >= p.bytes ? 5 : 0) == 1) {
        ssize_t n = recv(liar.requests, answer, sizeof answer, 0);
        if (n < static_cast<ssize_t>(sizeof(Packet))) break;
        Packet got;
        memcpy(&got, answer, sizeof got);
        if (got.kind == PacketKind::Done || got.kind == PacketKind::Data)
          if (got.sequence + 1 > taken && got.offset == 0) taken = got.sequence + 1;
      }
    }
    for (size_t i = 0; i < guard; ++i) {
      ASSERT_EQ(memory[i], 0xa5);
      ASSERT_EQ(memory[memory.size() - 1 - i], 0xa5);
    }
    goesOn(w);
    carriedOut += taken;
    taken = 0;
  }
  EXPECT_GT(ended, 0u);
  EXPECT_GT(carriedOut, 50u);
}

}  // namespace
}  // namespace hca::test
