// SPDX-License-Identifier: BSD-3-Clause
// reduce.c - the types and operations, and which table of kernels (kernels.h) this processor gets.

#include "runtime/src/kernels.h"

static const struct {
  const char *name;
  size_t bytes;
} types[NBC_TYPES] = {
#define NBC_TYPE_ROW(NAME, name, operations, type, wide) [NBC_##NAME] = {#name, sizeof(type)},
#include "runtime/src/types.def"
};

size_t nbc_type_size(enum nbc_type type) {
  return (unsigned)type < NBC_TYPES ? types[type].bytes : 0;
}

const char *nbc_type_name(enum nbc_type type) {
  return (unsigned)type < NBC_TYPES ? types[type].name : NULL;
}

const char *nbc_op_name(enum nbc_op op) {
  static const char *const names[NBC_OPS] = {
      [NBC_SUM] = "sum",   [NBC_PROD] = "prod", [NBC_MIN] = "min",       [NBC_MAX] = "max",
      [NBC_BAND] = "band", [NBC_BOR] = "bor",   [NBC_BXOR] = "bxor",     [NBC_LAND] = "land",
      [NBC_LOR] = "lor",   [NBC_LXOR] = "lxor", [NBC_MINLOC] = "minloc", [NBC_MAXLOC] = "maxloc",
      [NBC_USER] = "user",
  };
  return (unsigned)op < NBC_OPS ? names[op] : NULL;
}

static nbc_reduce_function *const (*best_kernels(void))[NBC_OPS] {
#ifdef __x86_64__
  if (__builtin_cpu_supports("x86-64-v3")) return kernels_v3;
#endif
  return kernels_any;
}

nbc_reduce_function *nbc_reduction(enum nbc_type type, enum nbc_op op) {
  if ((unsigned)type >= NBC_TYPES || (unsigned)op >= NBC_OPS) return NULL;
  return best_kernels()[type][op];
}
