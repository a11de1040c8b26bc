// SPDX-License-Identifier: BSD-3-Clause
// wide.h - 128 bits, for products of a position and a number of parts.

#pragma once

namespace nbcc {

__extension__ typedef __int128 Wide;  // not ISO C++, but in both compilers we support

}  // namespace nbcc
