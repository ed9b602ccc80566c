//===- Events.cpp - Ends of runs of the C API -----------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <optional>

using namespace pathways;
using namespace pathways::capi;

pw_error *pw_events_create(pw_events **events) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll({{"events", events}}))
      return error;
    return makeHandle(EventQueue::create(), events);
  });
}

int pw_events_descriptor(const pw_events *events) {
  return events ? events->queue.descriptor() : -1;
}

pw_error *pw_events_next(pw_events *events, int64_t limit_ns, pw_event *event,
                         int *found) {
  return guard([&]() -> pw_error * {
    if (pw_error *error = requireAll(
            {{"events", events}, {"event", event}, {"found", found}}))
      return error;
    Result<std::optional<RunEvent>> next = events->queue.wait(limit_ns);
    if (!next)
      return makeError(next.error());
    *found = next->has_value();
    if (*found)
      *event = {(*next)->tag, toError((*next)->status)};
    return nullptr;
  });
}

void pw_events_free(pw_events *events) { freeHandle(events); }
