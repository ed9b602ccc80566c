//===- Owners.h - Types of LLVM that own what they hold ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Tells clang's -Wdangling that a reference or view into a temporary of these
/// types, as in `for (auto x : *f())`, is to what is gone. Clang knows this of
/// the types of the standard library by itself. The build includes this file
/// first in each source of the compiler: see lib/CMakeLists.txt.
///
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_SUPPORT_OWNERS_H
#define PATHWAYS_SUPPORT_OWNERS_H

#ifdef __clang__
namespace llvm {
template <typename T> class [[gsl::Owner]] Expected;
template <typename T> class [[gsl::Owner]] FailureOr;
} // namespace llvm
#endif

#endif // PATHWAYS_SUPPORT_OWNERS_H
