//===- Handles.cpp - State behind handles ---------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include "PlanState.h"
#include "runtime/base/error_codes.h"

using namespace pathways;

std::string Error::id() const {
  std::string_view rest = message;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const absl::string_view tag = TagOf({line.data(), line.size()});
    // Drops the space and the brackets of " [PW3101]".
    if (!tag.empty())
      return std::string(tag.substr(2, tag.size() - 3));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return "";
}

Error pathways::makeError(ErrorCode code, const absl::Status &status) {
  return Error{code, toString(status.message())};
}

Error pathways::makeMemoryError(const std::string &what,
                                const std::string &part) {
  return Error{ErrorCode::kRefused, what + ": there is no memory for " + part +
                                        Tag(ErrorId::kNoProcessMemory)};
}

Error pathways::makeError(const absl::Status &status) {
  switch (status.code()) {
  case absl::StatusCode::kInvalidArgument:
    return makeError(ErrorCode::kInvalidArgument, status);
  case absl::StatusCode::kNotFound:
    return makeError(ErrorCode::kNotFound, status);
  case absl::StatusCode::kAlreadyExists:
    return makeError(ErrorCode::kAlreadyExists, status);
  case absl::StatusCode::kInternal:
    return makeError(ErrorCode::kInternal, status);
  default:
    return makeError(ErrorCode::kRefused, status);
  }
}

Result<Array> pathways::makeArray(std::shared_ptr<Session::State> session,
                                  const absl::StatusOr<ArrayHandle> &array,
                                  ErrorCode otherwise) {
  absl::StatusOr<ArrayType> type = ArrayType();
  if (array.ok())
    type = session->client->TypeOf(*array);
  const absl::Status status = array.ok() ? type.status() : array.status();
  if (status.ok())
    return Array(std::make_shared<Array::State>(std::move(session), *array,
                                                *std::move(type)));
  return makeError(absl::IsInvalidArgument(status) ? ErrorCode::kInvalidArgument
                                                   : otherwise,
                   status);
}

Error pathways::makeArrayError(const absl::Status &status) {
  const bool isMisused =
      absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  return makeError(
      isMisused ? ErrorCode::kInvalidArgument : ErrorCode::kRunFailed, status);
}

bool pathways::lacksMemory(const absl::Status &cause,
                           const absl::Status &status) {
  return cause.ok() && absl::IsResourceExhausted(status);
}

Error pathways::makeSaveError(const absl::Status &status) {
  switch (status.code()) {
  case absl::StatusCode::kInvalidArgument:
  case absl::StatusCode::kFailedPrecondition:
    return makeError(ErrorCode::kInvalidArgument, status);
  case absl::StatusCode::kAlreadyExists:
    return makeError(ErrorCode::kAlreadyExists, status);
  case absl::StatusCode::kCancelled:
  case absl::StatusCode::kUnavailable:
  case absl::StatusCode::kDeadlineExceeded:
    return makeError(ErrorCode::kRunFailed, status);
  case absl::StatusCode::kInternal:
    return makeError(ErrorCode::kInternal, status);
  default:
    return makeError(ErrorCode::kUnwritable, status);
  }
}

Error pathways::makeLoadError(const absl::Status &status) {
  if (absl::IsDataLoss(status))
    return makeError(ErrorCode::kDamaged, status);
  if (absl::IsPermissionDenied(status))
    return makeError(ErrorCode::kInvalidArgument, status);
  return makeError(status);
}
