// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace lowtide::report {
namespace {

using Json = nlohmann::ordered_json;

// 0 stands for "not known" in these figures; JSON has a word for it.
Json or_null(std::int64_t value) { return value != 0 ? Json(value) : Json(); }

// JSON has no infinity: such a figure is unknown.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json holder_json(const heap::Holder& holder) {
  return Json{{"path", holder.path},
              {"path_text", holder.text},
              {"root", holder.root},
              {"count", holder.count},
              {"freed_if_only_this", holder.freed_if_only_this.count}};
}

Json suspect_json(const Suspect& suspect) {
  const heap::Suspect& s = suspect.what;
  const bool held = !s.holders.empty();
  const heap::Holder first = held ? s.holders.front() : heap::Holder{};
  Json others = Json::array();
  for (std::size_t i = 1; i < s.holders.size(); ++i) others.push_back(holder_json(s.holders[i]));
  return Json{{"type", s.type},
              {"count", s.count},
              {"count_per_round", number(s.count_per_round)},
              {"count_per_second", number(s.count_per_second)},
              {"retained_bytes", s.retained.count},
              {"freed_if_only_this", held ? Json(first.freed_if_only_this.count) : Json()},
              {"freed_if_all", s.freed_if_all.count},
              {"content", s.content},
              {"path", first.path},
              {"path_text", first.text},
              {"path_count", held ? Json(first.count) : Json()},
              {"other_holders", std::move(others)},
              {"root", held ? Json(first.root) : Json()},
              {"garbage", s.garbage},
              {"reason", s.reason},
              {"fingerprint", fmt::format("{:016x}", s.fingerprint)},
              {"confidence", number(s.confidence)},
              {"pid", suspect.pid},
              {"runtime", suspect.runtime}};
}

Json verdict_json(const verdict::Verdict& v) {
  return Json{{"name", verdict::to_string(v.name)},
              {"why", v.why},
              {"rate_bytes_per_round", number(v.rate_per_round)},
              {"rate_bytes_per_second", number(v.rate_per_second)},
              {"interval95", {number(v.interval95[0]), number(v.interval95[1])}},
              {"rounds", v.rounds},
              {"seconds_to_limit", v.seconds_to_limit ? number(*v.seconds_to_limit) : Json()},
              {"fits_in_bytes", or_null(v.fits_in)},
              {"confidence", number(v.confidence)}};
}

Json process_json(const ProcessPeak& p) {
  return Json{{"pid", p.pid},
              {"name", p.name},
              {"runtime", p.runtime},
              {"peak_bytes", or_null(p.peak)},
              {"note", p.note}};
}

Json snapshot_json(const Snapshot& s) {
  return Json{{"pid", s.pid},
              {"seconds", number(s.seconds)},
              {"pause_seconds", number(s.pause)},
              {"lock_wait_seconds", number(s.lock_wait)},
              {"slowdown_seconds", number(s.slowdown)},
              {"objects", s.nodes},
              {"refused", s.refused}};
}

template <typename T, typename F>
Json array_of(const std::vector<T>& items, F&& to) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(to(item));
  return array;
}

// The value of a key, or `otherwise` where it is missing, null or of another kind. nlohmann's own
// value() throws on the last; a recording may come from anywhere.
const Json* find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

std::string text(const Json& object, const char* key) {
  const Json* value = find(object, key);
  return value && value->is_string() ? value->get<std::string>() : "";
}

double real(const Json& value) { return value.is_number() ? value.get<double>() : 0; }

double real(const Json& object, const char* key) {
  const Json* value = find(object, key);
  return value ? real(*value) : 0;
}

