// SPDX-License-Identifier: BSD-3-Clause
// handles.cpp - a type is kept by another that is made of it, an operator by being counted.
//
// A duplicate of a type would be another handle, which an operator might not know, and copying its
// attributes would be seen.

#include "dropin/handles.h"

#include <new>

#include "dropin/operators.h"
#include "dropin/shapes.h"

namespace nbcc::dropin {

void Handles::clear() {
  for (MPI_Datatype &type : types_) PMPI_Type_free(&type);
  types_.clear();
  last_ = MPI_DATATYPE_NULL;
  if (op_ != MPI_OP_NULL) release(op_);
  op_ = MPI_OP_NULL;
}

void Handles::keep(MPI_Datatype type, const Type &t) {
  if (t.named || type == last_) return;
  types_.push_back(MPI_DATATYPE_NULL);
  if (PMPI_Type_contiguous(1, type, &types_.back()) != MPI_SUCCESS) {
    types_.pop_back();
    throw std::bad_alloc();
  }
  last_ = type;
}

void Handles::keep(MPI_Op op) {
  if (!retain(op)) throw std::bad_alloc();
  op_ = op;
}

// Of a row also what stands at blocks of no elements.
void Handles::keep(const Side &s, int blocks) {
  for (int i = 0; i < (s.types ? blocks : 1); ++i) {
    MPI_Datatype type = s.types ? s.types[i] : s.type;
    if (type != MPI_DATATYPE_NULL) keep(type, type_of(type));
  }
}

void Handles::keep(const Operation &o, int rank, int ranks, int blocks_in, int blocks_out) {
  const Shapes &s = shapes_of(o.kind);
  if (s.reduces) keep(o.op);
  if (sends(o, rank) && o.send.buffer != MPI_IN_PLACE)
    keep(o.send, s.send == Shape::ranks ? ranks : blocks_in);
  if (receives(o, rank) && o.receive.buffer != MPI_IN_PLACE)
    keep(o.receive, s.receive == Shape::ranks ? ranks : blocks_out);
}

}  // namespace nbcc::dropin
