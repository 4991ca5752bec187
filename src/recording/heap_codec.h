// SPDX-License-Identifier: Apache-2.0
#pragma once

// A heap stream, squeezed on its way into a recording and unsqueezed on its way out.
//
// Both sides work piece by piece in bounded memory (about 1.5 MiB here, the window and 128 KiB
// there), whatever the size of the heap. What add() gives is complete up to a block, so a stream
// whose recorder was killed can be read as far as it got.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lowtide/result.h"

namespace lowtide::recording {

class HeapSqueezer {
 public:
  HeapSqueezer();
  ~HeapSqueezer();
  HeapSqueezer(const HeapSqueezer&) = delete;
  HeapSqueezer& operator=(const HeapSqueezer&) = delete;

  // What is ready to be stored; often "".
  std::string_view add(std::string_view plain);
  // The rest. The squeezer can then be used for the next heap.
  std::string_view end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class HeapUnsqueezer {
 public:
  using Sink = std::function<bool(std::string_view)>;

  HeapUnsqueezer();
  ~HeapUnsqueezer();
  HeapUnsqueezer(const HeapUnsqueezer&) = delete;
  HeapUnsqueezer& operator=(const HeapUnsqueezer&) = delete;

  // Feeds what `squeezed` says to `sink`. Corrupt where it is no such stream, Limit where it
  // grows beyond reason. A sink that returns false ends it: stopped().
  Status add(std::string_view squeezed, const Sink& sink);
  bool stopped() const { return stopped_; }
  bool complete() const { return complete_; }  // the stream's end was seen
  std::int64_t plain_bytes() const { return plain_bytes_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::int64_t plain_bytes_ = 0;
  bool stopped_ = false;
  bool complete_ = false;
};

}  // namespace lowtide::recording
