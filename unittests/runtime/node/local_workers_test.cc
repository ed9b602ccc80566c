//===- local_workers_test.cc - Clusters in processes of their own ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/local_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/node/coordinator.h"
#include "runtime/transport/socket_transport.h"

namespace pathways {
namespace {

using Code = absl::StatusCode;

LocalOptions Processes(int processes,
                       const std::string& pw_node = PATHWAYS_PW_NODE) {
  LocalOptions local;
  local.processes = processes;
  local.pw_node = pw_node;
  local.start_timeout = absl::Minutes(5);  // what never comes is told before
  return local;
}

auto Start(const std::string& topology, const LocalOptions& local,
           const ClusterOptions& options = {}) {
  return LocalWorkers::Start(*ReadTopology(topology), options, local);
}

void ExpectNoChildren() {
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

void ExpectHostsInOtherProcesses(RunOptions::WorkerLinks links) {
  ClusterOptions options;
  options.worker_links = links;
  auto workers = Start("2x2x1", Processes(3), options);
  ASSERT_TRUE(workers.ok()) << workers.status();
  auto client = (*workers)->cluster().Connect("c");
  ASSERT_TRUE(client.ok()) << client.status();
  auto stats = (*client)->Stats();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->hosts.size(), 4u);
  client->reset();
  workers->reset();
  ExpectNoChildren();
}

TEST(LocalWorkersTest, HostsAreInOtherProcesses) {
  ExpectHostsInOtherProcesses(RunOptions::kSockets);
}

#ifdef PATHWAYS_HAS_UCX
TEST(LocalWorkersTest, HostsInOtherProcessesSpeakUcx) {
  ExpectHostsInOtherProcesses(RunOptions::kSharedMemory);
  ExpectHostsInOtherProcesses(RunOptions::kTcp);
}
#else
TEST(LocalWorkersTest, HostsThatCannotSpeakUcxEnd) {
  ClusterOptions options;
  options.worker_links = RunOptions::kTcp;
  auto workers = Start("1x2x1", Processes(1), options);
  EXPECT_EQ(workers.status().code(), Code::kUnavailable);
  EXPECT_EQ(workers.status().message(),
            "the worker of host 'host0' ended: exit status 5");
}
#endif

TEST(LocalWorkersTest, NumbersOutOfRangeAreRefused) {
  for (int processes : {0, -1, 5}) {
    auto workers = Start("2x2x1", Processes(processes));
    EXPECT_EQ(workers.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(workers.status().message(),
              std::to_string(processes) +
                  " processes asked for, expected 1 to 4, the number of hosts");
  }
}

TEST(LocalWorkersTest, WhatIsNoWorkerIsNamed) {
  auto none = Start("1x1x1", Processes(1, "/nowhere/pw-node"));
  EXPECT_EQ(none.status().code(), Code::kNotFound);
  EXPECT_THAT(std::string(none.status().message()),
              testing::HasSubstr("'/nowhere/pw-node'"));
  auto other = Start("1x2x1", Processes(1, "false"));
  EXPECT_EQ(other.status().code(), Code::kUnavailable);
  EXPECT_EQ(other.status().message(),
            "the worker of host 'host0' ended: exit status 1");
  ExpectNoChildren();
}

// The only child of this process.
pid_t OnlyChild() {
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(task.path() / "children");
    pid_t pid = 0;
    if (children >> pid) return pid;
  }
  return 0;
}

TEST(LocalWorkersTest, ASignalEndsAWorkerOrderly) {
  const Topology topology = *Topology::Create(*ReadTopology("1x1x1"));
  auto process = Process::Create([](TransportEvents* events) {
    return MakeSocketTransport(SocketOptions(), events);
  });
  ASSERT_TRUE(process.ok()) << process.status();
  auto address = (*process)->transport().Listen(
      absl::StrCat("unix:@pathways-signal-test-", getpid()));
  ASSERT_TRUE(address.ok()) << address.status();
  std::string ended;
  auto children =
      ChildProcesses::Create([&](int, const std::string& how) { ended = how; });
  ASSERT_TRUE(children.ok()) << children.status();
  ASSERT_TRUE(
      (*children)
          ->Start({PATHWAYS_PW_NODE, "worker", "--end-with-parent",
                   absl::StrCat("--connect=", *address),
                   absl::StrCat("--listen=", *address, ".0"), "--host=host0"})
          .ok());
  Coordinator coordinator(&topology, process->get());
  auto members = coordinator.AwaitHosts(absl::Now() + absl::Minutes(5));
  ASSERT_TRUE(members.ok()) << members.status();
  ASSERT_EQ(kill(OnlyChild(), SIGTERM), 0);
  // It goes, and not because of the pipe.
  auto gone = (*process)->inbox().Next(absl::Now() + absl::Minutes(5));
  ASSERT_TRUE(gone.ok() && gone->has_value());
  (*children)->Stop(absl::Minutes(5));
  EXPECT_EQ(ended, "exit status 0");
}

TEST(LocalWorkersTest, OneOptionOpensEither) {
  ClusterOptions sim;
  sim.world = ClusterOptions::kSim;
  auto here = OpenCluster(*ReadTopology("1x1x1"), sim);
  EXPECT_TRUE(here.ok()) << here.status();
  sim.processes = 1;
  auto both = OpenCluster(*ReadTopology("1x1x1"), sim);
  EXPECT_EQ(both.status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace pathways
