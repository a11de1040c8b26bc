// SPDX-License-Identifier: BSD-3-Clause
// verify_words.h - the part of verify_template.cpp for queues that are chained by words.

#pragma once

#include <vector>

#include "codegen/coredirect/view.h"

namespace nbcc::crosschannel {

/// Reports what does not follow from the bytes of a variant. `owners`: as PlaceVerifier has it.
void verifyWords(const View &, const nbc_variant &, const Schedule &, std::vector<uint32_t> &owners,
                 Diag &);

}  // namespace nbcc::crosschannel
