//===- Reports.cpp - Reports on clusters of the C API ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Json.h"

#include <cerrno>
#include <fstream>

using namespace pathways;
using namespace pathways::capi;

/// Writes the file that `write` writes to a stream.
template <typename Write>
static pw_error *writeFile(const char *path, Write write) {
  const auto fail = [path] {
    return makeError(PW_UNWRITABLE, std::string("cannot write '") + path +
                                        "': " + std::strerror(errno));
  };
  std::ofstream file(path, std::ios::binary);
  if (!file)
    return fail();
  if (Status status = write(file); !status)
    return makeError(status.error());
  file.close();
  return file ? nullptr : fail();
}

pw_error *pw_session_write_trace(pw_session *session, const char *path) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session}, {"path", path}}))
      return error;
    return writeFile(path, [&](std::ostream &out) {
      return session->session.writeTrace(out);
    });
  });
}

pw_error *pw_session_write_profile(pw_session *session, const pw_plan *plan,
                                   const char *path) {
  return guard([&]() -> pw_error * {
    if (pw_error *error =
            requireAll({{"session", session}, {"plan", plan}, {"path", path}}))
      return error;
    return writeFile(path, [&](std::ostream &out) {
      return session->session.writeProfile(plan->plan, out);
    });
  });
}

pw_error *pw_session_machines(pw_session *session, pw_text **json) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session}, {"json", json}}))
      return error;
    Result<std::vector<DeviceInfo>> devices = session->session.devices();
    if (!devices)
      return makeError(devices.error());
    Result<std::vector<HostInfo>> hosts = session->session.hosts();
    if (!hosts)
      return makeError(hosts.error());
    return makeText(print({{"devices", toJsonList(*devices)},
                           {"hosts", toJsonList(*hosts)}}),
                    json);
  });
}

pw_error *pw_session_statistics(pw_session *session, pw_text **json) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"session", session}, {"json", json}}))
      return error;
    Result<Statistics> statistics = session->session.statistics();
    if (!statistics)
      return makeError(statistics.error());
    return makeText(print(toJson(*statistics)), json);
  });
}
