//===- Machines.cpp - Machines that passes compile for --------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Transforms/Machines.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::pathways;

const ::pathways::Topology *Machines::read(const std::string &topology) {
  auto it = known.find(topology);
  if (it != known.end())
    return &it->second;
  absl::StatusOr<::pathways::Topology> machines =
      ::pathways::Topology::Read(topology);
  if (machines.ok())
    return &known.try_emplace(topology, *std::move(machines)).first->second;
  module->emitError("cannot read topology '")
      << topology << "': " << std::string(machines.status().message());
  return nullptr;
}
