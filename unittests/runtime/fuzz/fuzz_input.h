//===- fuzz_input.h - An input taken apart ----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_FUZZ_FUZZ_INPUT_H_
#define UNITTESTS_RUNTIME_FUZZ_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace pathways::fuzz {

// Reads from the front; at the end there are zeros, and nothing.
class Input {
 public:
  Input(const uint8_t* data, size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  // Little endian, of up to 8 bytes.
  uint64_t Number(int bytes) {
    uint64_t number = 0;
    for (int i = 0; i < bytes && !rest_.empty(); ++i) {
      number |= uint64_t{static_cast<uint8_t>(rest_[0])} << (8 * i);
      rest_.remove_prefix(1);
    }
    return number;
  }
  uint8_t Byte() { return static_cast<uint8_t>(Number(1)); }
  // In memory of its own, so that a sanitizer sees who reads beyond it.
  std::string Take(size_t bytes) {
    std::string taken(rest_.substr(0, bytes));
    rest_.remove_prefix(taken.size());
    taken.shrink_to_fit();
    return taken;
  }
  std::string TakeRest() { return Take(rest_.size()); }

 private:
  absl::string_view rest_;
};

}  // namespace pathways::fuzz

#endif  // UNITTESTS_RUNTIME_FUZZ_FUZZ_INPUT_H_
