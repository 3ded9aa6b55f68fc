// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "Progress.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <unistd.h>

namespace dgemm::tune {

__attribute__((format(printf, 1, 2))) static std::string
format(const char *pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  char buffer[512];
  std::vsnprintf(buffer, sizeof(buffer), pattern, arguments);
  va_end(arguments);
  return buffer;
}

static constexpr size_t kWidth = 100;
static constexpr double kRefreshSeconds = 0.2;
/// Between lines of a log.
static constexpr double kLogSeconds = 10;

static std::string clockText(double seconds) {
  long whole = std::lround(std::max(seconds, 0.0));
  return format("%ld:%02ld", whole / 60, whole % 60);
}

std::string progressText(const tuner::TuneProgress &p, size_t width) {
  double share =
      p.planned > 0 ? std::min(1.0, double(p.done) / double(p.planned)) : 0;
  double complete =
      p.problems > 0 ? (double(p.problem) + share) / double(p.problems) : 0;
  constexpr int kBar = 20;
  int filled = int(complete * kBar);
  std::string text = "[" + std::string(size_t(filled), '#') +
                     std::string(size_t(kBar - filled), '.') + "]";
  text += format(" %zu/%zu %lld", p.problem + 1, p.problems, (long long)p.done);
  if (p.planned > 0)
    text += format("/%lld", (long long)p.planned);
  text += " tried, " + clockText(p.elapsedSeconds);
  if (p.remainingSeconds >= 0)
    text += ", ETA " + clockText(p.remainingSeconds);
  if (p.bestUs > 0)
    text += format(", best %.2f us", p.bestUs);
  if (p.bestUs > 0 && p.modelUs > 0)
    text += format(" (%+.1f %%)", 100 * (p.modelUs / p.bestUs - 1));
  text += " " + p.name;
  if (text.size() > width)
    text.resize(width);
  return text;
}

ProgressLine::ProgressLine(bool shown)
    : shown(shown), terminal(::isatty(STDERR_FILENO)) {}

void ProgressLine::show(const tuner::TuneProgress &progress) {
  double pause = terminal ? kRefreshSeconds : kLogSeconds;
  if (!shown || (lastShown >= 0 && progress.elapsedSeconds < lastShown + pause))
    return;
  lastShown = progress.elapsedSeconds;
  if (!terminal) {
    std::fprintf(stderr, "%s\n", progressText(progress, kWidth).c_str());
    return;
  }
  standing = true;
  std::fprintf(stderr, "\r%s\033[K", progressText(progress, kWidth).c_str());
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!standing)
    return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  standing = false;
}

static std::string outcomes(const tuner::TuneResult &result) {
  int64_t all = 0;
  std::string parts;
  for (const auto &[status, count] : result.outcomes) {
    all += count;
    parts += format("%s%lld %s", parts.empty() ? "" : ", ", (long long)count,
                    toString(status));
  }
  std::string text = format("%lld tried", (long long)all);
  if (!parts.empty())
    text += ": " + parts;
  if (result.resumed > 0)
    text += format("; %lld from the journal", (long long)result.resumed);
  return text;
}

static std::string times(const tuner::PhaseTimes &t) {
  return format("prepare %.1f, compile %.1f, check %.1f, measure %.1f, "
                "final %.1f s",
                t.prepare, t.compile, t.check, t.measure, t.final);
}

std::string resultLine(const tuner::TuneResult &result) {
  std::string text = result.task.name + ": ";
  if (!result.error.empty())
    return text + "FAILED: " + result.error + "\n";
  if (result.unfinished)
    return text + "unfinished (" + outcomes(result) + ")\n";
  const TuningRecord &winner = result.winner;
  text += format("%.2f us", winner.medianUs);
  if (winner.modelPickUs > 0)
    text += format(" (model's choice %.2f, %+.1f %%)", winner.modelPickUs,
                   100 * (winner.modelPickUs / winner.medianUs - 1));
  text += "  " + toString(winner.schedule) + "\n";
  if (result.fromJournal)
    return text + "    finished before\n";
  return text + "    " + outcomes(result) + "; " + times(result.times) + "\n";
}

std::string summary(const std::vector<tuner::TuneResult> &results,
                    double seconds) {
  tuner::PhaseTimes sum;
  double logs = 0;
  int64_t tuned = 0, compared = 0, failed = 0, unfinished = 0;
  for (const tuner::TuneResult &result : results) {
    sum.prepare += result.times.prepare;
    sum.compile += result.times.compile;
    sum.check += result.times.check;
    sum.measure += result.times.measure;
    sum.final += result.times.final;
    failed += !result.error.empty();
    unfinished += result.unfinished;
    if (!result.error.empty() || result.unfinished)
      continue;
    ++tuned;
    if (result.winner.modelPickUs > 0) {
      ++compared;
      logs += std::log(result.winner.modelPickUs / result.winner.medianUs);
    }
  }
  std::string text =
      format("%lld of %zu problems in %.1f s (%s)\n", (long long)tuned,
             results.size(), seconds, times(sum).c_str());
  if (compared > 0)
    text += format("winners are faster than the model's choices by %.2f %% "
                   "(geometric mean)\n",
                   100 * (std::exp(logs / double(compared)) - 1));
  if (failed > 0)
    text += format("%lld failed\n", (long long)failed);
  if (unfinished > 0)
    text += format("%lld unfinished; the same command with its journal goes "
                   "on\n",
                   (long long)unfinished);
  return text;
}

} // namespace dgemm::tune
