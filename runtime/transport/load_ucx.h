//===- load_ucx.h - UCX where it is installed -------------------*- C++ -*-===//
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

// MakeUcxTransport of a library that is loaded when somebody asks for it: who
// does not ask has no UCX in the process, nor needs it installed. The library
// is looked for beside the program, then where the system looks. It stays.
// FailedPrecondition: it is not there, or was built for another version.
absl::StatusOr<std::unique_ptr<Transport>> LoadUcxTransport(
    const UcxOptions& options, TransportEvents* events);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_LOAD_UCX_H_
