// SPDX-License-Identifier: BSD-3-Clause
// software.h - libmlx5's part that deals with DevX, over the software HCA: firmware that takes
// commands apart and does what they say. What libibverbs has, devices/verbs_exp does.
//
//   driver   runtime/devx: commands, rings, doorbell records, the doorbell page
//   here     command.cpp: bits of commands      make.cpp: objects, from state to state
//            page.cpp: the page of doorbells    library.cpp: libmlx5's functions, and what they
//            answer
//   below    devices/hca executes what is in the driver's rings
//
// Where each field of a command stands is written here once more, by another hand and from the
// beginning of the command. Every bit that is set has to be one that is looked at, and to make
// sense; else the program ends, and says what was wrong. A real adapter would answer with a
// syndrome, or not at all.
//
// The adapter is of InfiniBand, and reached by its LID, as devices/verbs_exp are. NBC_HCA_DEVICE
// says what it can, NBC_HCA_SEED that it is against the program.

#pragma once

#include <infiniband/mlx5dv.h>  // before what is of nbc

#include <cstdarg>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "devices/verbs_exp/engine.h"

namespace devx {

[[noreturn]] __attribute__((format(printf, 1, 2))) void wrong(const char *what, ...);

/// A command, whose fields are taken out of it.
class Command {
 public:
  Command(const void *bytes, size_t count);
  uint64_t take(uint32_t bit, uint32_t width);
  /// It has to be that.
  void expect(uint32_t bit, uint32_t width, uint64_t value, const char *name);
  /// Nothing is left of it.
  void done(const char *name) const;

 private:
  std::vector<uint8_t> bytes_;
};

// Numbers of what an object is made of: a umem, and where in it.
struct Place {
  uint32_t memory;
  uint64_t offset;
};

struct CqWish {
  uint32_t log, page;
  bool overruns;
  Place ring, record;
};
CqWish takeCreateCq(Command &);

struct ListWish {
  uint32_t logEntries, logStride, domain;
  Place ring, record;
};
ListWish takeCreateList(Command &);

struct PairWish {
  uint32_t domain, page, sendCq, receiveCq, logSend, logReceive, logStride, receives, list;
  bool master, slave;
  Place ring, record;
};
PairWish takeCreatePair(Command &);

struct Peer {
  uint32_t number, firstPacket, lid;
};

/// The one page of doorbells that a context has.
class Page {
 public:
  Page(const ibv_context *, uint32_t number);
  ~Page();
  Page(const Page &) = delete;
  mlx5dv_devx_uar face = {};
  const ibv_context *const context;
  /// Of a queue pair that doorbells start.
  void add(nbc_hca *, const nbc_hca_qp &);
  void remove(uint32_t pair);

 private:
  struct Pair {
    nbc_hca *hca;
    nbc_hca_qp rings;
    uint32_t rung;  // its record, when it was rung
  };
  void look();
  void ring(uint64_t doorbell);

  uint8_t *memory_;
  std::mutex mutex_;
  std::map<uint32_t, Pair> pairs_;
  std::atomic<bool> ending_{false};
  std::thread watcher_;
};

}  // namespace devx
