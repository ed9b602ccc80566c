//===- crc32.h - Checksums of files -----------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_CRC32_H_
#define RUNTIME_CHECKPOINT_CRC32_H_

#include <zlib.h>

#include <cstdint>

#include "absl/strings/string_view.h"

namespace pathways {

// The CRC-32 of zlib and gzip, of bytes that have the checksum `crc` (none: 0)
// and `bytes` behind them.
inline uint32_t Crc32(uint32_t crc, absl::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_CRC32_H_
