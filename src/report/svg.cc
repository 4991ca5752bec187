// SPDX-License-Identifier: Apache-2.0
#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "report/axis.h"
#include "report/text.h"

namespace lowtide::report {
namespace {

// Class name -> colour. Series colours are Okabe and Ito's; vermillion is kept for what hurts.
struct Palette {
  const char* page;
  const char* text;
  const char* muted;
  const char* grid;
  const char* floor;
  const char* alarm;
  const char* good;
  std::array<const char*, 6> series;
};

constexpr Palette kLight = {
    "#ffffff", "#1b1f24",
    "#626b75", "#e7eaee",
    "#1b1f24", "#d55e00",
    "#00785a", {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8a7f2a"}};
constexpr Palette kDark = {
    "#15181c", "#e9ecef",
    "#9aa5b1", "#2a3037",
    "#f4f4f4", "#ff8a3d",
    "#35c79a", {"#56b4e9", "#e69f00", "#2fbf93", "#dd94bd", "#8ecdf3", "#f0e442"}};

// A column of text in em: DejaVu Sans, the widest of the fonts that may be there.
constexpr double kEm = 0.62;
constexpr double kLineGap = 15;  // between two names at the right edge

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : clean(text)) {
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
      default:
        out += c;
    }
  }
  return out;
}

std::string css(const Palette& p) {
  std::string out = fmt::format(
      ".page{{fill:{}}}.text{{fill:{}}}.muted{{fill:{}}}.grid{{stroke:{}}}.axis{{stroke:{}}}"
      ".floor{{stroke:{}}}.alarm{{stroke:{}}}.alarm-text{{fill:{}}}.good-text{{fill:{}}}"
      ".halo{{stroke:{}}}.heap{{fill:{};stroke:{}}}",
      p.page, p.text, p.muted, p.grid, p.muted, p.floor, p.alarm, p.alarm, p.good, p.page, p.page,
      p.floor);
  for (std::size_t i = 0; i < p.series.size(); ++i) {
    out += fmt::format(".s{0}{{stroke:{1}}}.t{0}{{fill:{1}}}", i, p.series[i]);
  }
  return out;
}

// The drawing as it grows, and the way from seconds and bytes to pixels.
class Canvas {
 public:
  Canvas(const Chart& chart, const SvgOptions& options)
      : chart_(chart), options_(options), width_(options.width), height_(options.height) {}

  std::string draw();

 private:
  struct Label {
    double y;  // where the line ends
    double x;
    std::string text;
    std::string ink;   // the class of the text
    std::string line;  // the class of its leader
    double at = 0;     // where there is room
  };

  double x(double seconds) const { return left_ + seconds / seconds_ * (right_ - left_); }
  double y(double bytes) const { return bottom_ - bytes / top_bytes_ * (bottom_ - top_); }

  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void measure();
  void header();
  void axes();
  void limit();
  void lines();
  void floor_and_forecast();
  void rounds();
  void heaps();
  void events();
  void labels();
  void footer();
  std::string path(const std::vector<ChartPoint>& points) const;
  double tree_at(double seconds) const;
  void note(double at_x, double at_y, std::string_view anchor, std::string_view ink,
            std::string_view text);

