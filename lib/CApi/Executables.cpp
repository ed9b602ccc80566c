//===- Executables.cpp - Loaded programs of the C API ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Json.h"

#include <memory>

using namespace pathways;
using namespace pathways::capi;

static pw_error *readLoadOptions(const pw_load_options *given,
                                 pw_load_options &o, LoadOptions &options) {
  if (pw_error *error = readOptions(given, o, "pw_load_options"))
    return error;
  switch (o.place) {
  case PW_AS_COMPILED:
    options.place = LoadPlace::kAsCompiled;
    break;
  case PW_ANYWHERE:
    options.place = LoadPlace::kAnywhere;
    break;
  case PW_PRESENT:
    options.place = LoadPlace::kPresent;
    break;
  default:
    return makeError(PW_INVALID_ARGUMENT,
                     "pw_load_options: there is no place " +
                         std::to_string(o.place));
  }
  options.oversubscribe = o.oversubscribe != 0;
  options.wait_ns = toWaitNs(o.wait_ns);
  options.await_devices = o.await_devices != 0;
  return nullptr;
}

pw_error *pw_load(pw_session *session, const pw_plan *plan,
                  const pw_load_options *given, pw_executable **executable) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll(
            {{"session", session}, {"plan", plan}, {"executable", executable}}))
      return error;
    pw_load_options o{};
    LoadOptions options;
    if (pw_error *error = readLoadOptions(given, o, options))
      return error;
    if (o.slice)
      return makeHandle(
          session->session.load(plan->plan, o.slice->slice, options),
          executable);
    return makeHandle(session->session.load(plan->plan, options), executable);
  });
}

pw_error *pw_load_several(pw_session *session, const pw_plan *const *plans,
                          size_t count, const pw_load_options *given,
                          pw_executable **executables) {
  return guard([&]() -> pw_error * {
    if (pw_error *error =
            requireAll({{"session", session}, {"executables", executables}}))
      return error;
    pw_load_options o{};
    LoadOptions options;
    if (pw_error *error = readLoadOptions(given, o, options))
      return error;
    if (o.slice)
      return makeError(PW_INVALID_ARGUMENT,
                       "pw_load_options: several plans cannot be loaded on a "
                       "slice together");
    std::vector<Plan> all;
    for (size_t i = 0; i < count; ++i) {
      if (!plans || !plans[i])
        return makeError(PW_INVALID_ARGUMENT,
                         "plan " + std::to_string(i) + " is null");
      all.push_back(plans[i]->plan);
    }
    Result<std::vector<Executable>> loaded =
        session->session.load(all, options);
    if (!loaded)
      return makeError(loaded.error());
    std::vector<std::unique_ptr<pw_executable>> made;
    for (Executable &executable : *loaded)
      made.push_back(
          std::make_unique<pw_executable>(pw_executable{executable}));
    for (size_t i = 0; i < made.size(); ++i)
      executables[i] = made[i].release();
    return nullptr;
  });
}

pw_error *pw_executable_describe(const pw_executable *executable,
                                 pw_text **json) {
  return guard([&]() -> pw_error * {
    if (pw_error *error =
            requireAll({{"executable", executable}, {"json", json}}))
      return error;
    const Executable &loaded = executable->executable;
    Result<std::vector<PortInfo>> arguments = loaded.arguments();
    if (!arguments)
      return makeError(arguments.error());
    Result<std::vector<PortInfo>> results = loaded.results();
    if (!results)
      return makeError(results.error());
    Result<std::vector<DeviceMemory>> memory = loaded.memory();
    if (!memory)
      return makeError(memory.error());
    Json devices = Json::array();
    for (const DeviceMemory &device : *memory)
      devices.push_back({{"device", device.device}, {"bytes", device.bytes}});
    return makeText(print({{"program", loaded.name()},
                           {"arguments", toJsonList(*arguments, true)},
                           {"results", toJsonList(*results, false)},
                           {"memory", std::move(devices)}}),
                    json);
  });
}

pw_error *pw_rebind(pw_executable *executable, const char *const *avoid,
                    size_t count) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"executable", executable}}))
      return error;
    RebindOptions options;
    if (pw_error *error = readTexts(avoid, count, "name", options.avoid))
      return error;
    return toError(executable->executable.rebind(options));
  });
}

void pw_executable_free(pw_executable *executable) { freeHandle(executable); }
