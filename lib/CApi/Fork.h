//===- Fork.h - Children of this process ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CAPI_FORK_H
#define LIB_CAPI_FORK_H

namespace pathways::capi {

/// From now on, a child of this process is one that must not use the library:
/// it has none of the threads that this process has, and locks that they held
/// stay locked. Called before there are such threads.
void watchForks();

/// Returns true in a child that was forked after watchForks.
bool isForkedChild();

} // namespace pathways::capi

#endif // LIB_CAPI_FORK_H
