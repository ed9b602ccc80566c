//===- load_ucx.h - Loader of the UCX transport -----------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_LOAD_UCX_H_
#define RUNTIME_TRANSPORT_LOAD_UCX_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/transport/transport.h"
#include "runtime/transport/ucx_options.h"

namespace pathways {

// Calls MakeUcxTransport in a library that is loaded on the first call. A
// process that never calls this has no UCX code and does not need UCX to be
// installed. The library is looked for beside the program, then in the system's
// search path, and stays loaded. Returns FailedPrecondition if it is missing,
// or was built for another version.
absl::StatusOr<std::unique_ptr<Transport>> LoadUcxTransport(
    const UcxOptions& options, TransportEvents* events);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_LOAD_UCX_H_
