//===- PortInfo.h - Arguments and results of programs -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_PORTINFO_H
#define PATHWAYS_PORTINFO_H

#include "pathways/Array.h"
#include "pathways/HostArray.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pathways {

/// An argument or a result of a program, for a launch of one step.
struct PortInfo {
  std::string name;
  ElementType element = ElementType::kInvalid;
  /// Shape in one step. A launch of n steps takes or returns a stepped value
  /// with n as an extra leading dimension.
  std::vector<int64_t> shape;
  bool stepped = false;
  /// For a carried argument, the result whose value it takes from the second
  /// step on; otherwise empty.
  std::string carried_from;
  /// Devices and layout, without the dimension of steps. An argument with this
  /// sharding does not move when a launch starts. A plan that is not loaded has
  /// the layout only, and no devices.
  Sharding sharding;
};

} // namespace pathways

#endif // PATHWAYS_PORTINFO_H
