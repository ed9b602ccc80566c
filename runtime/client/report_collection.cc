//===- report_collection.cc - What processes tell of themselves -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/report_collection.h"

namespace pathways {

void ReportCollection::Add(proto::Collected part) {
  if (part.part() >= part.parts()) return;
  parts_[part.process()].try_emplace(part.part(), std::move(part));
}

bool ReportCollection::complete() const {
  if (parts_.size() != processes_) return false;
  for (const auto& [process, parts] : parts_) {
    if (parts.size() != parts.begin()->second.parts()) return false;
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
