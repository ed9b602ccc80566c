// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A kernel that calls what kernels may not.
#include <stdint.h>

int system(const char*);

int32_t entry(void* const*, const int32_t*, void*) __asm__("pw.scale");

int32_t entry(void* const* buffers, const int32_t* coordinates, void* scratch) {
  (void)coordinates, (void)scratch;
  return system(buffers[0]);
}
