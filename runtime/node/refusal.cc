//===- refusal.cc - Refusals between processes ----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/refusal.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_from_wire.h"

namespace pathways {

proto::Membership MakeRefusal(const absl::Status& why) {
  proto::Membership message;
  message.mutable_refusal()->set_code(static_cast<int>(why.code()));
  message.mutable_refusal()->set_message(std::string(why.message()));
  return message;
}

absl::Status ReadRefusal(const proto::Refusal& refusal) {
  const absl::Status told = StatusFromWire(refusal.code(), refusal.message());
  return told.ok() ? absl::UnknownError(refusal.message()) : told;
}

absl::Status ReadRefusalOfController(const proto::Refusal& refusal) {
  const absl::Status told = ReadRefusal(refusal);
  return absl::Status(
      told.code(),
      absl::StrCat("the controller refused this process: ", told.message()));
}

}  // namespace pathways
