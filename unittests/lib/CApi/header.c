//===- header.c - The header of the C API is C11 --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/CApi.h"

_Static_assert(PW_TIMED_OUT == 10, "codes never change");
_Static_assert(PW_UI64 == 13, "element types never change");
