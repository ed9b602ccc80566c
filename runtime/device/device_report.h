//===- device_report.h - Why a device does not go on ------------*- C++ -*-===//
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

// What a device says about a program when asked why it does not go on.
struct DeviceReport {
  proto::Report report;
  std::vector<uint32_t> groups;  // of report.stuck; UINT32_MAX: none
};

// Where the head of a device's queue stands.
struct HeadState {
  bool running = false;       // its work is under way, or its virtual time
  bool in_meeting = false;    // others are not there yet
  uint32_t step = 0;          // of the gang
  int64_t global_device = 0;  // whose queue it is
};

// Adds the first entries of the program that are granted and have not happened,
// and what they wait for.
void ReportDevice(const DeviceProgram& program, const GrantQueue& queue,
                  const HeadState& state, DeviceReport* out);

}  // namespace pathways

#endif  // RUNTIME_DEVICE_DEVICE_REPORT_H_
