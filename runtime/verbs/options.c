// SPDX-License-Identifier: BSD-3-Clause
// options.c - what is asked for, by the program and by its user's environment.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nbc/transfer.h"
#include "runtime/verbs/adapter.h"

enum { PATIENCE = 4, MOST_PATIENCE = 1000000 /* microseconds */ };
enum { MOST_RNR_TIMER = 31 };

static bool read_number(const char *text, long most, long *number) {
  char *end;
  errno = 0;
  *number = strtol(text, &end, 10);
  return !errno && end != text && !*end && *number >= 0 && *number <= most;
}

// "mlx5_0:1", "mlx5_0".
static bool read_wish(const char *text, size_t length, uint32_t port, struct wish *wish) {
  const char *colon = memchr(text, ':', length);
  const size_t name = colon ? (size_t)(colon - text) : length;
  char digits[8] = "";
  long number = port;
  if (!name || name >= sizeof wish->device) return false;
  if (colon) {
    if (length - name - 1 >= sizeof digits) return false;
    memcpy(digits, colon + 1, length - name - 1);
    if (!read_number(digits, 255, &number) || !number) return false;
  }
  memcpy(wish->device, text, name);
  wish->device[name] = 0;
  wish->port = (uint32_t)number;
  return true;
}

// Several, with commas between them. "all": none.
static bool read_wishes(const char *text, uint32_t port, struct wish wishes[NBC_VERBS_RAILS],
                        uint32_t *count) {
  *count = 0;
  if (strcmp(text, "all") == 0) return true;
  for (const char *at = text;; ++at) {
    const size_t length = strcspn(at, ",");
    if (*count == NBC_VERBS_RAILS || !read_wish(at, length, port, &wishes[(*count)++]))
      return false;
    at += length;
    if (!*at) return true;
  }
}

static bool is_way(unsigned transfer) {
  return transfer == NBC_TRANSFER_AUTO ||
         (transfer >= NBC_TRANSFER_EAGER && transfer <= NBC_TRANSFER_DIRECT);
}

static bool read_transfer(const char *text, struct nbc_verbs_options *o) {
  for (unsigned way = NBC_TRANSFER_AUTO; way < NBC_TRANSFERS; ++way) {
    if (!is_way(way) || strcmp(text, nbc_transfer_name((enum nbc_transfer)way)) != 0) continue;
    o->transfer = (enum nbc_transfer)way;
    return true;
  }
  return false;
}

// Which of words [first, end) it is; negative: none.
static int word_of(const char *text, const char *const words[], int first, int end) {
  for (int i = first; i < end; ++i)
    if (strcmp(text, words[i]) == 0) return i;
  return -1;
}

static bool read_rendezvous(const char *text, struct nbc_verbs_options *o) {
  static const char *const names[] = {[NBC_VERBS_WRITE] = "write",
                                      [NBC_VERBS_READ] = "read",
                                      [NBC_VERBS_SEND] = "send",
                                      [NBC_VERBS_DIRECT] = "direct"};
  const int way = word_of(text, names, NBC_VERBS_WRITE, NBC_VERBS_DIRECT + 1);
  if (way >= 0) o->rendezvous = (enum nbc_verbs_rendezvous)way;
  return way >= 0;
}

static bool read_memory(const char *text, struct nbc_verbs_options *o) {
  static const char *const names[] = {
      [NBC_VERBS_PINNED] = "pinned", [NBC_VERBS_ON_DEMAND] = "demand"};
  const int memory = word_of(text, names, NBC_VERBS_PINNED, NBC_VERBS_ON_DEMAND + 1);
  if (memory >= 0) o->memory = (enum nbc_verbs_memory)memory;
  return memory >= 0;
}

static bool possible(const struct nbc_verbs_options *o) {
  return o->port <= 255 && o->gid_index >= -1 && o->gid_index <= 255 &&
         (unsigned)o->mtu <= IBV_MTU_4096 && o->service_level <= 15 && o->traffic_class <= 255 &&
         o->timeout <= 31 && o->retry_count <= 7 && (unsigned)o->rendezvous <= NBC_VERBS_DIRECT &&
         is_way((unsigned)o->transfer) && (unsigned)o->offers <= NBC_VERBS_ANEW &&
         o->patience >= -1 && o->patience <= MOST_PATIENCE && o->rnr_timer <= MOST_RNR_TIMER &&
         (unsigned)o->memory <= NBC_VERBS_ON_DEMAND;
}

static bool choose_wishes(const struct nbc_verbs_options *o, struct wish wishes[NBC_VERBS_RAILS],
                          uint32_t *count, const char **why) {
  const char *said = getenv("NBC_VERBS_DEVICE"), *text = o->device ? o->device : said;
  *count = 1;
  wishes[0] = (struct wish){.port = o->port};
  if (!text || read_wishes(text, o->port, wishes, count)) return true;
  *why =
      say("%s is '%.200s'; it is to be a device, or device:port; or at most %d, as a:1,b:1; or all",
          o->device ? "the device" : "NBC_VERBS_DEVICE", text, NBC_VERBS_RAILS);
  return false;
}

