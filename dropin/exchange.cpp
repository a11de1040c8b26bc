// SPDX-License-Identifier: BSD-3-Clause
// exchange.cpp - cards: a head, and what a plan has to say to one peer.

#include "dropin/exchange.h"

#include <cstdlib>
#include <cstring>

namespace nbcc::dropin {

nbc_bootstrap Exchange::bootstrap(int rank, int ranks) {
  return {rank, ranks, this, put, get, nullptr, nullptr};
}

void Exchange::prepare(int ranks, std::size_t room) {
  bytes_ = sizeof(Head) + room;
  sent_.assign(static_cast<std::size_t>(ranks) * bytes_, 0);
  received_.assign(sent_.size(), 0);
}

void Exchange::sign(int status) {
  for (std::size_t at = 0; at < sent_.size(); at += bytes_)
    std::memcpy(&sent_[at] + offsetof(Head, status), &status, sizeof status);
}

int Exchange::status() const {
  Head head;
  for (std::size_t at = 0; at < received_.size(); at += bytes_) {
    std::memcpy(&head, &received_[at], sizeof head);
    if (head.status) return head.status;
  }
  return 0;
}

void Exchange::clear() {
  sent_ = {};
  received_ = {};
}

int Exchange::put(void *context, const char *key, const void *data, std::size_t bytes) {
  auto *self = static_cast<Exchange *>(context);
  const char *dot = std::strrchr(key, '.');
  const std::size_t at = dot ? std::strtoul(dot + 1, nullptr, 10) * self->bytes_ : SIZE_MAX;
  if (at >= self->sent_.size() || bytes > self->bytes_ - sizeof(Head)) return -1;
  const Head head = {0, static_cast<std::uint32_t>(bytes)};
  std::memcpy(&self->sent_[at], &head, sizeof head);
  std::memcpy(&self->sent_[at] + sizeof head, data, bytes);
  return 0;
}

int Exchange::get(void *context, int rank, const char *, void *data, std::size_t capacity,
                  std::size_t *bytes) {
  const auto *self = static_cast<Exchange *>(context);
  const std::size_t at = static_cast<std::size_t>(rank) * self->bytes_;
  Head head;
  if (at >= self->received_.size()) return -1;
  std::memcpy(&head, &self->received_[at], sizeof head);
  if (head.bytes == 0 || head.bytes > self->bytes_ - sizeof head || head.bytes > capacity)
    return -1;
  std::memcpy(data, &self->received_[at] + sizeof head, head.bytes);
  *bytes = head.bytes;
  return 0;
}

}  // namespace nbcc::dropin
