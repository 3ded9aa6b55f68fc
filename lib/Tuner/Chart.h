// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// SVG charts with logarithmic axes, and HTML text.

#ifndef DGEMM_LIB_TUNER_CHART_H
#define DGEMM_LIB_TUNER_CHART_H

#include <string>

namespace dgemm::tuner {

/// printf into a string.
std::string format(const char *pattern, ...)
    __attribute__((format(printf, 1, 2)));

/// Text that is safe inside HTML and inside quoted attributes.
std::string escaped(const std::string &text);

/// A chart with two logarithmic axes. What is drawn outside is clipped.
class LogChart {
public:
  /// Limits of the axes; each is widened to be above 0 and not empty.
  LogChart(double minX, double maxX, double minY, double maxY);

  /// A straight line in the data's own coordinates.
  void line(const char *style, double x0, double y0, double x1, double y1);
  /// A point with a tooltip; `shape` is "circle" or "square".
  void point(const char *style, bool square, double x, double y,
             const std::string &tooltip);
  void label(double x, double y, const std::string &text);
  /// The whole `<svg>` with axes titled.
  std::string finish(const std::string &titleX,
                     const std::string &titleY) const;

private:
  double toX(double value) const;
  double toY(double value) const;
  std::string ticks() const;

  double minX, maxX, minY, maxY; ///< logarithms
  std::string body, texts;
};

} // namespace dgemm::tuner

#endif // DGEMM_LIB_TUNER_CHART_H
