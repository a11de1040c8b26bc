// SPDX-License-Identifier: BSD-3-Clause
// adapter.h - between the files here: how a device of target sci is opened.
//
//   load.c     SISCI's library is loaded, and all functions found
//   options.c  what is asked for, by the program or in the environment
//   open.c     which adapter, and what it can do
//
// A library that has been loaded stays so, and is initialised once more for each device; it counts.

#pragma once

#include <stdbool.h>

#include "nbc/sci.h"

// Words that stay good until this thread's next call. Returns them.
__attribute__((format(printf, 1, 2))) const char *say(const char *format, ...);

// What `given`, and what it leaves open the environment, ask for. False: it cannot be; *why.
bool complete_options(const struct nbc_sci_options *given, struct nbc_sci_options *,
                      const char **why);

// Null: there is none, or it lacks something; *why.
const struct nbc_sci_api *load_sisci(const char **why);

// Opens the adapter with options that are complete.
int open_adapter(const struct nbc_sci_api *, const struct nbc_sci_options *, struct nbc_device **,
                 const char **why);
