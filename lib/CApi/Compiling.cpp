//===- Compiling.cpp - Compiling by another library -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileLibrary.h"
#include "Handles.h"

#include <dlfcn.h>
#include <memory>

using namespace pathways;
using namespace pathways::capi;

static constexpr char kCompileLibrary[] = "libpathways_compile.so.1";

/// Opens the library that compiles: the one beside this library or, if there is
/// none, the one that the system finds. It is never closed.
static void *openCompileLibrary(std::string &error) {
  constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;
  std::string tried;
  Dl_info self;
  if (dladdr(reinterpret_cast<void *>(&pw_compile), &self) && self.dli_fname) {
    std::string path = self.dli_fname;
    path.erase(path.rfind('/') + 1);
    if (void *library = dlopen((path + kCompileLibrary).c_str(), kFlags))
      return library;
    tried = toString(dlerror());
  }
  if (void *library = dlopen(kCompileLibrary, kFlags))
    return library;
  error = "cannot open " + std::string(kCompileLibrary) + ": " + tried + "; " +
          toString(dlerror());
  return nullptr;
}

/// Finds a function of the library. Returns an error if it is missing.
template <typename Function>
static pw_error *findFunction(const char *name, Function *&function) {
  static std::string reason;
  static void *const library = openCompileLibrary(reason);
  if (!library)
    return makeError(PW_NOT_FOUND, reason);
  function = reinterpret_cast<Function *>(dlsym(library, name));
  if (function)
    return nullptr;
  return makeError(PW_NOT_FOUND,
                   std::string(kCompileLibrary) + " has no " + name +
                       "; it is of another version than " PATHWAYS_VERSION);
}

namespace {
/// Takes the outputs of a function of the library.
struct Outputs {
  std::string texts[4];

  std::string &operator[](CompileOutput output) {
    return texts[static_cast<int>(output)];
  }
  static void take(void *context, CompileOutput output, const char *bytes,
                   size_t size) {
    (*static_cast<Outputs *>(context))[output].assign(bytes, size);
  }
};
} // namespace

/// Calls the function of the library with a text and complete options.
static pw_error *runCompiler(const char *name, const char *text, size_t size,
                             const pw_compile_options *given,
                             Outputs &outputs) {
  pw_compile_options options{};
  if (pw_error *error = readOptions(given, options, "pw_compile_options"))
    return error;
  CompileFunction *function;
  if (pw_error *error = findFunction(name, function))
    return error;
  watchForks();
  const int code = function(text, size, &options, Outputs::take, &outputs);
  return code == 0 ? nullptr
                   : makeError(static_cast<pw_code>(code),
                               outputs[CompileOutput::kError]);
}

pw_error *pw_compile(const char *text, size_t size,
                     const pw_compile_options *given, pw_plan **plan,
                     pw_text **remarks) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"text", text}, {"plan", plan}}))
      return error;
    Outputs outputs;
    if (pw_error *error = runCompiler(kCompileName, text, size, given, outputs))
      return error;
    auto lines = std::make_unique<pw_text>(outputs[CompileOutput::kRemarks]);
    if (pw_error *error =
            makePlanHandle(Plan::parse(outputs[CompileOutput::kPlan]),
                           std::move(outputs[CompileOutput::kReport]), plan))
      return error;
    if (remarks)
      *remarks = lines.release();
    return nullptr;
  });
}

pw_error *pw_explain_schedules(const char *text, size_t size,
                               const pw_compile_options *given,
                               pw_text **json) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"text", text}, {"json", json}}))
      return error;
    Outputs outputs;
    if (pw_error *error = runCompiler(kExplainName, text, size, given, outputs))
      return error;
    return makeText(std::move(outputs[CompileOutput::kReport]), json);
  });
}

pw_error *pw_plan_print(const pw_plan *plan, pw_text **text) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"plan", plan}, {"text", text}}))
      return error;
    PrintFunction *printText;
    if (pw_error *error = findFunction(kPrintName, printText))
      return error;
    watchForks();
    Outputs outputs;
    const std::string &bytes = plan->plan.bytes();
    const int code =
        printText(bytes.data(), bytes.size(), Outputs::take, &outputs);
    if (code != 0)
      return makeError(static_cast<pw_code>(code),
                       outputs[CompileOutput::kError]);
    return makeText(std::move(outputs[CompileOutput::kPlan]), text);
  });
}
