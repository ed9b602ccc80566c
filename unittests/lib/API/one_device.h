//===- one_device.h - A program on its slice and on one device --*- C++ -*-===//
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

/// What is different of a program in global view, with one slice @s, on the
/// devices that its mesh asks for and on one; or "". Arguments that are not in
/// `inputs` get small numbers. Sums may differ by what their order does, and
/// what fails on one device may do so on all.
std::string differenceFromOneDevice(const std::string &text,
                                    const Inputs &inputs);

/// `text` with the call of pw-run that runs it so, as a comment before. Only
/// small inputs are in it, others are random.
std::string makeRunnable(const std::string &text, const Inputs &inputs);

} // namespace pathways

#endif // UNITTESTS_LIB_API_ONE_DEVICE_H
