//===- quotas.cc - Quotas of clients --------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/quotas.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/buffer_bytes.h"
#include "runtime/base/error_codes.h"
#include "runtime/protocol/client_id.h"

namespace pathways {

absl::Status Quotas::Check(uint32_t client, absl::FunctionRef<uint64_t()> need,
                           absl::FunctionRef<std::string()> what) const {
  const ClientTerms* terms = clients_.TermsOf(client);
  if (terms == nullptr) {
    return absl::CancelledError(
        absl::StrCat("client ", clients_.LabelOf(client), " is not connected"));
  }
  const uint64_t quota = terms->quota_bytes;
  if (quota == 0) return absl::OkStatus();
  const uint64_t needed = need();
  const uint64_t used =
      AddBytes(objects_.BytesOf(client), admission_.BytesOfClient(client));
  if (needed <= quota - std::min(quota, used)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(what(), ": ", needed, " bytes; client '",
                   clients_.LabelOf(client), "' has ", used, " of the ", quota,
                   " bytes of its quota", Tag(ErrorId::kQuota)));
}

absl::Status Quotas::CheckLoad(const LoadQueue::Load& load) const {
  const auto need = [&] {
    uint64_t bytes = 0, largest = 0;
    for (const auto& [place, count] : load.need) {
      largest = std::max(largest, count);
      if (!load.demands.empty()) continue;
      if (place >= topology_.num_devices()) break;
      bytes = AddBytes(bytes, count);
    }
    for (const DeviceDemand& demand : load.demands) {
      for (const IslandNeed& island : demand.islands) {
        for (const IslandNeed::Device& device : island.devices) {
          bytes = AddBytes(bytes, std::min(device.bytes, largest));
        }
      }
    }
    return bytes;
  };
  return Check(load.request.client, need,
               [&] { return absl::StrCat("device memory of ", load.What()); });
}

absl::Status Quotas::CheckLaunch(const LaunchSpec& spec,
                                 const PreparedPlan& plan) const {
  const auto need = [&] {
    uint64_t sum = 0;
    const auto add = [&](const LaunchSpec::Array& array) {
      for (uint64_t bytes : array.bytes) sum = AddBytes(sum, bytes);
    };
    for (const LaunchSpec::Array& argument : spec.arguments) {
      if (argument.fresh) add(argument);
    }
    for (const LaunchSpec::Array& result : spec.results) add(result);
    return sum;
  };
  return Check(ClientOf(spec.launch), need, [&] {
    return absl::StrCat("arrays of a launch of program '", plan.name(), "'");
  });
}

}  // namespace pathways
