//===- Result.h - A value or an error, without exceptions -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Return types of the public API. They need only the standard library.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_RESULT_H
#define PATHWAYS_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace pathways {

/// Reason for a failure. `InvalidProgram` and `InvalidArgument` fail again
/// whenever they are repeated. `NotFound`, `Unwritable` and `Damaged` (the
/// contents are not what was written) concern a file. `Refused` means that this
/// plan or launch does not fit these machines (memory, devices, processor),
/// `AlreadyExists` that a name is taken, and `RunFailed` that a run ended with
/// its first cause. `Internal` is a bug in Pathways.
enum class ErrorCode {
  InvalidProgram,
  InvalidArgument,
  NotFound,
  Unwritable,
  Damaged,
  Refused,
  AlreadyExists,
  RunFailed,
  Internal,
};

struct Error {
  ErrorCode code = ErrorCode::Internal;
  /// Message for people; it names the object, and the expected and the actual
  /// value. Compiler errors have one line for each diagnostic,
  /// "file:line:column: error: ...".
  std::string message;

  /// Returns the first error id in the message: "PW3101" if a line ends with
  /// "[PW3101]". docs/errors.md and `pw-run --explain=PW3101` describe it.
  /// Returns an empty string if there is none.
  std::string getId() const;
};

/// A `T`, or the error that prevented it. `[[nodiscard]]`: check it.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : storedValue(std::move(value)) {}
  Result(Error error) : storedError(std::move(error)) {}

  explicit operator bool() const { return storedValue.has_value(); }
  /// Requires that there is a value.
  T &operator*() & { return value(); }
  T &&operator*() && { return std::move(value()); }
  T *operator->() { return &value(); }
  /// Requires that there is no value.
  const Error &error() const {
    assert(!storedValue && "error() of a result that has a value");
    return storedError;
  }

private:
  T &value() {
    assert(storedValue && "value of a result that has an error");
    return *storedValue;
  }

  std::optional<T> storedValue;
  Error storedError;
};

/// Success, or an error.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : storedError(std::move(error)) {}

  explicit operator bool() const { return !storedError.has_value(); }
  const Error &error() const {
    assert(storedError && "error() of a success");
    return *storedError;
  }

private:
  std::optional<Error> storedError;
};

} // namespace pathways

#endif // PATHWAYS_RESULT_H
