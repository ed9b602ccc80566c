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

/// Reason for a failure. `kInvalidProgram` and `kInvalidArgument` fail again
/// whenever they are repeated. `kNotFound`, `kUnwritable` and `kDamaged` (the
/// contents are not what was written) concern a file. `kRefused` means that
/// this plan or launch does not fit these machines (memory, devices,
/// processor), `kAlreadyExists` that a name is taken, and `kRunFailed` that a
/// run ended with its first cause. `kInternal` is a bug in Pathways.
enum class ErrorCode {
  kInvalidProgram,
  kInvalidArgument,
  kNotFound,
  kUnwritable,
  kDamaged,
  kRefused,
  kAlreadyExists,
  kRunFailed,
  kInternal,
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  /// Message for people; it names the object, and the expected and the actual
  /// value. Compiler errors have one line for each diagnostic,
  /// "file:line:column: error: ...".
  std::string message;

  /// Returns the first error id in the message: "PW3101" if a line ends with
  /// "[PW3101]". docs/errors.md and `pw-run --explain=PW3101` describe it.
  /// Returns an empty string if there is none.
  std::string id() const;
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
  const T &operator*() const & { return value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }
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
  const T &value() const {
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
