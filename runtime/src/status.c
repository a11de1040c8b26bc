// SPDX-License-Identifier: BSD-3-Clause
// status.c - what goes wrong, in words.

#include "nbc.h"

const char *nbc_status_text(int status) {
  if (status >= 0) return "no error";
  switch ((enum nbc_status)status) {
    case NBC_OK:
      break;
    case NBC_ERROR_ARGUMENT:
      return "a pointer, count, type or operation cannot be";
    case NBC_ERROR_TEMPLATE:
      return "the template is damaged or not for this runtime";
    case NBC_ERROR_MEMORY:
      return "the system has no more memory";
    case NBC_ERROR_RESOURCES:
      return "the device has no more, or a queue would be too long";
    case NBC_ERROR_TOO_LONG:
      return "the call is longer than the plan allows";
    case NBC_ERROR_UNSUPPORTED:
      return "the template has no variant for this call";
    case NBC_ERROR_DEVICE:
      return "a queue pair or message failed; the plan is of no more use";
    case NBC_ERROR_BOOTSTRAP:
      return "the bootstrap could not exchange addresses";
    case NBC_ERROR_BUSY:
      return "calls are still under way";
    case NBC_ERROR_ABANDONED:
      return "the plan was abandoned";
    case NBC_ERROR_LIBRARY:
      return "the library is damaged or not for this runtime or machine";
    case NBC_ERROR_THREADS:
      return "a progress thread needs devices that may be used by several threads "
             "(MPI_THREAD_MULTIPLE)";
  }
  return "no known error";
}
