// SPDX-License-Identifier: BSD-3-Clause
// buffers.h - the memory that a collective's argument stands for, and names of MPI's constants.

#pragma once

#include <clang/AST/Expr.h>

#include <string>
#include <string_view>

#include "tools/overlap/collectives.h"
#include "tools/overlap/effects.h"
#include "tools/overlap/memory.h"

namespace nbcc::overlap {

/// What argument i of a collective or a message points at. A field of a structure, where its length
/// can be told and is no more than that; else the whole structure. With a datatype of the program's
/// own that may hold addresses, anything that has one.
Objects bufferOf(const clang::CallExpr &, const Signature &, unsigned i, const Memory &,
                 const Program &);

/// Bytes of a datatype that has the same size everywhere here; 0: it is not known.
unsigned sizeOfType(std::string_view name);

/// Which part of it, as far as count and datatype say.
Access accessOf(const clang::CallExpr &, const Signature &, unsigned i, const clang::ASTContext &);

/// Whether a file is MPI's own header, or is included by it.
bool comesWithMpi(clang::FileID, const clang::SourceManager &);

/// The name of the macro that an expression is, as MPI's constants are in some libraries; else the
/// name of the variable; else empty.
std::string constantName(const clang::Expr *, const clang::ASTContext &);

/// Whether a name is one of MPI's own constants: MPI_SUM, MPI_DOUBLE, MPI_COMM_WORLD.
bool isMpiConstant(std::string_view name);
/// Whether it is one of MPI's own operators, of which nothing else runs than mathematics.
bool isMpiOperator(std::string_view name);

}  // namespace nbcc::overlap
