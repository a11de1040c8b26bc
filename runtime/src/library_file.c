// SPDX-License-Identifier: BSD-3-Clause
// library_file.c - a library as a file: where its tables are, whether it is whole, and loading it.
//
// The file is mapped and looked at before it is loaded: what the loader does with damaged bytes is
// its own affair, and may be a crash. Sections and segments are found by the ELF headers alone, of
// which nothing is believed: each range must lie inside the file. Cost: linear in what is loaded of
// the file, templates excepted.

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/src/library.h"

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

struct file {
  const unsigned char *begin;
  size_t bytes;
};

static bool within(struct file f, uint64_t at, uint64_t bytes) {
  return at <= f.bytes && bytes <= f.bytes - at;
}

// Entry i of a table in the file; copied, as nothing there is sure to be aligned.
static bool read_entry(struct file f, uint64_t table, uint64_t size, uint64_t i, void *entry,
                       size_t bytes) {
  uint64_t at;
  if (size < bytes || __builtin_mul_overflow(size, i, &at) ||
      __builtin_add_overflow(at, table, &at))
    return false;
  if (!within(f, at, bytes)) return false;
  memcpy(entry, f.begin + at, bytes);
  return true;
}

static int read_header(struct file f, Elf64_Ehdr *e, const char **why) {
  if (f.bytes < sizeof *e || memcmp(f.begin, ELFMAG, SELFMAG) != 0)
    return unfit(why, "no ELF file, so no library of nbcc");
  memcpy(e, f.begin, sizeof *e);
  const uint16_t one = 1;
  unsigned char low;
  memcpy(&low, &one, 1);
  if (e->e_ident[EI_CLASS] != ELFCLASS64 ||
      e->e_ident[EI_DATA] != (low ? ELFDATA2LSB : ELFDATA2MSB) || e->e_machine != OWN_MACHINE)
    return unfit(why, "an ELF file for another machine (number %u; this is %d)", e->e_machine,
                 (int)OWN_MACHINE);
  return 0;
}

int nbc_library_locate(const void *file, size_t bytes, size_t *at, size_t *length,
                       const char **why) {
  struct file f = {(const unsigned char *)file, bytes};
  Elf64_Ehdr e;
  int status = read_header(f, &e, why);
  if (status) return status;
  Elf64_Shdr names, s;
  if (!read_entry(f, e.e_shoff, e.e_shentsize, e.e_shstrndx, &names, sizeof names) ||
      !within(f, names.sh_offset, names.sh_size))
    return unfit(why, "an ELF file without names of sections: damaged, or cut off");
  const char wanted[] = NBC_LIBRARY_SECTION;
  for (uint32_t i = 0; i < e.e_shnum; ++i) {
    if (!read_entry(f, e.e_shoff, e.e_shentsize, i, &s, sizeof s))
      return unfit(why, "an ELF file whose sections reach behind its end: damaged, or cut off");
    if (s.sh_name >= names.sh_size || names.sh_size - s.sh_name < sizeof wanted ||
        memcmp(f.begin + names.sh_offset + s.sh_name, wanted, sizeof wanted) != 0)
      continue;
    if (s.sh_type != SHT_PROGBITS || !within(f, s.sh_offset, s.sh_size))
      return unfit(why, "its section %s is not in the file: damaged, or cut off", wanted);
    *at = s.sh_offset;
    *length = s.sh_size;
    return 0;
  }
  return unfit(why, "it has no section %s: not made by nbcc", wanted);
}

// Hashes [from, to) of the file, but for what lies in one of the holes, which ascend.
struct hole {
  uint64_t begin, end;
};

static uint64_t hash_around(uint64_t hash, struct file f, uint64_t from, uint64_t to,
                            const struct hole *holes, int count) {
  for (int i = 0; i < count && from < to; ++i) {
    uint64_t stop = holes[i].begin < to ? holes[i].begin : to;
    if (stop > from) hash = hash_words(hash, f.begin + from, stop - from);
    if (holes[i].end > from) from = holes[i].end;
  }
  return from < to ? hash_words(hash, f.begin + from, to - from) : hash;
}

uint64_t nbc_library_seal(const void *file, size_t bytes, size_t at) {
  struct file f = {(const unsigned char *)file, bytes};
  Elf64_Ehdr e;
  struct nbc_library lib;
  if (!within(f, 0, sizeof e) || !within(f, at, sizeof lib)) return 0;
  memcpy(&e, f.begin, sizeof e);
  memcpy(&lib, f.begin + at, sizeof lib);
  uint64_t seal = at + offsetof(struct nbc_library, seal);
  uint64_t length = lib.bytes <= bytes - at ? lib.bytes : bytes - at;
  uint64_t tables = lib.templates_begin <= length ? lib.templates_begin : length;
  const struct hole holes[] = {
      {0, sizeof e}, {seal, seal + sizeof lib.seal}, {at + tables, at + length}};
  Elf64_Ehdr loaded = e;  // without what leads to sections, which `strip` moves
  loaded.e_shoff = loaded.e_shnum = loaded.e_shstrndx = 0;
  uint64_t hash = hash_words(HASH_OF_NOTHING, (const unsigned char *)&loaded, sizeof loaded);
  for (uint32_t i = 0; i < e.e_phnum; ++i) {
    Elf64_Phdr p;
    if (!read_entry(f, e.e_phoff, e.e_phentsize, i, &p, sizeof p)) return 0;
    hash = hash_words(hash, (const unsigned char *)&p, sizeof p);
    if (p.p_type != PT_LOAD) continue;
    if (!within(f, p.p_offset, p.p_filesz)) return 0;
    hash = hash_around(hash, f, p.p_offset, p.p_offset + p.p_filesz, holes, 3);
  }
  return hash ? hash : 1;
}