// A float that is out of the integer's range would be undefined behaviour, not merely wrong.
template <typename T = std::int64_t>
T whole(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (!value || !value->is_number()) return 0;
  const double rough = value->get<double>();
  if (rough < static_cast<double>(std::numeric_limits<T>::min()) ||
      rough >= static_cast<double>(std::numeric_limits<T>::max())) {
    return rough < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
  return value->is_number_float() ? static_cast<T>(rough)
                                  : static_cast<T>(value->get<std::int64_t>());
}

bool flag(const Json& object, const char* key, bool otherwise = false) {
  const Json* value = find(object, key);
  return value && value->is_boolean() ? value->get<bool>() : otherwise;
}

std::vector<std::string> texts(const Json& object, const char* key) {
  std::vector<std::string> out;
  const Json* value = find(object, key);
  if (!value || !value->is_array()) return out;
  for (const Json& item : *value) out.push_back(item.is_string() ? item.get<std::string>() : "");
  return out;
}

template <typename T, typename F>
void read_array(const Json& object, const char* key, std::vector<T>& into, F&& from) {
  const Json* value = find(object, key);
  if (!value || !value->is_array()) return;
  for (const Json& item : *value) {
    if (item.is_object()) into.push_back(from(item));
  }
}

const Json& part(const Json& object, const char* key) {
  static const Json kNothing = Json::object();
  const Json* value = find(object, key);
  return value && value->is_object() ? *value : kNothing;
}

heap::Holder holder_of(const Json& json) {
  heap::Holder holder;
  holder.path = texts(json, "path");
  holder.text = text(json, "path_text");
  holder.root = text(json, "root");
  holder.count = whole(json, "count");
  holder.freed_if_only_this = Bytes{whole(json, "freed_if_only_this")};
  return holder;
}

Suspect suspect_of(const Json& json) {
  Suspect suspect;
  heap::Suspect& s = suspect.what;
  s.type = text(json, "type");
  s.count = whole(json, "count");
  s.count_per_round = real(json, "count_per_round");
  s.count_per_second = real(json, "count_per_second");
  s.retained = Bytes{whole(json, "retained_bytes")};
  s.freed_if_all = Bytes{whole(json, "freed_if_all")};
  s.content = text(json, "content");
  if (heap::Holder first = holder_of(json); !first.path.empty() || !first.text.empty()) {
    first.count = whole(json, "path_count");
    s.holders.push_back(std::move(first));
  }
  read_array(json, "other_holders", s.holders, holder_of);
  s.garbage = flag(json, "garbage");
  s.reason = text(json, "reason");
  const std::string print = text(json, "fingerprint");
  std::from_chars(print.data(), print.data() + print.size(), s.fingerprint, 16);
  s.confidence = real(json, "confidence");
  suspect.pid = whole<std::int32_t>(json, "pid");
  suspect.runtime = text(json, "runtime");
  return suspect;
}

verdict::Verdict verdict_of(const Json& json) {
  verdict::Verdict v;
  const std::string name = text(json, "name");
  for (int i = 0; i <= static_cast<int>(verdict::Name::Undecided); ++i) {
    const auto candidate = static_cast<verdict::Name>(i);
    if (verdict::to_string(candidate) == name) v.name = candidate;
  }
  v.why = text(json, "why");
  v.rate_per_round = real(json, "rate_bytes_per_round");
  v.rate_per_second = real(json, "rate_bytes_per_second");
  if (const Json* pair = find(json, "interval95"); pair && pair->is_array() && pair->size() == 2) {
    v.interval95 = {real((*pair)[0]), real((*pair)[1])};
  }
  v.rounds = whole<int>(json, "rounds");
  if (const Json* left = find(json, "seconds_to_limit"); left && left->is_number()) {
    v.seconds_to_limit = left->get<double>();
  }
  v.fits_in = whole(json, "fits_in_bytes");
  v.confidence = real(json, "confidence");
  return v;
}

ProcessPeak process_of(const Json& json) {
  return {whole<std::int32_t>(json, "pid"), text(json, "name"), text(json, "runtime"),
          whole(json, "peak_bytes"), text(json, "note")};
}

Snapshot snapshot_of(const Json& json) {
  return {whole<std::int32_t>(json, "pid"),
          real(json, "seconds"),
          real(json, "pause_seconds"),
          real(json, "lock_wait_seconds"),
          real(json, "slowdown_seconds"),
          whole(json, "objects"),
          text(json, "refused")};
}

}  // namespace

std::string to_json(const Findings& f) {
  const auto part_json = [](const Part& p) { return Json{{"part", p.name}, {"bytes", p.bytes}}; };
  const Json json{{"lowtide", f.run.lowtide},
                  {"format", kJsonFormat},
                  {"command", f.run.command},
                  {"started", f.run.started},
                  {"exit",
                   {{"status", f.ended ? Json(f.end.status) : Json()},
                    {"signal", or_null(f.end.signal)},
                    {"oom", f.end.oom},
                    {"oom_text", f.end.oom_text}}},
                  {"seconds", number(f.end.seconds)},
                  {"processes", f.end.processes},
                  {"peak_bytes", f.end.peak},
                  {"limit_bytes", or_null(f.run.limit)},
                  {"limit_source", f.run.limit_source},
                  {"verdict", verdict_json(f.verdict)},
                  {"suspects", array_of(f.suspects, suspect_json)},
                  {"account", array_of(f.account, part_json)},
                  {"process_peaks", array_of(f.processes, process_json)},
                  {"snapshots", array_of(f.snapshots, snapshot_json)},
                  {"notes", f.notes},
                  {"recording", f.recording.empty() ? Json() : Json(f.recording)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<Findings> from_json(std::string_view text_in) {
  const Json json = Json::parse(text_in, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) {
    return Error{Code::Corrupt, "the stored conclusion is not a JSON object"};
  }
  const int format = whole<int>(json, "format");
  if (format > kJsonFormat) {
    return Error{Code::Unsupported,
                 fmt::format("the stored conclusion has format {}, this lowtide reads up to {}; "
                             "a newer lowtide reads it",
                             format, kJsonFormat)};
  }
  Findings f;
  f.run.lowtide = text(json, "lowtide");
  f.run.command = texts(json, "command");
  f.run.started = text(json, "started");
  const Json& exit = part(json, "exit");
  const Json* status = find(exit, "status");
  f.ended = status && status->is_number();
  f.end.status = whole<int>(exit, "status");
  f.end.signal = whole<int>(exit, "signal");
  f.end.oom = flag(exit, "oom");
  f.end.oom_text = text(exit, "oom_text");
  f.end.seconds = real(json, "seconds");
  f.end.processes = whole(json, "processes");
  f.end.peak = whole(json, "peak_bytes");
  f.run.limit = whole(json, "limit_bytes");
  f.run.limit_source = text(json, "limit_source");
  f.verdict = verdict_of(part(json, "verdict"));
  read_array(json, "suspects", f.suspects, suspect_of);
  read_array(json, "account", f.account, [](const Json& item) {
    return Part{text(item, "part"), whole(item, "bytes")};
  });
  read_array(json, "process_peaks", f.processes, process_of);
  read_array(json, "snapshots", f.snapshots, snapshot_of);
  f.notes = texts(json, "notes");
  f.recording = text(json, "recording");
  return f;
}

}  // namespace lowtide::report
