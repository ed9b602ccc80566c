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

std::string Error::getId() const {
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
  return Error{ErrorCode::Refused, what + ": there is no memory for " + part +
                                       Tag(ErrorId::kNoProcessMemory)};
}

Error pathways::makeError(const absl::Status &status) {
  switch (status.code()) {
  case absl::StatusCode::kInvalidArgument:
    return makeError(ErrorCode::InvalidArgument, status);
  case absl::StatusCode::kNotFound:
    return makeError(ErrorCode::NotFound, status);
  case absl::StatusCode::kAlreadyExists:
    return makeError(ErrorCode::AlreadyExists, status);
  case absl::StatusCode::kInternal:
    return makeError(ErrorCode::Internal, status);
  default:
    return makeError(ErrorCode::Refused, status);
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
  return makeError(absl::IsInvalidArgument(status) ? ErrorCode::InvalidArgument
                                                   : otherwise,
                   status);
}

Error pathways::makeArrayError(const absl::Status &status) {
  const bool isMisused =
      absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  return makeError(
      isMisused ? ErrorCode::InvalidArgument : ErrorCode::RunFailed, status);
}

bool pathways::lacksMemory(const absl::Status &cause,
                           const absl::Status &status) {
  return cause.ok() && absl::IsResourceExhausted(status);
}

Error pathways::makeSaveError(const absl::Status &status) {
  switch (status.code()) {
  case absl::StatusCode::kInvalidArgument:
  case absl::StatusCode::kFailedPrecondition:
    return makeError(ErrorCode::InvalidArgument, status);
  case absl::StatusCode::kAlreadyExists:
    return makeError(ErrorCode::AlreadyExists, status);
  case absl::StatusCode::kCancelled:
  case absl::StatusCode::kUnavailable:
  case absl::StatusCode::kDeadlineExceeded:
    return makeError(ErrorCode::RunFailed, status);
  case absl::StatusCode::kInternal:
    return makeError(ErrorCode::Internal, status);
  default:
    return makeError(ErrorCode::Unwritable, status);
  }
}

Error pathways::makeLoadError(const absl::Status &status) {
  if (absl::IsDataLoss(status))
    return makeError(ErrorCode::Damaged, status);
  if (absl::IsPermissionDenied(status))
    return makeError(ErrorCode::InvalidArgument, status);
  return makeError(status);
}

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

ElementType Array::getElement() const {
  return state ? state->type.element : ElementType::kInvalid;
}

const std::vector<int64_t> &Array::getShape() const {
  static const std::vector<int64_t> *const none = new std::vector<int64_t>;
  return state ? state->type.shape : *none;
}

bool Array::isReady() const {
  if (!state)
    return true;
  absl::StatusOr<bool> ready = state->client().IsReady(state->array);
  return !ready.ok() || *ready;
}

Status Array::await() const {
  if (!state)
    return makeEmptyError("array");
  absl::Status status = state->client().AwaitArray(state->array);
  if (!status.ok())
    return makeArrayError(status);
  return {};
}

Result<HostArray> Array::get() const {
  if (!state)
    return makeEmptyError("array");
  Client &client = state->client();
  absl::StatusOr<HostArray> array = client.Get(state->array);
  if (array.ok())
    return *std::move(array);
  if (lacksMemory(client.AwaitArray(state->array), array.status()))
    return makeError(ErrorCode::Refused, array.status());
  return makeArrayError(array.status());
}

Status Array::save(const std::string &folder) const {
  if (!state)
    return makeEmptyError("array");
  absl::Status status = state->client().AwaitArray(state->array);
  if (!status.ok())
    return makeArrayError(status);
  status = state->client().Save(state->array, folder);
  if (!status.ok())
    return makeSaveError(status);
  return {};
}

void Array::release() {
  if (state)
    (void)state->client().Release(state->array);
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

const std::vector<std::string> &Slice::devices() const {
  static const std::vector<std::string> *const none =
      new std::vector<std::string>;
  return state ? state->devices : *none;
}

void Slice::release() {
  if (state)
    (void)state->session->client->ReleaseSlice(state->slice);
}
