// SPDX-License-Identifier: BSD-3-Clause
// legalize.cpp - messages stay where they lie, however many places that is.
//
//   %0 = recv out[0], out[2] from 1   =>   the same: the host copies out of slots anyway
//   %1 = send in[0], in[2] to 1            the same: it stores run by run
//
// What there is to refuse, codegen/messages refuses; and a protocol, which is the runtime's.

#include "codegen/messages/messages.h"
#include "codegen/sci/sci.h"

namespace nbcc {

std::vector<Legal> sci_legalize(const Schedule &given, const Schedule *inPlace,
                                const TargetOptions &options, Diag &diag) {
  if (options.protocol != Protocol::automatic) {
    diag.error({}, "sci: there is no protocol to choose: the runtime knows each message's length");
    return {};
  }
  const auto anywhere = [](const Step &, size_t) { return true; };
  return messages::legalize(given, inPlace, options, "sci", anywhere, diag);
}

}  // namespace nbcc
