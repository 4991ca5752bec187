// SPDX-License-Identifier: Apache-2.0
#pragma once

// The commands: one file each, named for it. Each returns the status to exit with.

#include <string>
#include <vector>

#include "cli/run_options.h"

namespace lowtide::cli {

int run_command(const RunOptions& options);

struct PlotOptions {
  std::string file;  // "" for the newest recording in this folder
  std::string out;   // .png or .svg; "" for a chart in the terminal
  bool dark = false;
};
int plot_command(const PlotOptions& options);

struct ReportOptions {
  std::string file;
  bool json = false;
};
int report_command(const ReportOptions& options);

struct HeapOptions {
  std::string target;  // a pid under `run`, or a recording; "" for the newest recording
  int snapshot = 0;    // 1, 2, … of a recording; 0: the last
  std::string type;
  std::string by = "retained";  // retained, count, growth
  std::string show;             // an expression
  double limit = 10;            // seconds, of --show
  int most = 30;                // rows
  bool json = false;
  bool contents = false;
};
int heap_command(const HeapOptions& options);

struct HoldersOptions {
  std::string target;
  int snapshot = 0;
  std::string type;
  std::string object;  // an address, as `heap` prints it
  int suspect = 0;     // 1, 2, … of the recording's conclusion
  int most = 5;
  std::string svg;
  std::string png;
  bool json = false;
};
int holders_command(const HoldersOptions& options);

struct DiffOptions {
  std::string before;  // FILE or FILE@SNAPSHOT
  std::string after;   // "" for the last of `before`
  int most = 30;
  bool json = false;
};
int diff_command(const DiffOptions& options);

}  // namespace lowtide::cli
