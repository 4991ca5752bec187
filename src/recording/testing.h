// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included by this module's tests only: a folder that goes with the test, and recordings to fill
// it.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "recording/heap_codec.h"
#include "recording/opening.h"
#include "recording/recording.h"

namespace lowtide::recording::testing {

class Folder {
 public:
  Folder() : scratch_(std::move(*ScratchFolder::make())) {}
  std::string path(const std::string& name) const { return scratch_->path() + "/" + name; }

 private:
  std::unique_ptr<ScratchFolder> scratch_;
};

inline Run some_run() {
  Run run;
  run.command = {"python3", "train.py", "--name", "it's \"quoted\""};
  run.started = "2026-11-30T18:45:12+01:00";
  run.interval = 0.1;
  run.round_pattern = "^step ";
  run.host = "Linux 6.1, 2 CPUs, 24 GiB";
  run.lowtide = "0.1.0";
  run.limit = std::int64_t{2} << 30;
  run.limit_source = "container limit";
  return run;
}

inline std::unique_ptr<Writer> make_writer(const std::string& path) {
  auto writer = Writer::create(path, some_run());
  if (writer) return std::move(*writer);
  std::fprintf(stderr, "%s\n", writer.error().message.c_str());
  std::abort();
}

// None, and the reason on stderr, where it cannot be opened.
inline std::unique_ptr<Reader> make_reader(const std::string& path) {
  auto reader = Reader::open(path);
  if (reader) return std::move(*reader);
  std::fprintf(stderr, "%s\n", reader.error().message.c_str());
  return nullptr;
}

inline Sample sample_at(double seconds, std::int64_t process, std::int64_t resident) {
  Sample sample;
  sample.seconds = seconds;
  sample.process = process;
  sample.resident = resident;
  return sample;
}

// A heap stream's worth of bytes that compress somewhat.
inline std::string some_bytes(std::size_t count, unsigned seed) {
  std::string bytes;
  bytes.reserve(count);
  unsigned state = seed * 2654435761U + 1;
  while (bytes.size() < count) {
    state = state * 1664525U + 1013904223U;
    bytes += static_cast<char>((state >> 24) & 0x3f);
  }
  return bytes;
}

inline std::int64_t put_heap(Writer& writer, double seconds, const std::string& plain) {
  HeapInfo info;
  info.process = 1;
  info.seconds = seconds;
  info.runtime = "CPython 3.11.2";
  info.id = writer.begin_heap(info);
  HeapSqueezer squeezer;
  for (std::size_t at = 0; at < plain.size(); at += 50'000) {
    writer.put_heap(info.id, squeezer.add(std::string_view(plain).substr(at, 50'000)));
  }
  writer.put_heap(info.id, squeezer.end());
  info.nodes = 10;
  info.edges = 20;
  info.whole = true;
  writer.end_heap(info);
  return info.id;
}

// Everything a reader can say, so that a damaged recording is read to its end.
inline std::size_t read_all(const Reader& reader) {
  std::size_t read = reader.run().command.size() + (reader.end() ? 1 : 0);
  for (const Process& process : reader.processes()) read += reader.samples(process.id).size();
  read += reader.samples(0).size() + reader.rounds().size() + reader.events().size();
  read += reader.account().size() + (reader.conclusion() ? 1 : 0) + reader.missing().size();
  for (const HeapInfo& heap : reader.heaps()) {
    std::size_t bytes = 0;
    const Status status = reader.read_heap(heap.id, [&](std::string_view piece) {
      bytes += piece.size();
      return bytes < (std::size_t{64} << 20);
    });
    read += status ? bytes : status.error().message.size();
  }
  return read;
}

}  // namespace lowtide::recording::testing
