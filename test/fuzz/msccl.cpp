// SPDX-License-Identifier: BSD-3-Clause
// msccl.cpp - any bytes, read as MSCCL's XML: refused, or schedules that get an answer.
//
// What is made of it is printed, read again and printed to the same text. verify() may
// find that `in` is written, and nothing else: the rest was checked when it was made.

#include "compiler/exchange/msccl.h"

#include <algorithm>

#include "compiler/prove/prove.h"
#include "test/fuzz/fuzz.h"

namespace nbcc {
namespace {

constexpr int64_t kMostChunks = 256;      // the proof takes time for each
constexpr int64_t kMostPlaces = 1 << 20;  // memory is touched for each: millions take seconds
constexpr size_t kMostGpus = 16;

bool small(const Msccl &m) {
  return m.gpus.size() <= kMostGpus && m.chunksPerLoop <= kMostChunks &&
         std::ranges::all_of(m.gpus,
                             [](const MscclGpu &g) { return g.scratchChunks <= kMostChunks; });
}

bool quick(const Msccl &m) {
  int64_t places = 0;
  for (const MscclGpu &g : m.gpus) places += g.scratchChunks;
  return places <= kMostPlaces;
}

std::string printed(const std::vector<Schedule> &schedules) {
  std::ostringstream out;
  for (const Schedule &s : schedules) print(s, out);
  return out.str();
}

bool writesInput(const Schedule &s) {
  return std::ranges::any_of(s.steps, [&](const Step &step) {
    return std::ranges::any_of(
        s.to(step), [&](const Extent &e) { return s.buffers[e.buffer].role == Role::in; });
  });
}

void schedule(const std::string &text, bool inPlace) {
  Attempt run;
  const std::optional<Msccl> msccl = readMsccl(run.diag.addFile("input.xml", text), run.diag);
  if ((inPlace ? !msccl->inPlace : !msccl->outOfPlace) || !quick(*msccl)) return;
  const std::vector<Schedule> all = scheduleMsccl(*msccl, inPlace, run.diag);
  run.spoken();
  wanted(all.empty() != run.diag.ok(), all.size(), " schedules, and this said: ", run.said.str());
  if (all.empty() || !small(*msccl)) return;

  for (const Schedule &s : all) verify(s, run.diag);
  run.spoken();
  wanted(run.diag.ok() != std::ranges::any_of(all, writesInput), "verify() says:\n",
         run.said.str());
  if (!run.diag.ok()) return;

  const std::string once = printed(all);
  Attempt second;
  const std::vector<Schedule> again =
      readSchedules(second.diag.addFile("printed", once), second.diag);
  wanted(second.diag.ok() && printed(again) == once,
         "what was printed is not what is read: ", second.said.str(), once);

  const Proof proof = prove(all, {}, run.diag);
  wanted(proof.holds == run.diag.ok(), "a proof that ", proof.holds ? "holds" : "fails",
         ", and this said: ", run.said.str());
}

}  // namespace
}  // namespace nbcc

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  nbcc::Attempt run;
  const std::string text(reinterpret_cast<const char *>(bytes), size);
  const bool read = nbcc::readMsccl(run.diag.addFile("input.xml", text), run.diag).has_value();
  nbcc::wanted(read == run.diag.ok(), "read, or refused, not both: ", run.said.str());
  run.spoken();
  if (!read) return 0;
  for (const bool inPlace : {false, true}) nbcc::schedule(text, inPlace);
  return 0;
}
