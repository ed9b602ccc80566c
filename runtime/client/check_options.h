//===- check_options.h - Ranges of client and launch options ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_CHECK_OPTIONS_H_
#define RUNTIME_CLIENT_CHECK_OPTIONS_H_

#include "absl/status/status.h"
#include "pathways/Options.h"

namespace pathways {

// Both return InvalidArgument, with the name of the option and its range, if an
// option is out of range.
absl::Status CheckClientOptions(const ClientOptions& options);
absl::Status CheckLaunchOptions(const LaunchOptions& options);

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CHECK_OPTIONS_H_
