// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A kernel that would run something when it is loaded, and keeps state.
#include <stdint.h>

int32_t entry(void* const*, const int32_t*, void*) __asm__("pw.scale");

static volatile int32_t state[2];

static __attribute__((constructor)) void begin(void) { state[0] = 1; }

int32_t entry(void* const* buffers, const int32_t* coordinates, void* scratch) {
  (void)buffers, (void)coordinates, (void)scratch;
  return state[0];
}
