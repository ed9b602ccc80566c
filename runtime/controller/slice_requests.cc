//===- slice_requests.cc - Requests for slices ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/slice_requests.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"

namespace pathways {
namespace {

std::string WhatOf(const proto::SliceNeed& need) {
  return absl::StrCat(need.for_program() ? "program '" : "slice '", need.name(),
                      "'");
}

}  // namespace

absl::StatusOr<DeviceDemand> SliceRequests::ReadDemand(
    uint32_t client, const proto::SliceNeed& need) const {
  const Admission& admission = programs_.admission();
  auto refuse = [&](const auto&... text) {
    return absl::InvalidArgumentError(
        absl::StrCat(WhatOf(need), text..., Tag(ErrorId::kNoSuchSlice)));
  };
  DeviceDemand demand;
  demand.kind = need.kind();
  if (!demand.kind.empty() && admission.classes().OfKind(demand.kind).empty()) {
    return refuse(" asks for devices of kind '", demand.kind,
                  "', of which the cluster has none");
  }
  for (uint64_t slice : need.apart_from()) {
    absl::StatusOr<std::set<int>> islands = admission.IslandsOf(client, slice);
    if (!islands.ok()) return islands.status();
    demand.apart.insert(islands->begin(), islands->end());
  }
  if (need.islands().empty() || need.islands_size() > topology_.num_islands()) {
    return refuse(" asks for devices on ", need.islands_size(),
                  " islands, but the cluster has ", topology_.num_islands());
  }
  int64_t largest = 0;
  for (int island = 0; island < topology_.num_islands(); ++island) {
    largest = std::max(largest, topology_.num_devices(island));
  }
  for (const proto::IslandNeed& island : need.islands()) {
    IslandNeed& out = demand.islands.emplace_back();
    for (const proto::DevicesNeed& devices : island.devices()) {
      const int64_t has = static_cast<int64_t>(out.devices.size());
      if (devices.count() > largest - has) {
        return refuse(" asks for ", has + devices.count(),
                      " devices of an island, but the largest island has ",
                      largest);
      }
      if (devices.like() >= topology_.num_devices()) {
        return refuse(" asks for devices like device ", devices.like(),
                      ", but the cluster has ", topology_.num_devices());
      }
      const IslandNeed::Device one{
          devices.bytes() == 0 ? kWholeDevice : devices.bytes(),
          admission.classes().of(devices.like())};
      out.devices.insert(out.devices.end(), devices.count(), one);
    }
    out.mesh.assign(island.mesh().begin(), island.mesh().end());
    uint64_t cells = 1;
    for (uint32_t size : island.mesh()) {
      cells = size == 0 || cells > out.devices.size() ? 0 : cells * size;
    }
    const bool is_mesh = out.mesh.empty() || (cells == out.devices.size() &&
                                              island.devices_size() == 1);
    if (out.devices.empty() || !is_mesh) {
      return refuse(" asks for ", out.devices.size(),
                    " devices, expected at least 1 and a mesh of that size");
    }
  }
  return demand;
}

absl::StatusOr<LoadQueue::Load> SliceRequests::Read(
    TimeNs now, uint32_t client, const proto::SlicesRequest& request) const {
  LoadQueue::Load load{{client, request.request()}, {}};
  load.since = now;
  if (request.has_wait_ns() &&
      request.wait_ns() < static_cast<uint64_t>(kNoDeadline - load.since)) {
    load.deadline = load.since + static_cast<TimeNs>(request.wait_ns());
  }
  if (request.slices().empty() || request.slices_size() > kMaxSlices) {
    return absl::InvalidArgumentError(
        absl::StrCat(request.slices_size(),
                     " slices are requested, expected 1 to ", kMaxSlices));
  }
  for (const proto::SliceNeed& need : request.slices()) {
    absl::StatusOr<DeviceDemand> demand = ReadDemand(client, need);
    if (!demand.ok()) return demand.status();
    for (const auto& [device, bytes] : programs_.admission().Reach(*demand)) {
      const auto [found, is_new] = load.need.emplace(device, bytes);
      if (!is_new) found->second = std::min(found->second, bytes);
    }
    load.demands.push_back(*std::move(demand));
    load.whats.push_back(WhatOf(need));
  }
  return load;
}

absl::Status SliceRequests::Grant(const LoadQueue::Load& load) {
  std::vector<Admission::SliceTerms> terms;
  for (size_t i = 0; i < load.demands.size(); ++i) {
    terms.push_back({last_slice_ + i + 1, load.whats[i], &load.demands[i]});
  }
  const auto time_of = [this](uint64_t holder) {
    const uint32_t program = programs_.IdOf(holder);
    return program == UINT32_MAX ? 0 : grants_.TimeOfProgram(program);
  };
  const uint32_t client = load.request.client;
  absl::StatusOr<std::vector<ChosenDevices>> chosen =
      programs_.mutable_admission()->Reserve(client, clients_.LabelOf(client),
                                             terms, time_of);
  if (!chosen.ok()) return chosen.status();
  last_slice_ += terms.size();
  ControlRef control = outbox_.New();
  control->set_client(client);
  proto::Answer* answer = control->mutable_answer();
  answer->set_request(load.request.id);
  for (size_t i = 0; i < chosen->size(); ++i) {
    proto::SliceGrant* slice = answer->add_slices();
    slice->set_slice(terms[i].id);
    for (const std::vector<int64_t>& island : (*chosen)[i]) {
      for (int64_t device : island) {
        slice->add_devices(static_cast<uint32_t>(device));
      }
    }
  }
  outbox_.SendToClient(std::move(control));
  return absl::OkStatus();
}

}  // namespace pathways
