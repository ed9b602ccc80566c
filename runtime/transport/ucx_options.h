//===- ucx_options.h - How UCX is used --------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_UCX_OPTIONS_H_
#define RUNTIME_TRANSPORT_UCX_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/transport/transport.h"

namespace pathways {

enum class UcxWay : uint8_t {
  kSharedMemory,  // between processes of one machine, else as below
  kTcp,
};

struct UcxOptions {
  TransportLimits limits;
  UcxWay way = UcxWay::kSharedMemory;
  // Bytes of bulk and payloads that are under way to a peer at a time: what is
  // critical waits behind so many.
  uint64_t window_bytes = 512 << 10;
  // By TCP: who does not say for so long that it has taken anything of what it
  // was sent is down, since UCX keeps what the network lost to itself. More
  // than a process may stop for, and more than a second.
  absl::Duration silence_timeout = absl::Seconds(10);
  // Strangers have dialed and are not peers yet.
  size_t max_strangers = 64;
  absl::Duration stranger_timeout = absl::Seconds(5);
  // Told of each that was refused: where it dialed from, and why. On any
  // thread; must not block, nor call the transport.
  std::function<void(absl::string_view from, const absl::Status& why)> refused;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_OPTIONS_H_
