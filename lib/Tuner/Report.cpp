// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The page: tables and charts over what evaluate() worked out.

#include "dgemm/Tuner/Report.h"

#include "Chart.h"

#include "dgemm/Tuner/Evaluate.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace dgemm::tuner {

/// Points of the scatter chart and rows of the bar chart, at most: a page of a
/// few megabytes still opens at once.
static constexpr size_t kMaxPoints = 6000, kMaxBars = 60;
/// Failures listed one by one.
static constexpr size_t kMaxFailures = 300;

static const char *const kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dgemm tuning report</title>
<style>
:root{--bg:#fbfbf9;--card:#fff;--ink:#1d2329;--dim:#66707a;--edge:#dfe3e6;
--half:#2f6fb2;--eight:#c2571a;--good:#23804a;--bad:#b3261e;--line:#8a949d}
@media(prefers-color-scheme:dark){:root{--bg:#14171a;--card:#1c2125;
--ink:#e4e8eb;--dim:#98a3ad;--edge:#323a41;--half:#6cacec;--eight:#f0955a;
--good:#63c48b;--bad:#f2867d;--line:#78838d}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1120px;margin:0 auto;padding:28px 20px 60px}
h1{font-size:26px;margin:0 0 4px}h2{font-size:18px;margin:34px 0 8px}
p{margin:6px 0;color:var(--dim);max-width:80ch}
.cards{display:flex;flex-wrap:wrap;gap:12px;margin:18px 0}
.card{background:var(--card);border:1px solid var(--edge);border-radius:10px;
padding:10px 16px;min-width:138px}
.card b{display:block;font-size:23px;font-variant-numeric:tabular-nums}
.card span{color:var(--dim);font-size:13px}
.panel{background:var(--card);border:1px solid var(--edge);border-radius:10px;
padding:10px;overflow-x:auto}
svg{display:block;width:100%;max-width:900px;margin:0 auto;height:auto}
.grid{stroke:var(--edge);stroke-width:.7}
.tick,.note{fill:var(--dim);font-size:11px}
.axis{fill:var(--ink);font-size:12px}
.half{fill:var(--half);fill-opacity:.55}.eight{fill:var(--eight);
fill-opacity:.55}.half:hover,.eight:hover{fill-opacity:1;stroke:var(--ink)}
.exact{stroke:var(--ink);stroke-width:1.2}
.band{stroke:var(--line);stroke-width:.9;stroke-dasharray:5 4}
.roof16{stroke:var(--half);stroke-width:1.6}
.roof8{stroke:var(--eight);stroke-width:1.6}
.roofm{stroke:var(--line);stroke-width:1.6}
.bar{fill:var(--half);fill-opacity:.75}.mark{stroke:var(--eight);
stroke-width:3}
table{border-collapse:collapse;width:100%;font-size:13.5px}
th,td{padding:4px 9px;text-align:left;border-bottom:1px solid var(--edge);
vertical-align:top}
th{color:var(--dim);font-weight:600;cursor:pointer;white-space:nowrap;
position:sticky;top:0;background:var(--card)}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font:12px/1.4 ui-monospace,Menlo,Consolas,monospace}
.ok{color:var(--good)}.no{color:var(--bad)}
.key{display:inline-block;width:10px;height:10px;border-radius:5px;
margin:0 4px 0 12px}.sq{border-radius:1px}
</style></head><body><main>
)";

/// Sorts a table by the column whose head is clicked.
static const char *const kFoot = R"(<script>
for (const head of document.querySelectorAll("th"))
  head.addEventListener("click", () => {
    const table = head.closest("table"), body = table.tBodies[0];
    const column = [...head.parentNode.children].indexOf(head);
    const down = head.dataset.down !== "1";
    head.dataset.down = down ? "1" : "0";
    const value = row => {
      const text = row.children[column].textContent;
      const number = parseFloat(text);
      return isNaN(number) ? text : number;
    };
    const rows = [...body.rows].sort((a, b) => {
      const x = value(a), y = value(b);
      const order = typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0)
                                          : typeof x === "number" ? -1 : 1;
      return down ? -order : order;
    });
    body.append(...rows);
  });
