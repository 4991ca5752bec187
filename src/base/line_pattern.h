// SPDX-License-Identifier: Apache-2.0
#pragma once

// A regular expression as a table a probe can follow without allocating or calling anything.
//
//     "step [0-9]+$"  ->  tree  ->  positions (Thompson)  ->  subsets  ->  next[state][byte]
//
// Extended regular expressions: . [a-z] [^x] * + ? {2,5} | ( ) ^ $ and \d \w \s \D \W \S \t \n,
// over bytes, so a UTF-8 letter outside ASCII matches as the bytes it is made of. The pattern may
// be found anywhere in the line. No back-references, no look-around: those are no automata.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lowtide/result.h"

namespace lowtide {

class LinePattern {
 public:
  static constexpr std::uint16_t kDead = 0;  // no match can follow on this line
  static constexpr std::uint16_t kStart = 1;
  static constexpr std::uint16_t kAccepted = 2;  // absorbing

  // Refuses what is not a pattern, matches the empty line, or needs more than `most_states`.
  static Result<LinePattern> compile(std::string_view pattern, std::size_t most_states);

  // Is the pattern in this line (given without its end)? What a probe does, for tests and pipes.
  bool found_in(std::string_view line) const;

  const std::vector<std::array<std::uint16_t, 256>>& states() const { return next_; }

 private:
  std::vector<std::array<std::uint16_t, 256>> next_;
};

}  // namespace lowtide
