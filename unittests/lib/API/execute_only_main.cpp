//===- execute_only_main.cpp - A program around execute_only.h ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "execute_only.h"

#include <cstdio>

int main() { std::printf("%s\n", putAndGet().c_str()); }
