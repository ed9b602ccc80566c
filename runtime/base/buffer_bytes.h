//===- buffer_bytes.h - Alignment and sums of buffer bytes ------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Alignment of array buffers, and sums of bytes that do not overflow. Shared by
// the compiler, which lays buffers out, and the code that checks, counts or
// uses that layout.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_BUFFER_BYTES_H_
#define RUNTIME_BASE_BUFFER_BYTES_H_

#include <cstdint>

namespace pathways {

// Alignment in bytes of buffers, each of their slots, segments of memory and
// the scratch of kernels.
inline constexpr uint64_t kBufferAlignment = 128;

// Returns `bytes` rounded up to a multiple of kBufferAlignment. `bytes` is at
// most kMaxBytes.
constexpr uint64_t AlignBuffer(uint64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

// Sums of bytes saturate at this value instead of wrapping around. Nothing has
// as many bytes, and two such sums can still be added.
inline constexpr uint64_t kMaxBytes = uint64_t{1} << 62;

// Returns `total` + `times` * `bytes`, at most kMaxBytes. `total` is at most
// kMaxBytes.
constexpr uint64_t AddBytes(uint64_t total, uint64_t bytes,
                            uint64_t times = 1) {
  const unsigned __int128 more = static_cast<unsigned __int128>(bytes) * times;
  return more > kMaxBytes - total ? kMaxBytes
                                  : total + static_cast<uint64_t>(more);
}

}  // namespace pathways

#endif  // RUNTIME_BASE_BUFFER_BYTES_H_
