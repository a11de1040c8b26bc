/* SPDX-License-Identifier: BSD-3-Clause
 * library.h - algorithms compiled ahead of time: what nbcc -o libNAME.so makes.
 *
 *     const struct nbc_library *lib;
 *     const char *why;
 *     if (nbc_library_open("libcolls.so", &lib, &why)) puts(why);
 *     size_t bytes;
 *     const void *t = nbc_library_find(lib, "allgather.bruck", "coredirect", NBC_LENGTHS_EQUAL,
 *                                      ranks, rank, 0, &bytes);
 *     if (t) nbc_plan_create(comm, t, bytes, &options, &plan);
 *
 * A library is one read-only object without pointers: a header, tables at the offsets that it
 * names, then finished templates. Nothing in it is relocated when it is loaded, so that all
 * processes of a node share its pages. It also holds machine code, the `build` functions of its
 * algorithms, from which libnbc-build makes templates for any other number of ranks (nbc/build.h);
 * this part of the runtime never calls them.
 *
 * Linked with a program (libNAME.a, NAME.o, -lNAME) it is what `nbc_library_NAME()` returns
 * (--emit=header writes the declaration), to be given to nbc_library_use() before anything else. It
 * must stay where it is: of a copy, the code cannot be found. A shared object is found as a file by
 * nbc_library_open(), which looks at all of it before it is loaded: a damaged or foreign file is
 * refused, and nothing of it runs. What nbcc made has no constructors; but a file that someone made
 * to look like a library may have some, and those are run: open only files of those whose programs
 * you would run.
 *
 * Functions return 0 or a negative nbc_status; *why then says what is wrong, in static or
 * thread-local memory. They are thread safe.
 */
#ifndef NBC_LIBRARY_H
#define NBC_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "nbc.h"
#include "nbc/template.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NBC_LIBRARY_MAGIC 0x315262694c63626eu /* "nbcLibR1" */
#define NBC_LIBRARY_VERSION 2u                /* of the structs below */
/* Of an object file, by which the tables are found; of a shared object also its symbol. */
#define NBC_LIBRARY_SECTION ".nbc_library"
#define NBC_LIBRARY_SYMBOL "nbc_library" /* as said with NBC_LIBRARY_SECTION */

/* Stands for no function. */
#define NBC_LIBRARY_NONE UINT32_MAX

/* What a library begins with. `pad` is 0, here and below. */
struct nbc_library {
  uint64_t magic;           /* NBC_LIBRARY_MAGIC, in the byte order of the machine */
  uint32_t version;         /* of these tables */
  uint32_t build_version;   /* of what `build` functions call; libnbc-build refuses others */
  uint64_t bytes;           /* of all, templates included */
  uint64_t templates_begin; /* where the tables end; a multiple of 64 */
  uint64_t checksum;        /* nbc_library_checksum() */
  uint64_t seal;            /* nbc_library_seal(); 0: of an object file, which has none */
  char name[64];            /* "colls" of libcolls.so */
  char compiler[32];        /* "nbcc 0.1.0" */
  char architecture[16];    /* "x86_64" */
  uint32_t cpu_level;       /* its code needs x86-64-v1, -v2, ... of x86_64; else 0 */
  uint32_t pad;             /* 0 */
  /* Follow in this order; entries of 8 bytes first. */
  struct nbc_table code;       /* int32_t: where a function is, from the beginning of this struct */
  struct nbc_table algorithms; /* struct nbc_library_algorithm, ascending in their names */
  struct nbc_table parameters; /* struct nbc_library_parameter */
  struct nbc_table requirements; /* struct nbc_library_function */
  struct nbc_table extents;      /* struct nbc_library_function */
  struct nbc_table targets;      /* struct nbc_library_target */
  struct nbc_table templates; /* struct nbc_library_template, ascending in all but the last two */
  struct nbc_table operators; /* struct nbc_library_operator, ascending in their names */
  struct nbc_table sources;   /* uint32_t text: names of the files that places speak of */
  struct nbc_table text;      /* bytes; strings are offsets in it and end with a 0 */
};

/* What is known of an algorithm. */
enum nbc_library_flags {
  NBC_LIBRARY_TOPOLOGY = 1,      /* what it does depends on where the ranks are */
  NBC_LIBRARY_NEIGHBORS = 2,     /* and on who is whose neighbour */
  NBC_LIBRARY_REDUCES = 4,       /* of its kind */
  NBC_LIBRARY_RANK_ORDER = 8,    /* proven: right for operators that do not commute */
  NBC_LIBRARY_BITWISE_SAME = 16, /* proven: all ranks have the same bits */
  NBC_LIBRARY_ANY_LENGTHS = 32,  /* proven: right where blocks differ in length */
  NBC_LIBRARY_FLAGS = 64
};

/* An algorithm, with the values of its parameters that were given when the library was made. */
struct nbc_library_algorithm {
  uint64_t place;    /* in the source: line << 32 | column << 16 | index in `sources` */
  uint32_t name;     /* text: "allgather.bruck" */
  uint32_t kind;     /* enum nbc_kind */
  uint32_t flags;    /* enum nbc_library_flags */
  uint8_t shapes[3]; /* of in, out, data, as the compiler numbers them, as is */
  uint8_t where;     /*   where they matter */
  uint32_t views;    /* of memory that `build` names */
  uint32_t build;    /* index in code */
  uint32_t ensures;  /* likewise, of a declared collective; else NONE */
  uint32_t proven_from, proven_to;                    /* numbers of ranks; 0, 0: not proven */
  struct nbc_range parameters, requirements, extents; /* in the tables of these names */
};

