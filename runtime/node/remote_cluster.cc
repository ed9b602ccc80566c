//===- remote_cluster.cc - Connections to a running cluster ---------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/node/remote_cluster.h"

#include <thread>
#include <utility>

#include "runtime/node/member.h"

namespace pathways {
namespace {

// A member, and the thread that serves its events.
class RemoteCluster {
 public:
  explicit RemoteCluster(std::unique_ptr<Member> member)
      : member_(std::move(member)),
        thread_([this] { (void)member_->Serve(); }) {}
  ~RemoteCluster() {
    member_->Stop();
    thread_.join();
  }

  Cluster& cluster() { return member_->process().cluster(); }

 private:
  const std::unique_ptr<Member> member_;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Cluster>> ConnectCluster(
    const ConnectOptions& options) {
  absl::StatusOr<TransportFactory> transport = MakeLinks(options.links);
  if (!transport.ok()) return transport.status();
  MemberOptions member;
  member.connect = MakeNodeAddress(options.address);
  member.on_long_work = options.on_long_work;
  member.on_waiting = options.on_waiting;
  member.dial_timeout = options.timeout;
  member.link_timeout = options.timeout;
  member.welcome_timeout = options.timeout;
  absl::StatusOr<std::unique_ptr<Member>> made =
      Member::Create(std::move(member), *transport);
  if (!made.ok()) return made.status();
  absl::Status joined = (*made)->Join();
  if (!joined.ok()) return joined;
  auto remote = std::make_shared<RemoteCluster>(*std::move(made));
  return std::shared_ptr<Cluster>(remote, &remote->cluster());
}

}  // namespace pathways
