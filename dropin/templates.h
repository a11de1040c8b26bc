// SPDX-License-Identifier: BSD-3-Clause
/// templates.h - what plans are made of, kept: communicators of one shape need the same again.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "nbc/build.h"

namespace nbcc::dropin {

/// Of one rank; as nbc_plan_create() wants it.
struct Template {
  std::shared_ptr<const void> data;  // null: none
  std::size_t bytes = 0;
};

/// As nbc_build_template(), whose status it returns. Of a communicator with neighbours it is made
/// anew each time. Under the lock.
int find_template(const nbc_build_request &, Template &, std::string &why);

}  // namespace nbcc::dropin
