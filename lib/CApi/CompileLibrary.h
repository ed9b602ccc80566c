//===- CompileLibrary.h - Link of the libraries of the C API ----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libpathways.so.1 opens libpathways_compile.so.1 when it first needs MLIR and
// calls these functions of it. Neither frees the other's memory. The names have
// the version of both.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CAPI_COMPILELIBRARY_H
#define LIB_CAPI_COMPILELIBRARY_H

#include "pathways/CApi.h"

#include <cstddef>

namespace pathways::capi {

enum class CompileOutput { kPlan, kRemarks, kReport, kError };

/// Receives an output, whose bytes must be copied.
using TakeOutput = void(void *context, CompileOutput output, const char *bytes,
                        size_t size);

/// Compiles a text. Returns 0 and hands over the plan, the remarks, a line
/// each, and the report as JSON, or returns a pw_code and hands over the
/// message. The options are complete.
using CompileFunction = int(const char *text, size_t size,
                            const pw_compile_options *options, TakeOutput *take,
                            void *context);

/// Finds the costs of the schedules of a text. Returns 0 and hands over what
/// pw_explain_schedules promises as kReport, or returns a pw_code and hands
/// over the message. The options are complete.
using ExplainFunction = CompileFunction;

/// Prints a plan file. Returns 0 and hands over the text as kPlan, or returns a
/// pw_code and hands over the message.
using PrintFunction = int(const char *bytes, size_t size, TakeOutput *take,
                          void *context);

inline constexpr char kCompileName[] = "pw_compile_to_bytes_2";
inline constexpr char kExplainName[] = "pw_explain_schedules_to_json_2";
inline constexpr char kPrintName[] = "pw_print_plan_2";

} // namespace pathways::capi

#endif // LIB_CAPI_COMPILELIBRARY_H
