// SPDX-License-Identifier: BSD-3-Clause
// wire.cpp - sockets are opened, connected, accepted, waited for and closed.

#include "devices/hca/wire.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "devices/hca/engine.h"
#include "nbc.h"

// Where one process plays several, tsan cannot see that what one has sent the other has received:
// here they say so.
#if defined __SANITIZE_THREAD__
#define NBC_HCA_TOLD 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define NBC_HCA_TOLD 1
#endif
#endif
#ifdef NBC_HCA_TOLD
extern "C" void __tsan_acquire(void *);
extern "C" void __tsan_release(void *);
#endif

namespace hca {

namespace {

#ifdef NBC_HCA_TOLD
char order;
void toldRelease() {
  __tsan_release(&order);
}
void toldAcquire() {
  __tsan_acquire(&order);
}
#else
void toldRelease() {}
void toldAcquire() {}
#endif

constexpr uint8_t version = 1;
constexpr int roomAsked = 1 << 20;  // of a socket; the system may give less

[[noreturn]] void fail(const char *what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int newSocket() {
  return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/// An abstract address: no file, and gone with its socket.
socklen_t place(uint64_t name, sockaddr_un &address) {
  address = {};
  address.sun_family = AF_UNIX;
  int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "nbc-hca-%016llx",
                        static_cast<unsigned long long>(name));
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
}

/// Who is at the other end; false: another user.
bool sameUser(int socket, ucred &who) {
  socklen_t bytes = sizeof who;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 && who.uid == geteuid();
}

void makeRoom(int socket) {
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &roomAsked, sizeof roomAsked);
}

int statusOf(int error) {
  if (error == ENOMEM || error == ENOBUFS) return NBC_ERROR_MEMORY;
  if (error == EMFILE || error == ENFILE || error == EAGAIN) return NBC_ERROR_RESOURCES;
  return NBC_ERROR_DEVICE;  // nobody is there: the process has ended, or is on another machine
}

}  // namespace

Identity identityOfLid(uint16_t lid) {
  return {.name = uint64_t{0x11d} << 48 | uint64_t{geteuid()} << 16 | lid};
}

Wire::Wire(uint16_t lid) : piece(new uint8_t[pieceBytes]) {
  try {
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) fail("epoll_create1");
    bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (bell < 0) fail("eventfd");
    listener = newSocket();
    if (listener < 0) fail("socket");
    sockaddr_un address;
    do {
      if (lid)
        identity = identityOfLid(lid);
      else if (getrandom(&identity, sizeof identity, 0) != sizeof identity)
        fail("getrandom");
      socklen_t bytes = place(identity.name, address);
      errno = 0;
      if (bind(listener, reinterpret_cast<sockaddr *>(&address), bytes) &&
          (errno != EADDRINUSE || lid))
        fail("bind");
    } while (errno == EADDRINUSE);
    if (::listen(listener, SOMAXCONN)) fail("listen");
    epoll_event event = {EPOLLIN, {.fd = listener}};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event)) fail("epoll_ctl");
  } catch (...) {
    for (int file : {listener, bell, epoll})
      if (file >= 0) close(file);
    throw;
  }
}

Wire::~Wire() {
  for (const auto &[file, peer] : sockets) close(file);
  for (int file : {listener, bell, epoll})
    if (file >= 0) close(file);
}

void Wire::watch(int socket, uint32_t events) {
  epoll_event event = {events, {.fd = socket}};
  epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event);
}

Peer &Wire::know(const Identity &who) {
  std::unique_ptr<Peer> &peer = peers[who];
  if (!peer || (peer->lost && peer->queuePairs.empty()))
    peer = std::make_unique<Peer>(Peer{.identity = who});
  return *peer;
}

