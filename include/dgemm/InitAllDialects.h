// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Registration of everything that IR handled by dgemm may hold, for tools and
// for embedders that have no registry of their own.

#ifndef DGEMM_INITALLDIALECTS_H
#define DGEMM_INITALLDIALECTS_H

namespace mlir {
class DialectRegistry;
}

namespace mlir::dgemm {

/// The dgemm dialect alone, with the interfaces that generic tools ask it for.
void registerDgemmDialect(DialectRegistry &registry);

/// The upstream dialects that dgemm's passes read or write, and their
/// interfaces for inlining, lowering to LLVM and translation to LLVM IR.
void registerUpstreamDialects(DialectRegistry &registry);

/// Both.
void registerAllDialects(DialectRegistry &registry);

} // namespace mlir::dgemm

#endif // DGEMM_INITALLDIALECTS_H