</script></main></body></html>
)";

static std::string cell(const std::string &text) {
  return "<td>" + escaped(text) + "</td>";
}
static std::string number(const char *pattern, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), pattern, value);
  return std::string("<td class=\"n\">") + buffer + "</td>";
}
static std::string code(const std::string &text) {
  return "<td><code>" + escaped(text) + "</code></td>";
}
static std::string card(const std::string &value, const std::string &name) {
  return "<div class=\"card\"><b>" + escaped(value) + "</b><span>" +
         escaped(name) + "</span></div>\n";
}
static std::string head(std::initializer_list<const char *> names) {
  std::string out = "<thead><tr>";
  for (const char *name : names)
    out += "<th>" + escaped(name) + "</th>";
  return out + "</tr></thead><tbody>\n";
}
static const char *const kLegend =
    "<p><span class=\"key\" style=\"background:var(--half)\"></span>16-bit"
    "<span class=\"key\" style=\"background:var(--eight)\"></span>8-bit"
    "<span class=\"key\" style=\"background:var(--dim)\"></span>large"
    "<span class=\"key sq\" style=\"background:var(--dim)\"></span>M &le; 128"
    "</p>\n";

static const char *style(const Problem &problem) {
  return sizeOf(problem.a) == 1 ? "eight" : "half";
}

static std::string scatter(const Evaluation &evaluation) {
  size_t total = 0;
  double low = 1e30, high = 0;
  for (const JudgedProblem &problem : evaluation.problems) {
    total += problem.schedules.size();
    for (const JudgedSchedule &judged : problem.schedules) {
      low = std::min({low, judged.measuredUs, judged.predictedUs});
      high = std::max({high, judged.measuredUs, judged.predictedUs});
    }
  }
  if (total == 0)
    return "";
  LogChart chart(low * 0.9, high * 1.1, low * 0.9, high * 1.1);
  chart.line("exact", low / 2, low / 2, high * 2, high * 2);
  for (double factor : {1.1, 1 / 1.1})
    chart.line("band", low / 2, low / 2 * factor, high * 2, high * 2 * factor);
  size_t stride = total / kMaxPoints + 1;
  for (const JudgedProblem &problem : evaluation.problems)
    for (size_t i = 0; i < problem.schedules.size(); ++i) {
      const JudgedSchedule &judged = problem.schedules[i];
      if (i % stride != 0 && i != problem.best)
        continue;
      chart.point(
          style(problem.problem), !problem.large(), judged.measuredUs,
          judged.predictedUs,
          shortName(problem.problem, problem.l2) + "\n" +
              toString(judged.schedule) +
              format("\nmeasured %.2f us, predicted %.2f us (%+.1f %%)",
                     judged.measuredUs, judged.predictedUs,
                     100 * (judged.predictedUs / judged.measuredUs - 1)));
    }
  return "<h2>Predicted against measured time</h2>\n<p>One mark per schedule; "
         "on the solid line the prediction is exact, between the dashed ones "
         "it is within 10 %.</p>\n" +
         std::string(kLegend) + "<div class=\"panel\">" +
         chart.finish("measured, us", "predicted, us") + "</div>\n";
}

/// Operations of a problem, and the bytes that must move at least once.
static double flops(const Problem &problem) {
  return 2.0 * double(problem.m) * double(problem.n) * double(problem.k);
}
static double bytes(const Problem &p) {
  return double(p.m) * double(p.k) * double(sizeOf(p.a)) +
         double(p.n) * double(p.k) * double(sizeOf(p.b)) +
         double(p.m) * double(p.n) * double(sizeOf(p.d)) *
             (p.accumulate ? 2 : 1);
}

