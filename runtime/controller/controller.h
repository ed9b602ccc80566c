//===- controller.h - The one controller of a cluster -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clients ask and are answered by control messages. A launch costs one message
// to each host, and back from those that must get values or find room first,
// then one to each island and back, and one to its client; a step costs none.
// What is loaded, launched, held and granted is in tables beside it, which know
// no messages.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_CONTROLLER_H_
#define RUNTIME_CONTROLLER_CONTROLLER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/base/counter.h"
#include "runtime/base/mutex.h"
#include "runtime/controller/awaited_plans.h"
#include "runtime/controller/client_table.h"
#include "runtime/controller/fetch_table.h"
#include "runtime/controller/launch_table.h"
#include "runtime/controller/program_table.h"
#include "runtime/controller/stall_detector.h"
#include "runtime/controller/store_log.h"
#include "runtime/controller/tick_timer.h"
#include "runtime/executor/runtime_context.h"
#include "runtime/proto/status.pb.h"
#include "runtime/protocol/host_epochs.h"
#include "runtime/resources/host_memory.h"
#include "runtime/resources/load_queue.h"
#include "runtime/resources/object_table.h"
#include "runtime/scheduler/grant_order.h"
#include "runtime/scheduler/policy.h"

namespace pathways {

struct ControllerOptions {
  // Longest time without any progress of a launch.
  TimeNs stall_timeout_ns = 10'000'000'000;
  // Longest time without any answer of the hosts that a call waits for, unless
  // one of them has something to run: it may be in a kernel.
  TimeNs answer_timeout_ns = 10'000'000'000;
  // Who is granted next (runtime/scheduler/policy.h); null: the default.
  std::unique_ptr<SchedulingPolicy> policy;
};

// What somebody who looks at the cluster gets. Whoever asks keeps one reference
// and gives another one away with kDescribe.
struct StatusQuery {
  Mutex mutex;
  std::condition_variable_any answered;
  std::optional<proto::ControllerStatus> status ABSL_GUARDED_BY(mutex);
};

// Decodes what it is told, works the tables, and sends what they say; every
// decision is theirs. Invariants: (1) a message that comes twice, late, or from
// nowhere changes nothing; (2) clients are answered through Answer and
// TellEnded alone; (3) what changes a host's store is numbered; (4) while a
// call waits for hosts a timer runs, which asks them again and then ends the
// call with an error that names them; (5) what hosts are told, and tell, is of
// the life that they are in, and of one that is over nothing is left in any
// table but why it ended what it ended. All of it runs
// on the controller's worker, but for the counters. What is pending when the
// world stops is dropped, and clients are told by the runtime.
class Controller final : public ControlActor {
 public:
  // `context` outlives it.
  Controller(RuntimeContext* context, ControllerOptions options);

  void OnLocal(const LocalMessage& message) override;
  void OnPeerDown(int32_t host, uint32_t epoch) override;
  void OnPeerUp(int32_t host, uint32_t epoch) override;

  // Any thread.
  uint64_t messages_received() const { return counters_.received.get(); }
  uint64_t bytes_received() const { return counters_.bytes.get(); }
  uint64_t programs() const { return counters_.programs.get(); }
  uint64_t steps_done() const { return counters_.steps_done.get(); }

 private:
  struct Counters {
    Counter received, bytes, programs, steps_done;
  };

  void OnMessage(ActorId from, ControlRef control) override;
  // To the life that the host is in. One that is gone is sent nothing: the next
  // one begins with nothing.
  void SendToHost(int32_t host, ControlRef control);
  // A message for each, which `fill` writes.
  void SendToHosts(const std::vector<int32_t>& hosts,
                   absl::FunctionRef<void(proto::Control*)> fill);
  // Those of the plan's hosts that were replaced, for all its hosts.
  void NameEpochs(const PreparedPlan& plan, proto::LoadProgram* load) const;
  // The world's time; of a message that is handled, when it was first asked
  // for: to ask costs as much as many a step of a launch.
  TimeNs WorldNow();
  // For deadlines.
  TimeNs Now() { return timer_.DeadlineTime(WorldNow()); }

  // To clients.
  void SendToClient(ControlRef control);  // which it names
  void Answer(ClientRequest request, const absl::Status& status,
              uint64_t handle = 0);
  void NotifyEnded(const LaunchEffects::End& end);

  // Messages of clients, in order, with ids for the clients' numbers; and of
  // all others.
  void Handle(ActorId from, ControlRef control);
  void HandleClient(proto::Control* control);
  void HandleHost(ActorId from, const proto::Control& control);