/* A parameter of an algorithm. */
struct nbc_library_parameter {
  int64_t value; /* that templates were made with and that was proven */
  uint32_t name; /* text */
  uint32_t pad;  /* 0 */
};

/* One of `requires`; or how many blocks a buffer of a declared collective has. */
struct nbc_library_function {
  uint64_t place; /* as of an algorithm */
  uint32_t code;  /* index in code; NONE: the kind says it */
  uint32_t name;  /* text: of the buffer */
};

/* Templates were made for this, and `build` makes them for it: a target, and what was said of it on
 * the command line. */
struct nbc_library_target {
  uint32_t name, device;        /* text */
  uint32_t facts;               /* text, for people: what the compiler took the device to be */
  uint32_t protocol;            /* as the compiler numbers them; 2: eager and rendezvous */
  uint32_t depth;               /* calls under way at once */
  uint32_t lengths;             /* enum nbc_lengths */
  uint32_t slot_per_block, pad; /* 1: as by --slot-per-block */
};

/* A finished template. */
struct nbc_library_template {
  uint32_t algorithm, target;      /* indices */
  uint32_t ranks, root, rank, pad; /* what it is for; root: 0 where there is none */
  uint64_t offset, bytes;          /* from the beginning of struct nbc_library; aligned to 64 */
};

/* A user's operator, of --op=FILE:NAME. */
struct nbc_library_operator {
  uint32_t name, type;    /* text: "largest", "double" */
  uint32_t code;          /* index in code: an nbc_reduce_function */
  uint32_t element_bytes; /* of the type */
};

/* The checksum of all before the templates, but for checksum, seal and the
 * code table, which a linker fills in. Templates have checksums of their own, and nbc_plan_create()
 * looks at those. */
uint64_t nbc_library_checksum(const struct nbc_library *);

/* Says whether a library is whole: magic, version, checksum, and every index and offset inside its
 * table. Looks at no byte behind `bytes`. Says nothing about whether it can be used here. */
int nbc_library_check(const struct nbc_library *, size_t bytes, const char **why);

/* Says whether a library that is linked with the program can be used: what nbc_library_check says,
 * and whether this machine can run its code. NBC_ERROR_LIBRARY if not, also of null. */
int nbc_library_use(const struct nbc_library *, const char **why);

/* Opens a shared object, by path; "./" in front is not needed. One file may be opened several
 * times, each to be closed. NBC_ERROR_LIBRARY where it is not there, damaged or foreign;
 * NBC_ERROR_ARGUMENT for null; NBC_ERROR_MEMORY. It reads all of the file but its templates. */
int nbc_library_open(const char *path, const struct nbc_library **, const char **why);
/* Opens a library by a file that is open for reading, and may have no name (memfd_create). What was
 * checked is what is loaded, whoever may write to the folder meanwhile. The descriptor stays the
 * caller's, who may close it. Errors are those of nbc_library_open; also where there is no /proc.
 */
int nbc_library_open_file(int file, const struct nbc_library **, const char **why);
/* Closes what nbc_library_open has opened. Templates that were found in it must not be used any
 * more; plans made of them may. NULL is fine. */
int nbc_library_close(const struct nbc_library *);

/* Finds a finished template, for nbc_plan_create(). NULL: there is none. It is part of the library,
 * and *bytes long. The root of a collective that
 * has none is not looked at. */
const void *nbc_library_find(const struct nbc_library *, const char *algorithm, const char *target,
                             enum nbc_lengths lengths, uint32_t ranks, uint32_t rank, uint32_t root,
                             size_t *bytes);

/* Finds an algorithm by its name, such as allgather.bruck. NULL: there is none. Part of the
 * library. */
const struct nbc_library_algorithm *nbc_library_named(const struct nbc_library *, const char *name);

/* Finds a user's operator by its name, for nbc_call.user; its context is not looked at. NULL: there
 * is none. The elements are *element_bytes long (nbc_call.type NBC_OPAQUE, or a type as long). It
 * runs as long as the library is open. */
nbc_reduce_function *nbc_library_reduction(const struct nbc_library *, const char *name,
                                           size_t *element_bytes);

/* Finds the tables in the bytes of an ELF file, a shared object or an object file: at `*at`, so
 * many bytes. The file is taken to be hostile. */
int nbc_library_locate(const void *file, size_t bytes, size_t *at, size_t *length,
                       const char **why);

/* The seal of a shared object whose tables are at `at`: a checksum of its headers and of all that
 * is loaded of it, but for the seal, the templates, and where its sections are: `strip` may be used
 * on it. So code that was damaged is not run, and the loader not given headers that were. */
uint64_t nbc_library_seal(const void *file, size_t bytes, size_t at);

static inline const void *nbc_library_table(const struct nbc_library *lib, struct nbc_table table) {
  return (const char *)lib + table.offset;
}
static inline const char *nbc_library_text(const struct nbc_library *lib, uint32_t at) {
  return (const char *)nbc_library_table(lib, lib->text) + at;
}

#ifdef __cplusplus
}
#endif
#endif
