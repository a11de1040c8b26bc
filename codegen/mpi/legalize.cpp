// SPDX-License-Identifier: BSD-3-Clause
// legalize.cpp - each message becomes one run of memory; what is local the host does.

#include "codegen/messages/messages.h"
#include "codegen/mpi/mpi.h"

namespace nbcc {

std::vector<Legal> mpi_legalize(const Schedule &given, const Schedule *inPlace,
                                const TargetOptions &options, Diag &diag) {
  if (options.protocol == Protocol::eager || options.protocol == Protocol::direct) {
    diag.error({}, "mpi: there is no protocol to choose: which messages go eager MPI decides");
    return {};
  }
  return messages::legalize(given, inPlace, options, "mpi", {}, diag);
}

}  // namespace nbcc
