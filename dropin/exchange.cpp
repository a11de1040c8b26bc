// SPDX-License-Identifier: BSD-3-Clause
// exchange.cpp - cards: a head, and what a plan has to say to one peer.

#include "dropin/exchange.h"

#include <cstdlib>
#include <cstring>

#include "dropin/below.h"

namespace nbcc::dropin {

namespace {

/// The number of the rank that a key is for; null: it is for all.
const char *peer_of(const char *key) {
  const char *dot = std::strrchr(key, '.');
  return dot && dot[1] >= '0' && dot[1] <= '9' ? dot + 1 : nullptr;
}

}  // namespace

// What a progress thread asks of the MPI is not a program's: it holds a plan's lock, and must not
// wait for ours, under which others wait for that.
nbc_bootstrap Exchange::bootstrap(int rank, int ranks) {
  return {rank, ranks, this, put, get, nullptr, nullptr, [](void *) { ++passing; }};
}

void Exchange::prepare(int ranks, std::size_t room) {
  bytes_ = sizeof(Head) + room;
  sent_.assign(static_cast<std::size_t>(ranks) * bytes_, 0);
  received_.assign(sent_.size(), 0);
}

void Exchange::sign(int status, bool reachable) {
  const std::uint32_t said = reachable;
  for (std::size_t at = 0; at < sent_.size(); at += bytes_) {
    std::memcpy(&sent_[at] + offsetof(Head, status), &status, sizeof status);
    std::memcpy(&sent_[at] + offsetof(Head, reachable), &said, sizeof said);
  }
}

template <class Look>
bool Exchange::all_came(Look look) const {
  Head head;
  for (std::size_t at = 0; at < received_.size(); at += bytes_) {
    std::memcpy(&head, &received_[at], sizeof head);
    if (!look(head)) return false;
  }
  return true;
}

bool Exchange::reachable() const {
  return all_came([](const Head &head) { return head.reachable != 0; });
}

int Exchange::status() const {
  int first = 0;
  all_came([&first](const Head &head) { return (first = head.status) == 0; });
  return first;
}

void Exchange::clear() {
  if (bytes_ && is_kept(static_cast<int>(sent_.size() / bytes_))) return;
  sent_ = {};
  received_ = {};
}

int Exchange::put_all(const void *data, std::size_t bytes) {
  if (bytes > sizeof Head::all) return -1;
  const auto told = static_cast<std::uint32_t>(bytes);
  for (std::size_t at = 0; at < sent_.size(); at += bytes_) {
    std::memcpy(&sent_[at] + offsetof(Head, told), &told, sizeof told);
    std::memcpy(&sent_[at] + offsetof(Head, all), data, bytes);
  }
  return 0;
}

int Exchange::put(void *context, const char *key, const void *data, std::size_t bytes) {
  auto *self = static_cast<Exchange *>(context);
  const char *peer = peer_of(key);
  if (!peer) return self->put_all(data, bytes);
  const std::size_t at = std::strtoul(peer, nullptr, 10) * self->bytes_;
  if (at >= self->sent_.size() || bytes > self->bytes_ - sizeof(Head)) return -1;
  const auto length = static_cast<std::uint32_t>(bytes);
  std::memcpy(&self->sent_[at] + offsetof(Head, bytes), &length, sizeof length);
  std::memcpy(&self->sent_[at] + sizeof(Head), data, bytes);
  return 0;
}

int Exchange::get(void *context, int rank, const char *key, void *data, std::size_t capacity,
                  std::size_t *bytes) {
  const auto *self = static_cast<Exchange *>(context);
  const std::size_t at = static_cast<std::size_t>(rank) * self->bytes_;
  Head head;
  if (at >= self->received_.size()) return -1;
  std::memcpy(&head, &self->received_[at], sizeof head);
  const bool all = !peer_of(key);
  const std::uint32_t length = all ? head.told : head.bytes;
  const std::size_t room = all ? sizeof head.all : self->bytes_ - sizeof head;
  if (length == 0 || length > room || length > capacity) return -1;
  std::memcpy(data, all ? head.all : &self->received_[at] + sizeof head, length);
  *bytes = length;
  return 0;
}

}  // namespace nbcc::dropin
