//===- launch_reader.cc - Reader of launch requests -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/launch_reader.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "pathways/Options.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/base/status_from_wire.h"
#include "runtime/binding/parts.h"
#include "runtime/controller/launch_check.h"
#include "runtime/protocol/client_id.h"

namespace pathways {
namespace {

Claim ClaimOf(const proto::LaunchRequest& request, const ClientTerms& terms,
              TimeNs now) {
  Claim claim{terms.weight, terms.priority};
  if (request.has_priority()) {
    claim.priority =
        std::clamp(request.priority(), -kMaxPriority, kMaxPriority);
  }
  if (request.deadline_ns() > 0) {
    claim.deadline = request.deadline_ns() < uint64_t(kNoDeadline - now)
                         ? now + TimeNs(request.deadline_ns())
                         : kNoDeadline;
  }
  return claim;
}

LaunchSpec::Array ReadArray(const proto::ObjectRef& ref) {
  LaunchSpec::Array array;
  array.object = ref.object();
  array.hosts = absl::MakeConstSpan(ref.hosts().data(), ref.hosts_size());
  array.fresh = ref.fresh();
  array.keep = ref.keep();
  if (ref.has_no_values()) {
    array.failure =
        StatusFromWire(ref.no_values().code(), ref.no_values().message());
    array.missing = !ref.no_values().granted();
  }
  return array;
}

}  // namespace

absl::Status LaunchReader::Read(const proto::LaunchRequest& request) {
  spec_.arguments.clear();
  spec_.results.clear();
  spec_.launch = request.launch();
  spec_.steps = request.steps();
  spec_.first_step = request.first_step();
  for (const proto::ObjectRef& ref : request.arguments()) {
    spec_.arguments.push_back(ReadArray(ref));
  }
  for (const proto::ObjectRef& ref : request.results()) {
    spec_.results.push_back(ReadArray(ref));
  }
  const uint32_t client = ClientOf(request.launch());
  const absl::StatusOr<const ProgramTable::Program*> program =
      uses_.programs.Ready(client, request.program());
  absl::Status checked = program.status();
  if (!checked.ok()) return checked;
  const PreparedPlan& plan = *(*program)->plan;
  checked = CheckLaunch(request, plan);
  if (!checked.ok()) return checked;
  Size(plan);
  checked = uses_.launches.Check(spec_, plan.name());
  if (checked.ok()) checked = uses_.quotas.CheckLaunch(spec_, plan);
  if (!checked.ok()) return checked;

  spec_.program = (*program)->id;
  spec_.hosts = plan.binding().hosts();
  spec_.islands = plan.binding().islands();
  spec_.asked = uses_.clock.Now();
  spec_.claim =
      ClaimOf(request, *uses_.clients.TermsOf(client), uses_.clock.WorldNow());
  if (const auto urgent =
          uses_.loads.PriorityOver(client, spec_.claim.priority)) {
    spec_.claim.Inherit({.priority = *urgent});
  }
  spec_.asks = !Charge();
  return absl::OkStatus();
}

void LaunchReader::Size(const PreparedPlan& plan) {
  bytes_.clear();
  const auto add = [&](const LaunchSpec::Array& array,
                       const ArrayPlacement* placement) {
    if (array.hosts.empty()) return;
    const uint64_t steps = placement->stepped ? spec_.steps : 1;
    for (const ArrayPlacement::Host& host : placement->hosts) {
      const uint64_t bytes = array.failure.ok() ? host.parts.step_bytes : 0;
      bytes_.push_back(bytes > kMaxArrayBytes / steps ? kMaxArrayBytes
                                                      : bytes * steps);
    }
  };
  for (size_t i = 0; i < spec_.arguments.size(); ++i) {
    add(spec_.arguments[i], plan.argument_placement(static_cast<int>(i)).get());
  }
  for (size_t i = 0; i < spec_.results.size(); ++i) {
    add(spec_.results[i], plan.result_placement(static_cast<int>(i)).get());
  }
  const uint64_t* next = bytes_.data();
  for (auto* arrays : {&spec_.arguments, &spec_.results}) {
    for (LaunchSpec::Array& array : *arrays) {
      array.bytes = absl::MakeConstSpan(next, array.hosts.size());
      next += array.hosts.size();
    }
  }
}

bool LaunchReader::Charge() {
  // While a host loads or frees a program, its free memory may differ from this
  // account.
  bool is_sure = !uses_.programs.Waits();
  for (const LaunchSpec::Array& argument : spec_.arguments) {
    if (!argument.failure.ok()) continue;  // takes no memory
    if (argument.fresh) {
      is_sure = false;
      uses_.memory.Charge(argument.hosts, argument.bytes);
    } else if (argument.object != 0) {
      const ObjectTable::Object* object = uses_.objects.Find(argument.object);
      is_sure &= object != nullptr && !object->arriving &&
                 uses_.memory.AreHere(object->hosts);
    }
  }
  for (const LaunchSpec::Array& result : spec_.results) {
    is_sure &= uses_.memory.Charge(result.hosts, result.bytes);
  }
  return is_sure;
}

}  // namespace pathways
