//===- Json.cpp - Facts of the API as JSON --------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include "Handles.h"

#include <array>
#include <optional>

using namespace pathways;
using namespace pathways::capi;

/// Names of Sharding::Reduction, in its order.
static constexpr std::array<const char *, 10> kReductions = {
    "none", "add", "mul", "max", "min", "umax", "umin", "and", "or", "xor"};

Json capi::toJson(const Sharding &sharding) {
  Json mesh = Json::array();
  for (const Sharding::Axis &axis : sharding.mesh)
    mesh.push_back({axis.name, axis.size});
  return {{"mesh", std::move(mesh)},
          {"devices", sharding.devices},
          {"dims", sharding.dims},
          {"partial", sharding.partial_axes},
          {"reduction", kReductions[static_cast<size_t>(sharding.reduction)]}};
}

Json capi::toJson(const PortInfo &port, bool isArgument) {
  Json json = {{"name", port.name},
               {"element", elementName(port.element)},
               {"shape", port.shape},
               {"stepped", port.stepped}};
  if (isArgument)
    json["carried_from"] =
        port.carried_from.empty() ? Json() : Json(port.carried_from);
  json["sharding"] = toJson(port.sharding);
  return json;
}

static Json toJson(const DeviceCosts &costs) {
  const MemoryParts &memory = costs.memory;
  return {{"device", costs.device},
          {"peak_bytes", costs.peak_bytes},
          {"memory",
           {{"one_step", memory.one_step},
            {"credits", memory.credits},
            {"kept", memory.kept},
            {"alignment", memory.alignment},
            {"packing", memory.packing},
            {"scratch", memory.scratch}}},
          {"shards", costs.shards},
          {"gangs", costs.gangs},
          {"busy_ns", costs.busy_ns}};
}

Json capi::toJson(const PlanCosts &costs) {
  Json json = {{"peak_bytes", costs.peak_bytes},
               {"total_bytes", costs.total_bytes},
               {"step_ns", costs.step_ns},
               {"ici_bytes", costs.ici_bytes},
               {"dcn_bytes", costs.dcn_bytes}};
  json["devices"] = Json::array();
  for (const DeviceCosts &device : costs.devices)
    json["devices"].push_back(::toJson(device));
  json["links"] = Json::array();
  for (const LinkCosts &link : costs.links)
    json["links"].push_back(
        {{"from", link.from}, {"to", link.to}, {"bytes", link.bytes}});
  json["copied"] = Json::array();
  for (const CopiedArgument &copied : costs.copied)
    json["copied"].push_back(
        {{"argument", copied.argument}, {"bytes", copied.bytes}});
  json["not_counted"] = costs.not_counted;
  return json;
}

Json capi::toJson(const DeviceInfo &device) {
  return {{"name", device.name},
          {"kind", device.kind},
          {"cpu", device.cpu},
          {"island", device.island},
          {"host", device.host},
          {"index", device.index},
          {"memory_bytes", device.memory_bytes},
          {"used_bytes", device.used_bytes},
          {"peak_bytes", device.peak_bytes},
          {"is_available", device.is_available}};
}

Json capi::toJson(const HostInfo &host) {
  return {{"name", host.name},
          {"memory_bytes", host.memory_bytes},
          {"used_bytes", host.used_bytes},
          {"array_bytes", host.array_bytes}};
}

