//===- plan_kernels.cc - Kernels from the plan's object code --------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/plan_kernels.h"

#include <utility>

#include "runtime/kernel/kernel_library.h"

namespace pathways {

absl::StatusOr<ResolvedKernel> PlanKernels::Resolve(
    const proto::Kernel& kernel, absl::Span<const uint8_t> blobs,
    const proto::Target& target) {
  absl::StatusOr<std::shared_ptr<const KernelLibrary>> library =
      KernelLibrary::Load(kernel, blobs, target);
  if (!library.ok()) return library.status();
  ResolvedKernel resolved;
  for (int s = 0; s < (*library)->num_segments(); ++s) {
    resolved.segments.push_back((*library)->Lookup(s));
  }
  resolved.owner = *std::move(library);
  return resolved;
}

absl::StatusOr<int> PlanKernels::Choose(const proto::Kernel& kernel,
                                        const proto::Target& target) {
  return KernelLibrary::Choose(kernel, target);
}

absl::StatusOr<std::string> PlanKernels::HashOf(
    const proto::Kernel& kernel, absl::Span<const uint8_t> blobs) {
  return KernelHash(kernel, blobs);
}

}  // namespace pathways
