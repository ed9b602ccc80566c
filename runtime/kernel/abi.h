//===- abi.h - Contract of generated code -----------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Signature of a segment of a kernel. Buffers are dense, row-major, ceil-shaped
// and aligned to kBufferAlignment (base/buffer_bytes.h). `coordinates` are
// those of the shard in the slice's mesh, one per axis, major first. `scratch`
// has the declared size and the same alignment, and is not initialized. `step`
// is the number of the step, counted from LaunchOptions::first_step on. The
// code allocates nothing, starts no thread, keeps its stack below
// kMaxStackBytes, and calls only the functions of kernel_imports.h. It returns
// 0, or k > 0 if the check at locations[k - 1] of the segment failed; the
// buffers' contents are then unspecified.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_KERNEL_ABI_H_
#define RUNTIME_KERNEL_ABI_H_

#include <cstdint>

namespace pathways {

using KernelFunction = int32_t (*)(void* const* buffers,
                                   const int32_t* coordinates, void* scratch,
                                   uint64_t step);

inline constexpr uint64_t kMaxStackBytes = 256 << 10;

}  // namespace pathways

#endif  // RUNTIME_KERNEL_ABI_H_
