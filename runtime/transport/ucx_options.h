//===- ucx_options.h - Options of the UCX transport -------------*- C++ -*-===//
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
  kSharedMemory,  // within one machine; between machines as kTcp
  kTcp,
};

struct UcxOptions {
  TransportLimits limits;
  UcxWay way = UcxWay::kSharedMemory;
  // Largest number of bytes of bulk messages and payloads in flight to a peer.
  // Critical messages wait for as many.
  uint64_t window_bytes = 512 << 10;
  // With TCP: a peer is down if it does not confirm for this long that it has
  // taken anything, since UCX does not report bytes that the network lost. Must
  // exceed a second, and the longest time for which a process may be stopped.
  absl::Duration silence_timeout = absl::Seconds(10);
  // Largest number of strangers: processes that have dialed and are no peers
  // yet.
  size_t max_strangers = 64;
  absl::Duration stranger_timeout = absl::Seconds(5);
  // Called for each stranger that was refused, with its address and the reason.
  // Runs on any thread; must not block, nor call the transport.
  std::function<void(absl::string_view from, const absl::Status& why)> refused;
};

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_OPTIONS_H_
