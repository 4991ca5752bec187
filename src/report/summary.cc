// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace lowtide::report {
namespace {

using verdict::Name;

constexpr int kLabel = 9;             // columns of "memory   "
constexpr std::size_t kSuspects = 3;  // shown at a glance; all of them in detail
constexpr std::size_t kHolders = 4;   // of one suspect
constexpr std::size_t kPeaks = 6;     // processes
constexpr double kWeak = 0.5;         // confidence below which a suspect is said to be one

// "10", "0.25", "1,240".
std::string rate_text(double rate) {
  if (rate >= 100) return count_text(std::llround(rate));
  const double rounded = std::round(rate);
  if (std::fabs(rate - rounded) < 0.05 && rounded >= 1) return fmt::format("{:.0f}", rounded);
  return rate >= 1 ? fmt::format("{:.1f}", rate) : fmt::format("{:.2g}", rate);
}

std::string plural(std::int64_t count, std::string_view noun, std::string_view nouns) {
  return count_text(count) + " " + std::string(count == 1 ? noun : nouns);
}

// The page as it grows: labelled blocks with a hanging indent.
class Page {
 public:
  explicit Page(const Style& style) : style_(style) {}

  // A label that is longer than its column ("retained-by-allocator") pushes its first line right.
  void block(std::string_view label, Ink ink, std::string_view text) {
    const int width = style_.width > 0 ? std::max(20, style_.width - kLabel) : 0;
    const int start = std::max(kLabel, columns_of(label) + 2);
    const auto lines = wrapped(text, width, start - kLabel);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const int gap = i == 0 ? start - columns_of(label) : kLabel;
      if (i == 0) text_ += inked(label, ink, style_);
      text_ += std::string(static_cast<std::size_t>(gap), ' ') + lines[i] + "\n";
    }
  }

  void more(std::string_view text) { block("", Ink::Plain, text); }

  void paragraph(std::string_view text, int hang, Ink ink = Ink::Plain) {
    const int width = style_.width > 0 ? std::max(20, style_.width - hang) : 0;
    const auto lines = wrapped(text, width, -hang);  // the first line has no indent
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) text_ += std::string(static_cast<std::size_t>(hang), ' ');
      text_ += inked(lines[i], ink, style_) + "\n";
    }
  }

  void gap() { text_ += '\n'; }
  std::string take() { return std::move(text_); }

 private:
  const Style& style_;
  std::string text_;
};

std::string head_text(const Findings& f) {
  std::vector<std::string> items;
  if (f.end.seconds > 0) items.push_back(duration_text(f.end.seconds));
  if (f.end.processes > 1) items.push_back(plural(f.end.processes, "process", "processes"));
  if (f.end.peak > 0) {
    std::string peak = "peak " + to_text(Bytes{f.end.peak});
    if (f.run.limit > 0) {
      peak += " of " + to_text(Bytes{f.run.limit});
      if (!f.run.limit_source.empty()) peak += " (" + clean(f.run.limit_source) + ")";
    }
    items.push_back(std::move(peak));
  }
  if (std::string how = exit_text(f.end); !how.empty()) items.push_back(std::move(how));
  if (!f.ended) items.emplace_back("the recorder ended before the program did");
  std::string text = "lowtide: " + command_text(f.run.command);
  for (const std::string& item : items) text += "\u00a0· " + glued(item);
  return text;
}

Ink ink_of(Name name) {
  if (name == Name::Leak) return Ink::Red;
  return name == Name::Undecided || name == Name::RetainedByAllocator ? Ink::Yellow : Ink::Green;
}

std::string quiet_line(const Findings& f, const Style& style) {
  const std::string_view name = verdict::to_string(f.verdict.name);
  std::string line = wrapped(head_text(f), 0).front() + " · " +
                     inked(name, ink_of(f.verdict.name), style) + ": " +
                     std::string(meaning(f.verdict.name));
  if (f.verdict.fits_in > 0) line += " · fits in " + to_text(Bytes{f.verdict.fits_in});
  if (!f.recording.empty()) line += " · saved " + clean(f.recording);
  return line + "\n";
}

void say_verdict(const Findings& f, Page& page) {
  std::string text = clean(f.verdict.why);
  if (text.empty()) text = meaning(f.verdict.name);
  page.block(verdict::to_string(f.verdict.name), ink_of(f.verdict.name), text);
}

