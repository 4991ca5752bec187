// SPDX-License-Identifier: Apache-2.0
#include "report/chart.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/axis.h"
#include "report/svg.h"
#include "report/terminal.h"
#include "report/testing.h"
#include "report/text.h"

namespace lowtide::report {
namespace {

std::vector<recording::Sample> climb(std::int64_t process, double seconds, std::int64_t from,
                                     std::int64_t to) {
  std::vector<recording::Sample> samples;
  for (int i = 0; i <= 100; ++i) {
    recording::Sample s;
    s.process = process;
    s.seconds = seconds * i / 100;
    s.resident = from + (to - from) * i / 100;
    samples.push_back(s);
  }
  return samples;
}

ChartSource two_processes() {
  ChartSource source;
  recording::Process parent, child;
  parent.id = 1, parent.pid = 4242, parent.name = "python3 <train>.py";
  child.id = 2, child.pid = 4243, child.name = "worker\xff";
  source.processes = {parent, child};
  source.samples = {climb(0, 60, 300 * kMiB.count, 1400 * kMiB.count),
                    climb(2, 60, 100 * kMiB.count, 100 * kMiB.count),
                    climb(1, 60, 200 * kMiB.count, 1300 * kMiB.count)};
  for (int i = 1; i <= 40; ++i) source.rounds.push_back({i * 1.5, 1.5, "lines"});
  recording::HeapInfo heap;
  heap.seconds = 20, heap.nodes = 812345;
  source.heaps = {heap};
  return source;
}

std::vector<std::string> texts(const std::vector<Tick>& ticks) {
  std::vector<std::string> out;
  for (const Tick& t : ticks) out.push_back(t.text);
  return out;
}

using Texts = std::vector<std::string>;

TEST(Axis, BytesAreTickedInRoundStepsOfOneUnit) {
  EXPECT_EQ(texts(byte_ticks(2.0 * 1024 * 1024 * 1024, 4)),
            (Texts{"0", "0.5 GiB", "1 GiB", "1.5 GiB", "2 GiB"}));
  EXPECT_EQ(texts(byte_ticks(510.0 * 1048576, 6)).back(), "600 MiB");
  EXPECT_EQ(texts(byte_ticks(3, 4)), (Texts{"0", "1 B", "2 B", "3 B"}));
  for (double top : {0.0, -5.0, 1.0, 1e4, 9.2e18, 1e300, std::nan("")}) {
    const auto ticks = byte_ticks(top, 5);
    EXPECT_GE(ticks.size(), 2u) << top;
    EXPECT_LE(ticks.size(), 101u) << top;
  }
}

TEST(Axis, TimeIsTickedAsPeopleCountIt) {
  EXPECT_EQ(texts(time_ticks(62, 5)), (Texts{"0", "15 s", "30 s", "45 s", "60 s"}));
  EXPECT_EQ(texts(time_ticks(240, 5)), (Texts{"0", "1 min", "2 min", "3 min", "4 min"}));
  EXPECT_EQ(texts(time_ticks(4 * 86400, 4)), (Texts{"0", "1 day", "2 days", "3 days", "4 days"}));
  for (double end : {0.0, -1.0, 1e-9, 1e12, std::nan("")}) {
    EXPECT_LE(time_ticks(end, 6).size(), 8u) << end;
  }
}

TEST(Chart, TheTreeComesFirstAndThenTheLargest) {
  const Chart chart = chart_of(leaking_run(), two_processes(), {});
  ASSERT_EQ(chart.lines.size(), 3u);
  EXPECT_EQ(chart.lines[0].name, "all processes");
  EXPECT_EQ(chart.lines[1].name, "python3 <train>.py (4242)");
  EXPECT_EQ(chart.lines[2].name, "worker\uFFFD (4243)");
}

TEST(Chart, ALoneProcessIsDrawnOnce) {
  ChartSource source = two_processes();
  source.processes.resize(1);
  source.samples.resize(2);
  const Chart chart = chart_of(leaking_run(), source, {});
  ASSERT_EQ(chart.lines.size(), 1u);
  EXPECT_EQ(chart.lines[0].name, "resident");
}

TEST(Chart, OnlyALeakThatGoesOnIsForecast) {
  EXPECT_TRUE(chart_of(leaking_run(), two_processes(), {}).forecast);
  EXPECT_FALSE(chart_of(steady_run(), two_processes(), {}).forecast);
  Findings killed = leaking_run();
  killed.end.oom = true;
  const Chart chart = chart_of(killed, two_processes(), {});
  EXPECT_FALSE(chart.forecast);
  ASSERT_EQ(chart.events.size(), 1u);
}

TEST(Chart, AFarLimitDoesNotPressTheCurveFlat) {
  Findings f = steady_run();
  f.run.limit = 512 * kGiB.count;
  EXPECT_LT(chart_of(f, two_processes(), {}).bytes, 2e9);
}

TEST(Chart, ThinningKeepsEveryExtremeAndBothEnds) {
  std::vector<ChartPoint> points;
  for (int i = 0; i < 100000; ++i)
    points.push_back({static_cast<double>(i), i == 77777 ? 9.0 : 1.0});
  points[33333].bytes = 0;
  const auto thin = thinned(points, 500);
  EXPECT_LE(thin.size(), 2004u);
  EXPECT_EQ(thin.front().seconds, 0);
  EXPECT_EQ(thin.back().seconds, 99999);
  double low = 5, high = 0;
  for (const ChartPoint& p : thin) low = std::min(low, p.bytes), high = std::max(high, p.bytes);
  EXPECT_EQ(low, 0);
  EXPECT_EQ(high, 9);
}

TEST(Svg, NamesAreEscapedAndEverythingIsDrawn) {
  Findings f = leaking_run();
  f.run.command = {"a&b", "\"<c>\""};
  const std::string svg = to_svg(chart_of(f, two_processes(), {}), {});
  for (const char* part :
       {"a&amp;b", "&lt;train&gt;", "40 rounds", "limit 2.00 GiB", "limit in 47 s", "heap snapshot",
        "stroke-dasharray=\"7 5\"", ">leak<", ">floor<"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(svg.find("<train>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("prefers-color-scheme"), std::string::npos);
  SvgOptions automatic;
  automatic.theme = Theme::Auto;
  EXPECT_NE(to_svg(chart_of(f, two_processes(), {}), automatic).find("prefers-color-scheme"),
            std::string::npos);
}

TEST(Svg, AnEmptyRecordingIsStillAPicture) {
  for (int size : {1, 100, 960}) {
    SvgOptions options;
    options.width = options.height = size;
    const std::string svg = to_svg(chart_of(Findings{}, ChartSource{}, {}), options);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_NE(svg.find("</svg>"), std::string::npos);
  }
}

TEST(Terminal, NoLineIsWiderThanTheTerminal) {
  for (int width : {32, 60, 100, 200}) {
    const std::string text =
        to_terminal(chart_of(leaking_run(), two_processes(), {}), 16, Style{.width = width});
    std::size_t start = 0;
    for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
      EXPECT_LE(columns_of(text.substr(start, end - start)), width) << text;
    }
  }
}

TEST(Terminal, AStraightClimbIsADiagonal) {
  Chart chart;
  chart.title = "x";
  chart.lines = {{"resident", {{0, 0}, {10, 4096}}}};
  chart.seconds = 10;
  chart.bytes = 4096;
  EXPECT_EQ(to_terminal(chart, 8, Style{.width = 32}),
            "x\n"
            " 4 KiB ┤                    ⣀⡠⠔⠊\n"
            "       │               ⣀⡠⠔⠒⠉\n"
            " 2 KiB ┤          ⣀⡠⠔⠒⠉\n"
            "       │     ⣀⡠⠔⠒⠉\n"
            "       │⣀⡠⠔⠒⠉\n"
            "     0 └┬──────────┬───────────┬\n"
            "        0         5 s\n"
            "resident\n");
}

}  // namespace
}  // namespace lowtide::report
