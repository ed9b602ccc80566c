//===- check_cluster_test.cc - One fault a case ---------------------------===//
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
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "runtime/proto/cluster.pb.h"
#include "runtime/topology/topology.h"

namespace pathways {
namespace {

using ::testing::StartsWith;

proto::Cluster Parse(const std::string& text) {
  proto::Cluster cluster;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &cluster))
      << text;
  return cluster;
}

// The message of the error; "" when there is none.
std::string ErrorOf(const std::string& text) {
  absl::Status status = CheckCluster(Parse(text));
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(CheckClusterTest, AcceptsWhatIsFine) {
  EXPECT_EQ(ErrorOf("islands { hosts { devices {} } }"), "");
  EXPECT_EQ(ErrorOf(R"(
      islands {
        name: "left" shape: [2, 2] torus: [true, false]
        hosts { name: "h0" memory_bytes: 1 address: "10.0.0.1:99"
                devices { kind: "cpu" coordinates: [1, 1] }
                devices { memory_bytes: 1125899906842624
                          target { triple: "x86_64-unknown-linux-gnu"
                                   cpu: "znver4" features: "+avx512f" }
                          coordinates: [0, 0] } }
        hosts { devices { coordinates: [0, 1] } devices { coordinates: [1, 0] } }
        ici { bytes_per_second: 1e11 latency_seconds: 1e-6 }
      }
      islands { hosts { devices {} } }
      dcn { bytes_per_second: 1e9 })"),
            "");
}

TEST(CheckClusterTest, SomethingIsMissing) {
  EXPECT_EQ(ErrorOf(""), "the cluster has no islands, expected at least 1");
  EXPECT_EQ(ErrorOf("islands { hosts { devices {} } } islands {}"),
            "island1: has no hosts, expected at least 1");
  EXPECT_EQ(ErrorOf("islands { name: 'a' hosts { devices {} } hosts {} }"),
            "a/host 1: has no devices, expected at least 1");
}

TEST(CheckClusterTest, Shapes) {
  const std::string two = " hosts { devices {} devices {} } }";
  EXPECT_EQ(ErrorOf("islands { shape: [2, 2]" + two),
            "island0: shape [2, 2] has 4 positions, but there are 2 devices");
  EXPECT_EQ(ErrorOf("islands { shape: [-1, -2]" + two),
            "island0: shape [-1, -2] does not have between 1 and 1048576 "
            "positions: its dimension -1 is below 1");
  EXPECT_EQ(ErrorOf("islands { shape: [0]" + two),
            "island0: shape [0] does not have between 1 and 1048576 positions: "
            "its dimension 0 is below 1");
  // The product does not fit 64 bits.
  EXPECT_EQ(ErrorOf("islands { shape: [2, 9223372036854775807]" + two),
            "island0: shape [2, 9223372036854775807] does not have between 1 "
            "and 1048576 positions: its dimension 9223372036854775807 is too "
            "large");
  EXPECT_EQ(ErrorOf("islands { shape: 2 torus: [true, true]" + two),
            "island0: torus has 2 entries, expected one per dimension of the "
            "shape (1)");
  std::string ones;
  for (int i = 0; i < 17; ++i) ones += " shape: 1";
  EXPECT_EQ(ErrorOf("islands {" + ones + " hosts { devices {} } }"),
            "island0: shape has 17 dimensions, expected at most 16");
}

TEST(CheckClusterTest, Coordinates) {
  auto island = [](const std::string& first, const std::string& second) {
    return absl::StrCat("islands { shape: [1, 2] hosts { devices { ", first,
                        " } } hosts { name: 'b' devices { ", second, " } } }");
  };
  EXPECT_EQ(ErrorOf(island("", "coordinates: [0, 1]")), "");
  EXPECT_EQ(ErrorOf(island("", "coordinates: 1")),
            "island0/b/device0: has 1 coordinates, expected 2 as its island "
            "has shape [1, 2]");
  EXPECT_EQ(ErrorOf(island("", "coordinates: [0, 2]")),
            "island0/b/device0: coordinate 1 is 2, expected 0 to 1");
  EXPECT_EQ(ErrorOf(island("coordinates: [-1, 0]", "")),
            "island0/host0/device0: coordinate 0 is -1, expected 0 to 0");
  EXPECT_EQ(ErrorOf(island("coordinates: [0, 1]", "coordinates: [0, 1]")),
            "island0/b/device0: is at [0, 1], where island0/host0/device0 "
            "also is");
  // Against the place that follows from the order.
  EXPECT_EQ(ErrorOf(island("coordinates: [0, 1]", "")),
            "island0/b/device0: is at [0, 1], where island0/host0/device0 "
            "also is");
}

TEST(CheckClusterTest, Links) {
  auto ici = [](const std::string& link) {
    return ErrorOf("islands { hosts { devices {} } ici { " + link + " } }");
  };
  EXPECT_EQ(ici("bytes_per_second: 0 latency_seconds: 0"), "");
  const std::string rate = "island0: ici: bytes_per_second is ";
  const std::string want = ", expected 0 (not limited) or 1 to 1e+18";
  EXPECT_EQ(ici("bytes_per_second: nan"), rate + "nan" + want);
  EXPECT_EQ(ici("bytes_per_second: inf"), rate + "inf" + want);
  EXPECT_EQ(ici("bytes_per_second: -1"), rate + "-1" + want);
  EXPECT_EQ(ici("bytes_per_second: 1e-9"), rate + "1e-09" + want);
  EXPECT_EQ(ici("bytes_per_second: 1e19"), rate + "1e+19" + want);
  const std::string latency = "island0: ici: latency_seconds is ";
  EXPECT_EQ(ici("latency_seconds: nan"), latency + "nan, expected 0 to 3600");
  EXPECT_EQ(ici("latency_seconds: inf"), latency + "inf, expected 0 to 3600");
  EXPECT_EQ(ici("latency_seconds: -1"), latency + "-1, expected 0 to 3600");
  EXPECT_EQ(ici("latency_seconds: 4000"), latency + "4000, expected 0 to 3600");
  EXPECT_EQ(ErrorOf("islands { hosts { devices {} } } "
                    "dcn { bytes_per_second: -2 }"),
            "dcn: bytes_per_second is -2" + want);
}

TEST(CheckClusterTest, Memory) {
  EXPECT_EQ(ErrorOf("islands { hosts { memory_bytes: 1125899906842625 "
                    "devices {} } }"),
            "island0/host 0: memory_bytes is 1125899906842625, expected at "
            "most 1125899906842624");
  EXPECT_EQ(ErrorOf("islands { hosts { devices { "
                    "memory_bytes: 18446744073709551615 } } }"),
            "island0/host0/device0: memory_bytes is 18446744073709551615, "
            "expected at most 1125899906842624");
}

TEST(CheckClusterTest, Names) {
  EXPECT_EQ(ErrorOf("islands { name: 'a' hosts { devices {} } } "
                    "islands { name: 'a' hosts { devices {} } }"),
            "islands 0 and 1 are both called 'a'");
  EXPECT_EQ(ErrorOf("islands { name: 'island1' hosts { devices {} } } "
                    "islands { hosts { devices {} } }"),
            "islands 0 and 1 are both called 'island1'");
  // Host names are unique over all islands.
  EXPECT_EQ(ErrorOf("islands { hosts { name: 'h' devices {} } } "
                    "islands { hosts { name: 'h' devices {} } }"),
            "hosts 0 and 1 are both called 'h'");
  EXPECT_EQ(ErrorOf("islands { hosts { name: 'host1' devices {} } "
                    "hosts { devices {} } }"),
            "hosts 0 and 1 are both called 'host1'");
  EXPECT_EQ(ErrorOf("islands { name: 'a/b' hosts { devices {} } }"),
            "island 0: name 'a/b' has '/', expected printable ASCII without "
            "spaces and '/'");
  EXPECT_EQ(ErrorOf("islands { hosts { name: 'a\\nb' devices {} } }"),
            "island0/host 0: name 'a\\nb' has '\\n', expected printable ASCII "
            "without spaces and '/'");
  EXPECT_EQ(ErrorOf("islands { hosts { address: 'a b' devices {} } }"),
            "island0/host 0: address 'a b' has ' ', expected printable ASCII "
            "without spaces");
  EXPECT_THAT(ErrorOf("islands { hosts { devices { kind: '\\377' } } }"),
              StartsWith("island0/host0/device0: kind '\\xff' has '\\xff'"));
  for (const char* field : {"triple", "cpu", "features"}) {
    EXPECT_THAT(ErrorOf(absl::StrCat("islands { hosts { devices { target { ",
                                     field, ": ' ' } } } }")),
                StartsWith("island0/host0/device0: target "));
  }
  EXPECT_EQ(ErrorOf(absl::StrCat("islands { name: '", std::string(256, 'x'),
                                 "' hosts { devices {} } }")),
            "island 0: name has 256 bytes, expected at most 255");
}

TEST(CheckClusterTest, TooManyDevices) {
  proto::Cluster cluster;
  for (int i = 0; i < 2; ++i) {
    proto::Host* host = cluster.add_islands()->add_hosts();
    for (int64_t d = 0; d < kMaxDevices / 2; ++d) host->add_devices();
  }
  EXPECT_TRUE(CheckCluster(cluster).ok());
  cluster.mutable_islands(1)->mutable_hosts(0)->add_devices();
  absl::Status status = CheckCluster(cluster);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(status.message(),
            "the cluster has 1048577 devices or more, expected at most "
            "1048576");
}

}  // namespace
}  // namespace pathways
