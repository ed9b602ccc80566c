//===- kernel_imports.h - Functions that kernels may import -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The closed list of functions that a kernel may import: memory and floating
// point, nothing that allocates, blocks or has state other than errno. The
// compiler refuses to write an object that needs another function, and the
// loader refuses to load it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_KERNEL_KERNEL_IMPORTS_H_
#define RUNTIME_KERNEL_KERNEL_IMPORTS_H_

// X(f) for each f that, like its float form, takes one number and returns one.
// clang-format off: formatted twice it differs from formatted once.
#define PATHWAYS_FOR_EACH_MATH1(X)                                            \
  X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cbrt) X(ceil) X(cos)   \
  X(cosh) X(erf) X(erfc) X(exp) X(exp2) X(expm1) X(fabs) X(floor) X(log)      \
  X(log10) X(log1p) X(log2) X(rint) X(nearbyint) X(round) X(sin) X(sinh)      \
  X(sqrt) X(tan) X(tanh) X(trunc)
// clang-format on
// X(f) for each f that, like its float form, takes two numbers and returns one.
#define PATHWAYS_FOR_EACH_MATH2(X) \
  X(atan2) X(copysign) X(fmax) X(fmin) X(fmod) X(pow)
// Every other function has a type of its own: memcpy, memmove, memset, bcmp,
// memcmp, fma, ldexp, roundeven and sincos; the last four also have float
// forms.

namespace pathways {

// Returns the address of the function that a kernel may import as `name`, or
// null if there is none. `name` need not end in a zero byte.
const void* FindKernelImport(const char* name, unsigned long name_bytes);

}  // namespace pathways

#endif  // RUNTIME_KERNEL_KERNEL_IMPORTS_H_
