//===- Owners.h - Owner annotations for types of LLVM -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Lets clang's -Wdangling report a reference or view into a temporary of these
/// types, as in `for (auto x : *f())`. Clang already does so for the types of
/// the standard library. The build includes this file first in each source of
/// the compiler: see lib/CMakeLists.txt.
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
