//===- read_topology.cc - Clusters from shorthand or files ----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/text_format.h"
#include "runtime/base/error_codes.h"
#include "runtime/proto/cluster.pb.h"
#include "runtime/proto/text_file.h"
#include "runtime/topology/discovery.h"
#include "runtime/topology/topology.h"

namespace pathways {
namespace {

// Prefix of a spec that is itself the text of a topology.
constexpr absl::string_view kInlinePrefix = "textproto:";

constexpr char kForms[] =
    "expected ISLANDSxHOSTSxDEVICES such as 2x1x4 (hosts per island, devices "
    "per host), @FILE or FILE.textproto, or 'local' for this machine";

absl::StatusOr<proto::Cluster> ParseShorthand(const std::string& spec) {
  std::vector<std::string> words = absl::StrSplit(spec, 'x');
  if (words.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("topology ", QuotedWord(spec), ": ", kForms,
                     Tag(ErrorId::kTopologyText)));
  }
  constexpr const char* kWhat[] = {"islands", "hosts", "devices"};
  int64_t counts[3];
  int64_t product = 1;
  for (int i = 0; i < 3; ++i) {
    bool is_number = !words[i].empty();
    for (char c : words[i]) is_number &= absl::ascii_isdigit(c);
    if (!is_number) {
      return absl::InvalidArgumentError(absl::StrCat(
          "topology ", QuotedWord(spec), ": number of ", kWhat[i], " is ",
          QuotedWord(words[i]), "; ", kForms, Tag(ErrorId::kTopologyText)));
    }
    // A string of digits fails only if the number is too large.
    if (!absl::SimpleAtoi(words[i], &counts[i])) counts[i] = INT64_MAX;
    if (counts[i] < 1 || counts[i] > kMaxDevices / product) {
      return absl::InvalidArgumentError(absl::StrCat(
          "topology ", QuotedWord(spec), ": number of ", kWhat[i], " is ",
          QuotedWord(words[i]), ", expected at least 1 and at most ",
          kMaxDevices, " devices in all", Tag(ErrorId::kTopologyText)));
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

}  // namespace

absl::StatusOr<proto::Cluster> ParseTopology(const std::string& text,
                                             const std::string& name) {
  proto::Cluster cluster;
  if (absl::Status s = ParseText(text, name, &cluster); !s.ok()) return s;
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
  absl::StatusOr<std::string> text =
      ReadTextFile("topology file", path, kMaxTopologyFileBytes);
  if (!text.ok()) return text.status();
  return ParseTopology(*text, path);
}

}  // namespace pathways