void say_oom(const Findings& f, Page& page) {
  if (!f.end.oom) return;
  std::string text = clean(f.end.oom_text);
  if (text.empty()) text = "the kernel's OOM killer ended the program";
  if (f.run.limit > 0 && text.find("limit") == std::string::npos) {
    while (!text.empty() && text.back() == '.') text.pop_back();
    text += "; the limit is " + to_text(Bytes{f.run.limit});
    if (!f.run.limit_source.empty()) text += " (" + clean(f.run.limit_source) + ")";
  }
  page.block("killed", Ink::Red, text);
}

std::string what_text(const Suspect& suspect, bool name_process) {
  const heap::Suspect& s = suspect.what;
  std::string text = s.count > 0 ? "+" + count_text(s.count) : count_text(s.count);
  text += " " + clean(s.type);
  if (s.count_per_round > 0) {
    text += ", " + rate_text(s.count_per_round) + " per round";
  } else if (s.count_per_second >= 0.1) {
    text += ", " + rate_text(s.count_per_second) + " per second";
  } else if (s.count_per_second > 0) {
    text += ", " + rate_text(s.count_per_second * 60) + " per minute";
  }
  if (s.retained.count > 0) {
    text += ", retaining " + to_signed_text(s.retained);
    if (!s.content.empty()) text += " as " + clean(s.content);
  }
  if (name_process && suspect.pid > 0) text += fmt::format(", in process {}", suspect.pid);
  if (s.confidence > 0 && s.confidence < kWeak) {
    text += fmt::format(" (weak evidence: {:.0f} % sure)", s.confidence * 100);
  }
  return text;
}

std::string holder_text(const heap::Holder& holder) {
  if (!holder.text.empty()) return clean(holder.text);
  std::string text;
  for (const std::string& step : holder.path) text += (text.empty() ? "" : " → ") + clean(step);
  return text;
}

// "(240 of 412, frees 12 MiB alone)": only said where several hold the same thing.
std::string share_text(const heap::Holder& holder, const heap::Suspect& s) {
  std::string text;
  if (holder.count > 0 && holder.count != s.count) {
    text += fmt::format("{} of {}", count_text(holder.count), count_text(s.count));
  }
  if (holder.freed_if_only_this.count > 0) {
    text += (text.empty() ? "" : ", ") + ("alone frees " + to_text(holder.freed_if_only_this));
  }
  return text.empty() ? "" : "   (" + text + ")";
}

void say_holders(const heap::Suspect& s, const Style& style, Page& page) {
  if (s.garbage) {
    std::string text = "no one: unreachable cycles that no collection takes";
    if (!s.reason.empty()) text += "; " + clean(s.reason);
    page.block("who", Ink::Bold, text);
    return;
  }
  const std::size_t most = style.detail ? s.holders.size() : kHolders;
  for (std::size_t i = 0; i < std::min(most, s.holders.size()); ++i) {
    const std::string share = s.holders.size() > 1 ? share_text(s.holders[i], s) : "";
    page.block(i == 0 ? "who" : "and", Ink::Bold, holder_text(s.holders[i]) + share);
  }
  if (s.holders.size() > most) {
    page.more(fmt::format("and {} more ways of holding", s.holders.size() - most));
  }
  if (s.holders.size() > 1 && s.freed_if_all.count > 0) {
    page.more("let go by all of them: frees " + to_text(s.freed_if_all));
  }
}

void say_suspects(const Findings& f, const Style& style, Page& page) {
  std::set<std::int32_t> pids;
  for (const Suspect& s : f.suspects) pids.insert(s.pid);
  const bool name_process = pids.size() > 1 || f.end.processes > 1;
  const std::size_t shown =
      std::min(style.detail ? f.suspects.size() : kSuspects, f.suspects.size());
  for (std::size_t i = 0; i < shown; ++i) {
    page.block("what", Ink::Bold, what_text(f.suspects[i], name_process));
    say_holders(f.suspects[i].what, style, page);
  }
  if (const std::size_t rest = f.suspects.size() - shown; rest > 0) {
    page.more(fmt::format("and {} more {} (lowtide report shows all)", rest,
                          rest == 1 ? "suspect" : "suspects"));
  }
}

