// SPDX-License-Identifier: BSD-3-Clause
// optimize.h - the module as it is compiled: cleaned up, no more.

#pragma once

namespace llvm {
class Module;
}

namespace nbcc {

/// Most of a run is spent in the sink, so what pays is little and quick.
void optimize(llvm::Module &);

}  // namespace nbcc