Peer *Wire::meet(const Identity &who, int &status) {
  Peer *peer = &know(who);
  status = NBC_ERROR_DEVICE;
  if (peer->lost) return nullptr;
  status = 0;
  if (peer->requests >= 0) return peer;

  sockaddr_un address;
  ucred other = {};
  int socket = newSocket();
  socklen_t bytes = place(who.name, address);
  if (socket < 0 || connect(socket, reinterpret_cast<sockaddr *>(&address), bytes)) {
    status = statusOf(errno);
  } else if (!sameUser(socket, other)) {
    status = NBC_ERROR_DEVICE;
  } else {
    makeRoom(socket);
    const Hello hello = {PacketKind::Hello, version, {}, identity, who};
    epoll_event event = {EPOLLIN, {.fd = socket}};
    if (::send(socket, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event))
      status = statusOf(errno);
  }
  if (status) {
    if (socket >= 0) close(socket);
    return nullptr;
  }
  peer->requests = socket;
  sockets[socket] = peer;
  if (other.pid > 0 && other.pid != getpid()) {
    int process = static_cast<int>(syscall(SYS_pidfd_open, other.pid, 0));
    epoll_event event = {EPOLLIN, {.fd = process}};
    if (process >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, process, &event) == 0)
      sockets[peer->process = process] = peer;
    else if (process >= 0)
      close(process);
  }
  return peer;
}

void Wire::accept() {
  for (;;) {
    int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (socket < 0 && errno == EAGAIN) return;
    if (socket < 0) {
      // No more descriptors, or no memory: those who wait are told so by the end of the listener.
      close(listener);
      listener = -1;
      return;
    }
    ucred who;
    epoll_event event = {EPOLLIN, {.fd = socket}};
    if (!sameUser(socket, who) || epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event)) {
      close(socket);
      continue;
    }
    makeRoom(socket);
    sockets[socket] = nullptr;
  }
}

bool Wire::greet(int socket) {
  Hello hello;
  ssize_t bytes = recv(socket, &hello, sizeof hello, MSG_TRUNC);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (bytes == sizeof hello && hello.kind == PacketKind::Hello && hello.version == version &&
      hello.to == identity) {
    Peer &peer = know(hello.from);
    if (!peer.lost && peer.served < 0) {
      peer.served = socket;
      sockets[socket] = &peer;
      return true;
    }
  }
  closeSocket(socket);
  return false;
}

void Wire::closeSocket(int &socket) {
  if (socket < 0) return;
  sockets.erase(socket);
  close(socket);
  socket = -1;
}

void Wire::closeAll(Peer &peer) {
  for (int *socket : {&peer.requests, &peer.served, &peer.process}) closeSocket(*socket);
}

Sent Wire::send(int socket, const Packet &packet, const Spans &spans) {
  iovec parts[65] = {{const_cast<Packet *>(&packet), sizeof packet}};
  for (int i = 0; i < spans.count; ++i) parts[i + 1] = {spans.span[i].at, spans.span[i].bytes};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = static_cast<size_t>(spans.count) + 1;
  toldRelease();
  for (;;) {
    if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Sent::Whole;
    if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) return Sent::Full;
    if (errno != EINTR) return Sent::Gone;
  }
}

int64_t Wire::receive(int socket, Packet &packet) {
  iovec parts[2] = {{&packet, sizeof packet}, {piece.get(), pieceBytes}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  // A process that ended with packets of ours unread says so first; then comes what it had sent.
  for (bool reset = false;;) {
    ssize_t bytes = recvmsg(socket, &message, MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0 && errno == EAGAIN) return -1;
    if (bytes < 0 && errno == ECONNRESET && !reset) {
      reset = true;
      continue;
    }
    if (bytes <= 0) return -3;
    if (static_cast<size_t>(bytes) < sizeof packet || message.msg_flags & MSG_TRUNC) return -2;
    toldAcquire();
    return bytes - static_cast<ssize_t>(sizeof packet);
  }
}

void Wire::sleep(int64_t nanoseconds) {
  timespec time = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  pollfd files[2] = {{bell, POLLIN, 0}, {epoll, POLLIN, 0}};
  ppoll(files, 2, nanoseconds < 0 ? nullptr : &time, nullptr);
  uint64_t rings;
  if (files[0].revents) [[maybe_unused]]
    ssize_t taken = read(bell, &rings, sizeof rings);
}

void Wire::ring() const {
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(bell, &one, sizeof one);
}

}  // namespace hca
