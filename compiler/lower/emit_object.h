// SPDX-License-Identifier: BSD-3-Clause
// emit_object.h - from a module to the bytes of an object file for this machine.

#pragma once

#include <string>

namespace llvm {
class Module;
}

namespace nbcc {

struct Emission {
  int cpuLevel = 1;    // x86-64-v1 to -v4; elsewhere not looked at
  bool quick = false;  // in half the time, to code that is half as good
};

/// The module becomes one of this machine, and is used up by that. Empty: `why`.
std::string emitObject(llvm::Module &, const Emission &, std::string &why);

}  // namespace nbcc
