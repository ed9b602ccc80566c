//===- prepared_plan.cc - A plan bound to a cluster -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/prepared_plan.h"

#include "absl/strings/str_cat.h"
#include "runtime/binding/parts.h"

namespace pathways {

void PreparedPlan::PlaceInterface(const Topology& topology) {
  auto place = [&](uint32_t buffer, bool stepped) {
    return MakeArrayPlacement(*this, topology, static_cast<int>(buffer),
                              stepped);
  };
  for (const proto::Argument& argument : plan().interface().arguments()) {
    argument_placements_.push_back(place(
        plan().actions(argument.action()).results(0), argument.stepped()));
  }
  for (const proto::Result& result : plan().interface().results()) {
    result_placements_.push_back(
        place(plan().actions(result.action()).operands(0), result.stepped()));
    result_texts_.push_back(
        absl::StrCat("result '", result.name(), "' of program '", name(), "'"));
  }
}

absl::StatusOr<std::shared_ptr<const PreparedPlan>> PreparedPlan::Create(
    PlanData data, const Topology& topology, KernelResolver* resolver,
    bool runs_code, HostFilter is_here) {
  absl::StatusOr<std::unique_ptr<PreparedPlan>> plan =
      WithoutCode(std::move(data), topology, runs_code, is_here);
  if (!plan.ok()) return plan.status();
  absl::Status loaded = (*plan)->LoadCode(resolver);
  if (!loaded.ok()) return loaded;
  return std::shared_ptr<const PreparedPlan>(*std::move(plan));
}

absl::StatusOr<std::unique_ptr<PreparedPlan>> PreparedPlan::WithoutCode(
    PlanData data, const Topology& topology, bool runs_code,
    HostFilter is_here) {
  absl::StatusOr<std::shared_ptr<IndexedPlan>> tables =
      IndexedPlan::Create(std::move(data));
  if (!tables.ok()) return tables.status();
  absl::StatusOr<PlanBinding> binding =
      PlanBinding::Create((*tables)->plan(), topology);
  if (!binding.ok()) return binding.status();
  std::unique_ptr<PreparedPlan> self(
      new PreparedPlan(*std::move(tables), *std::move(binding)));
  self->PlaceInterface(topology);
  if (runs_code) {
    self->code_ = PlanCode(self->plan(), self->binding_, topology, is_here);
  }
  return self;
}

absl::StatusOr<PlanName> PreparedPlan::NameWith(
    const PlanSlices& slices) const {
  std::shared_ptr<const PlanNamer> namer;
  {
    MutexLock lock(&namer_mutex_);
    if (namer_ == nullptr) {
      absl::StatusOr<PlanNamer> made = PlanNamer::Create(data());
      if (!made.ok()) return made.status();
      namer_ = std::make_shared<const PlanNamer>(*std::move(made));
    }
    namer = namer_;
  }
  return namer->NameWith(slices);
}

}  // namespace pathways
