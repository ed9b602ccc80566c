//===- fault_schedule.h - Reader of fault schedules -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_FAULTS_FAULT_SCHEDULE_H_
#define RUNTIME_FAULTS_FAULT_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/proto/faults.pb.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Names of places in a schedule: the controller (host -1), all clients, and,
// followed by a client's name, one client.
inline constexpr char kControllerName[] = "controller";
inline constexpr char kClientsName[] = "clients";
inline constexpr char kClientPrefix[] = "client:";
bool NamesClients(const std::string& name);

// Find a host, or a device's host and number there, by its name in messages.
// Return nullopt if the cluster has no such host or device. FindHost returns -1
// for the controller.
std::optional<int32_t> FindHost(const Topology& topology,
                                const std::string& name);
std::optional<Topology::Place> FindDevice(const Topology& topology,
                                          const std::string& name);

// Returns the names and texts of the schedules that need no file, sorted by
// name.
const std::vector<std::pair<std::string, std::string>>& FaultPresets();

// Reads and checks a schedule. `spec` is one of
//   a preset's name              such as "llama3"
//   a preset's name, *, a number "llama3*1e9": that many times faster
//   a path                       a textproto of proto::FaultSchedule
// Returns InvalidArgument if the text is not of that form, names a place that
// the cluster does not have, or has a number out of range. The message gives
// file, line and column, the field, its value and what was expected. Returns
// NotFound if `spec` is neither a file nor a preset.
absl::StatusOr<proto::FaultSchedule> ReadFaults(const std::string& spec,
                                                const Topology& topology);
// Returns the file that ReadFaults() reads for `spec`, or "" if it reads none.
std::string FaultsPath(const std::string& spec);
// Parses and checks text, which messages call `name`.
absl::StatusOr<proto::FaultSchedule> ParseFaults(const std::string& text,
                                                 const std::string& name,
                                                 const Topology& topology);
// Checks a schedule that was not read from text. Messages call it `name`.
absl::Status CheckFaults(const proto::FaultSchedule& schedule,
                         const std::string& name, const Topology& topology);

}  // namespace pathways

#endif  // RUNTIME_FAULTS_FAULT_SCHEDULE_H_
