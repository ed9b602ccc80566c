//===- request_table.h - Requests of a client in flight ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_REQUEST_TABLE_H_
#define RUNTIME_CLIENT_REQUEST_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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

// Requests of one client without an answer yet. Each ends once. One owner calls
// it.
class RequestTable {
 public:
  void Add(uint64_t id, std::shared_ptr<Request> request) {
    requests_[id] = std::move(request);
  }
  // Returns null if it has ended.
  std::shared_ptr<Request> Find(uint64_t id) const {
    auto found = requests_.find(id);
    return found == requests_.end() ? nullptr : found->second;
  }
  // Ends a request and returns it; null if it has ended before.
  std::shared_ptr<Request> Take(uint64_t id) {
    auto found = requests_.find(id);
    if (found == requests_.end()) return nullptr;
    std::shared_ptr<Request> request = std::move(found->second);
    requests_.erase(found);
    return request;
  }
  size_t size() const { return requests_.size(); }

 private:
  std::map<uint64_t, std::shared_ptr<Request>> requests_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_REQUEST_TABLE_H_
