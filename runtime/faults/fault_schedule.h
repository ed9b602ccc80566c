//===- fault_schedule.h - Reads what is to go wrong -------------*- C++ -*-===//
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

// What a schedule calls the place of the controller, which is host -1, the
// places of all clients, and, with a client's name behind it, that client's.
inline constexpr char kControllerName[] = "controller";
inline constexpr char kClientsName[] = "clients";
inline constexpr char kClientPrefix[] = "client:";
bool NamesClients(const std::string& name);

// By the names that messages have. Nothing: the cluster has no such host; a
// device's host, and which of its devices.
std::optional<int32_t> FindHost(const Topology& topology,
                                const std::string& name);
std::optional<Topology::Place> FindDevice(const Topology& topology,
                                          const std::string& name);

// Names and texts of the schedules that need no file, sorted.
const std::vector<std::pair<std::string, std::string>>& FaultPresets();

// Reads and checks a schedule. `spec` is one of
//   a preset's name           such as "llama3"
//   a preset's name, *, a number   "llama3*1e9": that many times faster
//   a path                    a textproto of proto::FaultSchedule
// InvalidArgument: not of that form, or it names what the cluster does not
// have, or a number makes no sense: with file, line and column, the field, what
// is there and what was expected. NotFound: neither a file nor a preset.
absl::StatusOr<proto::FaultSchedule> ReadFaults(const std::string& spec,
                                                const Topology& topology);
// The file that ReadFaults() reads for `spec`; empty: none.
std::string FaultsPath(const std::string& spec);
// The reader of text alone, which messages call `name`.
absl::StatusOr<proto::FaultSchedule> ParseFaults(const std::string& text,
                                                 const std::string& name,
                                                 const Topology& topology);
// Of one that was not read from text, which messages call `name`.
absl::Status CheckFaults(const proto::FaultSchedule& schedule,
                         const std::string& name, const Topology& topology);

}  // namespace pathways

#endif  // RUNTIME_FAULTS_FAULT_SCHEDULE_H_
