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

// Returns the CRC-32 (as in zlib and gzip) of `bytes` appended to bytes whose
// checksum is `crc`. `crc` is 0 if there are none.
inline uint32_t Crc32(uint32_t crc, absl::string_view bytes) {
  if (bytes.empty()) return crc;  // zlib starts anew if there is no memory
  return static_cast<uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace pathways

#endif  // RUNTIME_CHECKPOINT_CRC32_H_