static std::string roofline(const std::vector<const TuningRecord *> &best,
                            const DeviceModel &device) {
  if (best.empty())
    return "";
  double peak16 = device.tensorTeraflops16, peak8 = 2 * peak16;
  double minX = 1e30, maxX = 0, minY = peak16;
  for (const TuningRecord *record : best) {
    double intensity = flops(record->problem) / bytes(record->problem);
    minX = std::min(minX, intensity);
    maxX = std::max(maxX, intensity);
    minY = std::min(minY, flops(record->problem) / record->medianUs / 1e6);
  }
  LogChart chart(minX / 1.5, std::max(maxX * 1.5, 1000.0), minY / 1.5,
                 peak8 * 1.4);
  double ridge16 = peak16 / device.hbmBandwidth;
  chart.line("roofm", minX / 4, minX / 4 * device.hbmBandwidth, 2 * ridge16,
             peak8);
  chart.line("roof16", ridge16, peak16, maxX * 4 + 4000, peak16);
  chart.line("roof8", 2 * ridge16, peak8, maxX * 4 + 4000, peak8);
  chart.label(2 * ridge16, peak8, format("8-bit, %.0f TFLOP/s", peak8));
  chart.label(2 * ridge16, peak16, format("16-bit, %.0f TFLOP/s", peak16));
  chart.label(minX / 1.4, minX / 1.4 * device.hbmBandwidth,
              format("DRAM, %.1f TB/s", device.hbmBandwidth));
  for (const TuningRecord *record : best) {
    const Problem &p = record->problem;
    double rate = flops(p) / record->medianUs / 1e6;
    chart.point(style(p), p.m <= kDecodeMaxM, flops(p) / bytes(p), rate,
                shortName(p, record->l2) +
                    format("\n%.2f us, %.0f TFLOP/s, %.2f TB/s\n",
                           record->medianUs, rate,
                           bytes(p) / record->medianUs / 1e6) +
                    toString(record->schedule));
  }
  return "<h2>Roofline</h2>\n<p>The fastest schedule of every problem. "
         "Intensity counts every operand byte once; the roofs are published "
         "figures.</p>\n" +
         std::string(kLegend) + "<div class=\"panel\">" +
         chart.finish("FLOP per byte", "TFLOP/s") + "</div>\n";
}

static std::string regretBars(const Evaluation &evaluation) {
  std::vector<const JudgedProblem *> rows;
  for (const JudgedProblem &problem : evaluation.problems)
    rows.push_back(&problem);
  if (rows.empty())
    return "";
  std::sort(rows.begin(), rows.end(), [](auto *a, auto *b) {
    return std::pair(a->top1, a) < std::pair(b->top1, b);
  });
  bool cut = rows.size() > kMaxBars;
  rows.resize(std::min(rows.size(), kMaxBars));
  double worst = 0.02;
  for (const JudgedProblem *problem : rows)
    worst = std::max(worst, 1 - problem->top1);
  double height = 18.0 * double(rows.size()) + 26, left = 270, width = 430;
  std::string svg =
      format("<svg viewBox=\"0 0 720 %g\" role=\"img\">\n", height);
  for (int i = 0; i <= 4; ++i)
    svg += format("<line class=\"grid\" x1=\"%g\" y1=\"0\" x2=\"%g\" "
                  "y2=\"%g\"/><text class=\"tick\" text-anchor=\"middle\" "
                  "x=\"%g\" y=\"%g\">%.1f %%</text>\n",
                  left + width * i / 4, left + width * i / 4, height - 20,
                  left + width * i / 4, height - 6, 100 * worst * i / 4);
  for (size_t i = 0; i < rows.size(); ++i) {
    const JudgedProblem &problem = *rows[i];
    std::string name = shortName(problem.problem, problem.l2);
    double y = 18.0 * double(i) + 4;
    double end8 = left + width * (1 - problem.top8) / worst;
    svg += format("<text class=\"tick\" text-anchor=\"end\" x=\"%g\" "
                  "y=\"%g\">",
                  left - 8, y + 9) +
           escaped(name) + "</text>" +
           format("<rect class=\"bar\" x=\"%g\" y=\"%g\" width=\"%.1f\" "
                  "height=\"11\">",
                  left, y, std::max(width * (1 - problem.top1) / worst, 1.0)) +
           "<title>" +
           escaped(name + format("\nmodel's choice %.2f us, best of its "
                                 "first eight %.2f us, best %.2f us",
                                 problem.schedules[0].measuredUs,
                                 problem.bestUs() / problem.top8,
                                 problem.bestUs())) +
           "</title></rect>" +
           format("<line class=\"mark\" x1=\"%.1f\" y1=\"%g\" x2=\"%.1f\" "
                  "y2=\"%g\"/>\n",
                  end8, y - 1, end8, y + 12);
  }
  return "<h2>What the model's choice costs</h2>\n<p>Bar: how much the best "
         "measured schedule beats the model's choice. Mark: the same for the "
         "best of the model's first eight." +
         std::string(cut ? " The worst " + std::to_string(kMaxBars) +
                               " problems."
                         : "") +
         "</p>\n<div class=\"panel\">" + svg + "</svg></div>\n";
}

