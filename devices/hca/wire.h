// SPDX-License-Identifier: BSD-3-Clause
// wire.h - what joins the adapters of a machine's processes: sockets, and the packets on them.
//
// Each process that wants to be reached listens at an abstract address of AF_UNIX. Who has a queue
// pair for one of its own connects to it. On such a socket the requests of the process that
// connected go one way, and the answers to them come back; requests of the other go on a socket of
// its own. So answers have room that no request can take, and whoever reads what comes never has to
// send anything first: two processes that flood each other get on.
//
//   process A   requests ------------------> served   process B
//               answers  <------------------
//               served   <------------------ requests
//                        ------------------> answers
//
// Memory is touched by the process that owns it, through its own keys, and by no other. The kernel
// bounds what is under way, keeps its order, wakes who sleeps, and says at once that a process is
// gone, whatever became of it; an address ends with its process, so there is nothing to clear up.
//
// Packets keep their boundaries (SOCK_SEQPACKET). A message is cut into pieces, and pieces of all
// queue pairs take turns, so a long message holds up nobody else's.
//
// What arrives is not trusted. A peer is of the same user and knows a secret that is in addresses
// alone; a queue pair hears only the one that it was connected to; kinds, numbers and lengths are
// looked at before anything is touched. A packet that no adapter would send ends the connection.
//
// Programs for verbs tell each other a LID and a queue pair number, by means of their own, and no
// secret would fit. Their processes listen at an address that is made of the user and the LID.

#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/hca/fifo.h"

namespace hca {

struct Spans;

/// Who a process is: where it listens, and what only those know who were given its address.
struct Identity {
  uint64_t name = 0;
  uint64_t secret[2] = {};
  auto operator<=>(const Identity &) const = default;
};

/// The process of this user that has a LID; programs tell each other no more than that.
Identity identityOfLid(uint16_t lid);

enum class PacketKind : uint8_t { Hello = 1, Request, Data, Done, NotReady, Silent, Farewell };

/// Of a request, or of an answer to one. What is of no use to a kind is 0.
struct Packet {
  PacketKind kind;
  uint8_t opcode;
  uint8_t syndrome;   // Done: 0, or why it failed
  uint8_t flags;      // of a Request, below
  uint32_t from, to;  // queue pairs
  uint32_t sequence;  // of the message among those of its queue pair
  uint32_t epoch;     // of the attempt; answers repeat it
  uint32_t bytes;     // of the whole message
  uint32_t offset;    // of this piece
  uint32_t key;
  uint64_t remote, operand, compare;
  uint8_t immediate[4];
  uint32_t timer;  // NotReady: code of the time to wait for
};
static_assert(sizeof(Packet) == 64);
enum : uint8_t {
  packetPatient = 1,   // tries for ever where there is no receive
  packetSolicited = 2  // whoever waits for such a message alone is told
};

/// The first packet on a socket.
struct Hello {
  PacketKind kind;
  uint8_t version, pad[6];
  Identity from, to;
};
static_assert(sizeof(Hello) == 56);

constexpr uint32_t pieceBytes = 60u << 10;

/// An answer that has not gone yet. Data of a READ are read when they go.
struct Reply {
  Packet packet = {};
  uint8_t inlined[8] = {};  // of an atomic
};

/// Of a queue pair that takes nothing any more, to the one that was connected to it.
struct Farewell {
  uint32_t from, to;
};

/// Another process.
struct Peer {
  Identity identity;
  int requests = -1, served = -1;  // sockets
  int process = -1;                // pidfd: a child that it forked may hold its sockets open
  bool full = false;               // requests: no room; whoever wants to send waits
  bool repliesFull = false;        // served: likewise
  bool paused = false;             // too many replies wait: its requests are not read
  uint32_t servedEvents = 1;       // EPOLLIN: what is waited for there
  bool doomed = false, lost = false;
  Fifo<uint32_t> wanting;  // queue pairs with something to send
  Fifo<Farewell> farewells;
  Fifo<Reply> replies;
  std::vector<uint32_t> queuePairs;  // connected to it
};

enum class Sent { Whole, Full, Gone };

/// The sockets of a process. Knows nothing of queues.
struct Wire {
  /// Reached by its LID, or, where that is 0, by a name that nobody can guess. Throws
  /// std::system_error: EADDRINUSE where another has that LID.
  explicit Wire(uint16_t lid = 0);
  ~Wire();
  Wire(const Wire &) = delete;
  Wire &operator=(const Wire &) = delete;

  /// What is known of it; made if it is not known. One that has ended and is of no concern to a
  /// queue pair any more is forgotten: another may have its LID.
  Peer &know(const Identity &);
  /// That process, connected to. Null: `status` says why.
  Peer *meet(const Identity &, int &status);
  /// A connection is waiting.
  void accept();
  /// The first packet of a socket that nobody is known for. False: it was closed.
  bool greet(int socket);
  void closeSocket(int &socket);
  void closeAll(Peer &);
  /// What to be told of a socket: EPOLLIN, EPOLLOUT.
  void watch(int socket, uint32_t events);

  static Sent send(int socket, const Packet &, const Spans &);
  /// Into `packet` and `piece`; the bytes of the piece. -1: nothing there; -2: nonsense; -3: gone.
  int64_t receive(int socket, Packet &);

  /// Until a packet, a ring or `nanoseconds` (negative: for ever).
  void sleep(int64_t nanoseconds);
  void ring() const;

  Identity identity;
  int listener = -1, epoll = -1, bell = -1;
  std::map<Identity, std::unique_ptr<Peer>> peers;
  std::map<int, Peer *> sockets;  // null: nothing was said on it yet
  std::unique_ptr<uint8_t[]> piece;
};

}  // namespace hca
