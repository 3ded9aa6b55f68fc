// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of devices/*.tuning.jsonl, made part of the library by the build
// system, so that a program needs no file beside it.

#ifndef DGEMM_LIB_TUNINGDB_SHIPPEDTABLE_H
#define DGEMM_LIB_TUNINGDB_SHIPPEDTABLE_H

namespace dgemm {

extern const char *const kShippedTable;

} // namespace dgemm

#endif // DGEMM_LIB_TUNINGDB_SHIPPEDTABLE_H
