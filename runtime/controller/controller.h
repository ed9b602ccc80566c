//===- controller.h - The one controller of a cluster -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Owns the table of programs and the order of launches. Clients ask through
// control messages and are answered through a ClientPort. A launch costs one
// message to each host and back, then to each island and back; a step costs
// none.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CONTROLLER_CONTROLLER_H_
#define RUNTIME_CONTROLLER_CONTROLLER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "runtime/controller/admission.h"
#include "runtime/controller/grant_order.h"
#include "runtime/controller/launch_table.h"
#include "runtime/controller/object_table.h"
#include "runtime/controller/stall.h"
#include "runtime/executor/host_executor.h"

namespace pathways {

// How the controller answers. Called on its worker; must not block.
class ClientPort {
 public:
  virtual ~ClientPort() = default;
  // Of LoadRequest (`program`: its handle), UnloadRequest, ReleaseRequest, and
  // of FetchRequest when it fails.
  virtual void Answer(uint64_t request, absl::Status status,
                      uint64_t program) = 0;
  // `completed`: all firings are over, so results that are not in `poisoned`
  // hold. Returns what the client holds no more, which is released before
  // anything that it asks for next.
  virtual proto::ReleaseRequest LaunchEnded(
      uint64_t launch, absl::Status status, bool completed,
      const std::vector<uint32_t>& poisoned) = 0;
  // Of FetchRequest: a piece of what `host` holds, perhaps a second time.
  virtual void Deliver(uint64_t request, int32_t host, uint64_t offset,
                       const std::string& data) = 0;
};

class Controller final : public Actor {
 public:
  Controller(RuntimeContext* context, ClientPort* port, TimeNs stall_timeout_ns)
      : context_(*context),
        port_(port),
        stall_timeout_ns_(stall_timeout_ns),
        admission_(*context->topology) {}

  void OnMessage(ActorId from, const Message& message) override;
  void OnControl(ActorId from, std::string_view bytes) override;

  uint64_t messages_received() const { return received_.get(); }
  uint64_t programs() const { return num_programs_.get(); }
  uint64_t steps_done() const { return steps_done_.get(); }

 private:
  struct Program {
    enum State { kLoading, kReady, kStopping, kFreeing, kBroken };
    State state = kLoading;
    uint64_t handle = 0;
    uint32_t incarnation = 0;
    uint64_t plan_id = 0;
    std::shared_ptr<const PreparedPlan> plan;
    std::string client;
    std::set<uint32_t> waiting;  // hosts that have not answered
    uint64_t request = 0;        // to answer when the state has changed
    absl::Status error;          // of the load, or why it is broken
    // Stall detection.
    std::map<uint32_t, proto::Report> reports;  // by host
    uint64_t last_fired = 0;
    TimeNs last_progress = 0;
  };
  ActorId self() const { return context_.directory.controller; }
  void SendTo(ActorId to, const proto::Control& control);
  void SendToHosts(const Program& program, const proto::Control& control);
  Program* Find(uint32_t program, uint32_t incarnation);
  Program* FindHandle(uint64_t handle, uint32_t* program);

  void OnLoad(const proto::LoadRequest& request);
  void OnLoadReply(const proto::LoadReply& reply);
  void OnUnload(const proto::UnloadRequest& request);
  void OnStopReply(const proto::StopReply& reply);
  void OnFreeReply(const proto::FreeReply& reply);
  void OnLaunch(proto::LaunchRequest* request);
  void AddLaunch(proto::LaunchRequest* request);
  // Tells a host what the launch needs there, with its parts of `request`.
  void SendPrepare(int32_t host, const Program& program,
                   const LaunchTable::Launch& launch,
                   proto::LaunchRequest* request);
  absl::Status CheckProgram(uint64_t handle, uint32_t* id);
  void OnDone(const proto::LaunchDone& done);
  void OnStorePart(proto::Control* control);
  void OnLaunchReady(const proto::LaunchReady& ready);
  void OnRelease(const proto::ReleaseRequest& request);
  void OnDropped(const proto::ObjectsDropped& dropped);
  void OnFetch(const proto::FetchRequest& request);
  void OnPartData(const proto::PartData& part);
  // Numbers a message that changes a host's store, and sends it.
  void SendStore(int32_t host, proto::Control control);
  // Does what effects_ says, and empties it.
  void Apply();
  void SendGrants(uint64_t launch, bool skip);
  // Tells hosts; they answer `request` unless it is 0. Returns which.
  std::vector<int32_t> SendDrops(std::vector<Drop>* drops, uint64_t request);
  // Each asks all hosts; the Finish... goes on when they have answered.
  void Stop(uint32_t program);
  void Free(uint32_t program);
  void FinishLoad(uint32_t program);
  void FinishStop(uint32_t program);
  void FinishFree(uint32_t program);
  // Ends all launches of a program and takes it off the hosts.
  void Abort(uint32_t program, absl::Status status);

  // Stalls (stall_detection.cc).
  void ArmTimer();
  void StartRound();
  void OnReport(const proto::Report& report);
  void OnDiagnose(const proto::DiagnoseRequest& request);
  void FinishRound();

  RuntimeContext& context_;
  ClientPort* const port_;
  const TimeNs stall_timeout_ns_;
  Admission admission_;
  std::vector<std::unique_ptr<Program>> programs_;
  ObjectTable objects_;
  LaunchTable launches_{&objects_};
  GrantOrder grants_;
  LaunchEffects effects_;     // empty between messages
  uint64_t last_launch_ = 0;  // that was asked for; they come in order
  std::vector<proto::ReleaseRequest> releases_;  // came before a launch
  absl::flat_hash_map<int32_t, uint64_t> store_sequence_;  // by host
  uint64_t next_handle_ = 0;
  uint32_t next_incarnation_ = 0;

  bool timer_armed_ = false;
  bool forced_ = false;  // the round was asked for: nothing will happen
  bool in_round_ = false;
  uint64_t round_ = 0;
  uint64_t diagnose_request_ = 0;
  std::set<std::pair<uint32_t, uint32_t>> round_waiting_;  // (program, host)

  Counter received_, num_programs_, steps_done_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_CONTROLLER_H_
