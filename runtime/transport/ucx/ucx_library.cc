//===- ucx_library.cc - Entry of the library that load_ucx.h loads --------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/ucx/ucx_transport.h"

// The name contains the version, since both sides must have the same classes.
extern "C" __attribute__((visibility("default"))) pathways::Transport*
PATHWAYS_UCX_FUNCTION(const pathways::UcxOptions& options,
                      pathways::TransportEvents* events) {
  return pathways::MakeUcxTransport(options, events).release();
}
