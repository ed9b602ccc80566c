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
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/steady_time.h"
#include "runtime/node/coordinator.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/testing/test_plans.h"
#include "runtime/transport/socket/socket_transport.h"
#include "unittests/runtime/test_timeout.h"

namespace pathways {
namespace {

using Code = absl::StatusCode;

LocalOptions Processes(int processes,
                       const std::string& pw_node = PATHWAYS_PW_NODE) {
  LocalOptions local;
  local.processes = processes;
  local.pw_node = pw_node;
  // A worker that never comes is reported earlier.
  local.start_timeout = kTestTimeout;
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
    EXPECT_EQ(
        workers.status().message(),
        std::to_string(processes) +
            " processes were requested, expected 1 to 4, the number of hosts "
            "[PW7206]");
  }
}

TEST(LocalWorkersTest, WhatIsNoWorkerIsNamed) {
  auto none = Start("1x1x1", Processes(1, "/nowhere/pw-node"));
  EXPECT_EQ(none.status().code(), Code::kNotFound);
  EXPECT_THAT(std::string(none.status().message()),
              ::testing::HasSubstr("'/nowhere/pw-node'"));
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
  auto children = ChildProcesses::Create(
      [&](int, const std::string& how, bool) { ended = how; });
  ASSERT_TRUE(children.ok()) << children.status();
  ASSERT_TRUE(
      (*children)
          ->Start({PATHWAYS_PW_NODE, "worker", "--end-with-parent",
                   absl::StrCat("--connect=", *address),
                   absl::StrCat("--listen=", *address, ".0"), "--host=host0"})
          .ok());
  Coordinator coordinator(&topology, process->get());
  auto members = coordinator.AwaitHosts(SteadyTime::Now() + kTestTimeout);
  ASSERT_TRUE(members.ok()) << members.status();
  ASSERT_EQ(kill(OnlyChild(), SIGTERM), 0);
  // It goes, and not because of the pipe.
  auto gone = (*process)->inbox().Next(SteadyTime::Now() + kTestTimeout);
  ASSERT_TRUE(gone.ok() && gone->has_value());
  (*children)->Stop(kTestTimeout);
  EXPECT_EQ(ended, "exit status 0");
}

// Two numbers that go from one host to the other and back out.
proto::Plan MovePlan() {
  return testing::TransferPlan({.name = "move"}, {.base = 2});
}

absl::Status RunMove(Client& client) {
  auto program = client.Load(MakePlanData(MovePlan(), {}));
  if (!program.ok()) return program.status();
  HostArray array;
  array.element = ElementType::kF32;
  array.shape = {2};
  array.data.assign(8, 'x');
  auto run = client.Launch(*program, {array}, 3);
  if (!run.ok()) return run.status();
  if (absl::Status ran = client.Await(*run); !ran.ok()) return ran;
  auto result = client.Fetch(*run, "v");
  if (!result.ok()) return result.status();
  EXPECT_EQ(result->data, array.data);
  return client.Unload(*program);
}

// A program that notes the number of its process in a file, and is a worker; or
// what `last` says when the file `broken` is there.
class NotedWorkers {
 public:
  explicit NotedWorkers(const std::string& last) {
    std::ofstream(path("pw-node"))
        << "#!/bin/sh\necho $$ >> " << path("started") << "\nif [ -e "
        << path("broken") << " ]; then " << last << "; fi\nexec "
        << PATHWAYS_PW_NODE << " \"$@\"\n";
    std::filesystem::permissions(path("pw-node"),
                                 std::filesystem::perms::owner_all);
  }
  ~NotedWorkers() { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const {
    return absl::StrCat(folder_, "/", name);
  }
  std::vector<pid_t> started() const {
    std::vector<pid_t> all;
    std::ifstream file(path("started"));
    for (pid_t pid; file >> pid;) all.push_back(pid);
    return all;
  }
  void Break() const { std::ofstream(path("broken")) << "\n"; }

 private:
  std::string folder_ = [] {
    std::string made = ::testing::TempDir() + "/noted-XXXXXX";
    EXPECT_NE(mkdtemp(made.data()), nullptr);
    return made;
  }();
};

TEST(LocalWorkersTest, AWorkerThatIsKilledIsReplaced) {
  const NotedWorkers noted("exit 7");
  auto workers = Start("1x2x2", Processes(2, noted.path("pw-node")));
  ASSERT_TRUE(workers.ok()) << workers.status();
  auto client = (*workers)->cluster().Connect("c");
  ASSERT_TRUE(client.ok()) << client.status();
  ASSERT_TRUE(RunMove(**client).ok());
  // More often than it may end in vain.
  for (size_t times = 1; times <= LocalWorkers::kMostInVain + 2; ++times) {
    const std::vector<pid_t> started = noted.started();
    ASSERT_EQ(started.size(), 1 + times);
    ASSERT_EQ(kill(started.back(), SIGKILL), 0);
    absl::Status ran;
    do {
      ran = RunMove(**client);
      ASSERT_TRUE(ran.ok() || ran.message().find("gone") != std::string::npos)
          << ran;
    } while (!ran.ok() || noted.started().size() == started.size());
  }
  client->reset();
  workers->reset();
  ExpectNoChildren();
}

TEST(LocalWorkersTest, AWorkerThatIsKilledBeforeItHasComeIsReplaced) {
  const NotedWorkers noted("rm ${0%/*}/broken; kill -9 $$");
  noted.Break();
  auto workers = Start("1x2x2", Processes(1, noted.path("pw-node")));
  ASSERT_TRUE(workers.ok()) << workers.status();
  auto client = (*workers)->cluster().Connect("c");
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE(RunMove(**client).ok());
  client->reset();
  workers->reset();
  EXPECT_EQ(noted.started().size(), 2u);
  ExpectNoChildren();
}

TEST(LocalWorkersTest, AWorkerThatIsAlwaysKilledIsNamed) {
  const NotedWorkers noted("kill -9 $$");
  noted.Break();
  auto workers = Start("1x2x2", Processes(1, noted.path("pw-node")));
  EXPECT_EQ(workers.status().code(), Code::kUnavailable);
  EXPECT_EQ(workers.status().message(),
            "the worker of host 'host0' ended: signal 9, after 3 restarts");
  EXPECT_EQ(noted.started().size(), 1u + LocalWorkers::kMostInVain);
  ExpectNoChildren();
}

TEST(LocalWorkersTest, AWorkerThatEndsAgainAndAgainIsNot) {
  const NotedWorkers noted("exit 7");
  auto workers = Start("1x2x2", Processes(2, noted.path("pw-node")));
  ASSERT_TRUE(workers.ok()) << workers.status();
  auto client = (*workers)->cluster().Connect("c");
  ASSERT_TRUE(client.ok()) << client.status();
  noted.Break();
  ASSERT_EQ(kill(noted.started().back(), SIGKILL), 0);
  const size_t most = 2 + LocalWorkers::kMostInVain;
  while (noted.started().size() < most) std::this_thread::yield();
  absl::Status ran;
  do {
    ran = RunMove(**client);
  } while (ran.ok());
  EXPECT_THAT(std::string(ran.message()), ::testing::HasSubstr("is gone"));
  client->reset();
  workers->reset();
  EXPECT_EQ(noted.started().size(), most);
  ExpectNoChildren();
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
