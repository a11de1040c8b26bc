// SPDX-License-Identifier: BSD-3-Clause
// run_device.cpp - which device serves which target in a run, and has which options.

#include "compiler/driver/run_device.h"

#include "nbc/hca.h"
#include "nbc/p2p.h"
#include "nbc/sci.h"
#include "nbc/shm.h"
#include "nbc/transfer.h"
#include "nbc/verbs.h"

namespace nbcc {

RunDevice softwareDevice(const Options &o, uint64_t seed) {
  static const struct {
    std::string_view target;
    RunDevice (*make)(const Options &, uint64_t);
  } devices[] = {{NBC_HCA_TARGET, hcaDevice},
                 {NBC_P2P_TARGET, p2pDevice},
                 {NBC_SCI_TARGET, sciDevice},
                 {NBC_SHM_TARGET, shmDevice},
                 {NBC_VERBS_TARGET, verbsDevice}};
  for (const auto &d : devices)
    if (d.target == o.target->name) return d.make(o, seed);
  return {};
}

ForeignOption foreignOption(const Options &o) {
  // By length each target that has ways does.
  const char *way = o.transfer ? nbc_transfer_target(*o.transfer) : nullptr;
  const struct {
    bool given;
    const char *option, *target;
  } own[] = {{o.rendezvous.has_value(), "--rendezvous", NBC_VERBS_TARGET},
             {way != nullptr, "--transfer", way}};
  for (const auto &one : own)
    if (one.given && o.target && one.target != std::string_view(o.target->name))
      return {one.option, one.target};
  return {};
}

}  // namespace nbcc
