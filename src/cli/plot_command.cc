// SPDX-License-Identifier: Apache-2.0
//
// lowtide plot: memory over time, as a picture or in the terminal.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/conclusion.h"
#include "cli/console.h"
#include "cli/heap_source.h"
#include "cli/tool.h"
#include "report/chart.h"
#include "report/svg.h"
#include "report/terminal.h"

namespace lowtide::cli {

int plot_command(const PlotOptions& options) {
  const bool png = options.out.ends_with(".png");
  if (!options.out.empty() && !png && !options.out.ends_with(".svg")) {
    say(fmt::format("plot writes .png and .svg, not {}", options.out));
    return kUsage;
  }
  std::string path;
  auto reader = open_recording(options.file, path);
  if (!reader) return fail(reader.error().message);
  const report::Findings findings = conclusion_of(**reader, path);

  report::ChartSource source;
  source.processes = (*reader)->processes();
  source.samples.push_back((*reader)->samples(0));
  // Only processes large enough to be drawn are read: a run may have had thousands.
  std::vector<recording::Process> large = source.processes;
  std::sort(large.begin(), large.end(),
            [](const auto& a, const auto& b) { return a.peak > b.peak; });
  if (large.size() > report::ChartOptions{}.most_lines)
    large.resize(report::ChartOptions{}.most_lines);
  for (const recording::Process& process : large) {
    source.samples.push_back((*reader)->samples(process.id));
  }
  source.rounds = (*reader)->rounds();
  source.events = (*reader)->events();
  source.heaps = (*reader)->heaps();
  const report::Chart chart = report::chart_of(findings, source, report::ChartOptions{});

  if (options.out.empty()) {
    print(report::to_terminal(chart, 20, style_of(STDOUT_FILENO)));
    return kGood;
  }
  report::SvgOptions svg_options;
  svg_options.theme = options.dark ? report::Theme::Dark
                      : png        ? report::Theme::Light
                                   : report::Theme::Auto;
  const std::string svg = report::to_svg(chart, svg_options);
  const Status written =
      png ? run_tool({"rsvg-convert", "--format=png", "--zoom=2", "--output", options.out}, svg,
                     "librsvg2-bin")
          : write_file(options.out, svg);
  if (!written) return fail(written.error().message);
  say(fmt::format("wrote {}", options.out));
  return kGood;
}

}  // namespace lowtide::cli
