// SPDX-License-Identifier: Apache-2.0
#pragma once

// One line of output, a byte at a time: has the round pattern matched, and what is its shape?
//
// The shape is a hash in which numbers (sign, digits, fraction, exponent), runs of blanks and runs
// of one mark are each one symbol:  "step   7 [==>  ] loss 1.2e-3"  =  "step 12 [===> ] loss 0.9"

#include <stddef.h>
#include <stdint.h>

#include "wire/run_table.h"

namespace lowtide::probe {

class Line {
 public:
  void add(const lowtide_pattern& pattern, unsigned char byte) {
    if (state_ != kDead && state_ != kAccepting && pattern.states != 0) {
      state_ = pattern.next[state_][byte];
      if (state_ >= LOWTIDE_PATTERN_STATES) state_ = kDead;  // The table is not ours alone.
    }
    if (length_ < kLooked) {
      ++length_;
      fold(byte);
    }
  }

  bool empty() const { return length_ == 0; }
  bool matched() const { return state_ == kAccepting; }
  uint32_t shape() const {
    Line end = *this;
    end.settle();
    return end.hash_;
  }

 private:
  static constexpr uint16_t kDead = 0, kStart = 1, kAccepting = 2;
  static constexpr uint32_t kLooked = 512;  // Bytes of a line that make its shape.

  static bool is_digit(unsigned char byte) { return byte >= '0' && byte <= '9'; }
  static bool is_letter(unsigned char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte >= 0x80;
  }

  void fold(unsigned char byte) {
    if (is_digit(byte)) {
      if (!in_number_) emit('0');  // A sign that waited belongs to the number.
      in_number_ = true;
      held_count_ = 0;
      return;
    }
    if (in_number_) {
      const bool exponent = held_count_ == 0 && (byte == 'e' || byte == 'E');
      const bool fraction = held_count_ == 0 && (byte == '.' || byte == ',');
      const bool sign =
          held_count_ == 1 && (held_[0] | 0x20) == 'e' && (byte == '+' || byte == '-');
      if (exponent || fraction || sign) {
        held_[held_count_++] = byte;
        return;
      }
    }
    settle();
    if (byte == '+' || byte == '-')
      held_[held_count_++] = byte;
    else
      mark(byte);
  }

  // What waited for a digit was none of a number after all.
  void settle() {
    in_number_ = false;
    const unsigned count = held_count_;
    held_count_ = 0;
    for (unsigned i = 0; i < count; ++i) mark(held_[i]);
  }

  void mark(unsigned char byte) {
    if (byte == '\t') byte = ' ';
    if (byte == last_ && !is_letter(byte)) return;
    emit(byte);
  }

  void emit(unsigned char symbol) {
    last_ = symbol;
    hash_ = (hash_ ^ symbol) * 16777619u;
  }

  uint32_t hash_ = 2166136261u;
  uint32_t length_ = 0;
  uint16_t state_ = kStart;
  unsigned char last_ = 0;
  unsigned char held_[2] = {};
  unsigned char held_count_ = 0;
  bool in_number_ = false;
};

}  // namespace lowtide::probe
