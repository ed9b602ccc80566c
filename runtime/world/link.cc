//===- link.cc - Cost of a message between hosts --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/link.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace pathways {
namespace {

uint64_t PairKey(int32_t from, int32_t to) {
  return static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32 |
         static_cast<uint32_t>(to);
}

// Returns the row of a host. Negative hosts have rows too.
size_t RowOf(int32_t host) {
  return host >= 0 ? 2 * static_cast<size_t>(host)
                   : 2 * static_cast<size_t>(-1 - host) + 1;
}

}  // namespace

TimeNs Later(TimeNs time, TimeNs by) {
  if (by < 0) by = 0;
  return by >= kFarAway || time >= kFarAway - by ? kFarAway : time + by;
}

TimeNs LinkModel::WireTime(uint64_t bytes) const {
  if (bytes_per_second <= 0) return 0;
  double ns = static_cast<double>(bytes) * 1e9 / bytes_per_second;
  return ns >= static_cast<double>(kFarAway) ? kFarAway
                                             : static_cast<TimeNs>(ns);
}

absl::Status CheckLinkModel(absl::string_view link, const LinkModel& model) {
  if (model.latency_ns < 0 || model.latency_ns > kFarAway) {
    return absl::InvalidArgumentError(
        absl::StrCat("link '", link, "' has a latency of ", model.latency_ns,
                     " ns, expected 0 to ", kFarAway));
  }
  if (model.jitter_ns < 0 || model.jitter_ns > kFarAway) {
    return absl::InvalidArgumentError(
        absl::StrCat("link '", link, "' has a jitter of ", model.jitter_ns,
                     " ns, expected 0 to ", kFarAway));
  }
  if (!std::isfinite(model.bytes_per_second) || model.bytes_per_second < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "link '", link, "' carries ", model.bytes_per_second,
        " bytes per second, expected a finite number, 0 for no limit"));
  }
  return absl::OkStatus();
}

absl::Status CheckLinkModels(const LinkModels& models) {
  absl::Status status = CheckLinkModel("ici", models.ici);
  for (size_t i = 0; i < models.ici_of.size(); ++i) {
    status.Update(
        CheckLinkModel(absl::StrCat("ici of island ", i), models.ici_of[i]));
  }
  status.Update(CheckLinkModel("dcn", models.dcn));
  status.Update(CheckLinkModel("control", models.control));
  return status;
}

TimeNs Wire::Carry(TimeNs now, uint64_t bytes, TimeNs jitter) {
  TimeNs& free = shared != nullptr ? *shared : free_at;
  free = Later(std::max(free, now), model->WireTime(bytes));
  return std::max(Later(free, model->latency_ns + jitter), last_arrival);
}

Wire& LinkTable::Between(const Placement& from, const Placement& to) {
  const size_t row = RowOf(from.host);
  if (row >= wires_.size()) wires_.resize(row + 1);
  std::vector<WireTo>& wires = wires_[row];
  auto found = std::lower_bound(
      wires.begin(), wires.end(), to.host,
      [](const WireTo& one, int32_t host) { return one.host < host; });
  if (found == wires.end() || found->host != to.host) {
    found = wires.insert(found, {to.host, MakeWire(from, to)});
  }
  return found->wire;
}

Wire LinkTable::MakeWire(const Placement& from, const Placement& to) {
  Wire wire;
  if (from.host < 0 || to.host < 0) {
    wire.model = &models_.control;
  } else if (from.island != to.island) {
    wire.model = &models_.dcn;
    wire.shared = &dcn_[PairKey(from.island, to.island)];
  } else {
    const size_t island = static_cast<size_t>(from.island);
    wire.model =
        island < models_.ici_of.size() ? &models_.ici_of[island] : &models_.ici;
  }
  return wire;
}

}  // namespace pathways