  const Chart& chart_;
  const SvgOptions& options_;
  double width_, height_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
  double seconds_ = 1, top_bytes_ = 1;
  std::vector<Tick> byte_axis_, time_axis_;
  std::vector<std::string> title_, subtitle_;
  std::vector<Label> labels_;
  std::string out_;
};

void Canvas::measure() {
  const double inner = std::max(160.0, width_ - 48);
  // The verdict's name stands at the right end of the title's first line.
  const double beside = 15 * kEm * columns_of(verdict::to_string(chart_.verdict)) + 12;
  const auto room = static_cast<int>(std::max(80.0, inner - beside) / (18 * kEm));
  title_ = wrapped(shortened(chart_.title, 2 * room - 8), room);
  subtitle_ = wrapped(chart_.subtitle, static_cast<int>(inner / (13 * kEm)));
  if (subtitle_.size() > 3) subtitle_.resize(3);

  top_ = 28 + 22.0 * static_cast<double>(title_.size()) +
         17.0 * static_cast<double>(subtitle_.size()) + 18;
  bottom_ = std::max(top_ + 60, height_ - 62);
  byte_axis_ = byte_ticks(chart_.bytes, std::max(2, static_cast<int>((bottom_ - top_) / 56)));
  top_bytes_ = byte_axis_.back().at;
  seconds_ = chart_.seconds > 0 && std::isfinite(chart_.seconds) ? chart_.seconds : 1;

  std::size_t widest = 1;
  for (const Tick& t : byte_axis_) widest = std::max(widest, t.text.size());
  left_ = 30 + 12 * kEm * static_cast<double>(widest);
  int columns = columns_of(chart_.forecast_text);
  if (!chart_.floor.empty()) columns = std::max(columns, 5);
  for (const Line& line : chart_.lines) columns = std::max(columns, columns_of(line.name));
  columns = std::clamp(columns, 8, 26);
  right_ = std::max(left_ + 80, width_ - 34 - 12 * kEm * columns);
  time_axis_ = time_ticks(seconds_, std::max(2, static_cast<int>((right_ - left_) / 84)));
}

void Canvas::header() {
  double at = 32;
  for (const std::string& line : title_) {
    put(R"(<text class="text" x="24" y="{:.1f}" font-size="18" font-weight="600">{}</text>)", at,
        escaped(line));
    at += 22;
  }
  at += 1;
  const std::string_view name = verdict::to_string(chart_.verdict);
  const bool bad = chart_.verdict == verdict::Name::Leak;
  for (const std::string& line : subtitle_) {
    put(R"(<text class="muted" x="24" y="{:.1f}" font-size="13">{}</text>)", at, escaped(line));
    at += 17;
  }
  put(R"(<text class="{}" x="{:.1f}" y="32" font-size="15" font-weight="600" text-anchor="end">)"
      R"({}</text>)",
      bad                                          ? "alarm-text"
      : chart_.verdict == verdict::Name::Undecided ? "muted"
                                                   : "good-text",
      width_ - 24, escaped(name));
}

void Canvas::axes() {
  for (const Tick& tick : byte_axis_) {
    const double at = y(tick.at);
    put(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)",
        tick.at == 0 ? "axis" : "grid", left_, at, right_, at);
    put(R"(<text class="muted" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", left_ - 9,
        at + 4, tick.text);
  }
  for (const Tick& tick : time_axis_) {
    put(R"(<line class="axis" x1="{0:.1f}" y1="{1:.1f}" x2="{0:.1f}" y2="{2:.1f}"/>)", x(tick.at),
        bottom_, bottom_ + 5);
    put(R"(<text class="muted" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x(tick.at),
        bottom_ + 20, tick.text);
  }
}

void Canvas::note(double at_x, double at_y, std::string_view anchor, std::string_view ink,
                  std::string_view text) {
  put(R"(<text class="{} halo" x="{:.1f}" y="{:.1f}" text-anchor="{}" stroke-width="4" )"
      R"(stroke-linejoin="round" paint-order="stroke">{}</text>)",
      ink, at_x, at_y, anchor, escaped(text));
}

void Canvas::limit() {
  if (chart_.limit <= 0) return;
  if (chart_.limit > top_bytes_) {
    note(left_ + 6, top_ - 6, "start", "muted", "↑ " + chart_.limit_text);
    return;
  }
  const double at = y(chart_.limit);
  put(R"(<line class="alarm" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke-width="1.5"/>)",
      left_, at, right_, at);
  note(left_ + 6, at - 6, "start", "alarm-text", chart_.limit_text);
}

std::string Canvas::path(const std::vector<ChartPoint>& points) const {
  std::string out;
  const auto columns = static_cast<std::size_t>(std::max(1.0, right_ - left_));
  double last_x = -1, last_y = -1;
  for (const ChartPoint& p : thinned(points, columns)) {
    const double px = x(std::clamp(p.seconds, 0.0, seconds_));
    const double py = y(std::clamp(p.bytes, 0.0, top_bytes_));
    if (!out.empty() && std::fabs(px - last_x) < 0.05 && std::fabs(py - last_y) < 0.05) continue;
    out += fmt::format("{}{:.1f} {:.1f}", out.empty() ? "M" : "L", px, py);
    last_x = px;
    last_y = py;
  }
  return out;
}