Json capi::toJson(const Statistics &statistics) {
  Json json = {{"programs", statistics.programs},
               {"steps_done", statistics.steps_done},
               {"firings", statistics.firings},
               {"array_bytes", statistics.array_bytes},
               {"gathered_bytes", statistics.gathered_bytes},
               {"received_bytes", statistics.received_bytes},
               {"controller_messages", statistics.controller_messages},
               {"plan_bytes_sent", statistics.plan_bytes_sent},
               {"events", statistics.events},
               {"now_ns", statistics.now_ns}};
  json["devices"] = Json::array();
  for (const Statistics::Device &device : statistics.devices)
    json["devices"].push_back({{"name", device.name},
                               {"used_bytes", device.used_bytes},
                               {"peak_bytes", device.peak_bytes},
                               {"kernels_run", device.kernels_run},
                               {"gangs_run", device.gangs_run},
                               {"fed_bytes", device.fed_bytes},
                               {"fetched_bytes", device.fetched_bytes},
                               {"moved_bytes", device.moved_bytes},
                               {"busy_ns", device.busy_ns},
                               {"waiting_ns", device.waiting_ns}});
  json["hosts"] = Json::array();
  for (const Statistics::Host &host : statistics.hosts)
    json["hosts"].push_back({{"name", host.name},
                             {"messages_sent", host.messages_sent},
                             {"bytes_sent", host.bytes_sent},
                             {"memory_used_bytes", host.memory_used_bytes},
                             {"array_bytes", host.array_bytes},
                             {"spilled_bytes", host.spilled_bytes}});
  return json;
}

std::string capi::print(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

static pw_error *refuse(const std::string &what) {
  return makeError(PW_INVALID_ARGUMENT, "the sharding " + what);
}

/// Reads a list of texts, or returns nullopt.
static std::optional<std::vector<std::string>> readNames(const Json &json) {
  std::vector<std::string> names;
  if (!json.is_array())
    return std::nullopt;
  for (const Json &name : json) {
    if (!name.is_string())
      return std::nullopt;
    names.push_back(name.get<std::string>());
  }
  return names;
}

static pw_error *readMesh(const Json &json, Sharding &sharding) {
  if (!json.is_array())
    return refuse("has a \"mesh\" that is no list of axes");
  for (const Json &axis : json) {
    if (!axis.is_array() || axis.size() != 2 || !axis[0].is_string() ||
        !axis[1].is_number_integer())
      return refuse("has the axis " + print(axis) +
                    ", expected [\"NAME\", SIZE]");
    sharding.mesh.push_back(
        {axis[0].get<std::string>(), axis[1].get<int64_t>()});
  }
  return nullptr;
}

static pw_error *readDims(const Json &json, Sharding &sharding) {
  if (!json.is_array())
    return refuse("has \"dims\" that are no list");
  for (const Json &dim : json) {
    std::optional<std::vector<std::string>> axes = readNames(dim);
    if (!axes)
      return refuse("has the dimension " + print(dim) +
                    ", expected a list of axes");
    sharding.dims.push_back(*std::move(axes));
  }
  return nullptr;
}

static pw_error *readReduction(const Json &json, Sharding &sharding) {
  for (size_t i = 0; i < kReductions.size(); ++i) {
    if (json != kReductions[i])
      continue;
    sharding.reduction = static_cast<Sharding::Reduction>(i);
    return nullptr;
  }
  return refuse("has the reduction " + print(json) +
                ", expected one such as \"add\"");
}

static pw_error *readMember(const std::string &name, const Json &json,
                            Sharding &sharding) {
  if (name == "mesh")
    return readMesh(json, sharding);
  if (name == "dims")
    return readDims(json, sharding);
  if (name == "reduction")
    return readReduction(json, sharding);
  if (name != "devices" && name != "partial")
    return refuse("has an unknown member \"" + name + "\"");
  std::optional<std::vector<std::string>> names = readNames(json);
  if (!names)
    return refuse("has \"" + name + "\" that are no list of names");
  (name == "devices" ? sharding.devices : sharding.partial_axes) =
      *std::move(names);
  return nullptr;
}

/// Returns true if the text is nested deeper than any sharding. To print such a
/// text takes stack.
static bool isDeep(const char *text) {
  int depth = 0;
  for (; *text && depth <= 8; ++text)
    depth += (*text == '[' || *text == '{') - (*text == ']' || *text == '}');
  return depth > 8;
}

pw_error *capi::readSharding(const char *text, Sharding &sharding) {
  if (isDeep(text))
    return refuse("is nested too deeply");
  const Json json =
      Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return refuse("is no JSON object: " + std::string(text).substr(0, 80));
  for (const auto &[name, value] : json.items())
    if (pw_error *error = readMember(name, value, sharding))
      return error;
  return nullptr;
}
