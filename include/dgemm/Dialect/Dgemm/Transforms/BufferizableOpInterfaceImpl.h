// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// How one-shot-bufferize turns dgemm ops on tensors into ops on memrefs.

#ifndef DGEMM_DIALECT_DGEMM_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define DGEMM_DIALECT_DGEMM_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
}

namespace mlir::dgemm {

/// Attaches BufferizableOpInterface to dgemm.matmul and dgemm.launch when the
/// dialect is loaded.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::dgemm

#endif // DGEMM_DIALECT_DGEMM_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
