//===- Pathways.h - The public API ------------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_PATHWAYS_H
#define PATHWAYS_PATHWAYS_H

#include "pathways/Compile.h"
#include "pathways/Execute.h"

#endif // PATHWAYS_PATHWAYS_H