void Canvas::lines() {
  for (std::size_t i = chart_.lines.size(); i-- > 0;) {
    const Line& line = chart_.lines[i];
    if (line.points.empty()) continue;
    const std::size_t colour = i % kLight.series.size();
    const std::string d = path(line.points);
    const ChartPoint& first = line.points.front();
    const ChartPoint& last = line.points.back();
    if (i == 0) {
      put(R"(<path class="t0" d="{}L{:.1f} {:.1f}L{:.1f} {:.1f}Z" fill-opacity="0.10"/>)", d,
          x(std::min(last.seconds, seconds_)), bottom_, x(first.seconds), bottom_);
    }
    put(R"(<path class="s{}" d="{}" fill="none" stroke-width="{}" stroke-linejoin="round"/>)",
        colour, d, i == 0 ? "1.8" : "1.3");
    const ChartPoint end{std::min(last.seconds, seconds_), std::min(last.bytes, top_bytes_)};
    labels_.push_back({y(end.bytes), x(end.seconds), line.name, fmt::format("t{}", colour),
                       fmt::format("s{}", colour)});
  }
}

void Canvas::floor_and_forecast() {
  if (chart_.floor.size() >= 2) {
    put(R"(<path class="floor" d="{}" fill="none" stroke-width="2.4" stroke-linejoin="round" )"
        R"(stroke-linecap="round"/>)",
        path(chart_.floor));
    const ChartPoint& last = chart_.floor.back();
    labels_.push_back({y(std::min(last.bytes, top_bytes_)), x(std::min(last.seconds, seconds_)),
                       "floor", "text", "floor"});
  }
  if (!chart_.forecast) return;
  ChartPoint from = (*chart_.forecast)[0];
  ChartPoint to = (*chart_.forecast)[1];
  if (to.bytes > top_bytes_) {  // leaves the picture through the top
    const double share = (top_bytes_ - from.bytes) / (to.bytes - from.bytes);
    to = {from.seconds + share * (to.seconds - from.seconds), top_bytes_};
  }
  put(R"(<line class="alarm" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke-width="2" )"
      R"(stroke-dasharray="7 5"/>)",
      x(from.seconds), y(from.bytes), x(to.seconds), y(to.bytes));
  labels_.push_back({y(to.bytes), x(to.seconds), chart_.forecast_text, "alarm-text", "alarm"});
}

// Every n-th where they are denser than a person can see.
void Canvas::rounds() {
  if (chart_.rounds.empty()) return;
  const auto room = static_cast<std::size_t>(std::max(1.0, (right_ - left_) / 4));
  const std::size_t step = (chart_.rounds.size() + room - 1) / room;
  std::string d;
  for (std::size_t i = 0; i < chart_.rounds.size(); i += step) {
    if (chart_.rounds[i] < 0 || chart_.rounds[i] > seconds_) continue;
    d += fmt::format("M{:.1f} {:.1f}v-6", x(chart_.rounds[i]), bottom_);
  }
  put(R"(<path class="axis" d="{}" fill="none" stroke-width="1"/>)", d);
  const auto count = static_cast<std::int64_t>(chart_.rounds.size());
  put(R"(<text class="muted" x="{:.1f}" y="{:.1f}" font-size="11">{} round{}{}</text>)",
      right_ + 10, bottom_ + 4, count_text(count), count == 1 ? "" : "s",
      step > 1 ? fmt::format(", 1 in {} drawn", step) : "");
}

double Canvas::tree_at(double seconds) const {
  if (chart_.lines.empty() || chart_.lines.front().points.empty()) return 0;
  const auto& points = chart_.lines.front().points;
  const auto after =
      std::lower_bound(points.begin(), points.end(), seconds,
                       [](const ChartPoint& p, double at) { return p.seconds < at; });
  return after == points.end() ? points.back().bytes : after->bytes;
}

void Canvas::heaps() {
  for (const Mark& heap : chart_.heaps) {
    const double cx = x(std::clamp(heap.seconds, 0.0, seconds_));
    const double cy = y(std::min(tree_at(heap.seconds), top_bytes_));
    put(R"(<path class="heap" d="M{:.1f} {:.1f}l5 5l-5 5l-5 -5Z" stroke-width="1.4">)"
        R"(<title>heap snapshot: {}</title></path>)",
        cx, cy - 5, escaped(heap.text));
  }
}

