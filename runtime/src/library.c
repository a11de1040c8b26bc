// SPDX-License-Identifier: BSD-3-Clause
// library.c - algorithms compiled ahead of time: refuse what is damaged or not for this machine,
// find templates.
//
// As with templates: checked once, so that nobody later looks at an index twice. Tables lie one
// behind the other, in the order of the header, without gaps of 8 bytes or more; so every byte
// before the templates is in exactly one of them. Cost: linear in the tables; the templates are not
// touched.

#include "runtime/src/library.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#define ARCHITECTURE "x86_64"
#elif defined(__aarch64__)
#define ARCHITECTURE "aarch64"
#else
#define ARCHITECTURE "unknown"
#endif

int unfit(const char **why, const char *format, ...) {
  static _Thread_local char text[256];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (why) *why = text;
  return NBC_ERROR_LIBRARY;
}

// The product alone would keep a difference in the top bit where it is: two such would cancel.
static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x100000001b3u;
  return hash ^ hash >> 32;
}

uint64_t hash_words(uint64_t hash, const unsigned char *begin, size_t bytes) {
  size_t i = 0;
  uint64_t word;
  for (; i + 8 <= bytes; i += 8) {
    memcpy(&word, begin + i, 8);
    hash = mix(hash, word);
  }
  if (i < bytes) {
    word = 0;
    memcpy(&word, begin + i, bytes - i);
    hash = mix(hash, word);
  }
  return hash;
}

static size_t round_up(size_t n, size_t to) {
  return (n + to - 1) / to * to;
}

uint64_t nbc_library_checksum(const struct nbc_library *lib) {
  const unsigned char *begin = (const unsigned char *)lib;
  struct nbc_library header = *lib;
  header.checksum = header.seal = 0;
  uint64_t hash = hash_words(HASH_OF_NOTHING, (const unsigned char *)&header, sizeof header);
  size_t after = sizeof header + round_up((size_t)lib->code.count * sizeof(int32_t), 8);
  return hash_words(hash, begin + after, lib->templates_begin - after);
}

struct layout {
  const char *name;
  struct nbc_table table;
  size_t entry;
};

static int check_layout(const struct nbc_library *lib, const char **why) {
  const struct layout tables[] = {
      {"code", lib->code, sizeof(int32_t)},
      {"algorithms", lib->algorithms, sizeof(struct nbc_library_algorithm)},
      {"parameters", lib->parameters, sizeof(struct nbc_library_parameter)},
      {"requirements", lib->requirements, sizeof(struct nbc_library_function)},
      {"extents", lib->extents, sizeof(struct nbc_library_function)},
      {"targets", lib->targets, sizeof(struct nbc_library_target)},
      {"templates", lib->templates, sizeof(struct nbc_library_template)},
      {"operators", lib->operators, sizeof(struct nbc_library_operator)},
      {"sources", lib->sources, sizeof(uint32_t)},
      {"text", lib->text, 1},
  };
  size_t at = sizeof *lib;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i) {
    const struct layout *t = &tables[i];
    if (t->table.offset != at)
      return unfit(why, "the table of %s begins at %u, not at %zu", t->name, t->table.offset, at);
    if (t->table.count > (lib->templates_begin - at) / t->entry)
      return unfit(why, "the table of %s has %u entries, more than fit", t->name, t->table.count);
    at = round_up(at + t->table.count * t->entry, 8);
    if (at > lib->templates_begin)
      return unfit(why, "the table of %s reaches into the templates", t->name);
  }
  return 0;
}

static bool is_text(const struct nbc_library *lib, uint32_t at) {
  return at < lib->text.count;
}

static bool is_code(const struct nbc_library *lib, uint32_t index) {
  return index < lib->code.count;
}

static bool ends(const char *text, size_t size) {
  return memchr(text, 0, size) != NULL;
}

static bool inside(struct nbc_range r, uint32_t count) {
  return r.begin <= count && r.count <= count - r.begin;
}

static bool is_place(const struct nbc_library *lib, uint64_t place) {
  return place >> 32 == 0 || (place & 0xffff) < lib->sources.count;
}

static int check_algorithms(const struct nbc_library *lib, const char **why) {
  const struct nbc_library_algorithm *algorithms =
      (const struct nbc_library_algorithm *)nbc_library_table(lib, lib->algorithms);
  for (uint32_t i = 0; i < lib->algorithms.count; ++i) {
    const struct nbc_library_algorithm *a = &algorithms[i];
    bool shapes = true;
    for (int k = 0; k < 3; ++k) shapes = shapes && a->shapes[k] <= 5;
    if (!is_text(lib, a->name) || !is_place(lib, a->place) || a->kind >= NBC_KINDS ||
        a->flags >= NBC_LIBRARY_FLAGS || !shapes || a->where > 3 || a->views > 65536 ||
        !is_code(lib, a->build) || (a->ensures != NBC_LIBRARY_NONE && !is_code(lib, a->ensures)) ||
        a->proven_from > a->proven_to || !inside(a->parameters, lib->parameters.count) ||
        !inside(a->requirements, lib->requirements.count) ||
        !inside(a->extents, lib->extents.count) || a->extents.count > 3)
      return unfit(why, "algorithm %u names what is not there", i);
    if (i > 0 && strcmp(nbc_library_text(lib, a[-1].name), nbc_library_text(lib, a->name)) >= 0)
      return unfit(why, "algorithm %u, %s, is not behind the one before", i,
                   nbc_library_text(lib, a->name));
  }
  return 0;
}

