// SPDX-License-Identifier: BSD-3-Clause
// undestroyed.c - a shared library's own __cxa_atexit: none of its static objects is destroyed.
//
// Compilers register their destructors by this function; linked into a library, hidden, it stands
// before libc's. A program may leave by exit() with calls under way, in any thread and without
// MPI_Finalize, and may call MPI from destructors of its own: nothing that these need may have gone
// before them.

int __cxa_atexit(void (*)(void *), void *, void *);

__attribute__((visibility("hidden"))) int __cxa_atexit(void (*destroy)(void *), void *object,
                                                       void *library) {
  (void)destroy;
  (void)object;
  (void)library;
  return 0;
}
