//===- device_report.h - Report of a stuck device ---------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_DEVICE_REPORT_H_
#define RUNTIME_DEVICE_DEVICE_REPORT_H_

#include <cstdint>
#include <vector>

#include "runtime/device/grant_queue.h"
#include "runtime/program/host_program.h"
#include "runtime/proto/control.pb.h"

namespace pathways {

// A device's report about a program that does not advance.
struct DeviceReport {
  proto::Report report;
  std::vector<uint32_t> groups;  // groups of report.stuck; UINT32_MAX: none
};

// State of the head of a device's queue.
struct HeadState {
  bool running = false;       // waits for its work or virtual time
  bool in_meeting = false;    // waits for other members
  uint32_t step = 0;          // step of the gang
  int64_t global_device = 0;  // the device of the queue
};

// Adds to `out` the first entries of the program that are granted and have not
// happened, and what they wait for.
void ReportDevice(const DeviceProgram& program, const GrantQueue& queue,
                  const HeadState& state, DeviceReport* out);

}  // namespace pathways

#endif  // RUNTIME_DEVICE_DEVICE_REPORT_H_