static int check_functions(const struct nbc_library *lib, struct nbc_table table, bool optional,
                           const char **why) {
  const struct nbc_library_function *f =
      (const struct nbc_library_function *)nbc_library_table(lib, table);
  for (uint32_t i = 0; i < table.count; ++i)
    if (!is_text(lib, f[i].name) || !is_place(lib, f[i].place) ||
        !(is_code(lib, f[i].code) || (optional && f[i].code == NBC_LIBRARY_NONE)))
      return unfit(why, "function %u of the table at %u names what is not there", i, table.offset);
  return 0;
}

// Whether a stands before b; all that is looked for, in the order of the table.
static bool before(const struct nbc_library_template *a, const struct nbc_library_template *b) {
  if (a->algorithm != b->algorithm) return a->algorithm < b->algorithm;
  if (a->target != b->target) return a->target < b->target;
  if (a->ranks != b->ranks) return a->ranks < b->ranks;
  if (a->root != b->root) return a->root < b->root;
  return a->rank < b->rank;
}

static int check_templates(const struct nbc_library *lib, const char **why) {
  const struct nbc_library_template *t =
      (const struct nbc_library_template *)nbc_library_table(lib, lib->templates);
  for (uint32_t i = 0; i < lib->templates.count; ++i) {
    if (t[i].algorithm >= lib->algorithms.count || t[i].target >= lib->targets.count ||
        t[i].ranks == 0 || t[i].rank >= t[i].ranks || t[i].root >= t[i].ranks || t[i].offset % 64 ||
        t[i].offset < lib->templates_begin || t[i].offset > lib->bytes ||
        t[i].bytes > lib->bytes - t[i].offset)
      return unfit(why, "template %u is of an algorithm, a rank or a place that is not there", i);
    if (i > 0 && !before(&t[i - 1], &t[i]))
      return unfit(why, "template %u is not behind the one before", i);
  }
  return 0;
}

static int check_small_tables(const struct nbc_library *lib, const char **why) {
  const char *text = nbc_library_text(lib, 0);
  if (lib->text.count == 0 || text[lib->text.count - 1] != 0)
    return unfit(why, "the text does not end");
  const struct nbc_library_parameter *p =
      (const struct nbc_library_parameter *)nbc_library_table(lib, lib->parameters);
  for (uint32_t i = 0; i < lib->parameters.count; ++i)
    if (!is_text(lib, p[i].name)) return unfit(why, "parameter %u has no name", i);
  const uint32_t *s = (const uint32_t *)nbc_library_table(lib, lib->sources);
  for (uint32_t i = 0; i < lib->sources.count; ++i)
    if (!is_text(lib, s[i])) return unfit(why, "source %u has no name", i);
  const struct nbc_library_target *t =
      (const struct nbc_library_target *)nbc_library_table(lib, lib->targets);
  for (uint32_t i = 0; i < lib->targets.count; ++i)
    if (!is_text(lib, t[i].name) || !is_text(lib, t[i].device) || !is_text(lib, t[i].facts) ||
        t[i].protocol > 3 || t[i].lengths >= NBC_LENGTHS)
      return unfit(why, "target %u has no name, or options that are not there", i);
  return 0;
}

static const struct nbc_library_operator *operators_of(const struct nbc_library *lib) {
  return (const struct nbc_library_operator *)nbc_library_table(lib, lib->operators);
}

static int check_operators(const struct nbc_library *lib, const char **why) {
  const struct nbc_library_operator *o = operators_of(lib);
  for (uint32_t i = 0; i < lib->operators.count; ++i)
    if (!is_text(lib, o[i].name) || !is_text(lib, o[i].type) || !is_code(lib, o[i].code) ||
        o[i].element_bytes == 0)
      return unfit(why, "operator %u names what is not there", i);
  return 0;
}

