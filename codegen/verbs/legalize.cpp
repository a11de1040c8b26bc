// SPDX-License-Identifier: BSD-3-Clause
// legalize.cpp - what is received becomes one run of memory, what is sent as many as the adapter
// gathers.
//
//   %0 = recv out[0], out[2] from 1   =>   %0 = recv packed0 from 1
//   %1 = send in[0], in[2] to 1            %1 = send in[0], in[2] to 1
//                                          %2 = copy packed0 -> out[0], out[2] by host_after after
//                                          %0

#include "codegen/messages/messages.h"
#include "codegen/verbs/verbs.h"

namespace nbcc {

std::vector<Legal> verbs_legalize(const Schedule &given, const Schedule *inPlace,
                                  const TargetOptions &options, Diag &diag) {
  if (options.protocol != Protocol::automatic) {
    diag.error({},
               "verbs: there is no protocol to choose: the runtime knows each message's length; "
               "plans have a way of transfer (nbc_plan_options), runs --transfer");
    return {};
  }
  const Device &device = deviceOf(verbs, options);
  const auto gathered = [&](const Step &message, size_t runs) {
    return message.op == Op::send && runs <= static_cast<size_t>(device.maxGather);
  };
  return messages::legalize(given, inPlace, options, "verbs", gathered, diag);
}

}  // namespace nbcc
