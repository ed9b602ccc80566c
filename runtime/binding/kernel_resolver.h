//===- kernel_resolver.h - Where the executor gets code from ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BINDING_KERNEL_RESOLVER_H_
#define RUNTIME_BINDING_KERNEL_RESOLVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/kernel/abi.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

// The loaded code of one kernel for one target: a function per segment, valid
// while `owner` lives.
struct ResolvedKernel {
  std::vector<KernelFunction> segments;
  std::shared_ptr<const void> owner;
};

// Turns kernels of a plan into functions. Thread-safe. The default one links
// the plan's object code; tests may bring functions of their own.
class KernelResolver {
 public:
  virtual ~KernelResolver() = default;
  // FailedPrecondition: no code of `kernel` runs on `target`.
  virtual absl::StatusOr<ResolvedKernel> Resolve(
      const proto::Kernel& kernel, absl::Span<const uint8_t> blobs,
      const proto::Target& target) = 0;

  // Of a kernel whose objects are not here, only described: which one Resolve
  // would take; -1: it needs none. FailedPrecondition as Resolve.
  virtual absl::StatusOr<int> Choose(const proto::Kernel& kernel,
                                     const proto::Target& target) {
    (void)kernel, (void)target;
    return -1;
  }
  // The hash of a kernel that has `blobs`.
  virtual absl::StatusOr<std::string> HashOf(const proto::Kernel& kernel,
                                             absl::Span<const uint8_t> blobs) {
    (void)blobs;
    return kernel.hash();
  }
};

}  // namespace pathways

#endif  // RUNTIME_BINDING_KERNEL_RESOLVER_H_
