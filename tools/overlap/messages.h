// SPDX-License-Identifier: BSD-3-Clause
// messages.h - messages between two ranks, which may be on their way while a collective is.
//
// A rank that has only started a collective goes on before the others have come to it, and its
// messages with it. Where each receive names who sends, they cannot meet another one for that:
// receives of one rank take messages of another in their order. Nor can anybody see them before it
// has started the collective as well, but by a look that does not wait: who waits would have
// waited for ever where the collective was a blocking one.

#pragma once

#include <llvm/ADT/StringRef.h>

#include "tools/overlap/collectives.h"

namespace clang {
class CallExpr;
class FunctionDecl;
}  // namespace clang

namespace nbcc::overlap {

/// By the name of the function; null: it is none, or one that may need that ranks wait for each
/// other, as MPI_Rsend() does.
const Signature *findMessage(llvm::StringRef function);

/// Whether a program that names this function of MPI may see a message that comes earlier: it looks
/// without waiting, or sends from a buffer that may be full.
bool seesEarlier(llvm::StringRef function);

/// Whether a call of MPI names a rank by a negative number, which is no rank and may be any.
bool namesAnyByNumber(const clang::CallExpr &, const clang::FunctionDecl &called);

/// Whether it asks for threads that call MPI, other than one that does so alone.
bool asksForThreads(const clang::CallExpr &, const clang::FunctionDecl &called);

}  // namespace nbcc::overlap
