//===- plan_fetches.cc - Plans that a process fetches ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/plan_fetches.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/verify.h"

namespace pathways {
namespace {

// Returns the kernels with only the chosen objects, and those objects as blobs.
PlanData KeepChosen(google::protobuf::RepeatedPtrField<proto::Kernel>* kernels,
                    const std::vector<std::vector<uint32_t>>& chosen,
                    const std::vector<std::string>& objects) {
  std::string blobs;
  uint32_t number = 0;
  for (int k = 0; k < kernels->size(); ++k) {
    proto::Kernel* kernel = kernels->Mutable(k);
    google::protobuf::RepeatedPtrField<proto::KernelObject> all;
    all.Swap(kernel->mutable_objects());
    for (proto::KernelObject& object : all) {
      const uint32_t at = number++;
      if (std::find(chosen[k].begin(), chosen[k].end(), at) ==
          chosen[k].end()) {
        continue;
      }
      blobs.resize((blobs.size() + kBlobAlignment - 1) / kBlobAlignment *
                   kBlobAlignment);
      object.set_blob_offset(blobs.size());
      blobs += objects[at];
      *kernel->add_objects() = std::move(object);
    }
  }
  return MakePlanData(
      proto::Plan(),
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(blobs.data()),
                          blobs.size()));
}

}  // namespace

proto::PlanRequest PlanFetches::Ask(const PlanName& name) {
  proto::PlanRequest request;
  fetches_.try_emplace(name.hash, name)
      .first->second.pieces.FillRequest(&request);
  return request;
}

PlanFetches::Outcome PlanFetches::Take(const proto::PlanPart& part) {
  Outcome outcome;
  PlanHash hash;
  if (!hash.Read(part.hash())) return outcome;
  auto found = fetches_.find(hash);
  if (found == fetches_.end()) return outcome;
  Fetch& fetch = found->second;
  const uint64_t before = fetch.pieces.received();
  absl::StatusOr<PlanFetch::Step> step = fetch.pieces.Take(part);
  context_.plans.CountReceived(fetch.pieces.received() - before);
  if (step.ok() && *step == PlanFetch::Step::kHead) step = Prepare(&fetch);
  if (step.ok() && *step == PlanFetch::Step::kMore) {
    outcome.ask = true;
    fetch.pieces.FillRequest(&outcome.request);
    return outcome;
  }
  if (step.ok() && *step == PlanFetch::Step::kNothing) return outcome;
  outcome.over = true;
  outcome.status = step.status();
  if (step.ok()) {
    absl::StatusOr<std::shared_ptr<const PreparedPlan>> plan = Finish(&fetch);
    outcome.status = plan.status();
    if (plan.ok()) outcome.plan = *std::move(plan);
  }
  fetches_.erase(found);
  return outcome;
}

absl::StatusOr<PlanFetch::Step> PlanFetches::Prepare(Fetch* fetch) {
  proto::Plan& tables = fetch->pieces.tables();
  fetch->kernels = tables.kernels();
  for (proto::Kernel& kernel : *tables.mutable_kernels()) {
    kernel.clear_objects();
  }
  absl::Status checked = CheckPlan(tables, /*blob_bytes=*/0);
  if (!checked.ok()) return checked;
  PlanData data;
  data.tables = std::move(tables);
  absl::StatusOr<std::unique_ptr<PreparedPlan>> plan =
      PreparedPlan::WithoutCode(
          std::move(data), *context_.topology, context_.backends->has_values(),
          [&](int32_t host) { return context_.IsHere(host); });
  if (!plan.ok()) return plan.status();
  fetch->plan = *std::move(plan);

  // Number of each kernel's first object.
  std::vector<uint32_t> first;
  uint32_t objects = 0;
  for (const proto::Kernel& kernel : fetch->kernels) {
    first.push_back(objects);
    objects += kernel.objects_size();
  }
  fetch->chosen.resize(fetch->kernels.size());
  std::vector<uint32_t> wanted;
  for (const NeededCode& needed : fetch->plan->needed_code()) {
    const proto::Kernel& kernel =
        fetch->kernels.Get(static_cast<int>(needed.kernel));
    absl::StatusOr<int> object =
        context_.kernels->Choose(kernel, needed.target);
    if (!object.ok()) {
      return absl::Status(
          object.status().code(),
          absl::StrCat("device ", needed.device, ": ",
                       absl::string_view(object.status().message())));
    }
    if (*object < 0) continue;
    const uint32_t number = first[needed.kernel] + *object;
    fetch->chosen[needed.kernel].push_back(number);
    wanted.push_back(number);
  }
  if (serves_) {
    wanted.clear();
    for (uint32_t object = 0; object < objects; ++object) {
      wanted.push_back(object);
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return fetch->pieces.Want(std::move(wanted));
}

absl::StatusOr<std::shared_ptr<const PreparedPlan>> PlanFetches::Finish(
    Fetch* fetch) {
  std::vector<std::string> objects = fetch->pieces.TakeObjects();
  PlanData code = KeepChosen(&fetch->kernels, fetch->chosen, objects);
  for (proto::Kernel& kernel : fetch->kernels) {
    // The kernel has other objects now, which determine its hash.
    if (kernel.objects().empty()) continue;
    absl::StatusOr<std::string> hash =
        context_.kernels->HashOf(kernel, code.blobs);
    if (!hash.ok()) return hash.status();
    kernel.set_hash(*std::move(hash));
  }
  fetch->plan->SetCode(std::move(fetch->kernels), code.blobs,
                       std::move(code.owner));
  absl::Status loaded = fetch->plan->LoadCode(context_.kernels);
  if (!loaded.ok()) return loaded;
  std::shared_ptr<const PreparedPlan> plan = std::move(fetch->plan);
  std::shared_ptr<const PlanSource> source;
  if (serves_) {
    source = std::make_shared<const PlanSource>(
        fetch->pieces.TakeHead(), fetch->pieces.manifest(), std::move(objects));
  }
  context_.plans.Keep(fetch->pieces.name(), plan, std::move(source));
  return plan;
}

}  // namespace pathways
