//===- text_file.cc - Messages as text in files ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/proto/text_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

namespace pathways {
namespace {

// Keeps the first error, which protobuf would otherwise print.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!text_.empty()) return;
    // Lines and columns count from 0; line -1 stands for the whole file.
    text_ = line < 0
                ? absl::StrCat(": ", message)
                : absl::StrCat(":", line + 1, ":", column + 1, ": ", message);
  }
  void AddWarning(int, google::protobuf::io::ColumnNumber,
                  const std::string&) override {}

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string QuotedWord(const std::string& text) {
  constexpr size_t kMaxShown = 80;
  std::string shown = absl::CHexEscape(text.substr(0, kMaxShown));
  return absl::StrCat("'", shown, text.size() > kMaxShown ? "..." : "", "'");
}

absl::StatusOr<std::string> ReadTextFile(const std::string& what,
                                         const std::string& path,
                                         int64_t max_bytes) {
  auto failure = [&](absl::StatusCode code, const std::string& why) {
    return absl::Status(code,
                        absl::StrCat(what, " ", QuotedWord(path), ": ", why));
  };
  if (path.find('\0') != std::string::npos) {
    return failure(absl::StatusCode::kInvalidArgument,
                   "the path has a zero byte");
  }
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    bool missing = errno == ENOENT || errno == ENOTDIR;
    return failure(missing ? absl::StatusCode::kNotFound
                           : absl::StatusCode::kInvalidArgument,
                   std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return failure(absl::StatusCode::kInvalidArgument,
                   "it is not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::vector<char> chunk(1 << 16);
  while (file) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk.data(), static_cast<size_t>(file.gcount()));
    if (static_cast<int64_t>(text.size()) > max_bytes) {
      return failure(absl::StatusCode::kInvalidArgument,
                     absl::StrCat("it has more than ", max_bytes, " bytes"));
    }
  }
  if (!file.eof()) {
    return failure(absl::StatusCode::kInvalidArgument, "it cannot be read");
  }
  return text;
}

absl::Status ParseText(const std::string& text, const std::string& name,
                       google::protobuf::Message* message) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (parser.ParseFromString(text, message)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, error.text()));
}

}  // namespace pathways
