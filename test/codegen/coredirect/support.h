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