static std::string judgement(const Evaluation &evaluation) {
  if (evaluation.groups.empty())
    return "";
  std::string out =
      "<h2>How good the model is</h2>\n<p>Best measured time over that of the "
      "model's choice (top-1) and of its first eight (top-8), geometric means "
      "and the worst problem; median of the error of all times.</p>\n"
      "<div class=\"panel\"><table>" +
      head({"problems of kind", "problems", "schedules", "top-1", "worst",
            "top-8", "worst", "error %", "worst problem"});
  for (const EvaluationGroup &group : evaluation.groups)
    out += "<tr>" + cell(group.name) + number("%.0f", double(group.problems)) +
           number("%.0f", double(group.schedules)) +
           number("%.4f", group.top1) + number("%.4f", group.worst1) +
           number("%.4f", group.top8) + number("%.4f", group.worst8) +
           number("%.1f", 100 * group.medianError) + cell(group.worstProblem) +
           "</tr>\n";
  out += "</tbody></table></div>\n<div class=\"panel\" "
         "style=\"margin-top:10px\"><table>" +
         head({"criterion", "value", "wanted", ""});
  for (const Criterion &criterion : evaluation.criteria)
    out += "<tr>" + cell(criterion.name) + number("%.4f", criterion.value) +
           cell((criterion.atMost ? "at most " : "at least ") +
                format("%.3f", criterion.limit)) +
           "<td class=\"" + (criterion.met() ? "ok\">met" : "no\">missed") +
           "</td></tr>\n";
  return out + "</tbody></table></div>\n";
}

namespace {
/// The fastest record of a problem and the time of the model's choice.
struct Change {
  const TuningRecord *best = nullptr;
  double pickUs = 0; ///< 0: unknown
  std::string pick;
  size_t records = 0;
};
} // namespace

static std::string keyOf(const Problem &problem, L2State l2) {
  return toString(problem) + " " + toString(l2);
}

static std::map<std::string, Change>
changes(const std::vector<TuningRecord> &records, const DeviceModel &device,
        const Evaluation &evaluation) {
  std::map<std::string, Change> out;
  for (const TuningRecord &record : records) {
    if (record.status != RecordStatus::Ok || !(record.medianUs > 0) ||
        record.device != device.name)
      continue;
    Change &change = out[keyOf(record.problem, record.l2)];
    ++change.records;
    if (!change.best || record.medianUs < change.best->medianUs)
      change.best = &record;
    if (record.modelPickUs > 0)
      change.pickUs = record.modelPickUs;
  }
  for (const JudgedProblem &problem : evaluation.problems) {
    if (!problem.pickMeasured)
      continue;
    Change &change = out[keyOf(problem.problem, problem.l2)];
    change.pickUs = problem.schedules[0].measuredUs;
    change.pick = toString(problem.schedules[0].schedule);
  }
  return out;
}

