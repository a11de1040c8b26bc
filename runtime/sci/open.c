// SPDX-License-Identifier: BSD-3-Clause
// open.c - which adapter, and what it can do: the library is asked, and where it does not say, what
// older cards can do is taken for granted.
//
// Not every library knows every question, and drivers of old cards have answered with numbers that
// mean nothing. So answers are used only where they can be true, and only to do less: alignment of
// 8 bytes at least, vectors of DIS_DMA_MAX_VECLEN at most.

#include <stdio.h>
#include <stdlib.h>

#include "runtime/sci/adapter.h"

enum {
  ADAPTERS = 16,        // that are looked at for one that is there
  ALIGN = 8,            // what is not said: of cards of the family that had least
  MOST_ALIGN = 4096,    // what is longer cannot be true
  LONGEST = 256 << 10,  // likewise
  DMA_BYTES = 8192,
  QUEUES = 4,
  TIMEOUT = 10000,
  PATIENCE = 64,
  SLEEP = 1  // nbc_rest promises no more
};

static bool node_of(const struct nbc_sci_api *api, unsigned int adapter, unsigned int *node) {
  sci_error_t error = SCI_ERR_OK;
  api->SCIGetLocalNodeId(adapter, node, 0, &error);
  return error == SCI_ERR_OK;
}

static bool choose(const struct nbc_sci_api *api, unsigned int wanted, unsigned int *adapter,
                   unsigned int *node, const char **why) {
  char there[64] = "none";
  int used = 0;
  *adapter = wanted - 1;
  if (wanted && node_of(api, wanted - 1, node)) return true;
  for (unsigned int a = 0; a < ADAPTERS; ++a) {
    if (!node_of(api, a, node)) continue;
    *adapter = a;
    if (!wanted) return true;
    used += snprintf(there + used, sizeof there - (size_t)used, "%s%u", used ? ", " : "", a);
  }
  *why = wanted ? say("there is no adapter %u; among the first %d there are: %s", wanted - 1,
                      ADAPTERS, there)
                : say("there is no adapter among the first %d", ADAPTERS);
  return false;
}

static bool ask_adapter(const struct nbc_sci *d, unsigned int question, unsigned int *answer) {
  sci_query_adapter_t q = {.localAdapterNo = d->adapter, .subcommand = question, .data = answer};
  sci_error_t error = SCI_ERR_OK;
  d->api->SCIQuery(SCI_Q_ADAPTER, &q, 0, &error);
  return error == SCI_ERR_OK;
}

// The adapter's own engine, or the system's; false: neither can write to others.
static bool ask_engine(const struct nbc_sci *d, unsigned int engine, sci_dma_capabilities_t *c) {
  sci_query_dma_t q = {
      .localAdapterNo = d->adapter, .subcommand = SCI_Q_DMA_CAPABILITIES, .data = c};
  sci_error_t error = SCI_ERR_OK;
  d->api->SCIQuery(SCI_Q_DMA, &q, engine, &error);
  return error == SCI_ERR_OK && c->support_mem2io && c->num_channels;
}

static bool can_align(unsigned int n) {
  return n && n <= MOST_ALIGN && (n & (n - 1)) == 0;
}

static void at_least(uint32_t *value, unsigned int n) {
  if (n > *value) *value = n;
}