static int check_file(struct file f, size_t *at, const char **why) {
  size_t length;
  int status = nbc_library_locate(f.begin, f.bytes, at, &length, why);
  if (status) return status;
  Elf64_Ehdr e;
  memcpy(&e, f.begin, sizeof e);
  if (e.e_type != ET_DYN) return unfit(why, "no shared object: it is to be linked with a program");
  status = nbc_library_check((const struct nbc_library *)(f.begin + *at), length, why);
  if (!status) status = nbc_library_use((const struct nbc_library *)(f.begin + *at), why);
  if (status) return status;
  uint64_t seal = nbc_library_seal(f.begin, f.bytes, *at);
  const struct nbc_library *lib = (const struct nbc_library *)(f.begin + *at);
  if (seal != lib->seal)
    return unfit(why, "damaged: what is loaded has the seal %#llx where %#llx was stored",
                 (unsigned long long)seal, (unsigned long long)lib->seal);
  return 0;
}

// Libraries that are open, with the loader's handle: it counts how often.
struct opened {
  struct opened *next;
  const struct nbc_library *lib;
  void *handle;
};
static struct opened *all_opened;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int load(const char *path, const struct nbc_library **result, const char **why) {
  struct opened *o = (struct opened *)calloc(1, sizeof *o);
  if (!o) {
    *why = "no memory is left";
    return NBC_ERROR_MEMORY;
  }
  o->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!o->handle) {
    free(o);
    return unfit(why, "%s", dlerror());
  }
  o->lib = (const struct nbc_library *)dlsym(o->handle, NBC_LIBRARY_SYMBOL);
  int status = o->lib ? nbc_library_use(o->lib, why)
                      : unfit(why, "it has no symbol %s: not made by nbcc", NBC_LIBRARY_SYMBOL);
  if (status) {
    dlclose(o->handle);
    free(o);
    return status;
  }
  pthread_mutex_lock(&mutex);
  o->next = all_opened;
  all_opened = o;
  pthread_mutex_unlock(&mutex);
  *result = o->lib;
  return 0;
}

static int check_open_file(int file, const char **why) {
  struct stat facts;
  if (fstat(file, &facts)) return unfit(why, "%s", strerror(errno));
  if (!S_ISREG(facts.st_mode)) return unfit(why, "not a file");
  if (facts.st_size == 0) return unfit(why, "an empty file");
  struct file f = {NULL, (size_t)facts.st_size};
  void *memory = mmap(NULL, f.bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) return unfit(why, "%s", strerror(errno));
  f.begin = (const unsigned char *)memory;
  size_t at;
  int status = check_file(f, &at, why);
  munmap(memory, f.bytes);
  return status;
}

int nbc_library_open(const char *path, const struct nbc_library **result, const char **why) {
  const char *unused;
  if (!why) why = &unused;
  *why = "";
  if (!path || !result) {
    *why = "no path, or no place for the result";
    return NBC_ERROR_ARGUMENT;
  }
  char *real = realpath(path, NULL);
  if (!real) return unfit(why, "%s", strerror(errno));
  int file = open(real, O_RDONLY | O_CLOEXEC);
  int status = file < 0 ? unfit(why, "%s", strerror(errno)) : check_open_file(file, why);
  if (file >= 0) close(file);
  // It has a / in it, or the loader would search.
  if (!status) status = load(real, result, why);
  free(real);
  return status;
}

// A descriptor's path, as nobody has written it before: the loader knows what it has loaded by
// name, and descriptors get the same numbers again and again.
static void name_of_file(int file, char name[128]) {
  static atomic_uint count;
  unsigned bits = atomic_fetch_add(&count, 1);
  char *end = name + sprintf(name, "/proc/self/fd/");
  for (int i = 0; i < 32; ++i) end += sprintf(end, bits >> i & 1 ? ".//" : "./");
  sprintf(end, "%d", file);
}

int nbc_library_open_file(int file, const struct nbc_library **result, const char **why) {
  const char *unused;
  if (!why) why = &unused;
  *why = "";
  if (!result) {
    *why = "no place for the result";
    return NBC_ERROR_ARGUMENT;
  }
  char name[128];
  name_of_file(file, name);
  int status = check_open_file(file, why);
  return status ? status : load(name, result, why);
}

int nbc_library_close(const struct nbc_library *lib) {
  if (!lib) return 0;
  pthread_mutex_lock(&mutex);
  struct opened **at = &all_opened;
  while (*at && (*at)->lib != lib) at = &(*at)->next;
  struct opened *o = *at;
  if (o) *at = o->next;
  pthread_mutex_unlock(&mutex);
  if (!o) return NBC_ERROR_ARGUMENT;
  dlclose(o->handle);
  free(o);
  return 0;
}
