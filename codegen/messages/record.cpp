// SPDX-License-Identifier: BSD-3-Clause
// record.cpp - bytes of one record.
//
//   %1 = recv out[0] from 4     =>   01 00 00 00 | peer 0      | 00 00 00 00 | 00 00 00 00
//                                    address and bytes: SGE, piece out[0]
//   wait for %1                      02 00 00 00 | 00 00 00 00 | record 0    | 00 00 00 00

#include "codegen/messages/record.h"

namespace nbcc::messages {

Data dataOf(const Schedule &s, const Record &record, codegen::Places &places) {
  if (record.op == NBC_MESSAGE_WAIT) return {};
  const Step &step = s.steps[record.step];
  const Section section = record.op == NBC_MESSAGE_SEND ? s.from(step) : s.to(step);
  if (section.empty()) return {};
  if (section.size() == 1) return {places.place(section[0]), true};
  const nbc_range pieces = places.section(section);
  return {{pieces.begin, pieces.count}, false};
}

bool write(const Record &record, const Step &step, uint32_t peer, const Data &data,
           unsigned char *code, uint32_t at, nbc_reloc &fill) {
  auto *bytes = reinterpret_cast<nbc_message_record *>(code + at);
  bytes->op = record.op;
  if (record.op == NBC_MESSAGE_WAIT) {
    bytes->record = record.of;
  } else {
    bytes->peer = peer;
    bytes->port = static_cast<uint32_t>(step.port);
  }
  if (data.pieces.count == 0) return false;
  fill.at = at + static_cast<uint32_t>(NBC_MESSAGE_RECORD_SGE);
  fill.rule = data.oneRun ? NBC_RELOC_SGE : NBC_RELOC_PIECES;
  fill.what = data.pieces.first;
  fill.extra = data.pieces.count - 1;
  return true;
}

}  // namespace nbcc::messages