// Shares of the sum, the small ones left out, except what is unexplained: that is never hidden.
void say_account(const Findings& f, const Style& style, Page& page) {
  double sum = 0;
  for (const Part& part : f.account)
    sum += static_cast<double>(std::max<std::int64_t>(part.bytes, 0));
  if (sum <= 0) return;
  std::string text;
  for (const Part& part : f.account) {
    const double share = 100 * static_cast<double>(part.bytes) / sum;
    const bool small = share < 0.5;
    if (small && !style.detail && (part.name != "unexplained" || part.bytes == 0)) continue;
    std::string item = clean(part.name) + " ";
    if (style.detail) item += to_text(Bytes{part.bytes}) + ", ";
    item += small && part.bytes != 0 ? "< 1 %" : fmt::format("{:.0f} %", share);
    text += (text.empty() ? "" : "\u00a0\u00a0·  ") + glued(item);
  }
  page.block("memory", Ink::Bold, text);
}

void say_processes(const Findings& f, const Style& style, Page& page) {
  if (f.processes.size() < 2 || !(style.detail || f.end.oom)) return;
  std::vector<ProcessPeak> peaks = f.processes;
  std::stable_sort(peaks.begin(), peaks.end(),
                   [](const ProcessPeak& a, const ProcessPeak& b) { return a.peak > b.peak; });
  const std::size_t shown = std::min(kPeaks, peaks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    std::string text = to_text(Bytes{peaks[i].peak}) + "  " + clean(peaks[i].name) +
                       fmt::format(" ({})", peaks[i].pid);
    if (!peaks[i].runtime.empty()) text += ", " + clean(peaks[i].runtime);
    if (!peaks[i].note.empty()) text += ", " + clean(peaks[i].note);
    page.block(i == 0 ? "peaks" : "", Ink::Bold, text);
  }
  if (peaks.size() > shown) page.more(fmt::format("and {} smaller ones", peaks.size() - shown));
}

void say_snapshots(const Findings& f, const Style& style, Page& page) {
  if (!style.detail || f.snapshots.empty()) return;
  std::size_t taken = 0;
  double longest_pause = 0, longest_wait = 0, slowdown = 0;
  for (const Snapshot& s : f.snapshots) {
    if (!s.refused.empty()) continue;
    ++taken;
    longest_pause = std::max(longest_pause, s.pause);
    longest_wait = std::max(longest_wait, s.lock_wait);
    slowdown += s.slowdown;
  }
  if (taken > 0) {
    std::string text = plural(static_cast<std::int64_t>(taken), "snapshot", "snapshots");
    if (longest_pause > 0) text += ", longest pause " + duration_text(longest_pause);
    if (longest_wait > 0) text += " after waiting " + duration_text(longest_wait) + " at most";
    if (slowdown > 0) text += ", slowed the program by " + duration_text(slowdown) + " in all";
    page.block("heaps", Ink::Bold, text);
  }
  std::set<std::string> said;
  for (const Snapshot& s : f.snapshots) {
    if (s.refused.empty() || !said.insert(s.refused).second) continue;
    page.block("refused", Ink::Bold, clean(s.refused));
  }
}

}  // namespace

std::string summary(const Findings& f, const Style& style) {
  if (is_quiet(f) && !style.detail) return quiet_line(f, style);
  Page page(style);
  page.paragraph(head_text(f), kLabel, Ink::Bold);
  page.gap();
  say_oom(f, page);
  say_verdict(f, page);
  if (f.verdict.fits_in > 0 && f.verdict.name != Name::Leak && !f.end.oom) {
    page.block("fits in", Ink::Bold, to_text(Bytes{f.verdict.fits_in}));
  }
  // A verdict that clears the program is not followed by names.
  if (!is_quiet(f) || style.detail) say_suspects(f, style, page);
  say_processes(f, style, page);
  say_account(f, style, page);
  say_snapshots(f, style, page);
  for (const std::string& note : f.notes) page.block("note", Ink::Dim, clean(note));
  if (!f.recording.empty()) {
    page.gap();
    page.paragraph("saved " + clean(f.recording) + "   " +
                       glued("(lowtide report, plot, heap, holders, diff read it)"),
                   6);
  }
  return page.take();
}

}  // namespace lowtide::report
