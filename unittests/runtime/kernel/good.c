// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A kernel of two segments, as a compiler might write it: constants, calls of
// memory and math functions, and a function of its own.
#include <stdint.h>
#include <string.h>

double exp(double);

int32_t scale(void* const*, const int32_t*, void*) __asm__("pw.scale");
int32_t fail(void* const*, const int32_t*, void*) __asm__("pw.fail");

static const int32_t table[4] = {1, 20, 300, 4000};

static __attribute__((noinline)) int32_t lookup(int32_t i) {
  return table[i & 3];
}

int32_t scale(void* const* buffers, const int32_t* coordinates, void* scratch) {
  memcpy(scratch, buffers[0], 4096);
  for (int i = 0; i < 4; ++i) {
    ((double*)buffers[1])[i] =
        exp(((double*)scratch)[i]) * lookup(coordinates[0]);
  }
  return 0;
}

int32_t fail(void* const* buffers, const int32_t* coordinates, void* scratch) {
  (void)buffers, (void)scratch;
  return coordinates[0];
}
