//===- Compile.cpp - The compiling half of the C API ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pathways/Compile.h"

#include "CompileLibrary.h"

#include <new>

using namespace pathways;
using namespace pathways::capi;

static std::string toString(const char *text, const char *fallback = "") {
  return text ? text : fallback;
}

extern "C" int pw_compile_to_bytes_1(const char *text, size_t size,
                                     const pw_compile_options *given,
                                     TakeOutput *take, void *context) {
  auto fail = [&](pw_code code, const std::string &message) {
    take(context, CompileOutput::kError, message.data(), message.size());
    return static_cast<int>(code);
  };
  try {
    Program program{{text, size}, toString(given->file_name, "program.mlir")};
    CompileOptions options;
    options.topology = toString(given->topology);
    options.mesh = toString(given->mesh);
    options.program = toString(given->program);
    options.kernel_cache = toString(given->kernel_cache);
    options.oversubscribe = given->oversubscribe != 0;
    if (given->steps_in_flight != 0)
      options.steps_in_flight = given->steps_in_flight;
    options.import_options = {toString(given->carry), toString(given->stepped),
                              toString(given->elided), toString(given->assign),
                              toString(given->slices)};
    switch (given->rounding) {
    case PW_ROUND_EACH_OP:
      break;
    case PW_ROUND_STRICT:
      options.rounding = Rounding::kStrict;
      break;
    case PW_ROUND_EXCESS:
      options.rounding = Rounding::kExcess;
      break;
    default:
      return fail(PW_INVALID_ARGUMENT,
                  "pw_compile_options: there is no rounding " +
                      std::to_string(given->rounding));
    }
    Result<Compiled> compiled = compile(program, options);
    if (!compiled) {
      const Error &error = compiled.error();
      return fail(static_cast<pw_code>(static_cast<int>(error.code) + 1),
                  error.message);
    }
    std::string remarks;
    for (const std::string &remark : compiled->remarks)
      remarks += remark + "\n";
    const std::string &bytes = compiled->plan.bytes();
    take(context, CompileOutput::kPlan, bytes.data(), bytes.size());
    take(context, CompileOutput::kRemarks, remarks.data(), remarks.size());
    return 0;
  } catch (const std::bad_alloc &) {
    return fail(PW_REFUSED, "this process lacks memory");
  }
}
