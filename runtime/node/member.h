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
  std::string connect;  // where the controller is
  // Names of hosts of the cluster, which this is: a worker; none: it has
  // clients alone.
  std::vector<std::string> hosts;
  // Instead of these: a worker of any host that nobody is, of an island, or of
  // the cluster where that is "".
  std::optional<std::string> any_host_of;
  // Of a worker: where other members dial it. Workers take the first one,
  // clients the first that is not one of UCX.
  std::vector<std::string> listen;
  // As of ClusterOptions.
  std::function<void(const LongWork&)> on_long_work;
  KernelResolver* kernels = nullptr;
  // Taken from in Join, and left in when the member is destroyed; null: plans
  // end with it. Not owned.
  KeptPlans* plans = nullptr;
  // Told in Join, by whoever calls that, why this one is not let in yet,
  // whenever that is another reason than before: for whom the cluster waits, of
  // one with clients alone; that no host is free, of one that may be any.
  std::function<void(const std::string& whom)> on_waiting;
  // How long nobody may listen where the controller should be.
  absl::Duration patience = absl::ZeroDuration();
  // To reach the controller, or another member, where somebody listens; and for
  // links, when all hosts have come.
  absl::Duration dial_timeout = absl::Seconds(10);
  absl::Duration link_timeout = absl::Seconds(30);
  // How long the cluster may take until it lets this one in.
  absl::Duration welcome_timeout = absl::InfiniteDuration();

  bool is_worker() const { return !hosts.empty() || any_host_of.has_value(); }
};

// One life of a process in a cluster, in the order of the calls, by one thread
// but for Stop. A link to another member that breaks is reported to the
// controller, which alone says who is gone.
class Member {
 public:
  // InvalidArgument: options that say no controller, or hosts and no address.
  // Else as Process::Create.
  static absl::StatusOr<std::unique_ptr<Member>> Create(
      MemberOptions options, const TransportFactory& make);

  ~Member();

  // Waits until the controller has let it in, which is when all hosts have
  // come, and until it is linked to all who have hosts. The controller's
  // refusal; Cancelled: it went; Unavailable, DeadlineExceeded: who did not
  // answer, or went.
  absl::Status Join();
  // Goes on until the controller is gone, and returns that: Cancelled.
  absl::Status Serve();
  // Join and Serve return Aborted, now or when they are called, after which the
  // others take this member for gone. Any thread.
  void Stop();

  // From Join on.
  Process& process() { return *process_; }
  const std::vector<std::string>& hosts() const { return hosts_; }  // by name

 private:
  Member(MemberOptions options, std::unique_ptr<Process> process);
  absl::Status Dial();
  absl::Status AwaitWelcome();
  absl::Status Start(const proto::Welcome& welcome);
  absl::Status AwaitLinks();
  // Takes one event, and the time, no longer than until then.
  absl::Status Step(SteadyTime until);
  absl::Status Handle(const MembershipEvent& event);
  absl::Status HandleSaid(const proto::Membership& said);  // by the controller
  void OnGone(const MembershipEvent& event);
  void OnMemberComes(const proto::Member& member);
  void OnMemberGone(const proto::MemberGone& gone);
  // A member that was announced, or will be, dials this one.
  void OnPeerHello(PeerId peer, const proto::PeerHello& hello);
  void Announce(uint32_t process, const std::string& epoch);
  absl::Status DialMember(const proto::Member& member);
  // The link is there. Whoever is back counts from now on.
  void OnLinked(uint32_t process, PeerId peer);
  void ReportBroken(uint32_t process, const absl::Status& why);
  absl::Status ControllerGone(const absl::Status& why) const;

  const MemberOptions options_;
  const std::unique_ptr<Process> process_;
  const std::string epoch_;
  std::string machines_;  // of the cluster; empty: not started
  uint32_t self_ = 0;
  std::vector<std::string> hosts_;
  PeerId controller_{};
  // Other members that may have a link with this one, and their epochs.
  std::map<uint32_t, std::string> known_;
  // Of those: that have hosts and took the place of one that is gone, until
  // there is a link.
  std::map<uint32_t, proto::Member> coming_;
  // It came when all others did: of two such the later one dials.
  bool together_ = false;
  // Links that this one waits for in Join.
  std::set<uint32_t> unlinked_;
  std::map<PeerId, uint32_t> dialed_;  // that have not answered
  // The links of those known: that of who was there before may be heard to
  // break when who took its place is known.
  std::map<uint32_t, PeerId> linked_;
  std::map<PeerId, proto::PeerHello> early_;  // of who is not known yet
  std::string waits_for_;  // what the controller said last of why it waits
  absl::Duration ping_, lost_;
  absl::Duration silence_;  // of the controller, in ticks
  SteadyTime last_tick_;
};

}  // namespace pathways

#endif  // RUNTIME_NODE_MEMBER_H_
