//===- Json.h - Facts of the API as JSON ------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CAPI_JSON_H
#define LIB_CAPI_JSON_H

#include "pathways/CApi.h"
#include "pathways/Execute.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace pathways::capi {

/// Keeps the order in which members are added.
using Json = nlohmann::ordered_json;

Json toJson(const Sharding &sharding);
/// The argument or result of a program; `isArgument` adds "carried_from".
Json toJson(const PortInfo &port, bool isArgument);
Json toJson(const PlanCosts &costs);
Json toJson(const DeviceInfo &device);
Json toJson(const HostInfo &host);
Json toJson(const Statistics &statistics);

/// Returns a list of what toJson makes of each value.
template <typename T, typename... Arguments>
Json toJsonList(const std::vector<T> &values, Arguments... arguments) {
  Json list = Json::array();
  for (const T &value : values)
    list.push_back(toJson(value, arguments...));
  return list;
}

/// Returns the text. Bytes of names that are no UTF-8 are replaced.
std::string print(const Json &json);

/// Reads a sharding, or returns an error that names the member.
pw_error *readSharding(const char *text, Sharding &sharding);

} // namespace pathways::capi

#endif // LIB_CAPI_JSON_H
