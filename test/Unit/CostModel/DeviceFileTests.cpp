// SPDX-FileCopyrightText: The dgemm authors
// SPDX-License-Identifier: Apache-2.0
//
// Device models as text: round trip, the files in devices/, bad input.

#include "dgemm/CostModel/DeviceFile.h"

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <set>
#include <sstream>

using namespace dgemm;

TEST(DeviceFile, EveryFieldRoundTrips) {
  DeviceModel device = *findDevice("H20");
  double value = 0.1;
  for (const DeviceField &field : deviceFields())
    field.access(device) = value += 0.7 / 3;
  device.smCount = 17;
  std::string text = toText(device);
  Result<DeviceModel> parsed = parseDeviceModel(text);
  ASSERT_TRUE(parsed.ok()) << parsed.message();
  EXPECT_EQ(parsed->name, "H20");
  EXPECT_FALSE(parsed->measured);
  EXPECT_EQ(parsed->smCount, 17);
  value = 0.1;
  for (const DeviceField &field : deviceFields())
    EXPECT_EQ(field.access(*parsed), value += 0.7 / 3) << field.name;
  EXPECT_EQ(toText(*parsed), text);
}

TEST(DeviceFile, FieldsHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  std::set<double *> places;
  DeviceModel device;
  for (const DeviceField &field : deviceFields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_TRUE(places.insert(&field.access(device)).second) << field.name;
    EXPECT_NE(std::string(field.meaning), "");
  }
  // All numbers of the structs, so that none is missing from the files.
  EXPECT_EQ(names.size(), 9 + sizeof(LargeCoefficients) / sizeof(double) +
                              sizeof(DecodeCoefficients) / sizeof(double));
}

static std::string fileOf(const std::string &device) {
  std::string path = "devices/";
  for (char c : device)
    path += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::ifstream file(path + ".txt");
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

TEST(DeviceFile, ShippedFilesAreTheBuiltInDevices) {
  for (const std::string &name : deviceNames()) {
    Result<DeviceModel> file = parseDeviceModel(fileOf(name));
    ASSERT_TRUE(file.ok()) << name << ": " << file.message();
    EXPECT_EQ(toText(*file), toText(*findDevice(name)));
  }
  // Calibration writes this one.
  EXPECT_EQ(fileOf("H200"), toText(*findDevice("H200")));
}

TEST(DeviceFile, EveryShippedNumberSaysItsSource) {
  for (const std::string &name : deviceNames()) {
    DeviceModel device = *findDevice(name);
    EXPECT_NE(device.sources["sm_count"], "") << name;
    for (const DeviceField &field : deviceFields())
      EXPECT_NE(device.sources[field.name], "") << name << " " << field.name;
  }
}

TEST(DeviceFile, ABaseIsScaledAndItsSourcesAreKept) {
  Result<DeviceModel> parsed =
      parseDeviceModel("base = h20  # half a one\nname = H10\n"
                       "sm_count *= 0.5  # [cut in half]\n"
                       "decode.hbm *= 0.25  # TB/s: a guess\n"
                       "power_watts = 200\n");
  ASSERT_TRUE(parsed.ok()) << parsed.message();
  DeviceModel base = *findDevice("H20");
  EXPECT_EQ(parsed->name, "H10");
  EXPECT_FALSE(parsed->measured);
  EXPECT_EQ(parsed->smCount, 39);
  EXPECT_DOUBLE_EQ(parsed->decode.hbm, base.decode.hbm / 4);
  EXPECT_EQ(parsed->large.tmaRow, base.large.tmaRow);
  EXPECT_EQ(parsed->sources["sm_count"], "cut in half");
  EXPECT_EQ(parsed->sources["decode.hbm"], "TB/s: a guess");
  EXPECT_EQ(parsed->sources.count("power_watts"), 0u);
  EXPECT_EQ(parsed->sources["large.tma_row"],
            "H20: " + base.sources["large.tma_row"]);
}

TEST(DeviceFile, FieldsLeftOutKeepTheirValues) {
  Result<DeviceModel> parsed =
      parseDeviceModel("# a faster one\n\n  name = H300 # soon\r\n"
                       "hbm_bandwidth=9.6");
  ASSERT_TRUE(parsed.ok()) << parsed.message();
  EXPECT_EQ(parsed->name, "H300");
  EXPECT_EQ(parsed->hbmBandwidth, 9.6);
  EXPECT_EQ(parsed->smCount, 132);
}

TEST(DeviceFile, ErrorsNameLineAndField) {
  struct {
    const char *text;
    const char *expected;
  } cases[] = {
      {"name = x\nfoo", "line 2: expected name = value, found 'foo'"},
      {"speed = 1", "line 1: unknown field 'speed'"},
      {"max_clock = fast", "field 'max_clock': expected a number"},
      {"max_clock = -1", "field 'max_clock': expected a number of at least 0"},
      {"max_clock = nan", "field 'max_clock': expected a number"},
      {"max_clock =", "field 'max_clock': expected a number"},
      {"max_clock = 1 2", "field 'max_clock': expected a number"},
      {"max_clock = 1\nmax_clock = 1", "line 2: field 'max_clock' is given"},
      {"sm_count = 1.5", "field 'sm_count': expected a whole number"},
      {"sm_count = 0", "field 'sm_count': expected a whole number"},
      {"measured = yes", "field 'measured': expected true or false"},
      {"name =", "field 'name': expected a name"},
      {"name *= 2", "unknown field 'name'"},
      {"max_clock *= x", "field 'max_clock': expected a number"},
      {"sm_count *= 0.3", "field 'sm_count': expected a whole number"},
      {"base = A100", "line 1: field 'base': unknown device 'A100'"},
      {"name = x\nbase = H200", "line 2: field 'base' must come first"},
  };
  for (auto [text, expected] : cases) {
    Result<DeviceModel> parsed = parseDeviceModel(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.message().find(expected), std::string::npos)
        << parsed.message();
  }
}
