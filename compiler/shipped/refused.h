// SPDX-License-Identifier: BSD-3-Clause
// refused.h - behind the C faces: what cannot be done, on its way to a status and a text.

#pragma once

#include <string>

#include "dsl/diag.h"

namespace nbcc {

/// Thrown by refuse(); no C face lets it out.
struct Refused {
  int status;  // of nbc.h
  std::string why;
};

template <class... Part>
[[noreturn]] void refuse(int status, const Part &...parts) {
  throw Refused{status, cat(parts...)};
}

}  // namespace nbcc
