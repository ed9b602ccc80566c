//===- launch_reader.h - Reader of launch requests --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_LAUNCH_READER_H_
#define RUNTIME_CONTROLLER_LAUNCH_READER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/binding/prepared_plan.h"
#include "runtime/controller/client_table.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/controller/launch_spec.h"
#include "runtime/controller/launch_table.h"
#include "runtime/controller/program_table.h"
#include "runtime/controller/quotas.h"
#include "runtime/proto/control.pb.h"
#include "runtime/resources/host_memory.h"
#include "runtime/resources/load_queue.h"
#include "runtime/resources/object_table.h"

namespace pathways {

// Reads launch requests and checks them against programs, arrays and quotas.
// Keeps the memory of the last launch, so that reading one allocates nothing.
// One owner calls it.
class LaunchReader {
 public:
  // All of these must outlive the reader.
  struct Uses {
    const ClientTable& clients;
    const ProgramTable& programs;
    const LaunchTable& launches;
    const ObjectTable& objects;
    const LoadQueue& loads;
    const Quotas& quotas;
    HostMemory& memory;
    HandlerClock& clock;
  };

  explicit LaunchReader(const Uses& uses) : uses_(uses) {}

  // Reads a request of a connected client and charges hosts with the arrays
  // that it creates. Returns why the launch is refused; then nothing is
  // charged, and of the spec only the launch, its arrays and its steps are set.
  absl::Status Read(const proto::LaunchRequest& request);
  // Returns the last launch. It refers to its request, and is valid until the
  // next one is read.
  const LaunchSpec& spec() const { return spec_; }

 private:
  // Sets the bytes of each array on each host. The launch must fit `plan`.
  void Size(const PreparedPlan& plan);
  // Charges the hosts with the launch's new arrays. Returns true if they surely
  // hold, or have room for, all that the launch needs.
  bool Charge();

  const Uses uses_;
  LaunchSpec spec_;
  std::vector<uint64_t> bytes_;  // bytes of its arrays on hosts
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_LAUNCH_READER_H_
