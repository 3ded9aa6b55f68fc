// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// The page holds what it should, is well formed, needs nothing from outside,
// and no text of a record becomes markup.

#include "TestJournal.h"

#include "dgemm/Tuner/Report.h"

#include "../../../lib/Tuner/Chart.h"

#include <gtest/gtest.h>

using namespace dgemm;
using namespace dgemm::tuner;

static size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++found;
  return found;
}

static std::string page(const std::vector<TuningRecord> &records) {
  return htmlReport(records, *findDevice("H200"), "2026-01-31T12:00:00Z", {});
}

/// Whether elements that need an end have one, innermost first.
static std::string unbalanced(const std::string &html) {
  std::vector<std::string> open;
  for (size_t at = html.find('<'); at != std::string::npos;
       at = html.find('<', at + 1)) {
    size_t end = html.find('>', at);
    if (end == std::string::npos)
      return "unfinished tag";
    std::string tag = html.substr(at + 1, end - at - 1);
    if (tag[0] == '!' || tag.back() == '/' || tag.find("meta") == 0)
      continue;
    bool closes = tag[0] == '/';
    std::string name = tag.substr(closes, tag.find(' ') - closes);
    if (name == "script") { // its text is no markup
      at = html.find("</script>", end) + 8;
      continue;
    }
    if (!closes)
      open.push_back(name);
    else if (open.empty() || open.back() != name)
      return "</" + name + "> at " + std::to_string(at);
    else
      open.pop_back();
  }
  return open.empty() ? "" : "<" + open.back() + "> is open";
}

TEST(Report, HoldsWhatWasMeasured) {
  DeviceModel device = *findDevice("H200");
  std::vector<TuningRecord> records;
  addJournal(records, testProblem(64, 7168, 2048, true), device, 40);
  addJournal(records, testProblem(4096, 7168, 2048, false), device, 40);
  size_t measured = records.size();
  records.push_back(records[0]);
  records.back().status = RecordStatus::Hang;
  records.back().note = "ran into its watchdog";
  std::string html = page(records);
  EXPECT_EQ(unbalanced(html), "");
  // One mark for each schedule, and two in the roofline.
  EXPECT_EQ(count(html, "<circle") + count(html, "<rect class=\"half\"") +
                count(html, "<rect class=\"eight\""),
            measured + 2);
  for (const char *part :
       {"Tuning report, H200", "2026-01-31T12:00:00Z", "How good the model is",
        "Predicted against measured time", "Roofline",
        "What the model's choice costs", "What tuning changed", "What failed",
        "1 hang", "ran into its watchdog",
        "64x7168x2048 fp8 1x128m/128x128k clean", "4096x7168x2048 bf16",
        "prefers-color-scheme:dark", "<title>"})
    EXPECT_GE(count(html, part), 1u) << part;
  for (const char *outside : {"http:", "https:", "src=", "href=", "@import"})
    EXPECT_EQ(count(html, outside), 0u) << outside;
}

TEST(Report, TextsOfRecordsAreNoMarkup) {
  DeviceModel device = *findDevice("H200");
  std::vector<TuningRecord> records;
  addJournal(records, testProblem(64, 7168, 2048, false), device, 4);
  records.push_back(records[0]);
  records.back().status = RecordStatus::Fault;
  records.back().note = "<script>alert(\"1\")</script> & 'quoted'";
  std::string html = page(records);
  EXPECT_EQ(count(html, "<script>alert"), 0u);
  EXPECT_EQ(count(html, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; "
                        "&amp; &#39;quoted&#39;"),
            1u);
  EXPECT_EQ(unbalanced(html), "");
}

TEST(Report, EmptyAndPartialJournals) {
  std::string html = page({});
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_EQ(count(html, "<svg"), 0u);
  EXPECT_EQ(count(html, "Nothing."), 1u);
  // A database: one record a problem, so no model to judge, but a table.
  DeviceModel device = *findDevice("H200");
  Problem problem = testProblem(64, 7168, 2048, false);
  TuningRecord record =
      testRecord(problem, selectSchedule(problem, device)->schedule, 10);
  record.modelPickUs = 11;
  html = page({record});
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_EQ(count(html, "+10.0"), 2u); // the card and the row
  EXPECT_EQ(count(html, "How good the model is"), 0u);
}

TEST(Report, ManyPointsAreThinned) {
  Problem problem = testProblem(4096, 1024, 2048, false);
  std::vector<TuningRecord> records;
  Schedule schedule;
  for (int i = 1; i <= 13000; ++i) {
    schedule.rasterGroup = i;
    records.push_back(testRecord(problem, schedule, 20 + i * 1e-3));
  }
  std::string html = page(records);
  EXPECT_GT(count(html, "<circle"), 3000u);
  EXPECT_LT(count(html, "<circle"), 7000u);
}

TEST(Chart, AxesAreLogarithmic) {
  LogChart chart(1, 100, 10, 1000);
  chart.point("half", false, 10, 100, "middle");
  std::string svg = chart.finish("x & y", "t");
  // Half way between the margins: (62 + 706) / 2, (12 + 384) / 2.
  EXPECT_NE(svg.find("cx=\"384.0\" cy=\"198.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("x &amp; y"), std::string::npos);
  EXPECT_NE(svg.find(">50</text>"), std::string::npos);
}

TEST(Chart, Format) {
  EXPECT_EQ(format("%d %s", 7, std::string(500, 'x').c_str()),
            "7 " + std::string(500, 'x'));
  EXPECT_EQ(escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
}
