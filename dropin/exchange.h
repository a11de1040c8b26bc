// SPDX-License-Identifier: BSD-3-Clause
/// exchange.h - a bootstrap that waits for nobody: what a plan puts is carried between two steps.
///
///   nbc_plan_create    put    =>  the card of the rank that will ask
///   MPI_Ialltoall             each rank's cards to their ranks
///   nbc_plan_connect   get    <=  the card that came from there
///
/// Plans of messages put something for each of their peers, under a key that ends with a dot and
/// the peer's number (runtime/src/messages_create.c), so of a plan for P ranks each one sends and
/// keeps P cards, and not P times P. What is for all ranks (a key that ends with a word:
/// "nbc.3.calc") is short, and on all cards. A card also says to peers and strangers how the plan
/// was created, and whether its peers have all they need to connect to it.
///
/// Who has no memory for cards can tell nobody so. Of few ranks they are kept from plan to plan.

#pragma once

#include <cstdint>
#include <vector>

#include "nbc.h"

namespace nbcc::dropin {

class Exchange {
 public:
  /// Bytes of a card, at most: of messages of the MPI, and of others.
  enum : std::size_t { plain = 16, with_address = 320 };
  /// Whose functions these are; this must stay where it is.
  nbc_bootstrap bootstrap(int rank, int ranks);
  /// Blank cards that have room for so many bytes. May throw std::bad_alloc.
  void prepare(int ranks, std::size_t room);
  /// Whether prepare() cannot fail, for cards that are no larger than its first.
  static bool is_kept(int ranks) { return ranks <= most_kept; }
  /// Writes on all cards how this rank's plan was created.
  void sign(int status, bool reachable);
  /// Of all cards that came, the first status that is not 0.
  int status() const;
  /// Whether all say so.
  bool reachable() const;

  const void *sent() const { return sent_.data(); }
  void *received() { return received_.data(); }
  /// Of one card.
  int bytes() const { return static_cast<int>(bytes_); }
  /// What is not kept.
  void clear();

 private:
  enum : int { most_kept = 256 };
  struct Head {
    std::int32_t status;
    std::uint32_t bytes;
    std::uint32_t told;  // bytes for all
    std::uint32_t reachable;
    unsigned char all[16];
  };
  /// Of cards that came: until one is not as `look` wants it.
  template <class Look>
  bool all_came(Look look) const;
  int put_all(const void *data, std::size_t bytes);
  static int put(void *, const char *key, const void *data, std::size_t bytes);
  static int get(void *, int rank, const char *key, void *data, std::size_t capacity,
                 std::size_t *bytes);

  std::vector<unsigned char> sent_, received_;
  std::size_t bytes_ = 0;
};

}  // namespace nbcc::dropin
