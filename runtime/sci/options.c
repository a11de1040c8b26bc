// SPDX-License-Identifier: BSD-3-Clause
// options.c - what is asked for, by the program or in the environment; in words, where it cannot
// be.

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbc/transfer.h"
#include "runtime/sci/adapter.h"

enum { LONGEST_TEXT = 1024, MOST_ADAPTERS = 1 << 30, MOST_QUEUES = 256 };

static _Thread_local char said[LONGEST_TEXT];

const char *say(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(said, sizeof said, format, values);
  va_end(values);
  return said;
}

// Of the environment. False: it is no number, or out of range, which *why then says.
static bool number_of(const char *name, uint64_t least, uint64_t most, uint64_t *number,
                      const char **why) {
  const char *text = getenv(name);
  char *end;
  if (!text || !*text) return true;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (!errno && end != text && !*end && *text != '-' && value >= least && value <= most) {
    *number = value;
    return true;
  }
  *why = say("%s is '%.64s'; it is to be a number, %llu to %llu", name, text,
             (unsigned long long)least, (unsigned long long)most);
  return false;
}

// Which of three words stands there; the first is said by nothing, too. Negative: none of them.
static int word_of(const char *name, const char *const words[3], const char *wanted,
                   const char **why) {
  const char *text = getenv(name);
  if (!text || !*text) return 0;
  for (int i = 0; i < 3; ++i)
    if (strcmp(text, words[i]) == 0) return i;
  *why = say("%s is '%.64s'; it is to be %s", name, text, wanted);
  return -1;
}

static bool read_transfer(struct nbc_sci_options *o, const char **why) {
  const char *const words[] = {nbc_transfer_name(NBC_TRANSFER_AUTO),
                               nbc_transfer_name(NBC_TRANSFER_PIO),
                               nbc_transfer_name(NBC_TRANSFER_DMA)};
  const int i = word_of("NBC_SCI_TRANSFER", words, "auto, pio or dma", why);
  if (i >= 0) o->transfer = (enum nbc_transfer)i;
  return i >= 0;
}

static bool read_waiting(struct nbc_sci_options *o, const char **why) {
  static const char *const words[] = {"", "poll", "interrupt"};
  const int i = word_of("NBC_SCI_WAITING", words, "poll or interrupt", why);
  if (i >= 0) o->waiting = (enum nbc_sci_waiting)i;
  return i >= 0;
}

bool complete_options(const struct nbc_sci_options *given, struct nbc_sci_options *o,
                      const char **why) {
  static const struct nbc_sci_options none = {0};
  *o = given ? *given : none;
  if (o->adapter > MOST_ADAPTERS || (unsigned)o->transfer > NBC_TRANSFER_DMA ||
      (unsigned)o->waiting > NBC_SCI_INTERRUPT || o->queues > MOST_QUEUES ||
      o->dma_bytes == UINT64_MAX) {
    *why = "nbc_sci_options are out of range";
    return false;
  }
  uint64_t adapter = 0, queues = o->queues, timeout = o->timeout, patience = o->patience;
  if (o->transfer == NBC_TRANSFER_AUTO && !read_transfer(o, why)) return false;
  if (o->waiting == NBC_SCI_WAITING_AUTO && !read_waiting(o, why)) return false;
  if (!o->dma_bytes && !number_of("NBC_SCI_DMA_BYTES", 1, UINT32_MAX, &o->dma_bytes, why))
    return false;
  if (!queues && !number_of("NBC_SCI_QUEUES", 1, MOST_QUEUES, &queues, why)) return false;
  if (!timeout && !number_of("NBC_SCI_TIMEOUT", 1, INT32_MAX, &timeout, why)) return false;
  if (!patience && !number_of("NBC_SCI_PATIENCE", 1, INT32_MAX, &patience, why)) return false;
  if (!o->adapter && getenv("NBC_SCI_ADAPTER")) {
    adapter = UINT64_MAX;
    if (!number_of("NBC_SCI_ADAPTER", 0, MOST_ADAPTERS - 1, &adapter, why)) return false;
    o->adapter = (unsigned int)(adapter + 1);
  }
  o->queues = (uint32_t)queues;
  o->timeout = (uint32_t)timeout;
  o->patience = (uint32_t)patience;
  return true;
}
