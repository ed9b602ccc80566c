//===- text_file.h - Messages as text in files ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads what users write or keep as textproto, whatever is in it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROTO_TEXT_FILE_H_
#define RUNTIME_PROTO_TEXT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

namespace pathways {

// What is in a regular file of at most `max_bytes`; `what` it is, for messages:
// "topology file". NotFound: there is none; InvalidArgument: another reason.
absl::StatusOr<std::string> ReadTextFile(const std::string& what,
                                         const std::string& path,
                                         int64_t max_bytes);

// Reads `text`, which messages call `name`. InvalidArgument, with line and
// column, when it is no such message.
absl::Status ParseText(const std::string& text, const std::string& name,
                       google::protobuf::Message* message);

// A word of the user's in quotes, short and printable.
std::string QuotedWord(const std::string& text);

}  // namespace pathways

#endif  // RUNTIME_PROTO_TEXT_FILE_H_
