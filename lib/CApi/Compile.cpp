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
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

using namespace pathways;
using namespace pathways::capi;

using Json = nlohmann::ordered_json;

static pw_code toCode(const Error &error) {
  return static_cast<pw_code>(static_cast<int>(error.code) + 1);
}

static Json toJson(const KernelCost &kernel) {
  Json paths = Json::array();
  for (const OpPath &path : kernel.paths)
    paths.push_back(
        {{"place", path.place}, {"op", path.op}, {"path", path.path}});
  return {{"kernel", kernel.kernel},
          {"is_cached", kernel.is_cached},
          {"seconds", kernel.seconds},
          {"paths", std::move(paths)}};
}

static Json toJson(const ReshardChoice &choice) {
  Json routes = Json::array();
  for (const ReshardRoute &route : choice.routes)
    routes.push_back({{"steps", route.steps},
                      {"num_steps", route.num_steps},
                      {"ici_bytes", route.ici_bytes},
                      {"dcn_bytes", route.dcn_bytes},
                      {"host_bytes", route.host_bytes},
                      {"peak_bytes", route.peak_bytes},
                      {"nanoseconds", route.nanoseconds},
                      {"is_counted", route.is_counted}});
  return {{"place", choice.place},
          {"from", choice.from},
          {"to", choice.to},
          {"routes", std::move(routes)}};
}

static Json toJson(const ImportedKind &kind) {
  Json became = Json::array();
  for (const auto &[op, count] : kind.became)
    became.push_back({{"op", op}, {"count", count}});
  return {
      {"op", kind.op}, {"count", kind.count}, {"became", std::move(became)}};
}

static Json toJson(const LoopOrder &order) {
  return {{"place", order.place},
          {"schedule", order.schedule},
          {"order", order.order}};
}

static Json toJson(const ScheduleCosts &costs) {
  if (!costs.fits())
    return {{"schedule", costs.schedule}, {"misfit", costs.misfit}};
  Json devices = Json::array();
  for (const ScheduleDevice &device : costs.devices)
    devices.push_back({{"device", device.device},
                       {"peak_bytes", device.peak_bytes},
                       {"memory_bytes", device.memory_bytes},
                       {"parameter_bytes", device.parameter_bytes},
                       {"kept_bytes", device.kept_bytes},
                       {"arriving_bytes", device.arriving_bytes}});
  return {
      {"schedule", costs.schedule},    {"misfit", nullptr},
      {"step_ns", costs.step_ns},      {"period_ns", costs.period_ns},
      {"bubble", costs.bubble},        {"period_bubble", costs.period_bubble},
      {"ici_bytes", costs.ici_bytes},  {"dcn_bytes", costs.dcn_bytes},
      {"devices", std::move(devices)}, {"estimated", costs.estimated}};
}

template <typename T> static Json toJsonList(const std::vector<T> &values) {
  Json list = Json::array();
  for (const T &value : values)
    list.push_back(toJson(value));
  return list;
}

/// Returns what pw_plan_report promises.
static std::string makeReport(const Compiled &compiled) {
  const DonatedArguments &donated = compiled.donated;
  const Json report = {{"remarks", compiled.remarks},
                       {"donated",
                        {{"count", donated.count},
                         {"first", donated.first},
                         {"carry", donated.carry}}},
                       {"kernels", toJsonList(compiled.kernels)},
                       {"reshards", toJsonList(compiled.reshards)},
                       {"imported", toJsonList(compiled.imported)},
                       {"orders", toJsonList(compiled.orders)}};
  return report.dump(-1, ' ', false, Json::error_handler_t::replace);
}

static std::string toString(const char *text, const char *fallback = "") {
  return text ? text : fallback;
}

/// Returns the parts of a list with commas between; none for null or "".
static std::vector<std::string> splitList(const char *text) {
  std::vector<std::string> parts;
  std::istringstream list(toString(text));
  for (std::string part; std::getline(list, part, ',');)
    parts.push_back(part);
  return parts;
}

