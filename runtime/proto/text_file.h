//===- text_file.h - Messages as text in files ------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads textproto that users write or keep, whatever it contains.
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

// Returns the contents of a regular file of at most `max_bytes` bytes. Messages
// call it `what`, such as "topology file". Returns NotFound if there is no such
// file, and InvalidArgument if it cannot be read for another reason.
absl::StatusOr<std::string> ReadTextFile(const std::string& what,
                                         const std::string& path,
                                         int64_t max_bytes);

// Parses `text`, which messages call `name`. Returns InvalidArgument, with line
// and column, if it is no such message.
absl::Status ParseText(const std::string& text, const std::string& name,
                       google::protobuf::Message* message);

// Returns a user's word in quotes, shortened and escaped for messages.
std::string QuotedWord(const std::string& text);

}  // namespace pathways

#endif  // RUNTIME_PROTO_TEXT_FILE_H_
