//===- request.h - Request to the controller --------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_REQUEST_H_
#define RUNTIME_CLIENT_REQUEST_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/client/completion.h"
#include "runtime/client/report_collection.h"

namespace pathways {

// A request to the controller. Results are written before `done` is set.
struct Request {
  absl::Status status;
  // Handles of a loaded program, and of those loaded with it.
  uint64_t program = 0;
  std::vector<uint64_t> more_programs;
  // Handles of slices, with the devices of each.
  std::vector<std::pair<uint64_t, std::vector<int64_t>>> slices;
  std::vector<uint32_t> devices;  // answer to a DevicesRequest
  std::optional<ReportCollection> reports;
  // Called with the reason why a load waits. Set before the request is sent.
  std::function<void(const std::string& why)> on_waiting;
  Completion done;

  // Returns the status, once, to the thread that waited until it was done. What
  // the status refers to then belongs to that thread alone, whichever thread
  // drops the request last.
  absl::Status TakeStatus() { return std::move(status); }
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_REQUEST_H_
