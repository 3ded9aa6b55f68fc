// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Commands that turn measurements into a better cost model and into a page.

#ifndef DGEMM_TOOLS_TUNE_MODELCOMMANDS_H
#define DGEMM_TOOLS_TUNE_MODELCOMMANDS_H

namespace dgemm::tune {

/// --calibrate: fits a device model to journals.
int calibrateMain(int argc, char **argv);
/// --evaluate: judges a device model by journals.
int evaluateMain(int argc, char **argv);
/// --report: draws journals and a database.
int reportMain(int argc, char **argv);

} // namespace dgemm::tune

#endif // DGEMM_TOOLS_TUNE_MODELCOMMANDS_H
