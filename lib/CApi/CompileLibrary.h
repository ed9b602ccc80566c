//===- CompileLibrary.h - Link of the libraries of the C API ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libpathways.so.1 opens libpathways_compile.so.1 at the first pw_compile and
// calls this one function of it. Neither frees the other's memory. The name has
// the version of both.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CAPI_COMPILELIBRARY_H
#define LIB_CAPI_COMPILELIBRARY_H

#include "pathways/CApi.h"

#include <cstddef>

namespace pathways::capi {

enum class CompileOutput { kPlan, kRemarks, kError };

/// Receives an output, whose bytes must be copied.
using TakeOutput = void(void *context, CompileOutput output, const char *bytes,
                        size_t size);

/// Compiles a text. Returns 0 and hands over the plan and the remarks, or
/// returns a pw_code and hands over the message. The options are complete.
using CompileFunction = int(const char *text, size_t size,
                            const pw_compile_options *options, TakeOutput *take,
                            void *context);

inline constexpr char kCompileName[] = "pw_compile_to_bytes_1";

} // namespace pathways::capi

#endif // LIB_CAPI_COMPILELIBRARY_H
