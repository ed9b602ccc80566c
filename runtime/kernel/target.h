//===- target.h - Targets of generated code ---------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Targets of code and the identity of a kernel, for the compiler, which writes
// code, and the runtime, which loads it. All functions are thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_KERNEL_TARGET_H_
#define RUNTIME_KERNEL_TARGET_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/proto/plan.pb.h"

namespace pathways {

// Registers all of LLVM's code generators on the first call.
void InitializeTargets();

// Returns this machine: triple, CPU and all features that it has ("+") or lacks
// ("-"). The first call requests the registers of AMX from Linux, so that code
// for this target may use them in all threads; if Linux refuses, the features
// of AMX count as missing.
const proto::Target& HostTarget();

// Returns `target` with empty fields filled in: the triple by this machine's;
// CPU and features by this machine's if both are empty and the triple is this
// machine's; otherwise the CPU by "generic". Features are sorted, and each
// appears once. Returns InvalidArgument if there is no code generator that
// writes object files for the triple, or if it does not know the CPU or a
// feature.
absl::StatusOr<proto::Target> CompleteTarget(const proto::Target& target);

// Returns OK if this machine runs code for `target`. Otherwise returns
// FailedPrecondition, which names both targets and the features that this
// machine lacks.
absl::Status CheckTarget(const proto::Target& target);

// Returns "x86_64-unknown-linux-gnu znver4 +avx2,..." for messages, with
// features only if they are few.
std::string TargetString(const proto::Target& target);

// Returns the identity of the code of `kernel` (targets, objects in `blobs`,
// signatures of segments) in hexadecimal. Returns InvalidArgument if an object
// lies outside of `blobs`.
absl::StatusOr<std::string> KernelHash(const proto::Kernel& kernel,
                                       absl::Span<const uint8_t> blobs);

// Returns the symbol that an object defines for segment `symbol`. The prefix
// keeps segments apart from the functions that they import.
std::string SegmentSymbol(const std::string& symbol);

}  // namespace pathways

#endif  // RUNTIME_KERNEL_TARGET_H_
