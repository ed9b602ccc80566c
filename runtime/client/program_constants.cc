//===- program_constants.cc - Arguments whose values a plan has -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/program_constants.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/client/client.h"

namespace pathways {

PlanData ProgramConstants::WithoutValues(PlanData plan) {
  for (proto::Argument& argument :
       *plan.tables.mutable_interface()->mutable_arguments()) {
    argument.clear_constant();
  }
  return plan;
}

absl::StatusOr<ProgramConstants> ProgramConstants::Put(Client* client,
                                                       const PlanData& plan) {
  ProgramConstants constants;
  const proto::Interface& interface = plan.tables.interface();
  for (int i = 0; i < interface.arguments_size(); ++i) {
    const proto::Argument& argument = interface.arguments(i);
    if (!argument.has_constant()) {
      ++constants.num_arguments_;
      continue;
    }
    const uint64_t offset = argument.constant().blob_offset(),
                   bytes = argument.constant().blob_bytes();
    if (offset > plan.blobs.size() || bytes > plan.blobs.size() - offset) {
      constants.Release(client);
      return absl::InvalidArgumentError(absl::StrCat(
          "argument '", argument.name(), "' has a constant value of ", bytes,
          " bytes from ", offset, ", but the blobs of its plan have ",
          plan.blobs.size(), Tag(ErrorId::kPlanDamaged)));
    }
    const proto::Layout& layout = plan.tables.layouts(static_cast<int>(
        plan.tables
            .buffers(static_cast<int>(
                plan.tables.actions(static_cast<int>(argument.action()))
                    .results(0)))
            .layout()));
    BorrowedArray borrowed;
    borrowed.element = static_cast<ElementType>(layout.element());
    borrowed.shape.assign(layout.shape().begin(), layout.shape().end());
    borrowed.data = reinterpret_cast<const char*>(plan.blobs.data()) + offset;
    borrowed.bytes = bytes;
    borrowed.done = [owner = plan.owner] {};
    absl::StatusOr<ArrayHandle> array = client->Put(std::move(borrowed));
    if (!array.ok()) {
      constants.Release(client);
      return array.status();
    }
    constants.constants_.push_back({i, *array});
  }
  return constants;
}

LaunchArguments ProgramConstants::Complete(LaunchArguments arguments) const {
  if (constants_.empty()) return arguments;
  LaunchArguments all;
  all.reserve(arguments.size() + constants_.size());
  auto next = arguments.begin();
  for (const Constant& constant : constants_) {
    while (static_cast<int>(all.size()) < constant.argument &&
           next != arguments.end()) {
      all.push_back(std::move(*next++));
    }
    all.emplace_back(constant.array);
  }
  while (next != arguments.end()) all.push_back(std::move(*next++));
  return all;
}

void ProgramConstants::Release(Client* client) const {
  for (const Constant& constant : constants_) {
    (void)client->Release(constant.array);
  }
}

}  // namespace pathways
