//===- pause.h - Processor hint for spin loops ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_PAUSE_H_
#define RUNTIME_BASE_PAUSE_H_

namespace pathways {

// Tells the processor that this is a spin loop, which waits for another core.
// Called once per turn.
inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace pathways

#endif  // RUNTIME_BASE_PAUSE_H_
