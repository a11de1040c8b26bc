// SPDX-License-Identifier: BSD-3-Clause
// initialized.h - where MPI may be called that was not called before.
//
// Programs that run without MPI as well ask first: if (parallel) MPI_Allreduce(...). A wait behind
// asks its request, which is null there. A persistent call in front of a loop has none to ask.

#pragma once

namespace clang {
class FunctionDecl;
class Stmt;
}  // namespace clang

namespace nbcc::overlap {

class Program;

/// Whether MPI is initialised, and not finalised, wherever a statement of a function stands: each
/// main() does so on every way, and nothing before or behind leads to the function. Of a library
/// that is promised.
bool isInitializedAt(const clang::Stmt *, const clang::FunctionDecl &in, Program &);

}  // namespace nbcc::overlap
