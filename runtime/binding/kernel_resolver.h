//===- kernel_resolver.h - Source of executable code ------------*- C++ -*-===//
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

// Loaded code of one kernel for one target: a function per segment, valid while
// `owner` lives.
struct ResolvedKernel {
  std::vector<KernelFunction> segments;
  std::shared_ptr<const void> owner;
};

// Turns kernels of a plan into functions. Thread-safe. The default
// implementation links the plan's object code; tests may supply their own
// functions.
class KernelResolver {
 public:
  virtual ~KernelResolver() = default;
  // Returns FailedPrecondition if no code of `kernel` runs on `target`.
  virtual absl::StatusOr<ResolvedKernel> Resolve(
      const proto::Kernel& kernel, absl::Span<const uint8_t> blobs,
      const proto::Target& target) = 0;

  // Returns the index of the object that Resolve would take, or -1 if it needs
  // none. Used when this process has only the description of the kernel's
  // objects. Returns FailedPrecondition in the same case as Resolve.
  virtual absl::StatusOr<int> Choose(const proto::Kernel& kernel,
                                     const proto::Target& target) {
    (void)kernel, (void)target;
    return -1;
  }
  // Returns the hash of `kernel` together with `blobs`.
  virtual absl::StatusOr<std::string> HashOf(const proto::Kernel& kernel,
                                             absl::Span<const uint8_t> blobs) {
    (void)blobs;
    return kernel.hash();
  }
};

}  // namespace pathways

#endif  // RUNTIME_BINDING_KERNEL_RESOLVER_H_
