//===- one_device.h - Comparison of a slice with one device -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_API_ONE_DEVICE_H
#define UNITTESTS_LIB_API_ONE_DEVICE_H

#include "pathways/Pathways.h"

#include <map>
#include <string>

namespace pathways {

using Inputs = std::map<std::string, HostArray>;

/// Runs a program in global view, with one slice @s, on the devices that its
/// mesh requires and on one device. Returns how the results differ, or "".
/// Arguments that are not in `inputs` get small numbers. Sums may differ by the
/// effect of their order, and a program that fails on one device may also fail
/// on several.
std::string differenceFromOneDevice(const std::string &text,
                                    const Inputs &inputs);

/// Returns `text` with the call of pw-run that runs it in this way, as a
/// comment before it. The call lists only small inputs; the others are random.
std::string makeRunnable(const std::string &text, const Inputs &inputs);

} // namespace pathways

#endif // UNITTESTS_LIB_API_ONE_DEVICE_H
