//===- gang_order.cc - One order of gangs on each island ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/simulate/gang_order.h"

#include "absl/strings/str_cat.h"
#include "runtime/program/host_program.h"
#include "runtime/program/local_kind.h"

namespace pathways::simulate {

void GangOrder::Observe(const SimEvent& event) {
  if (event.local == nullptr || event.local->kind != kGrantDevice) return;
  const HostGrant& grant = *static_cast<const HostGrant*>(event.local->payload);
  const Range range{event.local->incarnation, grant.first, grant.end};
  const auto [known, fresh] = places_.try_emplace(
      {world_->placement(event.to).island, grant.position}, range);
  if (known->second != range) {
    wrong_.push_back(absl::StrCat(
        "position ", grant.position, " is firings ", range.first, " to ",
        range.end, " of incarnation ", range.incarnation, " at ",
        world_->name(event.to), ", and elsewhere ", known->second.first, " to ",
        known->second.end, " of ", known->second.incarnation));
  }
  uint64_t& last = last_[event.to];
  if (grant.position <= last) {
    wrong_.push_back(absl::StrCat(world_->name(event.to), " got position ",
                                  grant.position, " after ", last));
  }
  last = grant.position;
}

}  // namespace pathways::simulate
