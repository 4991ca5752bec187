// SPDX-License-Identifier: Apache-2.0
#pragma once

// A long array of small values that grows in place.
//
// std::vector copies itself when it grows and for that moment is there twice; hundreds of
// megabytes of edges cannot afford it. realloc moves pages instead of bytes, and the capacity
// not used yet is not resident.

#include <cstdlib>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace lowtide::heap {

template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  Column(Column&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Column& operator=(Column&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Column() { std::free(data_); }

  std::size_t size() const { return size_; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& operator[](std::size_t i) { return data_[i]; }
  std::span<const T> span() const { return {data_, size_}; }

  void push_back(T value) {
    if (size_ == capacity_) reserve(capacity_ + capacity_ / 2 + 64);
    data_[size_++] = value;
  }
  // What is new has no value yet.
  void resize(std::size_t size) {
    if (size > capacity_) reserve(size);
    size_ = size;
  }
  // Moves everything up by `count`, whose places have no value yet.
  void open_front(std::size_t count) {
    const std::size_t before = size_;
    resize(before + count);
    if (before != 0) std::memmove(data_ + count, data_, before * sizeof(T));
  }
  void shrink() {
    if (size_ != 0) reserve(size_);
  }

 private:
  void reserve(std::size_t capacity) {
    void* grown = std::realloc(data_, capacity * sizeof(T));
    if (grown == nullptr) std::abort();  // Out of memory ends the tool.
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace lowtide::heap
