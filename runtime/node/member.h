//===- member.h - A process that has joined a cluster -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_NODE_MEMBER_H_
#define RUNTIME_NODE_MEMBER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/steady_time.h"
#include "runtime/node/kept_plans.h"
#include "runtime/node/process.h"
#include "runtime/transport/transport.h"

namespace pathways {

struct MemberOptions {
  std::string connect;  // address of the controller
  // Names of the hosts that this worker is; empty: a process with clients
  // alone, unless any_host_of is set.
  std::vector<std::string> hosts;
  // Instead of `hosts`: a worker of any free host of this island, or of the
  // cluster if the name is "".
  std::optional<std::string> any_host_of;
  // Addresses of a worker where other members dial it. Workers dial the first
  // one, clients the first one that is not of UCX.
  std::vector<std::string> listen;
  // Both fields mean what the fields of the same names in ClusterOptions do.
  std::function<void(const LongWork&)> on_long_work;
  KernelResolver* kernels = nullptr;
  // Join takes plans from it, and the destructor leaves plans in it. Null:
  // plans end with the member. Not owned.
  KeptPlans* plans = nullptr;
  // Called within Join, by its thread, whenever the reason changes why the
  // controller does not let this process in yet: the hosts that the cluster
  // waits for, or that no host is free for a worker of any host.
  std::function<void(const std::string& whom)> on_waiting;
  // Time for which Join retries while nobody listens at the controller's
  // address.
  absl::Duration patience = absl::ZeroDuration();
  // Time to reach the controller, or another member, that listens; and to link
  // to all members once the cluster has begun.
  absl::Duration dial_timeout = absl::Seconds(10);
  absl::Duration link_timeout = absl::Seconds(30);
  // Time until the controller lets this process in.
  absl::Duration welcome_timeout = absl::InfiniteDuration();

  bool is_worker() const { return !hosts.empty() || any_host_of.has_value(); }
};

// One membership of a process in a cluster. One thread makes the calls, in
// order; only Stop may come from any thread. A link to another member that
// breaks is reported to the controller, which alone declares processes gone.
class Member {
 public:
  // Returns InvalidArgument if the options name no controller, or hosts but no
  // address; or the errors of Process::Create.
  static absl::StatusOr<std::unique_ptr<Member>> Create(
      MemberOptions options, const TransportFactory& make);

  ~Member();

  // Waits until the controller has let this process in, after enough hosts have
  // come, and until it is linked to all processes with hosts. Returns the
  // controller's refusal; Cancelled if the controller went; or Unavailable or
  // DeadlineExceeded, with the process that did not answer or went.
  absl::Status Join();
  // Serves events until the controller is gone, and returns that as Cancelled.
  absl::Status Serve();
  // Makes Join and Serve return Aborted, now or when they are called. The other
  // members then consider this one gone. Any thread.
  void Stop();

  // Valid after Join.
  Process& process() { return *process_; }
  const std::vector<std::string>& hosts() const { return hosts_; }  // by name

 private:
  Member(MemberOptions options, std::unique_ptr<Process> process);
  absl::Status Dial();
  absl::Status AwaitWelcome();
  absl::Status Start(const proto::Welcome& welcome);
  absl::Status AwaitLinks();
  // Handles at most one event, and the tick, waiting no longer than `until`.
  absl::Status Step(SteadyTime until);
  absl::Status Handle(const MembershipEvent& event);
  // From the controller.
  absl::Status HandleSaid(const proto::Membership& said);
  void OnGone(const MembershipEvent& event);
  void OnMemberComes(const proto::Member& member);
  void OnMemberGone(const proto::MemberGone& gone);
  // Handles the hello of a member that the controller has announced, or will
  // announce.
  void OnPeerHello(PeerId peer, const proto::PeerHello& hello);
  void Announce(uint32_t process, const std::string& epoch);
  absl::Status DialMember(const proto::Member& member);
  // A link has been made. Reports a replacement as up.
  void OnLinked(uint32_t process, PeerId peer);
  void ReportBroken(uint32_t process, const absl::Status& why);
  absl::Status ControllerGone(const absl::Status& why) const;

  const MemberOptions options_;
  const std::unique_ptr<Process> process_;
  const std::string epoch_;
  std::string machines_;  // the cluster's machines; empty: not started
  uint32_t self_ = 0;
  std::vector<std::string> hosts_;
  PeerId controller_{};
  // Other members that may link with this one, with their epochs.
  std::map<uint32_t, std::string> known_;
  // Replacements with hosts, until they are linked.
  std::map<uint32_t, proto::Member> coming_;
  // True if this worker came before the cluster began: of two such workers the
  // one with the larger number dials the other.
  bool together_ = false;
  // Members that Join waits for.
  std::set<uint32_t> unlinked_;
  std::map<PeerId, uint32_t> dialed_;  // peers that have not answered the hello
  // Links of known members. The link of a predecessor may be reported as broken
  // after its replacement is known, so OnGone compares them.
  std::map<uint32_t, PeerId> linked_;
  std::map<PeerId, proto::PeerHello> early_;  // hellos of unknown members
  std::string waits_for_;  // the last reason from the controller
  absl::Duration ping_, lost_;
  absl::Duration silence_;  // time without a message of the controller
  SteadyTime last_tick_;
};

}  // namespace pathways

#endif  // RUNTIME_NODE_MEMBER_H_
