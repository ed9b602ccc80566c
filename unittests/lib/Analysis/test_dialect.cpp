//===- test_dialect.cpp - Operations that no pass knows -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test_dialect.h"

MLIR_DEFINE_EXPLICIT_TYPE_ID(mlir::pathways::test::TestDialect)
