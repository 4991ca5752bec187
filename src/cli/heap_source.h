// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a command that takes "a pid or a recording" was given.
//
//     ""              the newest *.tide in this folder
//     train.tide      a recording, its last heap
//     train.tide@3    its third
//     4242            a live process under `lowtide run`

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heap/graph.h"
#include "lowtide/result.h"
#include "readers/cpython/stream.h"
#include "recording/recording.h"
#include "wire/heap_stream.h"

namespace lowtide::cli {

// The newest recording in this folder, or a sentence.
Result<std::string> newest_recording();

// Opens `file`, or the newest where it is "".
Result<std::unique_ptr<recording::Reader>> open_recording(const std::string& file,
                                                          std::string& path);

// Asks a live process now. Waits for the answer, at most `limit` seconds.
Result<cpython::HeapAnswer> ask_process(std::int32_t pid, lowtide_ask question,
                                        const std::string& text, double limit);

struct HeapChoice {
  heap::Graph graph;
  std::string name;          // "train.tide, heap 3 of 8, 41 s" or "process 4242, now"
  std::int64_t process = 0;  // of the recording; 0: live
  std::unique_ptr<recording::Reader> reader;  // null: live
  std::vector<recording::HeapInfo> heaps;     // of the same process, oldest first
  std::size_t position = 0;                   // of this one among them
};

// `snapshot`: 1, 2, … among the heaps of the recording's main process; 0: as `target` says, else
// the last. `contents`: of a live process, excerpts of its strings too.
Result<HeapChoice> choose_heap(const std::string& target, int snapshot, bool contents);

}  // namespace lowtide::cli
