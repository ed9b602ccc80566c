//===- execute_only.h - Code that uses Execute.h alone ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_LIB_API_EXECUTE_ONLY_H
#define UNITTESTS_LIB_API_EXECUTE_ONLY_H

#include <string>

/// Puts numbers into a session of threads and fetches them. Returns them as
/// text, or the error message.
std::string putAndGet();

#endif // UNITTESTS_LIB_API_EXECUTE_ONLY_H
