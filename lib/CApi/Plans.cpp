//===- Plans.cpp - Plans of the C API -------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Json.h"

#include <algorithm>
#include <memory>

using namespace pathways;
using namespace pathways::capi;

/// Describes arguments, or results; `others` are the results.
static std::vector<pw_port>
describePorts(const std::vector<PortInfo> &ports,
              const std::vector<PortInfo> &results) {
  std::vector<pw_port> described;
  for (const PortInfo &port : ports) {
    const auto from =
        std::find_if(results.begin(), results.end(), [&](const PortInfo &r) {
          return r.name == port.carried_from;
        });
    const bool isCarried = !port.carried_from.empty() && from != results.end();
    described.push_back(
        {port.name.c_str(), static_cast<int32_t>(port.element),
         static_cast<int32_t>(port.shape.size()), port.shape.data(),
         port.stepped,
         isCarried ? static_cast<int32_t>(from - results.begin()) : -1});
  }
  return described;
}

pw_error *capi::makePlanHandle(Result<Plan> plan, std::string report,
                               pw_plan **handle) {
  if (!plan)
    return makeError(plan.error());
  auto made = std::make_unique<pw_plan>();
  made->plan = *std::move(plan);
  made->report = std::move(report);
  Result<std::vector<PortInfo>> arguments = made->plan.arguments();
  if (!arguments)
    return makeError(arguments.error());
  Result<std::vector<PortInfo>> results = made->plan.results();
  if (!results)
    return makeError(results.error());
  made->argumentInfo = *std::move(arguments);
  made->resultInfo = *std::move(results);
  made->arguments = describePorts(made->argumentInfo, made->resultInfo);
  made->results = describePorts(made->resultInfo, {});
  *handle = made.release();
  return nullptr;
}

pw_error *pw_plan_read(const char *path, pw_plan **plan) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"path", path}, {"plan", plan}}))
      return error;
    return makePlanHandle(Plan::read(path), "{}", plan);
  });
}

pw_error *pw_plan_parse(const void *bytes, size_t size, pw_plan **plan) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"bytes", bytes}, {"plan", plan}}))
      return error;
    return makePlanHandle(Plan::parse({static_cast<const char *>(bytes), size}),
                          "{}", plan);
  });
}

pw_error *pw_plan_bytes(const pw_plan *plan, const void **bytes, size_t *size) {
  return guard([&]() -> pw_error * {
    if (pw_error *error =
            requireAll({{"plan", plan}, {"bytes", bytes}, {"size", size}}))
      return error;
    *bytes = plan->plan.bytes().data();
    *size = plan->plan.bytes().size();
    return nullptr;
  });
}

pw_error *pw_plan_write(const pw_plan *plan, const char *path) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"plan", plan}, {"path", path}}))
      return error;
    return toError(plan->plan.write(path));
  });
}

const char *pw_plan_program(const pw_plan *plan) {
  return plan ? plan->plan.name().c_str() : "";
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

pw_error *pw_plan_describe(const pw_plan *plan, pw_text **json) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"plan", plan}, {"json", json}}))
      return error;
    return makeText(print({{"program", plan->plan.name()},
                           {"arguments", toJsonList(plan->argumentInfo, true)},
                           {"results", toJsonList(plan->resultInfo, false)}}),
                    json);
  });
}

pw_error *pw_plan_report(const pw_plan *plan, pw_text **json) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"plan", plan}, {"json", json}}))
      return error;
    return makeText(plan->report, json);
  });
}

pw_error *pw_plan_costs(const pw_plan *plan, const char *topology,
                        int64_t steps, pw_costs *costs, pw_text **details) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"plan", plan}, {"costs", costs}}))
      return error;
    if (pw_error *error = checkOutput(costs, "pw_costs"))
      return error;
    watchForks();
    Result<PlanCosts> all =
        plan->plan.costs({.topology = toString(topology), .steps = steps});
    if (!all)
      return makeError(all.error());
    std::unique_ptr<pw_text> text;
    if (details)
      text = std::make_unique<pw_text>(print(toJson(*all)));
    const pw_costs made = {sizeof made,  all->peak_bytes, all->total_bytes,
                           all->step_ns, all->ici_bytes,  all->dcn_bytes};
    if (pw_error *error = writeOutput(costs, made, "pw_costs"))
      return error;
    if (details)
      *details = text.release();
    return nullptr;
  });
}

void pw_plan_free(pw_plan *plan) { freeHandle(plan); }