void Canvas::events() {
  for (const Mark& event : chart_.events) {
    const double cx = x(std::clamp(event.seconds, 0.0, seconds_));
    const double cy = y(std::min(tree_at(event.seconds), top_bytes_));
    put(R"(<path class="alarm" d="M{:.1f} {:.1f}l10 10m0 -10l-10 10" stroke-width="2.4" )"
        R"(fill="none"><title>{}</title></path>)",
        cx - 5, cy - 5, escaped(event.text));
    const bool late = cx > (left_ + right_) / 2;
    double at = cy - 12;
    if (chart_.limit > 0 && chart_.limit <= top_bytes_ && at < y(chart_.limit) + 14) {
      at = std::min(at, y(chart_.limit) - 6);  // not across the limit's line
    }
    note(late ? cx - 8 : cx + 8, at, late ? "end" : "start", "alarm-text",
         shortened(event.text, 56));
  }
}

// Names stand at the right edge, as near to the end of their line as the others let them.
void Canvas::labels() {
  std::stable_sort(labels_.begin(), labels_.end(),
                   [](const Label& a, const Label& b) { return a.y < b.y; });
  double next = top_ - 8;
  for (Label& label : labels_) {
    label.at = std::max(label.y, next);
    next = label.at + kLineGap;
  }
  double last = bottom_ - 12;
  for (std::size_t i = labels_.size(); i-- > 0;) {
    labels_[i].at = std::min(labels_[i].at, last);
    last = labels_[i].at - kLineGap;
  }
  const auto room = static_cast<int>((width_ - 12 - right_ - 14) / (12 * kEm));
  for (const Label& label : labels_) {
    if (right_ + 10 - label.x > 14 || std::fabs(label.at - label.y) > 3) {
      put(R"(<path class="{}" d="M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}" fill="none" )"
          R"(stroke-width="0.8" stroke-dasharray="1 3" stroke-opacity="0.8"/>)",
          label.line, label.x + 3, label.y, right_ + 2, label.at, right_ + 11);
    }
    put(R"(<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>)", label.ink, right_ + 14, label.at + 4,
        escaped(shortened(label.text, std::max(room, 4))));
  }
}

void Canvas::footer() {
  std::string key;
  if (!chart_.heaps.empty()) key = "◇ heap snapshot";
  if (chart_.left_out > 0) {
    key += (key.empty() ? "" : "  ·  ") +
           fmt::format("{} smaller process{} not drawn",
                       count_text(static_cast<std::int64_t>(chart_.left_out)),
                       chart_.left_out == 1 ? "" : "es");
  }
  const double at = height_ - 16;
  const auto room = static_cast<int>((width_ - 48) / (11 * kEm));
  put(R"(<text class="muted" x="24" y="{:.1f}" font-size="11">{}</text>)", at, escaped(key));
  put(R"(<text class="muted" x="{:.1f}" y="{:.1f}" font-size="11" text-anchor="end">{}</text>)",
      width_ - 24, at, escaped(shortened(chart_.footer, std::max(8, room - columns_of(key) - 4))));
}

std::string Canvas::draw() {
  measure();
  put(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" )"
      R"(role="img" font-family="Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif" )"
      R"(font-size="12">)",
      options_.width, options_.height);
  put("<title>{}: {}</title>", escaped(chart_.title), escaped(verdict::to_string(chart_.verdict)));
  put("<desc>{}</desc>", escaped(chart_.subtitle));
  std::string style = css(options_.theme == Theme::Dark ? kDark : kLight);
  if (options_.theme == Theme::Auto) {
    style += "@media (prefers-color-scheme: dark){" + css(kDark) + "}";
  }
  put("<style>{}</style>", style);
  put(R"(<rect class="page" width="{}" height="{}"/>)", options_.width, options_.height);
  header();
  axes();
  rounds();
  lines();
  limit();
  floor_and_forecast();
  heaps();
  events();
  labels();
  footer();
  out_ += "</svg>\n";
  return std::move(out_);
}

}  // namespace

std::string to_svg(const Chart& chart, const SvgOptions& options) {
  return Canvas(chart, options).draw();
}

}  // namespace lowtide::report
