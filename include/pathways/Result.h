//===- Result.h - A value or an error, without exceptions -------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the functions of the public API return. Only the standard library is
// needed to use it.
//
//===----------------------------------------------------------------------===//

#ifndef PATHWAYS_RESULT_H
#define PATHWAYS_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace pathways {

/// Why a call failed. `InvalidProgram` and `InvalidArgument` always will;
/// `NotFound`, `Unwritable` and `Damaged` (it is not what was written) name a
/// file; `Refused` means that this plan or
/// launch does not fit these machines (memory, devices, processor),
/// `AlreadyExists` that a name is taken, and `RunFailed` that a run ended with
/// its first cause; `Internal` is a bug of ours.
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
  /// For a person; names the thing and both values. Compiler errors carry one
  /// line for each diagnostic, "file:line:column: error: ...".
  std::string message;

  /// "PW3101" of a message with a line that ends with "[PW3101]", which
  /// docs/errors.md and `pw-run --explain=PW3101` say more of; the first one.
  /// Empty when there is none.
  std::string getId() const;
};

/// A `T`, or the error that prevented one. `[[nodiscard]]`: look at it.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : storedValue(std::move(value)) {}
  Result(Error error) : storedError(std::move(error)) {}

  explicit operator bool() const { return storedValue.has_value(); }
  /// Only when there is a value.
  T &operator*() & { return value(); }
  T &&operator*() && { return std::move(value()); }
  T *operator->() { return &value(); }
  /// Only when there is none.
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

/// Nothing, or an error.
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