  // Clients (clients.cc).
  void OnConnect(uint32_t client, const proto::ConnectRequest& request);
  void OnDisconnect(uint32_t client, const proto::DisconnectRequest& request);
  void OnCollect(uint32_t client, const proto::CollectRequest& request);
  void NotifyUncollected(uint32_t process);
  // The process that it was in is gone.
  void OnClientGone(uint32_t client);
  // Gives up all that a client has, and what it refers to.
  void Leave(ClientRequest request, absl::Span<const uint64_t> objects);
  // Ends its launches and unloads it, for a client that leaves.
  void LeaveProgram(uint32_t client, uint64_t handle);
  void AnswerAll(const std::vector<ClientAnswer>& answers);

  // For who looks at it (status_query.cc).
  void OnDescribe(const LocalMessage& message);

  // Programs, and loads that wait for memory (waiting_loads.cc).
  void OnLoad(uint32_t client, const proto::LoadRequest& request);
  // All its plans are here.
  void Load(ClientRequest request);
  void OnLoadReply(const proto::LoadReply& reply);
  // Of its programs, by place.
  DeviceBytes NeedOf(const LoadQueue::Load& load) const;
  // Grants it, lets it wait, or refuses it.
  void Ask(LoadQueue::Load load);
  // Begins to load its programs, or gives it its slices. ResourceExhausted: not
  // now.
  absl::Status Admit(const LoadQueue::Load& load);
  absl::Status AdmitSlices(const LoadQueue::Load& load);
  // Whether what came of a program was one of a load's, that waits for others,
  // too. When all are there it is answered; when one is refused, the others go.
  bool IsPart(const ProgramNext& next);
  // Hosts had no room for it: it waits for that, if it may, and if anybody can
  // give it back.
  void Refused(LoadQueue::Load load, const absl::Status& why);
  // ResourceExhausted: the client would have more than its quota with what it
  // needs, which is asked for if it has one; `what` needs it, for the message.
  absl::Status CheckQuota(uint32_t client, absl::FunctionRef<uint64_t()> need,
                          absl::FunctionRef<std::string()> what) const;
  absl::Status CheckQuota(const LoadQueue::Load& load) const;
  // That a client has: of programs and slices on devices, of arrays on hosts.
  uint64_t BytesOf(uint32_t client) const;
  // There may be more memory than before.
  void RetryLoads();
  void NotifyWaits(ClientRequest request, const std::string& why);
  // What holds memory that others wait for is as urgent as those.
  void InheritPriorities();
  void OnLoadCancel(uint32_t client, const proto::LoadCancel& cancel);
  // Slices (slices.cc).
  void OnSlices(uint32_t client, const proto::SlicesRequest& request);
  absl::StatusOr<DeviceDemand> ReadDemand(uint32_t client,
                                          const proto::SliceNeed& need) const;
  // Asks a host how far it is with what it was told to drop.
  void AskToSettle(int32_t host);
  void ArmLoadTimer();
  void OnLoadDeadline();
  // Devices that take no programs, and such that are to (drains.cc).
  void OnDevices(ClientRequest request);
  void OnDrain(uint32_t client, const proto::DrainRequest& request);
  std::vector<uint32_t> ProgramsOn(const std::vector<bool>& devices) const;
  // Clients with arrays on hosts all of whose devices these are.
  std::set<uint32_t> ArraysOn(const std::vector<bool>& devices) const;
  // Those that are over, and those whose deadline has come.
  void AnswerDrains();
  void ExpireDrains();
  std::string NameOf(uint32_t client) const;
  // Programs that are there (controller.cc).
  void OnUnload(uint32_t client, const proto::UnloadRequest& request);
  void OnStopReply(const proto::StopReply& reply);
  void OnFreeReply(const proto::FreeReply& reply);
  void Proceed(const ProgramNext& next);
  // Plans that come from clients, and go to processes with hosts (plans.cc).
  void OnPlanPart(uint32_t client, const proto::PlanPart& part);
  void OnPlanRequest(ActorId from, const proto::PlanRequest& request);
  // Does what was found out about loads whose plans are awaited.
  void Apply(AwaitedPlans::Outcome outcome);
  void OnWorkerLost(const proto::WorkerLost& lost);
  // For the client whose program it is.
  void OnLongWork(const proto::LongWorkSeen& seen);
  // The program cannot go on: `why`.
  void GiveUp(uint32_t program, const absl::Status& why);

