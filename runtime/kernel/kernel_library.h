//===- kernel_library.h - Loader of a kernel's code -------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_KERNEL_KERNEL_LIBRARY_H_
#define RUNTIME_KERNEL_KERNEL_LIBRARY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/kernel/abi.h"
#include "runtime/kernel/target.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

// The code of one kernel, in executable memory of this process. Immutable and
// thread-safe. Its functions are valid as long as the library exists.
class KernelLibrary {
 public:
  // Loads the object of `kernel` that suits `wanted`, the target of a device of
  // this machine (empty fields mean this machine). If no object was made for
  // exactly this target, the choice is the object that uses most features of
  // this machine among those that it can run, and the first of several. A
  // kernel that is loaded already is shared. Thread-safe; waits while another
  // thread links.
  //
  // Returns FailedPrecondition if this machine is no such device or runs none
  // of the objects; the message names each target and what is missing. Returns
  // InvalidArgument if the code does not match its hash, is not sound, imports
  // other functions than kernels may, or lacks a segment. Loading runs no code
  // of the object.
  static absl::StatusOr<std::shared_ptr<const KernelLibrary>> Load(
      const proto::Kernel& kernel, absl::Span<const uint8_t> blobs,
      const proto::Target& wanted);

  // Returns the index of that object, or FailedPrecondition as Load does.
  static absl::StatusOr<int> Choose(const proto::Kernel& kernel,
                                    const proto::Target& wanted);

  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  // Returns the code of a segment of the kernel, or null if there is none.
  KernelFunction Lookup(uint32_t segment) const {
    return segment < functions_.size() ? functions_[segment] : nullptr;
  }
  int num_segments() const { return static_cast<int>(functions_.size()); }

 private:
  class Session;
  KernelLibrary();
  static absl::StatusOr<std::shared_ptr<const KernelLibrary>> Link(
      const proto::Kernel& kernel, absl::Span<const uint8_t> object);

  std::unique_ptr<Session> session_;
  std::vector<KernelFunction> functions_;
};

}  // namespace pathways

#endif  // RUNTIME_KERNEL_KERNEL_LIBRARY_H_
