// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The version of dgemm, for what tools print and what caches are keyed by.

#ifndef DGEMM_SUPPORT_VERSION_H
#define DGEMM_SUPPORT_VERSION_H

namespace dgemm {

/// "major.minor.patch" of this build.
const char *version();

} // namespace dgemm

#endif // DGEMM_SUPPORT_VERSION_H
