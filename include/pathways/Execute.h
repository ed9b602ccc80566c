//===- Execute.h - Load plans, launch them, fetch results -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The executing half of the public API. It needs no MLIR: link PathwaysExecute
// to run plans that Compile.h made, in this process or elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_EXECUTE_H
#define PATHWAYS_EXECUTE_H

#include "pathways/Array.h"
#include "pathways/EventQueue.h"
#include "pathways/Executable.h"
#include "pathways/HostArray.h"
#include "pathways/Options.h"
#include "pathways/Plan.h"
#include "pathways/PlanCosts.h"
#include "pathways/PortInfo.h"
#include "pathways/Result.h"
#include "pathways/Session.h"
#include "pathways/Statistics.h"

#endif // PATHWAYS_EXECUTE_H
