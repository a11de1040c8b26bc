// SPDX-License-Identifier: BSD-3-Clause
// posted.h - how many work requests all devices of a test have posted, by operation.

#pragma once

#include <map>

#include "nbc/verbs.h"

namespace posted {

inline std::map<ibv_wr_opcode, int> all, withBytes;
inline const nbc_verbs_ops *without;

inline int count(nbc_verbs *v, void *qp, ibv_send_wr *first) {
  for (const ibv_send_wr *wr = first; wr; wr = wr->next) {
    ++all[wr->opcode];
    withBytes[wr->opcode] += wr->num_sge != 0;
  }
  return without->post_send(v, qp, first);
}

/// From nothing on, of devices to which this is done.
inline void watch(nbc_verbs &v) {
  static nbc_verbs_ops with;
  if (v.ops != &with) without = v.ops;
  with = *without;
  with.post_send = count;
  v.ops = &with;
  all.clear();
  withBytes.clear();
}

}  // namespace posted
