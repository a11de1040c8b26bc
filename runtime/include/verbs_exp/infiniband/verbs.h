/* SPDX-License-Identifier: BSD-3-Clause
 * verbs.h - rdma-core's, and the experimental ones with it, as the vendor's header has them.
 */
#pragma GCC system_header /* for include_next */
#include_next <infiniband/verbs.h>
#include <infiniband/verbs_exp.h>
