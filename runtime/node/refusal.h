//===- refusal.h - Refusals between processes -------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_REFUSAL_H_
#define RUNTIME_NODE_REFUSAL_H_

#include "absl/status/status.h"
#include "runtime/proto/membership.pb.h"

namespace pathways {

proto::Membership MakeRefusal(const absl::Status& why);
// Returns the status of a refusal, which is never OK.
absl::Status ReadRefusal(const proto::Refusal& refusal);
// Returns the same, with the note that the controller refused.
absl::Status ReadRefusalOfController(const proto::Refusal& refusal);

}  // namespace pathways

#endif  // RUNTIME_NODE_REFUSAL_H_
