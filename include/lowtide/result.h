// SPDX-License-Identifier: Apache-2.0
#pragma once

// A value, or the reason there is none.
//
// The names are std::expected's, so that the day every compiler we support has it
// this file becomes one alias. Ignoring a Result is a compiler warning.

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace lowtide {

enum class Code { NotFound, Permission, Corrupt, Unsupported, Invalid, Io, Limit };

struct Error {
  Code code;
  std::string message;  // A sentence: what was being done, to what, and why it failed.
};

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // Not explicit: `return value;` and `return Error{...};` say what they mean.
  // NOLINTBEGIN(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return get(state_); }
  const T& value() const& { return get(state_); }
  T&& value() && { return std::move(get(state_)); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  template <typename State>
  static auto& get(State& state) {
    assert(state.index() == 0);
    return *std::get_if<0>(&state);
  }

  std::variant<T, Error> state_;
};

struct Done {};
using Status = Result<Done>;  // For what succeeds without a value: `return Done{};`

}  // namespace lowtide
