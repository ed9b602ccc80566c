//===- plan_kernels.h - Kernels from the plan's object code -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLUSTER_PLAN_KERNELS_H_
#define RUNTIME_CLUSTER_PLAN_KERNELS_H_

#include "runtime/binding/kernel_resolver.h"

namespace pathways {

// Resolves kernels by linking the object code in the plan's blobs.
class PlanKernels final : public KernelResolver {
 public:
  absl::StatusOr<ResolvedKernel> Resolve(const proto::Kernel& kernel,
                                         absl::Span<const uint8_t> blobs,
                                         const proto::Target& target) override;
  absl::StatusOr<int> Choose(const proto::Kernel& kernel,
                             const proto::Target& target) override;
  absl::StatusOr<std::string> HashOf(const proto::Kernel& kernel,
                                     absl::Span<const uint8_t> blobs) override;
};

}  // namespace pathways

#endif  // RUNTIME_CLUSTER_PLAN_KERNELS_H_
