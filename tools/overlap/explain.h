// SPDX-License-Identifier: BSD-3-Clause
// explain.h - --explain: the rules by which a change is safe.

#pragma once

namespace nbcc::overlap {

const char *explanation();

}  // namespace nbcc::overlap
