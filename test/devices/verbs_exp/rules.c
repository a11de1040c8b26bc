// SPDX-License-Identifier: BSD-3-Clause
// rules.c - verbs-exp-rules [NAME...]: each rule of the vendor's API that is named, or all; --list:
// their names.

#include "bed.h"

static int named(const char *name, int count, char **names) {
  for (int i = 0; i < count; ++i)
    if (strcmp(name, names[i]) == 0) return 1;
  return count == 0;
}

int main(int argc, char **argv) {
  const struct rule *const all[] = {message_rules, wait_rules,  enable_rules, calc_rules,
                                    error_rules,   event_rules, random_rules, refused_rules};
  int held = 0, list = argc == 2 && strcmp(argv[1], "--list") == 0;
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i)
    for (const struct rule *r = all[i]; r->name; ++r) {
      if (list) puts(r->name);
      if (list || !named(r->name, argc - 1, argv + 1)) continue;
      fprintf(stderr, "%s\n", r->name);
      r->hold();
      ++held;
    }
  if (list) return 0;
  printf("%d rules hold\n", held);
  return held < argc - 1;
}
