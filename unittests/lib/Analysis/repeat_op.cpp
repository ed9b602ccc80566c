//===- repeat_op.cpp - A node with a region -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "repeat_op.h"

MLIR_DEFINE_EXPLICIT_TYPE_ID(mlir::pathways::test::TestDialect)