// What the fabric wants of packets: a switch may drop, or not pause for, those of another class.
static bool read_packets(struct nbc_verbs_options *o, const char **why) {
  const struct {
    const char *name;
    long least, most;
    uint32_t *value;
  } numbers[] = {{"NBC_VERBS_SERVICE_LEVEL", 0, 15, &o->service_level},
                 {"NBC_VERBS_TRAFFIC_CLASS", 0, 255, &o->traffic_class},
                 {"NBC_VERBS_TIMEOUT", 1, 31, &o->timeout},
                 {"NBC_VERBS_RETRIES", 1, 7, &o->retry_count}};
  const char *text;
  long number;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    if (*numbers[i].value || !(text = getenv(numbers[i].name))) continue;
    if (!read_number(text, numbers[i].most, &number) || number < numbers[i].least) {
      *why = say("%s is '%.64s'; it is to be %ld to %ld", numbers[i].name, text, numbers[i].least,
                 numbers[i].most);
      return false;
    }
    *numbers[i].value = (uint32_t)number;
  }
  if (o->mtu || !(text = getenv("NBC_VERBS_MTU"))) return true;
  enum { LEAST_BYTES = 256, MOST_BYTES = 4096 };
  if (!read_number(text, MOST_BYTES, &number) || number < LEAST_BYTES || number & (number - 1)) {
    *why = say("NBC_VERBS_MTU is '%.64s'; it is to be 256, 512, 1024, 2048 or 4096", text);
    return false;
  }
  for (o->mtu = IBV_MTU_256; number > LEAST_BYTES; number /= 2) ++o->mtu;
  return true;
}

bool complete_options(const struct nbc_verbs_options *given, struct nbc_verbs_options *o,
                      struct wish wishes[NBC_VERBS_RAILS], uint32_t *count, const char **why) {
  static const struct nbc_verbs_options none = {0};
  const char *text;
  long number;
  *o = given ? *given : none;
  *why = "nbc_verbs_options are out of range";
  if (!possible(o) || !choose_wishes(o, wishes, count, why) || !read_packets(o, why)) return false;
  if (!o->gid_index && (text = getenv("NBC_VERBS_GID"))) {
    if (!read_number(text, 255, &number)) {
      *why = say("NBC_VERBS_GID is '%.64s'; it is to be an index, 0 to 255", text);
      return false;
    }
    o->gid_index = number ? (int)number : -1;
  }
  if (o->rendezvous == NBC_VERBS_WRITE && (text = getenv("NBC_VERBS_RENDEZVOUS"))) {
    if (!read_rendezvous(text, o)) {
      *why = say("NBC_VERBS_RENDEZVOUS is '%.64s'; it is to be write, read, send or direct", text);
      return false;
    }
  }
  if (o->transfer == NBC_TRANSFER_AUTO && (text = getenv("NBC_VERBS_TRANSFER")) &&
      !read_transfer(text, o)) {
    *why =
        say("NBC_VERBS_TRANSFER is '%.64s'; it is to be eager, write, read, send, direct or auto",
            text);
    return false;
  }
  if (o->offers == NBC_VERBS_KEPT && (text = getenv("NBC_VERBS_OFFERS"))) {
    if (strcmp(text, "kept") && strcmp(text, "anew")) {
      *why = say("NBC_VERBS_OFFERS is '%.64s'; it is to be kept or anew", text);
      return false;
    }
    if (!strcmp(text, "anew")) o->offers = NBC_VERBS_ANEW;
  }
  if (!o->patience && (text = getenv("NBC_VERBS_PATIENCE"))) {
    if (!read_number(text, MOST_PATIENCE, &number)) {
      *why = say("NBC_VERBS_PATIENCE is '%.64s'; it is to be microseconds, 0 to 1000000", text);
      return false;
    }
    o->patience = number ? (int)number : -1;
  }
  if (!o->patience) o->patience = PATIENCE;
  if (!o->rnr_timer && (text = getenv("NBC_VERBS_RNR_TIMER"))) {
    if (!read_number(text, MOST_RNR_TIMER, &number) || !number) {
      *why = say("NBC_VERBS_RNR_TIMER is '%.64s'; it is to be a code, 1 to 31", text);
      return false;
    }
    o->rnr_timer = (uint32_t)number;
  }
  if (!o->memory && (text = getenv("NBC_VERBS_MEMORY")) && !read_memory(text, o)) {
    *why = say("NBC_VERBS_MEMORY is '%.64s'; it is to be pinned or demand", text);
    return false;
  }
  *why = "";
  return true;
}
