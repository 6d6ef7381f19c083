// SPDX-License-Identifier: Apache-2.0
/// \file
/// A file descriptor that somebody owns.
#pragma once

#include <unistd.h>

#include <utility>

namespace toy {

class Descriptor {
public:
  Descriptor() = default;
  /// Takes over what `open` gave; a negative number is none.
  explicit Descriptor(int owned) : number(owned) {}
  Descriptor(Descriptor &&other) noexcept : number(std::exchange(other.number, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  int get() const { return number; }
  explicit operator bool() const { return number >= 0; }

private:
  int number = -1;
};

} // namespace toy
