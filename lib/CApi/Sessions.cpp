//===- Sessions.cpp - Sessions of the C API -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

using namespace pathways;
using namespace pathways::capi;

/// Fills the options that all ways to open a session have.
template <typename Options> static ClientOptions readClient(const Options &o) {
  ClientOptions client;
  if (o.weight != 0)
    client.weight = o.weight;
  client.priority = o.priority;
  client.quota_bytes = o.quota_bytes;
  if (o.run_ahead != 0)
    client.run_ahead = o.run_ahead;
  client.elastic = o.elastic != 0;
  return client;
}

pw_error *pw_open(const pw_open_options *given, pw_session **session) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session}}))
      return error;
    pw_open_options o{};
    if (pw_error *error = readOptions(given, o, "pw_open_options"))
      return error;
    if (o.world != PW_THREADS && o.world != PW_SIMULATION)
      return makeError(PW_INVALID_ARGUMENT,
                       "pw_open_options: there is no world " +
                           std::to_string(o.world));
    SessionOptions options;
    if (o.name)
      options.name = o.name;
    options.topology = toString(o.topology);
    options.run.world =
        o.world == PW_SIMULATION ? RunOptions::kSim : RunOptions::kThreads;
    options.run.seed = o.seed;
    options.run.workers = o.workers;
    options.run.processes = o.processes;
    options.run.trace_events = o.trace_events;
    if (o.stall_timeout_ns != 0)
      options.run.stall_timeout_ns = o.stall_timeout_ns;
    options.run.run_kernels = o.costs_only == 0;
    options.run.link_costs = o.link_costs != 0;
    options.run.kernel_timeout_ns = o.kernel_timeout_ns;
    if (o.policy)
      options.run.policy = o.policy;
    options.run.faults = toString(o.faults);
    options.run.chaos = toString(o.chaos);
    options.run.spill.folder = toString(o.spill_folder);
    options.run.spill.bytes = o.spill_bytes;
    options.client = readClient(o);
    watchForks();
    return makeHandle(Session::open(options), session);
  });
}

pw_error *pw_connect(const char *address, const pw_connect_options *given,
                     pw_session **session) {
  return guard([&]() -> pw_error * {
    if (pw_error *error =
            requireAll({{"address", address}, {"session", session}}))
      return error;
    pw_connect_options o{};
    if (pw_error *error = readOptions(given, o, "pw_connect_options"))
      return error;
    RemoteOptions options;
    options.name = toString(o.name);
    options.key = toString(o.key);
    options.trust_loopback = o.trust_loopback != 0;
    options.chaos = toString(o.chaos);
    options.client = readClient(o);
    watchForks();
    return makeHandle(Session::connect(address, options), session);
  });
}

pw_error *pw_session_another(pw_session *session, const char *name,
                             const pw_client_options *given,
                             pw_session **another) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll(
            {{"session", session}, {"name", name}, {"another", another}}))
      return error;
    pw_client_options o{};
    if (pw_error *error = readOptions(given, o, "pw_client_options"))
      return error;
    return makeHandle(session->session.another(name, readClient(o)), another);
  });
}

pw_error *pw_session_topology(const pw_session *session, pw_text **topology) {
  return guard([&]() -> pw_error * {
    if (pw_error *error =
            requireAll({{"session", session}, {"topology", topology}}))
      return error;
    return makeText(session->session.topology(), topology);
  });
}

pw_error *pw_session_suspend(pw_session *session, const char *folder) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session}}))
      return error;
    return toError(session->session.suspend(toString(folder)));
  });
}

pw_error *pw_session_resume(pw_session *session) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session}}))
      return error;
    return toError(session->session.resume());
  });
}

pw_error *pw_session_drain(pw_session *session, const char *const *names,
                           size_t count, int64_t limit_ns) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session}}))
      return error;
    std::vector<std::string> parts;
    if (pw_error *error = readTexts(names, count, "name", parts))
      return error;
    return toError(session->session.drain(parts, limit_ns));
  });
}

pw_error *pw_session_undrain(pw_session *session, const char *const *names,
                             size_t count) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session}}))
      return error;
    std::vector<std::string> parts;
    if (pw_error *error = readTexts(names, count, "name", parts))
      return error;
    return toError(session->session.undrain(parts));
  });
}

void pw_session_free(pw_session *session) { freeHandle(session); }
