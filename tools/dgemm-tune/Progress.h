// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// What tuning prints while it runs and at its end.

#ifndef DGEMM_TOOLS_TUNE_PROGRESS_H
#define DGEMM_TOOLS_TUNE_PROGRESS_H

#include "dgemm/Tuner/Tuner.h"

namespace dgemm::tune {

/// One line on a terminal that is written over and over; nothing elsewhere.
/// On a terminal one line that changes; elsewhere (a log) a line now and then.
class ProgressLine {
public:
  explicit ProgressLine(bool shown);
  void show(const tuner::TuneProgress &progress);
  /// Takes the line away, so that others may be printed.
  void clear();

private:
  bool shown, terminal;
  double lastShown = -1; ///< seconds into the run
  bool standing = false;
};

/// The text of that line, at most `width` characters.
std::string progressText(const tuner::TuneProgress &progress, size_t width);
/// One problem's outcome, with its end of line.
std::string resultLine(const tuner::TuneResult &result);
/// What the run did; lines.
std::string summary(const std::vector<tuner::TuneResult> &results,
                    double seconds);

} // namespace dgemm::tune

#endif // DGEMM_TOOLS_TUNE_PROGRESS_H
