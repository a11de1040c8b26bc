// SPDX-License-Identifier: BSD-3-Clause
// support.h - what test/codegen/messages.h has, of this target.

#pragma once

#include "codegen/sci/sci.h"

namespace nbcc {
inline const Target &tested = sci;
}

#include "test/codegen/messages.h"
