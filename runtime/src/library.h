// SPDX-License-Identifier: BSD-3-Clause
// library.h - what library.c and library_file.c share.

#pragma once

#include "nbc.h"
#include "nbc/library.h"

// Sets *why and returns NBC_ERROR_LIBRARY.
int unfit(const char **why, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Each word of 8 bytes changes it, whatever follows; what is left over is one word.
uint64_t hash_words(uint64_t hash, const unsigned char *begin, size_t bytes);
static const uint64_t HASH_OF_NOTHING = 0xcbf29ce484222325u;
