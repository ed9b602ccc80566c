//===- error_codes.h - Codes of errors that users meet ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message with a code ends with the code's tag, " [PW3101]". The tag survives
// every process, log and wrapping that keeps the text: code that adds text puts
// it before the message, or moves the tag to the end.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_BASE_ERROR_CODES_H_
#define RUNTIME_BASE_ERROR_CODES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace pathways {

enum class ErrorId : int {
#define PATHWAYS_ERROR(number, name, title, cause, cure) name = (number),
#include "runtime/base/error_codes.def"
#undef PATHWAYS_ERROR
};

// Returns the tag, such as " [PW3101]", which goes at the end of a message.
constexpr const char* Tag(ErrorId id) {
  switch (id) {
#define PATHWAYS_ERROR(number, name, title, cause, cure) \
  case ErrorId::name:                                    \
    return " [PW" #number "]";
#include "runtime/base/error_codes.def"
#undef PATHWAYS_ERROR
  }
  return "";
}

// Returns the tag at the end of `message`, or "" if there is none.
absl::string_view TagOf(absl::string_view message);

// Returns `message` without the tag at its end.
absl::string_view WithoutTag(absl::string_view message);

// Returns `status` with the tag appended to its message, unless it is OK or has
// a tag already.
absl::Status Coded(ErrorId id, absl::Status status);

// Returns title, cause and cure of a code such as "PW3101", in lines, or "" if
// there is no such code.
std::string ExplainError(absl::string_view code);

// Returns all codes with their titles, one per line.
std::string ListErrors();

}  // namespace pathways

#endif  // RUNTIME_BASE_ERROR_CODES_H_
