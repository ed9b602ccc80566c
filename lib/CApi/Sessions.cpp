//===- Sessions.cpp - Sessions of the C API -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <cerrno>
#include <fstream>

using namespace pathways;
using namespace pathways::capi;

/// Fills the options that both ways to open a session have.
template <typename Options> static ClientOptions readClient(const Options &o) {
  ClientOptions client;
  if (o.weight != 0)
    client.weight = o.weight;
  client.priority = o.priority;
  client.quota_bytes = o.quota_bytes;
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
    options.client = readClient(o);
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
    options.client = readClient(o);
    return makeHandle(Session::connect(address, options), session);
  });
}

pw_error *pw_session_topology(const pw_session *session, pw_text **topology) {
  return guard([&]() -> pw_error * {
    if (pw_error *error =
            requireAll({{"session", session}, {"topology", topology}}))
      return error;
    *topology = new pw_text{session->session.topology()};
    return nullptr;
  });
}

pw_error *pw_session_write_trace(pw_session *session, const char *path) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session}, {"path", path}}))
      return error;
    std::ofstream file(path, std::ios::binary);
    if (!file)
      return makeError(PW_UNWRITABLE, std::string("cannot write '") + path +
                                          "': " + std::strerror(errno));
    if (Status status = session->session.writeTrace(file); !status)
      return makeError(status.error());
    file.close();
    if (!file)
      return makeError(PW_UNWRITABLE, std::string("cannot write '") + path +
                                          "': " + std::strerror(errno));
    return nullptr;
  });
}

void pw_session_free(pw_session *session) { delete session; }
