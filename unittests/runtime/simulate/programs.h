//===- programs.h - Random programs with kernels ----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_SIMULATE_PROGRAMS_H_
#define UNITTESTS_RUNTIME_SIMULATE_PROGRAMS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "pathways/HostArray.h"
#include "runtime/binding/kernel_resolver.h"
#include "runtime/client/handles.h"
#include "runtime/proto/plan.pb.h"
#include "runtime/topology/topology.h"
#include "unittests/runtime/simulate/scenario.pb.h"

namespace pathways::simulate {

// The plan of a program, the same for the same arguments. Each gang that has no
// collective has a kernel, so that all bytes of each result depend on all bytes
// of those operands that agree wherever the result has to.
proto::Plan PlanOf(const Program& program, const Topology& topology);
// Returns the results that must not be compared: their copies differ, as shards
// of a random plan need not agree, or, if the program is `even`, they depend on
// padding.
std::set<int> VagueResults(const proto::Plan& plan, bool even);
// Hosts that it has shards on.
std::set<int32_t> HostsOf(const proto::Plan& plan, const Topology& topology);
ArrayType ArgumentType(const proto::Plan& plan, int argument, int64_t steps);
ArrayType ResultType(const proto::Plan& plan, int result, int64_t steps);
// Small numbers, which follow from the seed.
HostArray DrawArray(const ArrayType& type, uint64_t seed);

// The kernels of these plans: a function each for what a kernel's name says.
// One at a time in a process.
class MixKernels final : public KernelResolver {
 public:
  MixKernels();
  absl::StatusOr<ResolvedKernel> Resolve(const proto::Kernel& kernel,
                                         absl::Span<const uint8_t> blobs,
                                         const proto::Target& target) override;

 private:
  std::map<std::string, int> known_;  // by name
};

}  // namespace pathways::simulate

#endif  // UNITTESTS_RUNTIME_SIMULATE_PROGRAMS_H_
