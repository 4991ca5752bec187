// SPDX-License-Identifier: Apache-2.0
//
// Reads the command line and hands over to the command.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "wire/run_table.h"

namespace {

using namespace lowtide;
using namespace lowtide::cli;

constexpr const char* kFooter =
    "Examples:\n"
    "  lowtide run -- python3 train.py       does it leak, what grew, who holds it\n"
    "  lowtide run --round '^epoch' --json out.json -- python3 train.py\n"
    "  lowtide report                        the newest recording in this folder, again\n"
    "  lowtide holders --type DataFrame      who refers to them\n"
    "\n'lowtide COMMAND -h' says more. Recordings (*.tide) are SQLite files.\n";

CLI::Validator sizes_of_time() {
  return CLI::Validator(
      [](std::string& text) {
        const auto seconds = parse_seconds(text);
        if (!seconds || *seconds <= 0) return std::string("not a duration: ") + text;
        text = fmt::format("{}", *seconds);
        return std::string();
      },
      "90s|5m|100ms", "duration");
}

CLI::App* add_run(CLI::App& app, RunOptions& options, std::string& heap) {
  CLI::App* run =
      app.add_subcommand("run", "Start a command, watch it to its end, say what was found");
  run->add_option("--interval", options.interval, "Time between samples (100ms)")
      ->transform(sizes_of_time());
  run->add_option("--round", options.round_text,
                  "A pattern found in the line a round of work prints");
  run->add_option("-o,--out", options.out, "File of the recording");
  run->add_option("--json", options.json, "Write what was found to this file as JSON");
  run->add_option("--heap", heap, "Heap snapshots: auto, off, or how many of a process at most");
  run->add_flag_callback(
      "--no-probe", [&options] { options.probe = false; },
      "Load nothing into the command: memory over time only");
  run->add_flag("--contents", options.contents, "Keep short excerpts of the program's strings");
  run->add_flag("-q,--quiet", options.quiet, "Say nothing at the end");
  // Only for the help: main() hands over nothing from the command on.
  run->add_option("command", options.command, "The command and its arguments, best after --");
  run->footer(
      "Examples:\n"
      "  lowtide run -- python3 train.py\n"
      "  lowtide run --round '^epoch [0-9]+' -o train.tide -- python3 train.py\n");
  return run;
}

// Where the command of `lowtide run [OPTIONS] [--] COMMAND ...` begins; argc where there is none.
// From there on nothing is ours to read, whatever it looks like.
int command_begins(int argc, char** argv, const CLI::App& run) {
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") return i + 1;
    if (word.size() < 2 || word[0] != '-') return i;
    // "--out=FILE" and "-oFILE" hold their value, "--out FILE" and "-o FILE" are followed by it.
    const bool is_long = word[1] == '-';
    const std::string name = is_long ? word : word.substr(0, 2);
    const CLI::Option* option = run.get_option_no_throw(name);
    const bool alone = is_long || word.size() == 2;
    if (option && alone && option->get_expected_min() > 0) ++i;
  }
  return argc;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("lowtide: what grew, who holds it, and when it is killed", "lowtide");
  app.set_version_flag("--version", std::string("lowtide ") + LOWTIDE_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);

  RunOptions run_options;
  std::string heap_mode = "auto";
  const CLI::App* run_app = add_run(app, run_options, heap_mode);

  PlotOptions plot_options;
  CLI::App* plot_app =
      app.add_subcommand("plot", "Memory over time, as a picture or in the terminal");
  plot_app->add_option("file", plot_options.file, "A recording (the newest in this folder)");
  plot_app->add_option("-o,--out", plot_options.out, "x.png or x.svg");
  plot_app->add_flag("--dark", plot_options.dark, "On a dark ground");
  plot_app->footer("Examples:\n  lowtide plot\n  lowtide plot train.tide -o train.png\n");

  ReportOptions report_options;
  CLI::App* report_app = app.add_subcommand("report", "Say again what a run found");
  report_app->add_option("file", report_options.file, "A recording (the newest in this folder)");
  report_app->add_flag("--json", report_options.json, "As JSON");
  report_app->footer("Examples:\n  lowtide report\n  lowtide report train.tide --json\n");