int nbc_library_check(const struct nbc_library *lib, size_t bytes, const char **why) {
  const char *unused;
  if (!why) why = &unused;
  *why = "";
  if (!lib || (uintptr_t)lib % 8) return unfit(why, "the library is not aligned to 8 bytes");
  if (bytes < sizeof *lib)
    return unfit(why, "%zu bytes are less than a header of %zu", bytes, sizeof *lib);
  if (lib->magic != NBC_LIBRARY_MAGIC)
    return unfit(why, "no library of nbcc: magic %#llx where %#llx was expected",
                 (unsigned long long)lib->magic, (unsigned long long)NBC_LIBRARY_MAGIC);
  if (lib->version != NBC_LIBRARY_VERSION)
    return unfit(why, "its tables are of version %u; this runtime reads %u", lib->version,
                 NBC_LIBRARY_VERSION);
  if (lib->bytes > bytes || lib->templates_begin > lib->bytes || lib->templates_begin % 64 ||
      lib->templates_begin < sizeof *lib || lib->templates_begin > UINT32_MAX)
    return unfit(why, "%llu bytes, with templates behind %llu, do not fit into %zu",
                 (unsigned long long)lib->bytes, (unsigned long long)lib->templates_begin, bytes);
  int status = check_layout(lib, why);
  if (status) return status;
  uint64_t sum = nbc_library_checksum(lib);
  if (sum != lib->checksum)
    return unfit(why, "damaged: checksum %#llx where %#llx was stored", (unsigned long long)sum,
                 (unsigned long long)lib->checksum);
  if (!ends(lib->name, sizeof lib->name) || !ends(lib->compiler, sizeof lib->compiler) ||
      !ends(lib->architecture, sizeof lib->architecture))
    return unfit(why, "a name does not end");
  status = check_small_tables(lib, why);
  if (!status) status = check_algorithms(lib, why);
  if (!status) status = check_functions(lib, lib->requirements, false, why);
  if (!status) status = check_functions(lib, lib->extents, true, why);
  if (!status) status = check_templates(lib, why);
  if (!status) status = check_operators(lib, why);
  return status;
}

static bool runs_level(uint32_t level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  switch (level) {
    case 1:
      return true;
    case 2:
      return __builtin_cpu_supports("x86-64-v2");
    case 3:
      return __builtin_cpu_supports("x86-64-v3");
    case 4:
      return __builtin_cpu_supports("x86-64-v4");
    default:
      return false;
  }
#else
  return level == 0;
#endif
}

int nbc_library_use(const struct nbc_library *lib, const char **why) {
  int status = nbc_library_check(lib, SIZE_MAX, why);
  if (status) return status;
  if (strcmp(lib->architecture, ARCHITECTURE) != 0)
    return unfit(why, "made for %s; this machine is %s", lib->architecture, ARCHITECTURE);
  if (!runs_level(lib->cpu_level))
    return unfit(why, "its code needs x86-64-v%u, which this processor is not", lib->cpu_level);
  return 0;
}

const struct nbc_library_algorithm *nbc_library_named(const struct nbc_library *lib,
                                                      const char *name) {
  const struct nbc_library_algorithm *a =
      (const struct nbc_library_algorithm *)nbc_library_table(lib, lib->algorithms);
  for (uint32_t i = 0; i < lib->algorithms.count; ++i)
    if (strcmp(nbc_library_text(lib, a[i].name), name) == 0) return &a[i];
  return NULL;
}

nbc_reduce_function *nbc_library_reduction(const struct nbc_library *lib, const char *name,
                                           size_t *element_bytes) {
  const struct nbc_library_operator *o = operators_of(lib);
  const int32_t *code = (const int32_t *)nbc_library_table(lib, lib->code);
  for (uint32_t i = 0; i < lib->operators.count; ++i) {
    if (strcmp(nbc_library_text(lib, o[i].name), name) != 0) continue;
    if (element_bytes) *element_bytes = o[i].element_bytes;
    return (nbc_reduce_function *)((uintptr_t)lib + (uintptr_t)(intptr_t)code[o[i].code]);
  }
  return NULL;
}

static bool has_root(const struct nbc_library_algorithm *a) {
  return a->where != 0;
}

const void *nbc_library_find(const struct nbc_library *lib, const char *algorithm,
                             const char *target, enum nbc_lengths lengths, uint32_t ranks,
                             uint32_t rank, uint32_t root, size_t *bytes) {
  const struct nbc_library_algorithm *a = nbc_library_named(lib, algorithm);
  if (!a) return NULL;
  const struct nbc_library_target *targets =
      (const struct nbc_library_target *)nbc_library_table(lib, lib->targets);
  const struct nbc_library_template *templates =
      (const struct nbc_library_template *)nbc_library_table(lib, lib->templates);
  struct nbc_library_template key = {.ranks = ranks, .rank = rank};
  key.algorithm =
      (uint32_t)(a - (const struct nbc_library_algorithm *)nbc_library_table(lib, lib->algorithms));
  key.root = has_root(a) ? root : 0;
  for (key.target = 0; key.target < lib->targets.count; ++key.target) {
    const struct nbc_library_target *t = &targets[key.target];
    if (t->lengths != (uint32_t)lengths || strcmp(nbc_library_text(lib, t->name), target) != 0)
      continue;
    uint32_t low = 0, high = lib->templates.count;
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (before(&templates[middle], &key))
        low = middle + 1;
      else
        high = middle;
    }
    if (low == lib->templates.count || before(&key, &templates[low])) continue;
    if (bytes) *bytes = templates[low].bytes;
    return (const char *)lib + templates[low].offset;
  }
  return NULL;
}