static void find_engine(struct nbc_sci *d, uint32_t queues) {
  struct nbc_sci_facts *f = &d->facts;
  static const unsigned int engines[] = {SCI_FLAG_DMA_ADAPTER, SCI_FLAG_DMA_SYSDMA};
  sci_dma_capabilities_t c = {0};
  unsigned int answer;
  f->align = ALIGN;
  f->vector = DIS_DMA_MAX_VECLEN;
  f->longest = LONGEST;
  f->queues = queues ? queues : QUEUES;
  for (int i = 0; i < 2; ++i) {
    if (!ask_engine(d, engines[i], &c)) continue;
    f->engine = engines[i];
    if (can_align(c.min_align_bytes)) at_least(&f->align, c.min_align_bytes);
    if (c.max_vector_length && c.max_vector_length < f->vector) f->vector = c.max_vector_length;
    if (c.max_transfer_size) f->longest = c.max_transfer_size;
    if (!queues && c.num_channels < f->queues) f->queues = c.num_channels;
    return;
  }
  // No such question: of its time are these.
  if (ask_adapter(d, SCI_Q_ADAPTER_DMA_SIZE_ALIGNMENT, &answer) && can_align(answer))
    at_least(&f->align, answer);
  if (ask_adapter(d, SCI_Q_ADAPTER_DMA_OFFSET_ALIGNMENT, &answer) && can_align(answer))
    at_least(&f->align, answer);
  if (ask_adapter(d, SCI_Q_ADAPTER_DMA_MTU, &answer) && answer >= f->align) f->longest = answer;
}

static bool has_dma(const struct nbc_sci *d) {
  unsigned int available = 0;
  sci_query_dma_t q = {
      .localAdapterNo = d->adapter, .subcommand = SCI_Q_DMA_AVAILABLE, .data = &available};
  sci_error_t error = SCI_ERR_OK;
  d->api->SCIQuery(SCI_Q_DMA, &q, SCI_FLAG_DMA_ADAPTER, &error);
  return error != SCI_ERR_OK || available;
}

static void close_adapter(struct nbc_device *device) {
  struct nbc_sci *d = (struct nbc_sci *)device;
  d->api->SCITerminate();
  free(d);
}

int open_adapter(const struct nbc_sci_api *api, const struct nbc_sci_options *o,
                 struct nbc_device **result, const char **why) {
  sci_error_t error = SCI_ERR_OK;
  struct nbc_sci *d = (struct nbc_sci *)calloc(1, sizeof *d);
  if (!d) {
    *why = "there is no more memory";
    return NBC_ERROR_MEMORY;
  }
  api->SCIInitialize(0, &error);
  if (error != SCI_ERR_OK) {
    *why = error == SCI_ERR_INCONSISTENT_VERSIONS
               ? "SISCI's library and its driver are of different versions"
               : say("SISCI's library does not start: error 0x%x", (unsigned int)error);
    free(d);
    return NBC_ERROR_DEVICE;
  }
  *d = (struct nbc_sci){.device = {NBC_SCI_TARGET, close_adapter}, .api = api};
  if (!choose(api, o->adapter, &d->adapter, &d->facts.node, why)) {
    close_adapter(&d->device);
    return NBC_ERROR_DEVICE;
  }
  find_engine(d, o->queues);
  d->facts.timeout = o->timeout ? o->timeout : TIMEOUT;
  d->facts.patience = o->patience ? o->patience : PATIENCE;
  d->facts.sleep = SLEEP;
  d->facts.interrupts = o->waiting == NBC_SCI_INTERRUPT;
  d->facts.transfer = o->transfer;
  d->facts.dma_bytes = o->dma_bytes ? o->dma_bytes : DMA_BYTES;
  if (!has_dma(d)) d->facts.vector = 0;
  if (o->transfer == NBC_TRANSFER_DMA && !d->facts.vector) {
    *why = say("adapter %u has no DMA: messages have to go by PIO", d->adapter);
    close_adapter(&d->device);
    return NBC_ERROR_DEVICE;
  }
  *result = &d->device;
  return 0;
}

int nbc_sci_open_with(const struct nbc_sci_api *api, const struct nbc_sci_options *given,
                      struct nbc_device **result, const char **why) {
  struct nbc_sci_options options;
  const char *nobody_asks;
  if (!why) why = &nobody_asks;
  *why = "there are no functions, or no place for the device";
  if (!api || !result || !complete_options(given, &options, why)) return NBC_ERROR_ARGUMENT;
  return open_adapter(api, &options, result, why);
}
