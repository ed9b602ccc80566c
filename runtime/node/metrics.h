//===- metrics.h - Figures of a controller for Prometheus -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_METRICS_H_
#define RUNTIME_NODE_METRICS_H_

#include <string>

#include "runtime/proto/status.pb.h"
#include "runtime/topology/topology.h"

namespace pathways {

// Returns the figures in the text format of Prometheus, version 0.0.4. Counters
// of a client restart with each client of its name.
std::string MetricsText(const proto::ControllerStatus& status,
                        const Topology& topology);

}  // namespace pathways

#endif  // RUNTIME_NODE_METRICS_H_
