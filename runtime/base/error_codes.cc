//===- error_codes.cc - Codes of errors that users meet -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/error_codes.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace pathways {
namespace {

constexpr size_t kColumns = 80;

struct Entry {
  absl::string_view code, title, cause, cure;
};

constexpr Entry kEntries[] = {
#define PATHWAYS_ERROR(number, name, title, cause, cure) \
  {"PW" #number, title, cause, cure},
#include "runtime/base/error_codes.def"
#undef PATHWAYS_ERROR
};

// Returns `text` after the word `head`, in lines that are indented alike.
std::string Paragraph(absl::string_view head, absl::string_view text) {
  const std::string indent(head.size(), ' ');
  std::string out(head);
  size_t column = head.size();
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    if (column + 1 + word.size() > kColumns) {
      absl::StrAppend(&out, "\n", indent);
      column = indent.size();
    }
    absl::StrAppend(&out, " ", word);
    column += 1 + word.size();
  }
  return out;
}

}  // namespace

absl::string_view TagOf(absl::string_view message) {
  constexpr absl::string_view kForm = " [PW0000]";
  if (message.size() < kForm.size()) return "";
  const absl::string_view tag = message.substr(message.size() - kForm.size());
  const bool is_tag = std::equal(
      tag.begin(), tag.end(), kForm.begin(), [](char has, char expected) {
        return expected == '0' ? absl::ascii_isdigit(has) : has == expected;
      });
  return is_tag ? tag : "";
}

absl::string_view WithoutTag(absl::string_view message) {
  return message.substr(0, message.size() - TagOf(message).size());
}

absl::Status Coded(ErrorId id, absl::Status status) {
  if (status.ok() || !TagOf(status.message()).empty()) return status;
  absl::Status coded(status.code(), absl::StrCat(status.message(), Tag(id)));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    coded.SetPayload(type, payload);
  });
  return coded;
}

std::string ExplainError(absl::string_view code) {
  for (const Entry& entry : kEntries) {
    if (entry.code != code) continue;
    return absl::StrCat(entry.code, ": ", entry.title, "\n\n",
                        Paragraph("Cause:", entry.cause), "\n\n",
                        Paragraph("Cure: ", entry.cure), "\n");
  }
  return "";
}

std::string ListErrors() {
  std::string out;
  for (const Entry& entry : kEntries) {
    absl::StrAppend(&out, entry.code, "  ", entry.title, "\n");
  }
  return out;
}

}  // namespace pathways
