// SPDX-License-Identifier: Apache-2.0
#include "recording/schema.h"

#include <fmt/format.h>

#include <string>

#include "recording/recording.h"

namespace lowtide::recording {
namespace {

constexpr const char* kTables = R"sql(
create table run (
  schema_version integer not null,
  command text not null,
  started text not null,
  interval_seconds real not null,
  round_pattern text not null,
  host text not null,
  lowtide_version text not null,
  limit_bytes integer not null,
  limit_source text not null
);
create table run_end (
  seconds real not null,
  status integer not null,
  signal integer not null,
  oom integer not null,
  oom_text text not null,
  processes integer not null,
  peak_bytes integer not null
);
create table processes (
  id integer primary key,
  pid integer not null,
  parent integer not null,
  name text not null,
  runtime text not null,
  started_seconds real not null,
  ended_seconds real,
  peak_bytes integer not null,
  note text not null
);
create table rounds (
  id integer primary key,
  seconds real not null,
  duration_seconds real not null,
  source text not null,
  count integer not null
);
create table events (
  id integer primary key,
  seconds real not null,
  process integer not null,
  kind text not null,
  text text not null
);
create table account (
  id integer primary key,
  seconds real not null,
  process integer not null,
  part text not null,
  bytes integer not null
);
create table heaps (
  id integer primary key,
  process integer not null,
  seconds real not null,
  rounds real not null,
  runtime text not null,
  lock_wait_seconds real not null,
  pause_seconds real not null,
  walk_seconds real not null,
  nodes integer not null,
  edges integer not null,
  stored_bytes integer not null,
  whole integer not null
);
create table heap_pieces (
  id integer primary key,
  heap integer not null,
  piece integer not null,
  zstd blob not null
);
create table conclusion (
  id integer primary key check (id = 1),
  json text not null
);
)sql";

constexpr const char* kViews = R"sql(
create view memory as
  select s.seconds, s.process, coalesce(p.name, 'all processes') as name, p.pid,
    round(s.resident_bytes / 1048576.0, 2) as resident_mib,
    round(s.anonymous_bytes / 1048576.0, 2) as anonymous_mib,
    round(s.allocator_free_bytes / 1048576.0, 2) as allocator_free_mib,
    round(s.container_bytes / 1048576.0, 2) as container_mib
  from samples s left join processes p on p.id = s.process;
create view last_account as
  select a.process, coalesce(p.name, 'all processes') as name, a.part, a.bytes,
    max(a.seconds) as seconds
  from account a left join processes p on p.id = a.process
  group by a.process, a.part;
)sql";

std::string make_schema() {
  std::string sql = fmt::format("pragma application_id = {};\npragma user_version = {};\n{}",
                                kApplicationId, kSchemaVersion, kTables);
  const auto sample_table = [](const char* name, const char* key) {
    return fmt::format(
        "create table {} ({}seconds real not null, process integer {}, resident_bytes integer, "
        "anonymous_bytes integer, file_bytes integer, shared_bytes integer, swap_bytes integer, "
        "allocator_in_use_bytes integer, allocator_free_bytes integer, cpu_ms integer, "
        "container_bytes integer);\n",
        name, key, *key == '\0' ? "primary key" : "not null");
  };
  std::string all;
  for (const Level& level : kLevels) {
    sql += sample_table(level.table, "id integer primary key, ");
    all += fmt::format("select {} from {} union all ", kSampleColumns, level.table);
  }
  sql += sample_table(kTailTable, "");
  sql +=
      fmt::format("create view samples as {}select {} from {};\n", all, kSampleColumns, kTailTable);
  return sql + kViews;
}

}  // namespace

const char* schema_sql() {
  static const std::string sql = make_schema();
  return sql.c_str();
}

}  // namespace lowtide::recording
