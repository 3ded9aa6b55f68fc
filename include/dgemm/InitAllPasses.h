// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Registration of passes by name, for textual pipelines.

#ifndef DGEMM_INITALLPASSES_H
#define DGEMM_INITALLPASSES_H

namespace mlir::dgemm {

/// Our passes and named pipelines.
void registerDgemmPasses();

/// The upstream passes that pipelines of ours are mixed with: canonicalize,
/// cse, bufferization, the conversions to LLVM and NVVM, ...
void registerUpstreamPasses();

/// Both.
void registerAllPasses();

} // namespace mlir::dgemm

#endif // DGEMM_INITALLPASSES_H
