//===- buffer_bytes.h - How many bytes buffers take -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where buffers of arrays may begin, and how bytes of many are added. For the
// compiler, which lays them out, and all who check, count or use that.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_BUFFER_BYTES_H_
#define RUNTIME_BASE_BUFFER_BYTES_H_

#include <cstdint>

namespace pathways {

// Buffers, each of their slots, segments of memory and scratch of kernels begin
// at multiples of this.
inline constexpr uint64_t kBufferAlignment = 128;

// The least multiple of it that is not below `bytes`, which are at most
// kMaxBytes.
constexpr uint64_t AlignBuffer(uint64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

// Sums of bytes stay at this instead of wrapping around. Nothing has as many,
// and two such sums can be added.
inline constexpr uint64_t kMaxBytes = uint64_t{1} << 62;

// `total`, at most kMaxBytes, and `times` times `bytes`.
constexpr uint64_t AddBytes(uint64_t total, uint64_t bytes,
                            uint64_t times = 1) {
  const unsigned __int128 more = static_cast<unsigned __int128>(bytes) * times;
  return more > kMaxBytes - total ? kMaxBytes
                                  : total + static_cast<uint64_t>(more);
}

}  // namespace pathways

#endif  // RUNTIME_BASE_BUFFER_BYTES_H_