  HeapOptions heap_options;
  CLI::App* heap_app = app.add_subcommand("heap", "What is in the heap, by type");
  heap_app->add_option("target", heap_options.target, "A pid under 'lowtide run', or a recording");
  heap_app->add_option("--snapshot", heap_options.snapshot,
                       "Which of the recording's heaps (the last)");
  heap_app->add_option("--type", heap_options.type, "Only this type, object by object");
  heap_app->add_option("--by", heap_options.by, "Order: retained, count or growth")
      ->check(CLI::IsMember({"retained", "count", "growth"}));
  heap_app->add_option("--show", heap_options.show,
                       "A Python expression of o, for each object of --type of a live program");
  heap_app->add_option("--limit", heap_options.limit, "Time for --show (10s)")
      ->transform(sizes_of_time());
  heap_app->add_option("-n,--most", heap_options.most, "Rows at most (30)");
  heap_app->add_flag("--json", heap_options.json, "As JSON");
  heap_app->add_flag("--contents", heap_options.contents,
                     "Take excerpts of strings, of a live program");
  heap_app->footer(
      "--show evaluates in a copy of the program, whose input and output are real.\n\n"
      "Examples:\n  lowtide heap train.tide --by growth\n"
      "  lowtide heap 4242 --type DataFrame --show 'list(o.columns), len(o)'\n");

  HoldersOptions holders_options;
  CLI::App* holders_app = app.add_subcommand("holders", "Who keeps an object alive");
  holders_app->add_option("target", holders_options.target,
                          "A pid under 'lowtide run', or a recording");
  holders_app->add_option("--snapshot", holders_options.snapshot,
                          "Which of the recording's heaps (the last)");
  auto* type = holders_app->add_option("--type", holders_options.type, "Of objects of this type");
  auto* object =
      holders_app->add_option("--object", holders_options.object, "Of the object at this address")
          ->excludes(type);
  holders_app
      ->add_option("--suspect", holders_options.suspect, "Of the recording's suspect 1, 2, …")
      ->excludes(type)
      ->excludes(object);
  holders_app->add_option("-n,--most", holders_options.most, "Ways of holding at most (5)");
  holders_app->add_option("--svg", holders_options.svg, "Draw the references to this file");
  holders_app->add_option("--png", holders_options.png, "Draw the references to this file");
  holders_app->add_flag("--json", holders_options.json, "As JSON");
  holders_app->footer(
      "Examples:\n  lowtide holders --suspect 1\n"
      "  lowtide holders train.tide --type DataFrame --svg who.svg\n");

  DiffOptions diff_options;
  CLI::App* diff_app = app.add_subcommand("diff", "What grew between two heaps");
  diff_app
      ->add_option("before", diff_options.before, "A recording, or one heap of it: train.tide@1")
      ->required();
  diff_app->add_option("after", diff_options.after, "The same (the last heap of the first)");
  diff_app->add_option("-n,--most", diff_options.most, "Rows at most (30)");
  diff_app->add_flag("--json", diff_options.json, "As JSON");
  diff_app->footer(
      "Examples:\n  lowtide diff train.tide\n  lowtide diff monday.tide@8 tuesday.tide@8\n");

  int ours = argc;
  if (argc > 1 && std::string_view(argv[1]) == "run") {
    ours = std::min(command_begins(argc, argv, *run_app), argc);
    run_options.command.assign(argv + ours, argv + argc);
    if (ours > 2 && std::string_view(argv[ours - 1]) == "--") --ours;
  }
  try {
    app.parse(ours, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? kGood : kUsage;
  }

  if (app.got_subcommand("run")) {
    if (run_options.command.empty()) {
      say("run needs a command: lowtide run -- python3 train.py");
      return kUsage;
    }
    if (heap_mode == "off") {
      run_options.heap = false;
    } else if (heap_mode != "auto") {
      const int most = std::atoi(heap_mode.c_str());
      if (most <= 0) {
        say(fmt::format("--heap takes auto, off or a number, not {}", heap_mode));
        return kUsage;
      }
      run_options.heap_most = most;
    }
    if (!run_options.round_text.empty()) {
      auto pattern = LinePattern::compile(run_options.round_text, LOWTIDE_PATTERN_STATES);
      if (!pattern) {
        say(pattern.error().message);
        return kUsage;
      }
      run_options.round = std::move(*pattern);
    }
    return run_command(run_options);
  }
  if (app.got_subcommand(plot_app)) return plot_command(plot_options);
  if (app.got_subcommand(report_app)) return report_command(report_options);
  if (app.got_subcommand(heap_app)) return heap_command(heap_options);
  if (app.got_subcommand(holders_app)) return holders_command(holders_options);
  return diff_command(diff_options);
}