/// Returns the options, or an error if one is out of range.
static Result<CompileOptions> readOptions(const pw_compile_options &given) {
  CompileOptions options;
  options.topology = toString(given.topology);
  options.mesh = toString(given.mesh);
  options.program = toString(given.program);
  options.kernel_cache = toString(given.kernel_cache);
  options.oversubscribe = given.oversubscribe != 0;
  if (given.steps_in_flight != 0)
    options.steps_in_flight = given.steps_in_flight;
  options.import_options = {toString(given.carry), toString(given.stepped),
                            toString(given.elided), toString(given.assign),
                            toString(given.slices)};
  switch (given.rounding) {
  case PW_ROUND_EACH_OP:
    break;
  case PW_ROUND_STRICT:
    options.rounding = Rounding::kStrict;
    break;
  case PW_ROUND_EXCESS:
    options.rounding = Rounding::kExcess;
    break;
  default:
    return Error{ErrorCode::kInvalidArgument,
                 "pw_compile_options: there is no rounding " +
                     std::to_string(given.rounding)};
  }
  options.profile = toString(given.profile);
  if (given.kernel_cache_bytes != 0)
    options.kernel_cache_bytes = given.kernel_cache_bytes;
  options.schedule = toString(given.schedule);
  options.label_costs = splitList(given.label_costs);
  options.explain_shardings = given.explain & PW_EXPLAIN_SHARDINGS;
  options.explain_reshards = given.explain & PW_EXPLAIN_RESHARDS;
  options.explain_kernels = given.explain & PW_EXPLAIN_KERNELS;
  options.explain_import = given.explain & PW_EXPLAIN_IMPORT;
  options.explain_credits = given.explain & PW_EXPLAIN_CREDITS;
  return options;
}

/// Calls `run` with the program and its options. `run` hands over outputs and
/// returns an error or none.
template <typename Run>
static int guardCompiler(const char *text, size_t size,
                         const pw_compile_options &given, TakeOutput *take,
                         void *context, Run run) {
  auto fail = [&](pw_code code, const std::string &message) {
    take(context, CompileOutput::kError, message.data(), message.size());
    return static_cast<int>(code);
  };
  try {
    const Program program{{text, size},
                          toString(given.file_name, "program.mlir")};
    const Result<CompileOptions> options = readOptions(given);
    if (!options)
      return fail(toCode(options.error()), options.error().message);
    if (const Status done = run(program, *options); !done)
      return fail(toCode(done.error()), done.error().message);
    return 0;
  } catch (const std::bad_alloc &) {
    return fail(PW_REFUSED, "this process lacks memory");
  }
}

extern "C" int pw_compile_to_bytes_2(const char *text, size_t size,
                                     const pw_compile_options *given,
                                     TakeOutput *take, void *context) {
  auto run = [&](const Program &program,
                 const CompileOptions &options) -> Status {
    const Result<Compiled> compiled = compile(program, options);
    if (!compiled)
      return compiled.error();
    std::string remarks;
    for (const std::string &remark : compiled->remarks)
      remarks += remark + "\n";
    const std::string &bytes = compiled->plan.bytes();
    take(context, CompileOutput::kPlan, bytes.data(), bytes.size());
    take(context, CompileOutput::kRemarks, remarks.data(), remarks.size());
    const std::string report = makeReport(*compiled);
    take(context, CompileOutput::kReport, report.data(), report.size());
    return {};
  };
  return guardCompiler(text, size, *given, take, context, run);
}

extern "C" int pw_explain_schedules_to_json_2(const char *text, size_t size,
                                              const pw_compile_options *given,
                                              TakeOutput *take, void *context) {
  auto run = [&](const Program &program,
                 const CompileOptions &options) -> Status {
    const Result<std::vector<ScheduleCosts>> costs =
        explainSchedules(program, options);
    if (!costs)
      return costs.error();
    const std::string json =
        toJsonList(*costs).dump(-1, ' ', false, Json::error_handler_t::replace);
    take(context, CompileOutput::kReport, json.data(), json.size());
    return {};
  };
  return guardCompiler(text, size, *given, take, context, run);
}

extern "C" int pw_print_plan_2(const char *bytes, size_t size, TakeOutput *take,
                               void *context) {
  auto fail = [&](pw_code code, const std::string &message) {
    take(context, CompileOutput::kError, message.data(), message.size());
    return static_cast<int>(code);
  };
  try {
    Result<Plan> plan = Plan::parse({bytes, size});
    if (!plan)
      return fail(toCode(plan.error()), plan.error().message);
    const Result<std::string> text = printPlan(*plan);
    if (!text)
      return fail(toCode(text.error()), text.error().message);
    take(context, CompileOutput::kPlan, (*text).data(), (*text).size());
    return 0;
  } catch (const std::bad_alloc &) {
    return fail(PW_REFUSED, "this process lacks memory");
  }
}
