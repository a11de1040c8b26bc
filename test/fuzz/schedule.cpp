// SPDX-License-Identifier: BSD-3-Clause
// schedule.cpp - any bytes, read as schedules, verified, printed, and read again: the same comes
// out.
//
// Those that keep their promises and are small also go through the prover, which has to give an
// answer, whatever it is.

#include "compiler/ir/schedule.h"

#include "compiler/prove/prove.h"
#include "test/fuzz/fuzz.h"

namespace nbcc {
namespace {

constexpr int64_t kMostBlocks = 64;  // and as many parts: the proof takes time for each cell
constexpr size_t kMostRanks = 16;

std::string printed(const std::vector<Schedule> &schedules) {
  std::ostringstream out;
  for (const Schedule &s : schedules) print(s, out);
  return out.str();
}

bool smallSection(Section section) {
  for (const Extent &e : section)
    if (e.parts > kMostBlocks) return false;
  return true;
}

bool small(const Schedule &s) {
  for (const Buffer &b : s.buffers)
    if (b.blocks > kMostBlocks || !smallSection(b.like)) return false;
  for (const Step &step : s.steps)
    if (!smallSection(s.from(step)) || !smallSection(s.with(step)) || !smallSection(s.to(step)))
      return false;
  return true;
}

void readAndPrint(const std::string &text) {
  Attempt first;
  const std::vector<Schedule> schedules =
      readSchedules(first.diag.addFile("input", text), first.diag);
  first.spoken();
  if (!first.diag.ok()) return;
  const std::string once = printed(schedules);

  Attempt second;
  const std::vector<Schedule> again =
      readSchedules(second.diag.addFile("printed", once), second.diag);
  wanted(second.diag.ok(), "what was printed is refused: ", second.said.str(), once);
  const std::string twice = printed(again);
  wanted(once == twice, "printed, read and printed:\n", once, "is now\n", twice);

  bool all = schedules.size() <= kMostRanks;
  for (const Schedule &s : schedules) {
    verify(s, first.diag);
    all = all && small(s);
  }
  first.spoken();
  if (!all || !first.diag.ok()) return;
  const Proof proof = prove(schedules, {}, first.diag);
  wanted(proof.holds == first.diag.ok(), "a proof that ", proof.holds ? "holds" : "fails",
         ", and this said: ", first.said.str());
}

}  // namespace
}  // namespace nbcc

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  nbcc::readAndPrint({reinterpret_cast<const char *>(bytes), size});
  return 0;
}
