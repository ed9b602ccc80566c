//===- bare_ucx.h - UCX without a transport ---------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BENCHMARKS_BARE_UCX_H
#define BENCHMARKS_BARE_UCX_H

#include <cstddef>
#include <string>

#include "runtime/transport/ucx_options.h"

namespace pathways::bench {

// Measures two processes that use UCX as UCX's own examples do, with the
// settings of the transport. Prints the figures.
void BareUcx(UcxWay way, const std::string& name, double scale);

}  // namespace pathways::bench

#endif  // BENCHMARKS_BARE_UCX_H
