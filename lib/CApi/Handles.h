//===- Handles.h - Contents of the handles of the C API ---------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CAPI_HANDLES_H
#define LIB_CAPI_HANDLES_H

#include "pathways/CApi.h"
#include "pathways/Execute.h"

#include <cstring>
#include <new>
#include <string>
#include <vector>

struct pw_error {
  pw_code code;
  std::string message, id;
};

struct pw_text {
  std::string text;
};

struct pw_plan {
  pathways::Plan plan;
  /// The ports point to the names and shapes in the plan.
  std::vector<pw_port> arguments, results;
};

struct pw_session {
  pathways::Session session;
};

struct pw_executable {
  pathways::Executable executable;
};

struct pw_run {
  pathways::Run run;
};

struct pw_array {
  pathways::Array array;
};

struct pw_view {
  pathways::ArrayView view;
};

struct pw_events {
  pathways::EventQueue queue;
};

namespace pathways::capi {

/// Returns an error for the caller to free. If there is no memory for it,
/// returns one that says so and is never freed.
pw_error *makeError(pw_code code, const std::string &message);
pw_error *makeError(const Error &error);

/// Calls `function`, which returns an error or null, and returns what it
/// returns. If memory is short, returns an error instead.
template <typename Function> pw_error *guard(Function function) {
  try {
    return function();
  } catch (const std::bad_alloc &) {
    return makeError(PW_REFUSED, "this process lacks memory");
  }
}

/// Returns an error if one of the pointers is null: {"name", pointer}, ...
struct Given {
  const char *name;
  const void *pointer;
};
pw_error *requireAll(std::initializer_list<Given> given);

/// Copies the options that the caller gave to `options`, whose other fields
/// stay as they are. Returns an error if the caller has fields that are not
/// zero and not known here.
pw_error *readOptions(const void *given, void *options, size_t knownSize,
                      const char *what);
template <typename Options>
pw_error *readOptions(const Options *given, Options &options,
                      const char *what) {
  return readOptions(given, &options, sizeof options, what);
}

/// Returns the string, or "" for null.
inline std::string toString(const char *text) { return text ? text : ""; }

/// Makes a handle of the value in `result`, or returns its error.
template <typename Handle, typename T>
pw_error *makeHandle(Result<T> result, Handle **handle) {
  if (!result)
    return makeError(result.error());
  *handle = new Handle{*std::move(result)};
  return nullptr;
}

/// Returns the error of a wait with a limit, which returns false if the limit
/// has passed. `what` names what has not ended.
inline pw_error *toError(const Result<bool> &ended, const char *what,
                         int64_t limitNs) {
  if (!ended)
    return makeError(ended.error());
  return *ended ? nullptr
                : makeError(PW_TIMED_OUT, std::string(what) +
                                              " has not ended after " +
                                              std::to_string(limitNs) + " ns");
}

inline pw_error *toError(const Status &status) {
  return status ? nullptr : makeError(status.error());
}

} // namespace pathways::capi

#endif // LIB_CAPI_HANDLES_H
