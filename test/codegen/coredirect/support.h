// SPDX-License-Identifier: BSD-3-Clause
// support.h - what test/codegen/stages.h has, of this target.

#pragma once

#include "codegen/coredirect/coredirect.h"
#include "codegen/coredirect/view.h"
#include "nbc/mlx5_wqe.h"

namespace nbcc {
inline const Target &tested = coredirect;
}

#include "test/codegen/stages.h"

namespace nbcc {

/// After a change, so that nothing but the change is refused.
inline void seal(Template &t) {
  auto *header = reinterpret_cast<nbc_template *>(t.words.data());
  header->checksum = nbc_template_checksum(t.words.data(), t.bytes);
}

}  // namespace nbcc
