//===- Plans.cpp - Plans of the C API -------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileLibrary.h"
#include "Handles.h"
#include "lib/API/PlanState.h"

#include <algorithm>
#include <dlfcn.h>

using namespace pathways;
using namespace pathways::capi;

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Describes an argument or a result, which is in this buffer of the plan.
static pw_port describePort(const proto::Plan &plan, const std::string &name,
                            uint32_t buffer, bool isStepped) {
  const proto::Layout &layout = plan.layouts(plan.buffers(buffer).layout());
  return {name.c_str(),        static_cast<int32_t>(layout.element()),
          layout.shape_size(), layout.shape().data(),
          isStepped,           /*carried_from=*/-1};
}

/// Makes a handle of a plan.
static pw_error *makePlanHandle(Result<Plan> plan, pw_plan **handle) {
  if (!plan)
    return makeError(plan.error());
  auto made = std::make_unique<pw_plan>(*std::move(plan));
  const proto::Plan &tables = made->plan.getState()->data.tables;
  for (const proto::Argument &argument : tables.interface().arguments()) {
    if (argument.has_constant())
      continue; // callers do not pass it
    made->arguments.push_back(describePort(
        tables, argument.name(), tables.actions(argument.action()).results(0),
        argument.stepped()));
    if (argument.carried())
      made->arguments.back().carried_from =
          static_cast<int32_t>(argument.from());
  }
  for (const proto::Result &result : tables.interface().results())
    made->results.push_back(describePort(
        tables, result.name(), tables.actions(result.action()).operands(0),
        result.stepped()));
  *handle = made.release();
  return nullptr;
}

pw_error *pw_plan_read(const char *path, pw_plan **plan) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"path", path}, {"plan", plan}}))
      return error;
    return makePlanHandle(Plan::read(path), plan);
  });
}

pw_error *pw_plan_parse(const void *bytes, size_t size, pw_plan **plan) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"bytes", bytes}, {"plan", plan}}))
      return error;
    return makePlanHandle(Plan::parse({static_cast<const char *>(bytes), size}),
                          plan);
  });
}

pw_error *pw_plan_bytes(const pw_plan *plan, const void **bytes, size_t *size) {
  if (pw_error *error =
          requireAll({{"plan", plan}, {"bytes", bytes}, {"size", size}}))
    return error;
  *bytes = plan->plan.bytes().data();
  *size = plan->plan.bytes().size();
  return nullptr;
}

pw_error *pw_plan_write(const pw_plan *plan, const char *path) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"plan", plan}, {"path", path}}))
      return error;
    return toError(plan->plan.write(path));
  });
}

const char *pw_plan_program(const pw_plan *plan) {
  return plan ? plan->plan.getState()->data.tables.header().program().c_str()
              : "";
}

static size_t copyPorts(const std::vector<pw_port> &from, pw_port *ports,
                        size_t room) {
  if (ports)
    std::copy_n(from.begin(), std::min(from.size(), room), ports);
  return from.size();
}

size_t pw_plan_arguments(const pw_plan *plan, pw_port *ports, size_t room) {
  return plan ? copyPorts(plan->arguments, ports, room) : 0;
}

size_t pw_plan_results(const pw_plan *plan, pw_port *ports, size_t room) {
  return plan ? copyPorts(plan->results, ports, room) : 0;
}

void pw_plan_free(pw_plan *plan) { delete plan; }

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

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

/// Returns the function that compiles, or null and the reason.
static CompileFunction *getCompileFunction(std::string &error) {
  static std::string reason;
  static CompileFunction *const function = []() -> CompileFunction * {
    void *library = openCompileLibrary(reason);
    if (!library)
      return nullptr;
    auto *found =
        reinterpret_cast<CompileFunction *>(dlsym(library, kCompileName));
    if (!found)
      reason = std::string(kCompileLibrary) + " has no " + kCompileName +
               "; it is of another version than " PATHWAYS_VERSION;
    return found;
  }();
  error = reason;
  return function;
}

pw_error *pw_compile(const char *text, size_t size,
                     const pw_compile_options *given, pw_plan **plan,
                     pw_text **remarks) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"text", text}, {"plan", plan}}))
      return error;
    pw_compile_options options{};
    if (pw_error *error = readOptions(given, options, "pw_compile_options"))
      return error;
    std::string reason;
    CompileFunction *compile = getCompileFunction(reason);
    if (!compile)
      return makeError(PW_NOT_FOUND, reason);
    std::string outputs[3];
    auto take = [](void *context, CompileOutput output, const char *bytes,
                   size_t size) {
      static_cast<std::string *>(context)[static_cast<int>(output)].assign(
          bytes, size);
    };
    const int code = compile(text, size, &options, take, outputs);
    if (code != 0)
      return makeError(static_cast<pw_code>(code),
                       outputs[static_cast<int>(CompileOutput::kError)]);
    auto lines = std::make_unique<pw_text>(
        outputs[static_cast<int>(CompileOutput::kRemarks)]);
    if (pw_error *error = makePlanHandle(
            Plan::parse(outputs[static_cast<int>(CompileOutput::kPlan)]), plan))
      return error;
    if (remarks)
      *remarks = lines.release();
    return nullptr;
  });
}
