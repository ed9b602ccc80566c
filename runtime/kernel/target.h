//===- target.h - Which code which machine runs -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Targets of code and the identity of a kernel, for those who write code and
// those who load it. All functions are thread-safe.
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

// Registers all of LLVM's code generators; the first call does it.
void InitializeTargets();

// This machine: triple, CPU and all features that it has ("+") or lacks ("-").
// The first call asks Linux for the registers of AMX, which code for this
// target may then use in all threads; when they are refused, they are lacking.
const proto::Target& HostTarget();

// `target` with its empty fields filled in: the triple by this machine's; CPU
// and features too where both are empty and the triple is this machine's, else
// "generic". Features come sorted and once each. InvalidArgument: no code
// generator that writes object files for the triple, or it does not know the
// CPU or a feature.
absl::StatusOr<proto::Target> CompleteTarget(const proto::Target& target);

// OK when this machine runs code for `target`; else FailedPrecondition, naming
// both, and the features that this machine lacks.
absl::Status CheckTarget(const proto::Target& target);

// "x86_64-unknown-linux-gnu znver4 +avx2,..." for messages: features only when
// they are few.
std::string TargetString(const proto::Target& target);

// Identity of the code of `kernel` (targets, objects in `blobs`, signatures of
// segments), hexadecimal. InvalidArgument: an object lies outside of `blobs`.
absl::StatusOr<std::string> KernelHash(const proto::Kernel& kernel,
                                       absl::Span<const uint8_t> blobs);

// Symbol that an object defines for the segment `symbol`. The prefix keeps
// segments apart from what they import.
std::string SegmentSymbol(const std::string& symbol);

}  // namespace pathways

#endif  // RUNTIME_KERNEL_TARGET_H_