  // Launches and arrays (launches.cc).
  void OnLaunch(proto::LaunchRequest* request);
  // Tells a host what the launch needs there, with its parts of `request`.
  void SendPrepare(int32_t host, const LaunchTable::Launch& launch, bool asks,
                   const proto::LaunchRequest& request);
  void OnCancel(uint32_t client, const proto::CancelRequest& cancel);
  void OnLaunchReady(const proto::LaunchReady& ready);
  void OnDone(const proto::GrantDone& done);
  // Launches that are ready may be granted.
  void BeginReady();
  // Gives the grants that there are to give.
  void GiveGrants();
  // The client, or a fetch of its, refers to them no more.
  void ReleaseHeld(absl::Span<const uint64_t> objects);
  void Release(absl::Span<const uint64_t> objects);
  void OnSettle(uint32_t client, const proto::SettleRequest& request);
  void OnDropped(const proto::ObjectsDropped& dropped);
  void OnFetch(uint32_t client, const proto::FetchRequest& request);
  void OnFetchReport(const proto::Control& control);
  // Tells its hosts that nobody asks any more.
  void EndFetch(ClientRequest request);
  void SendFetch(ClientRequest request, uint64_t object,
                 const FetchSource& source, bool again);
  // Numbers a message that changes a host's store, and sends it. `launch`: what
  // it is for; 0: none. `asks`: that waits for the answer.
  // Returns the number; 0: the host is gone.
  uint64_t SendStore(int32_t host, uint64_t launch, bool asks,
                     ControlRef control);
  // Says for each array of a launch of `plan`, which it fits, how much of it
  // hosts hold.
  void Size(const PreparedPlan& plan, LaunchSpec* spec);
  // As the others, of the arrays that it makes.
  absl::Status CheckQuota(const LaunchSpec& spec,
                          const PreparedPlan& plan) const;
  // Takes that of their memory, of what is new. Whether they surely have all
  // that the launch needs.
  bool Charge(const LaunchSpec& spec);
  // A host has no room for a launch that was granted.
  void OnRefusedLate(const proto::LaunchReady& ready);
  // Does what effects_ says, which may add to lists of it that come later, and
  // empties it.
  void Apply();
  void SendGrant(const Grant& grant, bool skip);
  // Returns the step numbers of a launch that has a grant.
  StepNumbers NumbersOf(const LaunchTable::Launch& launch) const;
  // Tells hosts, and empties the list.
  void SendDrops(std::vector<Drop>* drops);

  // What waits for hosts (deadlines.cc).
  void ArmTimer();
  bool LooksForStalls() const;
  void OnTick();
  // Whether a client's call waits for hosts none of which is in `busy`.
  bool CallWaits(const WaitSet& busy) const;
  // Hosts that have something to run.
  WaitSet BusyHosts() const;
  // Those of one program.
  void AddBusy(const StallDetector::Subject& subject, WaitSet* busy) const;
  // One has not been heard for too long, though it should.
  void OnSilent(int32_t host);

  // Stalls (controller.cc).
  std::vector<StallDetector::Subject> StallSubjects() const;
  void StartRound();
  void SendQueries(absl::Span<const StallDetector::Subject> subjects);
  void OnReport(const proto::Report& report);
  void OnDiagnose(uint32_t client, const proto::DiagnoseRequest& request);
  void FinishRound();

  RuntimeContext& context_;
  const TimeNs stall_timeout_ns_, answer_timeout_ns_;
  HostEpochs lives_;
  AwaitedPlans awaited_;
  ProgramTable programs_;
  LoadQueue loads_;
  // Of loads that come.
  struct LoadTerms {
    uint64_t wait_ns = UINT64_MAX;  // longest wait
    bool awaits_devices = false;
    std::vector<LoadQueue::Program> programs;  // no plan: it has not come
  };
  std::map<ClientRequest, LoadTerms> load_terms_;
  // Of loads that hosts were told of.
  struct Loading {
    enum class Part { kLoading, kLoaded, kGone };
    LoadQueue::Load load;
    std::vector<std::pair<uint64_t, Part>> parts;  // by program: its handle
    absl::Status status;
    bool is_held = false;  // what one of them took, though it is gone
  };
  std::map<ClientRequest, Loading> loading_;
  uint64_t last_slice_ = uint64_t{1} << 32;  // no program has such a handle
  TimeNs load_timer_ = kNoDeadline;          // when it rings
  ObjectTable objects_;
  LaunchTable launches_{&objects_};
  GrantOrder grants_;
  StallDetector stalls_;
  StoreLog stores_;
  FetchTable fetches_;
  HostMemory& memory_;
  std::vector<uint64_t> spilled_;  // by host, as they said last
  WaitSet moved_;                  // hosts that have changed it since OnTick
  // The launch at hand, and how much of each of its arrays hosts hold.
  LaunchSpec spec_;
  std::vector<uint64_t> bytes_;
  LaunchEffects effects_;  // empty between messages
  ClientTable clients_;
  TickTimer timer_;
  // See WorldNow.
  static constexpr TimeNs kNoMessage = -2, kUnasked = -1;
  TimeNs moment_ = kNoMessage;
  std::vector<ClientRequest> diagnoses_;  // to answer after the round
  // To be answered when no program is on the devices, which are marked.
  struct DrainWait {
    ClientRequest request;
    std::vector<bool> devices;
    TimeNs deadline = kNoDeadline;
  };
  std::vector<DrainWait> drains_;
  // Whom the last questions to processes went to, so that clients hear of those
  // that are gone before they have answered.
  struct Collect {
    ClientRequest request;
    std::vector<uint32_t> processes;
  };
  std::deque<Collect> collects_;
  Counters counters_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_CONTROLLER_H_
