// SPDX-License-Identifier: Apache-2.0

// The first byte chooses: the rest is a whole file, or edits of a sound recording (place, byte).

#include <cstddef>
#include <cstdint>

#include "base/file.h"
#include "recording/recording.h"
#include "recording/testing.h"

namespace lowtide::recording {
namespace {

const std::string& sound_recording() {
  static const std::string bytes = [] {
    testing::Folder folder;
    auto writer = testing::make_writer(folder.path("x.tide"));
    for (int i = 0; i < 2000; ++i) {
      writer->put(testing::sample_at(i * 0.1, i % 3, i * 4096));
      writer->put(Round{i * 0.1, 0.1, "lines"});
    }
    testing::put_heap(*writer, 1, testing::some_bytes(20'000, 1));
    writer->finish(End{});
    return std::move(*read_file(folder.path("x.tide")));
  }();
  return bytes;
}

int read_edited(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const testing::Folder folder;
  const std::string path = folder.path("fuzz.tide");
  std::string bytes;
  if (data[0] % 4 == 0) {
    bytes.assign(reinterpret_cast<const char*>(data + 1), size - 1);
  } else {
    bytes = sound_recording();
    for (std::size_t i = 1; i + 3 < size; i += 4) {
      const std::size_t place = data[i] | data[i + 1] << 8 | data[i + 2] << 16;
      bytes[place % bytes.size()] = static_cast<char>(data[i + 3]);
    }
  }
  if (!write_file(path, bytes)) return 0;
  auto reader = Reader::open(path);
  if (reader) testing::read_all(**reader);
  return 0;
}

}  // namespace
}  // namespace lowtide::recording

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return lowtide::recording::read_edited(data, size);
}
