//===- read_topology.cc - Cluster from shorthand or file ------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "runtime/proto/cluster.pb.h"
#include "runtime/topology/discovery.h"
#include "runtime/topology/topology.h"

namespace pathways {
namespace {

// What is a topology itself begins with it.
constexpr absl::string_view kInlinePrefix = "textproto:";

constexpr char kForms[] =
    "expected ISLANDSxHOSTSxDEVICES such as 2x1x4 (hosts per island, devices "
    "per host), @FILE or FILE.textproto, or 'local' for this machine";

// Keeps the first error; protobuf would print them otherwise.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!text_.empty()) return;
    // Lines and columns count from 0; line -1 is the whole file.
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

// A word of the user's, short and printable.
std::string Quoted(const std::string& text) {
  constexpr size_t kMaxShown = 80;
  std::string shown = absl::CHexEscape(text.substr(0, kMaxShown));
  return absl::StrCat("'", shown, text.size() > kMaxShown ? "..." : "", "'");
}

absl::StatusOr<proto::Cluster> ParseShorthand(const std::string& spec) {
  std::vector<std::string> words = absl::StrSplit(spec, 'x');
  if (words.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("topology ", Quoted(spec), ": ", kForms));
  }
  constexpr const char* kWhat[] = {"islands", "hosts", "devices"};
  int64_t counts[3];
  int64_t product = 1;
  for (int i = 0; i < 3; ++i) {
    bool is_number = !words[i].empty();
    for (char c : words[i]) is_number &= absl::ascii_isdigit(c);
    if (!is_number) {
      return absl::InvalidArgumentError(
          absl::StrCat("topology ", Quoted(spec), ": number of ", kWhat[i],
                       " is ", Quoted(words[i]), "; ", kForms));
    }
    // Digits alone fail only when they are too many.
    if (!absl::SimpleAtoi(words[i], &counts[i])) counts[i] = INT64_MAX;
    if (counts[i] < 1 || counts[i] > kMaxDevices / product) {
      return absl::InvalidArgumentError(absl::StrCat(
          "topology ", Quoted(spec), ": number of ", kWhat[i], " is ",
          Quoted(words[i]), ", expected at least 1 and at most ", kMaxDevices,
          " devices in all"));
    }
    product *= counts[i];
  }
  proto::Cluster cluster;
  for (int64_t i = 0; i < counts[0]; ++i) {
    proto::Island* island = cluster.add_islands();
    for (int64_t h = 0; h < counts[1]; ++h) {
      proto::Host* host = island->add_hosts();
      host->mutable_devices()->Reserve(static_cast<int>(counts[2]));
      for (int64_t d = 0; d < counts[2]; ++d) host->add_devices();
    }
  }
  return cluster;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  auto failure = [&](absl::StatusCode code, const std::string& why) {
    return absl::Status(
        code, absl::StrCat("topology file ", Quoted(path), ": ", why));
  };
  if (path.find('\0') != std::string::npos) {
    return failure(absl::StatusCode::kInvalidArgument,
                   "the name has a zero byte");
  }
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    bool missing = errno == ENOENT || errno == ENOTDIR;
    return failure(missing ? absl::StatusCode::kNotFound
                           : absl::StatusCode::kInvalidArgument,
                   std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return failure(absl::StatusCode::kInvalidArgument, "not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::vector<char> chunk(1 << 16);
  while (file) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk.data(), static_cast<size_t>(file.gcount()));
    if (static_cast<int64_t>(text.size()) > kMaxTopologyFileBytes) {
      return failure(
          absl::StatusCode::kInvalidArgument,
          absl::StrCat("more than ", kMaxTopologyFileBytes, " bytes long"));
    }
  }
  if (!file.eof()) {
    return failure(absl::StatusCode::kInvalidArgument, "cannot be read");
  }
  return text;
}

}  // namespace

absl::StatusOr<proto::Cluster> ParseTopology(const std::string& text,
                                             const std::string& name) {
  proto::Cluster cluster;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text, &cluster)) {
    return absl::InvalidArgumentError(absl::StrCat(name, error.text()));
  }
  absl::Status status = CheckCluster(cluster);
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(name, ": ", status.message()));
  }
  return cluster;
}

std::string TopologySpec(const proto::Cluster& cluster) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(cluster, &text);
  return absl::StrCat(kInlinePrefix, text);
}

std::string TopologyPath(const std::string& spec) {
  if (absl::StartsWith(spec, kInlinePrefix)) return "";
  if (absl::StartsWith(spec, "@")) return spec.substr(1);
  const bool is_file =
      absl::EndsWith(spec, ".textproto") || absl::EndsWith(spec, ".pbtxt");
  return is_file ? spec : "";
}

absl::StatusOr<proto::Cluster> ReadTopology(const std::string& spec) {
  if (spec.empty() || spec == "local") return DiscoverCluster();
  if (absl::StartsWith(spec, kInlinePrefix)) {
    return ParseTopology(spec.substr(kInlinePrefix.size()), "the topology");
  }
  const std::string path = TopologyPath(spec);
  if (path.empty() && spec != "@") return ParseShorthand(spec);
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  return ParseTopology(*text, path);
}

}  // namespace pathways
