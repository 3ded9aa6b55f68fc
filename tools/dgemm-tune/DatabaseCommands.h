// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Commands of dgemm-tune on tuning databases. Each gets the whole command line
// and returns an ExitCode.

#ifndef DGEMM_TOOLS_TUNE_DATABASECOMMANDS_H
#define DGEMM_TOOLS_TUNE_DATABASECOMMANDS_H

namespace dgemm::tune {

/// --merge=OUT FILE...: OUT gets the best of its own records and theirs.
int mergeDatabases(int argc, char **argv);
/// --import=FILE --db=DB: DB gets what is good enough of a journal or a table.
int importRecords(int argc, char **argv);
/// --export=OUT [--db] [--device]: the best records as a table of their own.
int exportDatabase(int argc, char **argv);
/// --explain=GEMM [--db] [--device]: which record a problem gets, or why none.
int explainChoice(int argc, char **argv);

} // namespace dgemm::tune

#endif // DGEMM_TOOLS_TUNE_DATABASECOMMANDS_H
