//===- little_endian.h - Integers in little endian order --------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_LITTLE_ENDIAN_H_
#define RUNTIME_BASE_LITTLE_ENDIAN_H_

#include <cstdint>
#include <string>

namespace pathways {

// Integers in files and on the wire: `bytes` bytes (1 to 8), the lowest first.
inline uint64_t LoadLittleEndian(const void* from, int bytes) {
  const auto* at = static_cast<const uint8_t*>(from);
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= uint64_t{at[i]} << (8 * i);
  return value;
}

inline void StoreLittleEndian(uint64_t value, int bytes, void* to) {
  auto* at = static_cast<uint8_t*>(to);
  for (int i = 0; i < bytes; ++i)
    at[i] = static_cast<uint8_t>(value >> (8 * i));
}

inline void AppendLittleEndian(uint64_t value, int bytes, std::string* out) {
  char stored[8];
  StoreLittleEndian(value, bytes, stored);
  out->append(stored, bytes);
}

}  // namespace pathways

#endif  // RUNTIME_BASE_LITTLE_ENDIAN_H_
