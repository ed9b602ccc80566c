//===- plan_messages.h - Plans in control messages --------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BINDING_PLAN_MESSAGES_H_
#define RUNTIME_BINDING_PLAN_MESSAGES_H_

#include "runtime/binding/plan_index.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/proto/control.pb.h"

namespace pathways {

void NamePlan(const PlanName& name, proto::PlanName* out);

// Answers a request from the plans of this process: with the bytes, or with an
// error. Counts the bytes that it sends.
void AnswerPlanRequest(PlanIndex* plans, const proto::PlanRequest& request,
                       proto::PlanPart* part);

}  // namespace pathways

#endif  // RUNTIME_BINDING_PLAN_MESSAGES_H_
