//===- read_topology_test.cc - Specifications and files -------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/topology/topology.h"

namespace pathways {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A folder that goes away with the test.
class ReadTopologyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "topologyXXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    for (const std::string& file : files_) unlink(file.c_str());
    rmdir(folder_.c_str());
  }

  std::string Write(const std::string& name, const std::string& text) {
    std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    files_.push_back(path);
    return path;
  }

  std::string folder_;
  std::vector<std::string> files_;
};

void ExpectRefused(const std::string& spec, const std::string& message) {
  absl::StatusOr<proto::Cluster> cluster = ReadTopology(spec);
  ASSERT_FALSE(cluster.ok()) << spec;
  EXPECT_TRUE(absl::IsInvalidArgument(cluster.status())) << cluster.status();
  EXPECT_THAT(std::string(cluster.status().message()), HasSubstr(message));
}

TEST_F(ReadTopologyTest, Shorthand) {
  absl::StatusOr<proto::Cluster> cluster = ReadTopology("2x3x4");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  ASSERT_EQ(cluster->islands_size(), 2);
  for (const proto::Island& island : cluster->islands()) {
    ASSERT_EQ(island.hosts_size(), 3);
    for (const proto::Host& host : island.hosts()) {
      EXPECT_EQ(host.devices_size(), 4);
    }
  }
  EXPECT_TRUE(CheckCluster(*cluster).ok());
  EXPECT_TRUE(ReadTopology("1x1x1048576").ok());
  EXPECT_TRUE(ReadTopology("01x1x1").ok());
}

TEST_F(ReadTopologyTest, BadShorthand) {
  const std::string forms =
      "expected ISLANDSxHOSTSxDEVICES such as 2x1x4 (hosts per island, devices "
      "per host), @FILE or FILE.textproto, or 'local' for this machine";
  for (const char* spec : {"4", "x", "2x", "2x2", "1x1x1x1", "cluster", " "}) {
    ExpectRefused(spec, absl::StrCat("topology '", spec, "': "));
    ExpectRefused(spec, forms);
  }
  ExpectRefused(
      "xx", "topology 'xx': number of islands is ''; " + forms + " [PW2103]");
  ExpectRefused("1x1x", "number of devices is ''");
  ExpectRefused("-1x1x1", "number of islands is '-1'; expected");
  ExpectRefused("1x+1x1", "number of hosts is '+1'");
  ExpectRefused("nanx1x1", "number of islands is 'nan'");
  ExpectRefused("1x1x1.5", "number of devices is '1.5'");
  ExpectRefused("1x1x 1", "number of devices is ' 1'");
  ExpectRefused("1X1X1", forms);
  ExpectRefused("0x1x1",
                "topology '0x1x1': number of islands is '0', expected at least "
                "1 and at most 1048576 devices in all");
  ExpectRefused("1x1x0", "number of devices is '0', expected at least 1");
  ExpectRefused("99999999999999999999x1x1",
                "number of islands is '99999999999999999999', expected");
  ExpectRefused("1x1x1048577", "at most 1048576 devices in all");
  ExpectRefused("1024x1024x2", "number of devices is '2', expected");
  ExpectRefused("4294967296x4294967296x1", "number of islands");
}

TEST_F(ReadTopologyTest, LongAndBinarySpecsAreShownShort) {
  absl::Status status = ReadTopology(std::string(1 << 20, '9')).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_LT(status.message().size(), 1000u);
  ExpectRefused(std::string("1x\0x\n", 5), "1x\\x00x\\n");
}

TEST_F(ReadTopologyTest, Files) {
  const std::string text = "islands { name: 'i' hosts { devices {} } }";
  for (const char* name : {"a.textproto", "b.pbtxt"}) {
    std::string path = Write(name, text);
    absl::StatusOr<proto::Cluster> cluster = ReadTopology(path);
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    EXPECT_EQ(cluster->islands(0).name(), "i");
  }
  std::string path = Write("cluster", text);
  EXPECT_TRUE(ReadTopology("@" + path).ok());
  ExpectRefused(path, "expected ISLANDSx");  // neither form
}

TEST_F(ReadTopologyTest, FilesThatCannotBeRead) {
  for (std::string spec : {"@" + folder_ + "/none", folder_ + "/none.textproto",
                           std::string("@")}) {
    absl::Status status = ReadTopology(spec).status();
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("topology file '"));
  }
  ExpectRefused("@" + folder_, "not a regular file");
  ExpectRefused("@/dev/zero",
                "topology file '/dev/zero': it is not a regular file");
  ExpectRefused(std::string("@a\0b", 4), "the path has a zero byte");
  std::string path = Write("huge", "");
  ASSERT_EQ(truncate(path.c_str(), kMaxTopologyFileBytes + 1), 0);
  ExpectRefused("@" + path, "more than 16777216 bytes");
  // Opens, but a read at address 0 fails.
  ExpectRefused("@/proc/self/mem", "cannot be read");
}

TEST_F(ReadTopologyTest, SyntaxErrorsSayWhereAndPrintNothing) {
  ::testing::internal::CaptureStderr();
  std::string path = Write("bad.textproto", "islands {\n  hots {} }");
  absl::Status status = ReadTopology(path).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(status.message(),
            absl::StrCat(path,
                         ":2:8: Message type \"pathways.proto.Island\" has no "
                         "field named \"hots\"."));
  EXPECT_THAT(std::string(ParseTopology("islands {", "f").status().message()),
              HasSubstr("f:1:10: "));
  EXPECT_THAT(
      std::string(
          ParseTopology("islands { shape: 1e99 }", "f").status().message()),
      HasSubstr("f:1:18: "));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), IsEmpty());
}

TEST_F(ReadTopologyTest, WrongClustersNameTheFile) {
  std::string path = Write("empty.textproto", "");
  ExpectRefused(path, path + ": the cluster has no islands");
  EXPECT_EQ(ParseTopology("islands {}", "f").status().message(),
            "f: island0: has no hosts, expected at least 1");
}

// Whatever the bytes, there is an answer.
TEST_F(ReadTopologyTest, RandomBytes) {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  const std::string good =
      "islands { shape: [1, 2] torus: [true, false] hosts { name: 'h' devices "
      "{ coordinates: [0, 0] } devices { target { cpu: 'x' } } } ici { "
      "bytes_per_second: 1e9 } }";
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    for (uint64_t n = random() % 4; n > 0; --n) {
      size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 20);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), 8));
      }
      if (text.empty()) text = " ";
    }
    absl::StatusOr<proto::Cluster> cluster = ParseTopology(text, "f");
    if (cluster.ok()) {
      ++accepted;
      EXPECT_TRUE(Topology::Create(*std::move(cluster)).ok());
    } else {
      EXPECT_TRUE(absl::IsInvalidArgument(cluster.status()));
    }
  }
  EXPECT_GT(accepted, 1000);  // a quarter are as they were
}

TEST_F(ReadTopologyTest, ASpecIsTheClusterItself) {
  auto cluster = ReadTopology("2x1x2");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  cluster->mutable_islands(1)->set_name("a\"name\"");
  const std::string spec = TopologySpec(*cluster);
  EXPECT_EQ(spec.find('\n'), std::string::npos);
  EXPECT_EQ(TopologyPath(spec), "");
  auto read = ReadTopology(spec);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->SerializeAsString(), cluster->SerializeAsString());
  EXPECT_FALSE(ReadTopology("textproto:islands {").ok());
}

}  // namespace
}  // namespace pathways
