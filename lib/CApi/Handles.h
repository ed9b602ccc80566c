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

#include "Fork.h"

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
  std::string report; ///< JSON
  std::vector<pathways::PortInfo> argumentInfo, resultInfo;
  /// They point to the names and shapes above.
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

struct pw_slice {
  pathways::Slice slice;
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

/// Makes the error of a call in a forked child.
pw_error *makeForkError();

/// Calls `function`, which returns an error or null, and returns what it
/// returns. If memory is short, or in a forked child, returns an error instead.
template <typename Function> pw_error *guard(Function function) {
  if (isForkedChild())
    return makeForkError();
  try {
    return function();
  } catch (const std::bad_alloc &) {
    return makeError(PW_REFUSED, "this process lacks memory");
  }
}

/// Destroys the content of a handle, which may be null, except in a forked
/// child: nobody would answer there.
template <typename Handle> void freeHandle(Handle *handle) {
  if (!isForkedChild())
    delete handle;
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

/// Copies a structure that the library fills to that of the caller, which may
/// be shorter, or longer: then the rest becomes zero. `made` begins with a size
/// that is not copied. Returns an error if the caller's size is wrong.
pw_error *writeOutput(void *given, const void *made, size_t knownSize,
                      const char *what);
template <typename Output>
pw_error *writeOutput(Output *given, const Output &made, const char *what) {
  return writeOutput(given, &made, sizeof made, what);
}
/// Returns the error that writeOutput would return.
pw_error *checkOutput(const void *given, const char *what);

/// Makes a handle of a plan, or returns the error. `report` is JSON.
pw_error *makePlanHandle(Result<Plan> plan, std::string report,
                         pw_plan **handle);

/// Reads the options of launches.
pw_error *readLaunchOptions(const pw_launch_options *given,
                            LaunchOptions &options);

/// Reads a list of texts. `what` names it in errors.
pw_error *readTexts(const char *const *given, size_t count, const char *what,
                    std::vector<std::string> &texts);

/// Reads the longest wait of options, where 0 means no limit and a negative
/// number no wait.
inline int64_t toWaitNs(int64_t given) {
  return given == 0 ? -1 : given < 0 ? 0 : given;
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

/// Makes a text, or returns the error.
inline pw_error *makeText(std::string text, pw_text **handle) {
  *handle = new pw_text{std::move(text)};
  return nullptr;
}

inline pw_error *toError(const Status &status) {
  return status ? nullptr : makeError(status.error());
}

} // namespace pathways::capi

#endif // LIB_CAPI_HANDLES_H