static std::string changeTable(const std::map<std::string, Change> &all) {
  if (all.empty())
    return "";
  std::string out =
      "<h2>What tuning changed</h2>\n<p>Click a head to sort.</p>\n"
      "<div class=\"panel\"><table>" +
      head({"problem", "records", "model's choice us", "fastest us", "gain %",
            "fastest schedule", "model's choice"});
  for (const auto &[key, change] : all) {
    const TuningRecord &best = *change.best;
    std::string schedule = toString(best.schedule);
    bool known = change.pickUs > 0;
    double gain = known ? 100 * (change.pickUs / best.medianUs - 1) : 0;
    out += "<tr>" + cell(shortName(best.problem, best.l2)) +
           number("%.0f", double(change.records)) +
           (known ? number("%.2f", change.pickUs) : cell("unknown")) +
           number("%.2f", best.medianUs) +
           (known ? number("%+.1f", gain) : cell("")) + code(schedule) +
           (change.pick == schedule ? cell("the same") : code(change.pick)) +
           "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

static std::string failures(const std::vector<TuningRecord> &records) {
  std::map<std::string, size_t> counts;
  std::string rows;
  size_t listed = 0;
  for (const TuningRecord &record : records) {
    if (record.status == RecordStatus::Ok)
      continue;
    ++counts[toString(record.status)];
    if (++listed > kMaxFailures)
      continue;
    rows += "<tr>" + cell(toString(record.status)) +
            cell(shortName(record.problem, record.l2)) +
            code(toString(record.schedule)) + cell(record.note) + "</tr>\n";
  }
  std::string out = "<h2>What failed</h2>\n";
  if (counts.empty())
    return out + "<p>Nothing.</p>\n";
  out += "<p>";
  for (const auto &[status, count] : counts)
    out += escaped(std::to_string(count) + " " + status + "  ");
  if (listed > kMaxFailures)
    out += "; the first " + std::to_string(kMaxFailures) + " are listed";
  return out + "</p>\n<div class=\"panel\"><table>" +
         head({"what", "problem", "schedule", "why"}) + rows +
         "</tbody></table></div>\n";
}

static std::string cards(const std::map<std::string, Change> &all,
                         const Evaluation &evaluation,
                         const std::vector<TuningRecord> &records) {
  std::string out = "<div class=\"cards\">\n" +
                    card(std::to_string(all.size()), "problems") +
                    card(std::to_string(records.size()), "records");
  double gain = 0;
  size_t known = 0;
  for (const auto &[key, change] : all)
    if (change.pickUs > 0) {
      gain += std::log(change.pickUs / change.best->medianUs);
      ++known;
    }
  if (known > 0)
    out += card(format("%+.1f %%", 100 * (std::exp(gain / double(known)) - 1)),
                "faster by tuning (geomean)");
  for (const EvaluationGroup &group : evaluation.groups)
    if (group.name == "all")
      out += card(format("%.1f %%", 100 * group.top1),
                  "of the best: the model's choice") +
             card(format("%.1f %%", 100 * group.top8),
                  "of the best: its first eight") +
             card(format("%.1f %%", 100 * group.medianError),
                  "median error of the time");
  return out + "</div>\n";
}

std::string htmlReport(const std::vector<TuningRecord> &records,
                       const DeviceModel &device, const std::string &date,
                       const std::function<bool(const Problem &)> &heldOut) {
  Evaluation evaluation = evaluate(records, device, heldOut);
  std::map<std::string, Change> all = changes(records, device, evaluation);
  std::vector<const TuningRecord *> best;
  for (const auto &[key, change] : all)
    best.push_back(change.best);
  std::string skipped;
  for (const std::string &why : evaluation.skipped)
    skipped += (skipped.empty() ? "" : ", ") + why;
  if (!skipped.empty())
    skipped = "<p>Not judged: " + escaped(skipped) + ".</p>\n";
  return kHead + ("<h1>Tuning report, " + escaped(device.name)) + "</h1>\n<p>" +
         escaped(date) + "</p>\n" + cards(all, evaluation, records) + skipped +
         judgement(evaluation) + scatter(evaluation) + roofline(best, device) +
         regretBars(evaluation) + changeTable(all) + failures(records) + kFoot;
}

} // namespace dgemm::tuner
