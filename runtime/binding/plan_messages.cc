//===- plan_messages.cc - Plans in control messages -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/binding/plan_messages.h"

#include <memory>
#include <string>
#include <utility>

#include "runtime/plan/plan_source.h"

namespace pathways {
namespace {

absl::StatusOr<PlanSource::Piece> Read(PlanIndex* plans,
                                       const proto::PlanRequest& request) {
  PlanHash hash;
  if (!hash.Read(request.hash())) {
    return absl::InvalidArgumentError(
        "the request does not name a plan by its hash");
  }
  absl::StatusOr<std::shared_ptr<const PlanSource>> source =
      plans->Source(hash);
  if (!source.ok()) return source.status();
  return (*source)->Read(
      absl::MakeConstSpan(request.objects().data(), request.objects_size()),
      request.offset());
}

}  // namespace

void NamePlan(const PlanName& name, proto::PlanName* out) {
  out->set_hash(name.hash.view().data(), name.hash.view().size());
  out->set_bytes(name.bytes);
}

void AnswerPlanRequest(PlanIndex* plans, const proto::PlanRequest& request,
                       proto::PlanPart* part) {
  part->set_hash(request.hash());
  part->set_code(!request.objects().empty());
  part->set_offset(request.offset());
  absl::StatusOr<PlanSource::Piece> piece = Read(plans, request);
  if (!piece.ok()) {
    part->set_status(static_cast<int>(piece.status().code()));
    part->set_message(std::string(piece.status().message()));
    return;
  }
  plans->CountSent(piece->bytes.size());
  part->set_total(piece->total);
  part->set_bytes(std::move(piece->bytes));
}

}  // namespace pathways
