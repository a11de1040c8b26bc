// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - what a communicator of an MPI consists of, between the files of this folder.

#pragma once

#include <mpi.h>

#include "nbc/p2p.h"

struct entry;
struct question;

struct endpoint {
  struct nbc_p2p p2p;  // first: the device
  MPI_Comm comm;
  int level;                     // of threads
  uint64_t fragment;             // what is longer is sent in pieces of so many bytes; 0: whole
  unsigned idle;                 // sleeps since it last yielded
  struct entry *entries;         // what this rank has put
  struct question *questions;    // of others, not yet answered
  int question_tag, answer_tag;  // above those of plans
};

extern const struct nbc_p2p_ops endpoint_ops;

struct nbc_bootstrap bootstrap_of(struct endpoint *, int rank, int ranks);
void bootstrap_close(struct endpoint *);
