//===- control_check.cc - Checks of control messages ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/protocol/control_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "google/protobuf/stubs/logging.h"

namespace pathways {
namespace {

using proto::Control;

// A permitted kind of message between two roles. docs/protocol.md has the
// reasons.
struct Rule {
  Control::KindCase kind;
  Role from, to;
};
constexpr Rule kRules[] = {
    {Control::kConnectRequest, Role::kClient, Role::kController},
    {Control::kLoadWaits, Role::kController, Role::kClient},
    {Control::kLoadCancel, Role::kClient, Role::kController},
    {Control::kCancelRequest, Role::kClient, Role::kController},
    {Control::kDevicesRequest, Role::kClient, Role::kController},
    {Control::kDrainRequest, Role::kClient, Role::kController},
    {Control::kDrainSeen, Role::kController, Role::kClient},
    {Control::kDisconnectRequest, Role::kClient, Role::kController},
    {Control::kCollectRequest, Role::kClient, Role::kController},
    {Control::kCollect, Role::kController, Role::kReporter},
    {Control::kCollected, Role::kReporter, Role::kClient},
    {Control::kCollected, Role::kController, Role::kClient},
    {Control::kLoadRequest, Role::kClient, Role::kController},
    {Control::kSlicesRequest, Role::kClient, Role::kController},
    {Control::kSliceRelease, Role::kClient, Role::kController},
    {Control::kUnloadRequest, Role::kClient, Role::kController},
    {Control::kLaunchRequest, Role::kClient, Role::kController},
    {Control::kReleaseRequest, Role::kClient, Role::kController},
    {Control::kSettleRequest, Role::kClient, Role::kController},
    {Control::kFetchRequest, Role::kClient, Role::kController},
    {Control::kFetchEnd, Role::kClient, Role::kController},
    {Control::kDiagnoseRequest, Role::kClient, Role::kController},
    {Control::kAnswer, Role::kController, Role::kClient},
    {Control::kLaunchEnded, Role::kController, Role::kClient},
    {Control::kLoadProgram, Role::kController, Role::kExecutor},
    {Control::kLoadReply, Role::kExecutor, Role::kController},
    {Control::kStopProgram, Role::kController, Role::kExecutor},
    {Control::kStopReply, Role::kExecutor, Role::kController},
    {Control::kFreeProgram, Role::kController, Role::kExecutor},
    {Control::kFreeReply, Role::kExecutor, Role::kController},
    {Control::kPrepareLaunch, Role::kController, Role::kExecutor},
    {Control::kLaunchReady, Role::kExecutor, Role::kController},
    {Control::kDropObjects, Role::kController, Role::kExecutor},
    {Control::kObjectsDropped, Role::kExecutor, Role::kController},
    {Control::kFetchBegin, Role::kController, Role::kExecutor},
    {Control::kFetchReport, Role::kExecutor, Role::kController},
    {Control::kStart, Role::kController, Role::kScheduler},
    {Control::kGrant, Role::kScheduler, Role::kExecutor},
    {Control::kGrantDone, Role::kExecutor, Role::kScheduler},
    {Control::kGrantDone, Role::kScheduler, Role::kController},
    {Control::kQuery, Role::kController, Role::kExecutor},
    {Control::kReport, Role::kExecutor, Role::kController},
    {Control::kWorkerLost, Role::kExecutor, Role::kController},
    {Control::kLongWorkSeen, Role::kReporter, Role::kController},
    {Control::kLongWorkSeen, Role::kController, Role::kClient},
    {Control::kPlanWanted, Role::kExecutor, Role::kReporter},
    {Control::kPlanArrived, Role::kReporter, Role::kExecutor},
    {Control::kPlanRequest, Role::kReporter, Role::kController},
    {Control::kPlanRequest, Role::kController, Role::kClient},
    {Control::kPlanPart, Role::kController, Role::kReporter},
    {Control::kPlanPart, Role::kClient, Role::kController},
};

// For each kind, one bit per permitted pair of roles.
constexpr int kRoles = 8, kKinds = 64;
constexpr auto kAllowed = [] {
  std::array<uint64_t, kKinds> allowed = {};
  for (const Rule& rule : kRules) {
    allowed[rule.kind] |= uint64_t{1}
                          << (int(rule.from) * kRoles + int(rule.to));
  }
  return allowed;
}();

bool IsAllowed(Control::KindCase kind, Role from, Role to) {
  return kAllowed[kind] >> (int(from) * kRoles + int(to)) & 1;
}

// Returns the host, island or process that a message names as its sender, or
// nullopt if it names none.
std::optional<uint32_t> NamedSender(const Control& control) {
  switch (control.kind_case()) {
    case Control::kLoadReply:
      return control.load_reply().host();
    case Control::kStopReply:
      return control.stop_reply().host();
    case Control::kFreeReply:
      return control.free_reply().host();
    case Control::kLaunchReady:
      return control.launch_ready().host();
    case Control::kObjectsDropped:
      return control.objects_dropped().host();
    case Control::kFetchReport:
      return control.fetch_report().host();
    case Control::kGrantDone:
      return control.grant_done().sender();
    case Control::kReport:
      return control.report().host();
    case Control::kCollected:
      return control.collected().process();
    case Control::kWorkerLost:
      return control.worker_lost().host();
    default:
      return std::nullopt;
  }
}

// Returns the largest host number in a message, or 0 if it names no host.
uint32_t LargestHost(const Control& control) {
  uint32_t largest = 0;
  auto see = [&](uint32_t host) { largest = std::max(largest, host); };
  auto see_array = [&](const proto::ObjectRef& ref) {
    for (uint32_t host : ref.hosts()) see(host);
  };
  switch (control.kind_case()) {
    case Control::kLaunchRequest:
      for (const auto& ref : control.launch_request().arguments()) {
        see_array(ref);
      }
      for (const auto& ref : control.launch_request().results()) {
        see_array(ref);
      }
      break;
    case Control::kFetchRequest:
      for (const auto& source : control.fetch_request().sources()) {
        see(source.host());
      }
      break;
    case Control::kStart:
      for (uint32_t host : control.start().hosts()) see(host);
      break;
    case Control::kLoadProgram:
      for (const auto& life : control.load_program().lives()) see(life.host());
      break;
    default:
      break;
  }
  return largest;
}

// Returns true if the hosts, islands and processes in the message are those of
// its sender and its receiver.
bool IsInPlace(const Directory& directory, const Control& control,
               const Address& from, const Address& to) {
  if (LargestHost(control) >= directory.num_hosts()) return false;
  switch (control.kind_case()) {
    case Control::kGrant:
      return directory.IslandOf(to.index) == from.index;
    case Control::kGrantDone:
      return to.role != Role::kScheduler ||
             directory.IslandOf(from.index) == to.index;
    case Control::kStart: {
      const auto& hosts = control.start().hosts();
      return std::all_of(hosts.begin(), hosts.end(), [&](uint32_t host) {
        return directory.IslandOf(host) == to.index;
      });
    }
    case Control::kPlanWanted:
      return directory.place(static_cast<int32_t>(from.index)).process ==
             to.index;
    case Control::kPlanArrived:
      return directory.place(static_cast<int32_t>(to.index)).process ==
             from.index;
    default:
      return true;
  }
}

}  // namespace

bool CheckControl(const Directory& directory, ActorId from, ActorId to,
                  const Control& control) {
  const std::optional<Address> receiver = directory.Find(to);
  std::optional<Address> sender = directory.Find(from);
  if (!receiver.has_value() || control.client() >= kMaxClients) return false;
  if (from == kNoActor) sender = Address{Role::kClient, control.client(), 0};
  if (!sender.has_value()) return false;
  if (!IsAllowed(control.kind_case(), sender->role, receiver->role)) {
    return false;
  }
  const Address& one = sender->role == Role::kClient ? *sender : *receiver;
  if (one.role == Role::kClient && control.client() != one.index) return false;
  // Parts of a plan are unnumbered: each says where it belongs.
  const bool is_numbered =
      sender->role == Role::kClient && !control.has_plan_part();
  if (is_numbered != (control.sequence() != 0)) return false;
  if (sender->role == Role::kExecutor || sender->role == Role::kScheduler ||
      sender->role == Role::kReporter) {
    const std::optional<uint32_t> named = NamedSender(control);
    if (named.has_value() && *named != sender->index) return false;
  }
  return IsInPlace(directory, control, *sender, *receiver);
}

bool ReadControl(const Directory& directory, ActorId from, ActorId to,
                 std::string_view bytes, Control* control) {
  // The silencer keeps protobuf from logging invalid UTF-8 to stderr.
  google::protobuf::LogSilencer silence;
  return bytes.size() <= std::numeric_limits<int>::max() &&
         control->ParseFromArray(bytes.data(),
                                 static_cast<int>(bytes.size())) &&
         CheckControl(directory, from, to, *control);
}

}  // namespace pathways
