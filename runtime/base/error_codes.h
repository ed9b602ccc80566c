//===- error_codes.h - Codes of errors that users meet ----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message that has a code ends with its tag, " [PW3101]", so that it survives
// every process, log and wrapping that keeps the text: who adds text puts it in
// front, or moves the tag behind it.
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

// " [PW3101]", to be put last.
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

// The tag that a message ends with; "" when there is none.
absl::string_view TagOf(absl::string_view message);

// The message in front of that.
absl::string_view WithoutTag(absl::string_view message);

// An error with the tag behind its message, unless it has one already. OK stays
// OK.
absl::Status Coded(ErrorId id, absl::Status status);

// Title, cause and cure of "PW3101", in lines; "" when there is no such code.
std::string ExplainError(absl::string_view code);

// All codes with their titles, one a line.
std::string ListErrors();

}  // namespace pathways

#endif  // RUNTIME_BASE_ERROR_CODES_H_
