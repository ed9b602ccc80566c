//===- receive_buffers.h - Buffers for payloads in flight -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROGRAM_RECEIVE_BUFFERS_H_
#define RUNTIME_PROGRAM_RECEIVE_BUFFERS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/store/store.h"

namespace pathways {

// Memory for payloads that cannot be received directly at their destination. A
// program has as many buffers as were ever in use at one time. They are not
// charged to the host's memory, like every message in flight. Not thread-safe.
class ReceiveBuffers {
 public:
  // Returns null if the system has no more memory.
  char* Take(uint64_t bytes) {
    for (Buffer& buffer : buffers_) {
      if (buffer.is_free && buffer.memory.bytes() == bytes) {
        buffer.is_free = false;
        return buffer.memory.data();
      }
    }
    absl::StatusOr<Mapping> made = Mapping::Create(bytes, Mapping::kUntouched);
    if (!made.ok()) return nullptr;
    buffers_.push_back({*std::move(made), /*is_free=*/false});
    return buffers_.back().memory.data();
  }
  // Frees the buffer at `memory`. Ignores memory that is none of these buffers.
  void Give(const void* memory) {
    for (Buffer& buffer : buffers_) {
      if (buffer.memory.data() == memory) buffer.is_free = true;
    }
  }
  size_t size() const { return buffers_.size(); }

 private:
  struct Buffer {
    Mapping memory;
    bool is_free;
  };
  std::vector<Buffer> buffers_;
};

}  // namespace pathways

#endif  // RUNTIME_PROGRAM_RECEIVE_BUFFERS_H_
