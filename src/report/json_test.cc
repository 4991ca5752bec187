// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "report/summary.h"
#include "report/testing.h"

namespace lowtide::report {
namespace {

using Json = nlohmann::ordered_json;

TEST(Json, ComesBackAsItWent) {
  Findings f = leaking_run();
  f.suspects[0].what.holders.push_back(
      holder_for_test("frame main in train.py:41", "batch", 3, Bytes{12}));
  f.processes = {{4242, "python3 train.py", "CPython 3.11.2", 7, "killed"}};
  f.snapshots = {{4242, 10, 0.012, 0.2, 0.5, 812345, ""}, {4242, 20, 0, 0, 0, 0, "no room"}};
  f.notes = {"3 processes ended between samples"};
  const std::string json = to_json(f);
  const auto back = from_json(json);
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), json);
  for (bool detail : {false, true}) {
    EXPECT_EQ(summary(*back, Style{.detail = detail}), summary(f, Style{.detail = detail}));
  }
}

TEST(Json, KeysComeInTheDocumentedOrderWhateverIsKnown) {
  const auto keys = [](const Json& object) {
    std::string out;
    for (const auto& [key, value] : object.items()) out += key + " ";
    return out;
  };
  for (const Findings& f : {Findings{}, leaking_run(), steady_run()}) {
    const Json json = Json::parse(to_json(f));
    EXPECT_EQ(keys(json),
              "lowtide format command started exit seconds processes peak_bytes limit_bytes "
              "limit_source verdict suspects account process_peaks snapshots notes recording ");
    EXPECT_EQ(keys(json["exit"]), "status signal oom oom_text ");
    EXPECT_EQ(keys(json["verdict"]),
              "name why rate_bytes_per_round rate_bytes_per_second interval95 rounds "
              "seconds_to_limit fits_in_bytes confidence ");
  }
  EXPECT_EQ(keys(Json::parse(to_json(leaking_run()))["suspects"][0]),
            "type count count_per_round count_per_second retained_bytes freed_if_only_this "
            "freed_if_all content path path_text path_count other_holders root garbage reason "
            "fingerprint confidence pid runtime ");
}

TEST(Json, AFingerprintIsSixteenHexDigits) {
  const Json json = Json::parse(to_json(leaking_run()));
  EXPECT_EQ(json["suspects"][0]["fingerprint"], "fedcba9876543210");
}

TEST(Json, WhatIsUnknownIsNull) {
  const Json json = Json::parse(to_json(Findings{}));
  EXPECT_TRUE(json["limit_bytes"].is_null());
  EXPECT_TRUE(json["exit"]["signal"].is_null());
  EXPECT_TRUE(json["verdict"]["seconds_to_limit"].is_null());
  EXPECT_TRUE(json["recording"].is_null());
}

TEST(Json, MalformedNamesAndBoundlessFiguresStayValidJson) {
  Findings f = leaking_run();
  f.run.command = {"\xff\xfe", "a\x1b"};
  f.suspects[0].what.type = "\xc3";
  f.verdict.rate_per_round = std::numeric_limits<double>::infinity();
  f.verdict.interval95[0] = std::numeric_limits<double>::quiet_NaN();
  f.end.peak = std::numeric_limits<std::int64_t>::max();
  const Json json = Json::parse(to_json(f));
  EXPECT_TRUE(json["verdict"]["rate_bytes_per_round"].is_null());
  EXPECT_TRUE(json["verdict"]["interval95"].is_array());
  EXPECT_EQ(json["peak_bytes"], std::numeric_limits<std::int64_t>::max());
}

TEST(Json, OtherKindsOfValueAreTakenAsUnknown) {
  const auto back = from_json(
      R"({"format":1,"command":"x","peak_bytes":1e300,"seconds":"soon","exit":[],
          "verdict":{"name":7,"interval95":[1],"rounds":-1e40},"suspects":[3,{"path":{}}]})");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->end.peak, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(back->verdict.rounds, std::numeric_limits<int>::min());
  EXPECT_EQ(back->verdict.name, verdict::Name::Undecided);
  EXPECT_EQ(back->suspects.size(), 1u);
}

TEST(Json, WhatIsNotOursIsRefusedInASentence) {
  for (const char* text : {"", "[]", "{", "7", "{\"format\":1"}) {
    ASSERT_FALSE(from_json(text)) << text;
    EXPECT_EQ(from_json(text).error().code, Code::Corrupt);
  }
  EXPECT_EQ(from_json(R"({"format":99})").error().code, Code::Unsupported);
}

TEST(Json, DamagedTextNeverHarmsTheReader) {
  std::mt19937 random(20261130);
  const std::string whole = to_json(leaking_run());
  for (int round = 0; round < 2000; ++round) {
    std::string text = whole;
    for (int i = 0; i < 3; ++i) text[random() % text.size()] = static_cast<char>(random());
    if (auto back = from_json(text)) (void)summary(*back, Style{});
  }
}

}  // namespace
}  // namespace lowtide::report
