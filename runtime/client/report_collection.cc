//===- report_collection.cc - Reports of all processes --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/report_collection.h"

namespace pathways {

void ReportCollection::Add(proto::Collected part, TimeNs now) {
  if (part.parts() == 0 && !Has(part.process())) {
    parts_.erase(part.process());
    arrivals_.erase(part.process());
    gone_.insert(part.process());
  }
  if (part.part() >= part.parts() || gone_.contains(part.process())) return;
  arrivals_.try_emplace(part.process(), now);
  parts_[part.process()].try_emplace(part.part(), std::move(part));
}

bool ReportCollection::Has(uint32_t process) const {
  const auto found = parts_.find(process);
  return found != parts_.end() &&
         found->second.size() == found->second.begin()->second.parts();
}

bool ReportCollection::complete() const {
  if (parts_.size() + gone_.size() != processes_) return false;
  for (const auto& [process, parts] : parts_) {
    if (!Has(process)) return false;
  }
  return true;
}

std::vector<std::vector<const proto::Collected*>> ReportCollection::Parts()
    const {
  std::vector<std::vector<const proto::Collected*>> all;
  for (const auto& [process, parts] : parts_) {
    all.emplace_back();
    for (const auto& [number, part] : parts) all.back().push_back(&part);
  }
  return all;
}

}  // namespace pathways
