// SPDX-License-Identifier: BSD-3-Clause
// sisci.h - SISCI in software: networks within one process, for simulations and tests.
//
//   sisci::Fabric fabric({.mode = sisci::Mode::Simulated, .seed = 7, .adversarial = true});
//   unsigned rank0 = fabric.addAdapter(), rank1 = fabric.addAdapter();
//   SCIInitialize(0, &error);
//   ... SCIConnectSegment(sd, &segment, fabric.node(rank1), id, rank0, ...) ...
//   sisci::Run run = fabric.run([&](uint32_t rank) { ...; return true; });
//
// The functions are those of sisci_api.h; which rank calls is told by the number of its adapter. A
// process without a Fabric has the adapters that its environment names (environment.cpp), in a
// network with other processes of this machine; that is what libsisci.so is for.
//
// Real time: ranks are threads, or processes. A map of a remote segment is that memory itself, and
// a thread of the library's carries out DMA, calls back, and looks for those who have died.
//
// Simulated time: single-threaded; run() executes events in the order of their time. A barrier
// occupies the host for `store` and `storeByte` for each byte of the words stored to; the bytes
// arrive `latency` later. A transfer of DMA arrives `dmaStart` and then `dmaByte` for each byte
// after it was started; those of one adapter follow one another. The same options and calls give
// the same events. Functions that wait execute events until what they wait for is there.
//
// Adversarial, or in simulated time: a map of a remote segment is a shadow of it (stores.cpp). What
// is stored is held back until a barrier, which moves it by words of 8 bytes. Adversarial: in any
// order, some words early, some stores lost where a sequence says so, some transfers failing
// half-way; elements of a vector are read and written late and in any order. Never against the
// rules of sisci_api.h.
//
// Not modelled: broadcast, memory of other devices, several paths, loads that take time, senders
// that meet at one receiver's link.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sisci/sisci_api.h"

namespace sisci {

struct Network;

using Time = int64_t;  // picoseconds
constexpr Time nanosecond = 1'000, microsecond = 1'000'000, millisecond = 1'000'000'000;

enum class Mode { RealTime, Simulated };

/// What things cost in simulated time.
struct Cost {
  Time latency;    // of a store, and of an interrupt
  Time store;      // of the host, for a barrier that has something to push
  Time storeByte;  // of the host, for each byte of the words stored to
  Time check;      // of the host, for a sequence check
  Time dmaStart;   // from the call until the first byte moves
  Time dmaByte;
};

/// An SCI card of 2006: stores 1.4 us and 325 MiB/s, DMA 34.5 us and 195 MiB/s.
constexpr Cost paper = {1'400 * nanosecond, 100 * nanosecond,    2'934,
                        1'500 * nanosecond, 34'500 * nanosecond, 4'891};
/// PCIe of today: stores 1.1 us, DMA 10 us and 10.4 GB/s. How fast stores are is a guess.
constexpr Cost today = {1'100 * nanosecond, 50 * nanosecond,  500,
                        1'000 * nanosecond, 10 * microsecond, 96};

/// What the adapters say of themselves (SCIQuery), and refuse.
struct Facts {
  uint32_t dmaChannels = 4;  // 0: there is no DMA
  uint32_t longestTransfer = 16u << 20;
  uint32_t longestVector = DIS_DMA_MAX_VECLEN;
  uint32_t alignment = 8;  // of DMA: sizes and offsets
  uint32_t queueEntries = 256;
  uint32_t copyAlignment = 1;  // of SCIMemCpy; 4 on SCI cards
};

struct Options {
  Mode mode = Mode::RealTime;
  uint64_t seed = 1;
  Cost cost = today;
  bool adversarial = false;
  uint32_t faults = 32;  // adversarial: one of so many stores or transfers fails; 0: none
  bool trace = false;
  Facts facts;
};

struct Moved {
  uint32_t from, to;  // ranks; of a read, from where the data are
  Time started, arrived;
  uint64_t bytes;
  bool dma;
  bool operator==(const Moved &) const = default;
};

struct Counters {
  uint64_t events = 0;                   // simulated time
  uint64_t stores = 0, storedBytes = 0;  // pushed by barriers or early
  uint64_t early = 0;                    // words, before any barrier
  uint64_t lost = 0;                     // words
  uint64_t transfers = 0, transferBytes = 0, failed = 0;
  uint64_t interrupts = 0;
};

enum class Run {
  Quiet,    // nothing is left to do
  Stopped,  // by the callback
  Limit     // of time or events
};

struct RunLimits {
  Time until = INT64_MAX;
  uint64_t events = UINT64_MAX;
};

/// Adapters and what connects them; what was made on them goes with it. A process that has one
/// does not look into its environment.
class Fabric {
 public:
  explicit Fabric(const Options & = {});
  ~Fabric();
  Fabric(const Fabric &) = delete;
  Fabric &operator=(const Fabric &) = delete;

  /// The number of the next rank's adapter, which no other adapter of this process has.
  unsigned addAdapter();
  /// The node id of one of its adapters.
  unsigned node(unsigned adapter) const;

  /// Simulated time only. Executes events until nothing is left that could happen without a
  /// host. `seen` is called when something has come into memory of this rank's, or a transfer or
  /// an interrupt of its has ended; in it anything may be called but run().
  Run run(const std::function<bool(uint32_t rank)> &seen = {}, const RunLimits & = {});

  /// Since the fabric was made.
  Time now() const;

  /// Simulated time only: the host of this rank works for `work` from now, or from the end of what
  /// it is doing; what it asks for from here on happens afterwards.
  void hostBusy(uint32_t rank, Time work);
  /// Likewise: when it is done with that.
  Time hostFree(uint32_t rank) const;

  std::vector<Moved> trace() const;
  Counters counters() const;

  /// A fault: the node of this rank is dead for everybody.
  void kill(uint32_t rank);

 private:
  Network *network_;
};

}  // namespace sisci
