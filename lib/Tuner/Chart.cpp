// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0

#include "Chart.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace dgemm::tuner {

/// Size of a chart and of the margins for its axes, in SVG units.
static constexpr double kWidth = 720, kHeight = 430;
static constexpr double kLeft = 62, kRight = 14, kTop = 12, kBottom = 46;

std::string format(const char *pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  int length = std::vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  std::string out(std::max(length, 0), '\0');
  std::vsnprintf(out.data(), out.size() + 1, pattern, again);
  va_end(again);
  return out;
}

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default:
      out += c;
    }
  return out;
}

LogChart::LogChart(double lowX, double highX, double lowY, double highY) {
  auto logs = [](double low, double high, double &outLow, double &outHigh) {
    outLow = std::log10(std::max(low, 1e-9));
    outHigh = std::max(std::log10(std::max(high, 1e-9)), outLow + 0.1);
  };
  logs(lowX, highX, minX, maxX);
  logs(lowY, highY, minY, maxY);
}

double LogChart::toX(double value) const {
  double share = (std::log10(std::max(value, 1e-12)) - minX) / (maxX - minX);
  return kLeft + share * (kWidth - kLeft - kRight);
}
double LogChart::toY(double value) const {
  double share = (std::log10(std::max(value, 1e-12)) - minY) / (maxY - minY);
  return kHeight - kBottom - share * (kHeight - kTop - kBottom);
}

void LogChart::line(const char *style, double x0, double y0, double x1,
                    double y1) {
  body += format("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                 "y2=\"%.1f\"/>\n",
                 style, toX(x0), toY(y0), toX(x1), toY(y1));
}

void LogChart::point(const char *style, bool square, double x, double y,
                     const std::string &tooltip) {
  double px = toX(x), py = toY(y);
  body += square ? format("<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" "
                          "width=\"6\" height=\"6\">",
                          style, px - 3, py - 3)
                 : format("<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" "
                          "r=\"3.4\">",
                          style, px, py);
  body += "<title>" + escaped(tooltip) + "</title>" +
          (square ? "</rect>\n" : "</circle>\n");
}

void LogChart::label(double x, double y, const std::string &text) {
  texts += format("<text class=\"note\" x=\"%.1f\" y=\"%.1f\">", toX(x) + 4,
                  toY(y) - 5) +
           escaped(text) + "</text>\n";
}

std::string LogChart::ticks() const {
  std::string out;
  auto each = [](double low, double high, auto draw) {
    for (int decade = static_cast<int>(std::floor(low)) - 1;
         decade <= static_cast<int>(std::ceil(high)); ++decade)
      for (int step : {1, 2, 5}) {
        double value = step * std::pow(10, decade);
        if (std::log10(value) >= low - 1e-9 && std::log10(value) <= high + 1e-9)
          draw(value);
      }
  };
  each(minX, maxX, [&](double value) {
    double x = toX(value);
    out +=
        format("<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
               "y2=\"%.1f\"/><text class=\"tick\" text-anchor=\"middle\" "
               "x=\"%.1f\" y=\"%.1f\">%g</text>\n",
               x, kTop, x, kHeight - kBottom, x, kHeight - kBottom + 16, value);
  });
  each(minY, maxY, [&](double value) {
    double y = toY(value);
    out += format("<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                  "y2=\"%.1f\"/><text class=\"tick\" text-anchor=\"end\" "
                  "x=\"%.1f\" y=\"%.1f\">%g</text>\n",
                  kLeft, y, kWidth - kRight, y, kLeft - 6, y + 4, value);
  });
  return out;
}

std::string LogChart::finish(const std::string &titleX,
                             const std::string &titleY) const {
  double width = kWidth - kLeft - kRight, height = kHeight - kTop - kBottom;
  // An inner <svg> clips what lies outside the axes.
  return format("<svg viewBox=\"0 0 %g %g\" role=\"img\">\n", kWidth, kHeight) +
         ticks() +
         format("<svg x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" "
                "viewBox=\"%g %g %g %g\">\n",
                kLeft, kTop, width, height, kLeft, kTop, width, height) +
         body + texts + "</svg>\n" +
         format("<text class=\"axis\" text-anchor=\"middle\" x=\"%g\" "
                "y=\"%g\">",
                (kLeft + kWidth - kRight) / 2, kHeight - 8) +
         escaped(titleX) + "</text>\n" +
         format("<text class=\"axis\" text-anchor=\"middle\" "
                "transform=\"rotate(-90 14 %g)\" x=\"14\" y=\"%g\">",
                (kTop + kHeight - kBottom) / 2,
                (kTop + kHeight - kBottom) / 2) +
         escaped(titleY) + "</text>\n</svg>\n";
}

} // namespace dgemm::tuner
