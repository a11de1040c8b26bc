// SPDX-License-Identifier: BSD-3-Clause
// plans.h - a plan for each rank of a test, all in one thread.

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "nbc.h"
#include "test/runtime/builder.h"

/// The template of each rank.
using MakeTemplate = std::function<build::Bytes(uint32_t rank)>;

/// One more plan on each communicator, connected.
inline std::vector<nbc_plan *> connectedPlans(const std::vector<nbc_comm *> &comms,
                                              const MakeTemplate &make,
                                              const nbc_plan_options &options) {
  std::vector<nbc_plan *> plans;
  for (uint32_t r = 0; r < comms.size(); ++r) {
    build::Bytes bytes = make(r);
    const char *why = "";
    EXPECT_EQ(nbc_template_check(bytes.data(), bytes.size(), &why), 0) << why;
    nbc_plan *plan = nullptr;
    int status = nbc_plan_create(comms[r], bytes.data(), bytes.size(), &options, &plan);
    EXPECT_EQ(status, 0) << nbc_status_text(status);
    plans.push_back(plan);
  }
  for (nbc_plan *p : plans) EXPECT_EQ(nbc_plan_connect(p), 0);
  return plans;
}
