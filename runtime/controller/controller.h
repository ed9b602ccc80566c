//===- controller.h - The one controller of a cluster -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clients send requests to the controller and get answers by control messages.
// A launch costs one message to each host, one back from each host that must
// first get values or find room, one to each island and back, and one to its
// client. A step costs none.

#ifndef RUNTIME_CONTROLLER_CONTROLLER_H_
#define RUNTIME_CONTROLLER_CONTROLLER_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "runtime/base/counter.h"
#include "runtime/base/mutex.h"
#include "runtime/controller/answer_timer.h"
#include "runtime/controller/awaited_plans.h"
#include "runtime/controller/client_service.h"
#include "runtime/controller/client_table.h"
#include "runtime/controller/drains.h"
#include "runtime/controller/fetch_table.h"
#include "runtime/controller/fetches.h"
#include "runtime/controller/grant_sender.h"
#include "runtime/controller/handler_clock.h"
#include "runtime/controller/launch_reader.h"
#include "runtime/controller/launch_service.h"
#include "runtime/controller/launch_table.h"
#include "runtime/controller/load_requests.h"
#include "runtime/controller/load_service.h"
#include "runtime/controller/open_launches.h"
#include "runtime/controller/outbox.h"
#include "runtime/controller/process_questions.h"
#include "runtime/controller/program_ends.h"
#include "runtime/controller/program_rounds.h"
#include "runtime/controller/program_table.h"
#include "runtime/controller/quotas.h"
#include "runtime/controller/slice_requests.h"
#include "runtime/controller/stall_rounds.h"
#include "runtime/controller/status_report.h"
#include "runtime/controller/store_log.h"
#include "runtime/controller/store_messages.h"
#include "runtime/controller/tick_timer.h"
#include "runtime/controller/wait_timer.h"
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
  // Longest time without any answer from the hosts that a call waits for. A
  // host with something to run gets more time, since it may be in a kernel.
  TimeNs answer_timeout_ns = 10'000'000'000;
  // Chooses the next grant (runtime/scheduler/policy.h); null: the default
  // policy.
  std::unique_ptr<SchedulingPolicy> policy;
};

// A request for the controller's status. The requesting thread keeps one
// reference and passes another one with kDescribe.
struct StatusQuery {
  Mutex mutex;
  std::condition_variable_any answered;
  std::optional<proto::ControllerStatus> status ABSL_GUARDED_BY(mutex);
};

// Decodes messages and calls the services that they are for (README.md).
// Services send; the tables that they share record what is loaded, launched,
// held and granted, and know no messages. Invariants: (1) a message that is a
// duplicate, late, or from an unknown sender changes nothing; (2) all messages
// go through the outbox; (3) messages that change a host's store are numbered;
// (4) while a call waits for hosts a timer runs, which asks them again and
// finally ends the call with an error that names them; (5) messages to and from
// a host carry its current epoch, and of an older epoch no table keeps anything
// but the reasons of the ends that it caused. All of it runs on the
// controller's worker, except the counters. Requests that are pending when the
// world stops are dropped, and the runtime notifies the clients.
class Controller final : public ControlActor {
 public:
  // `context` must outlive the controller.
  Controller(RuntimeContext* context, ControllerOptions options);

  void OnLocal(const LocalMessage& message) override;
  void OnPeer(const PeerNews& news) override {
    news.is_up ? OnPeerUp(news.host, news.epoch)
               : OnPeerDown(news.host, news.epoch);
  }

  // May be called from any thread.
  uint64_t messages_received() const { return counters_.received.get(); }
  uint64_t bytes_received() const { return counters_.bytes.get(); }
  uint64_t programs() const { return load_service_.programs(); }
  uint64_t steps_done() const { return launch_service_.steps_done(); }

 private:
  struct Counters {
    Counter received, bytes;
  };

  void OnMessage(ActorId from, ControlRef control) override;
  // Handle dispatches each message. HandleClient gets the messages of clients,
  // in order, with the clients' numbers replaced by ids; HandleHost gets all
  // others.
  void Handle(ActorId from, ControlRef control);
  void HandleClient(proto::Control* control);
  void HandleHost(ActorId from, const proto::Control& control);

  void OnPeerDown(int32_t host, uint32_t epoch);
  void OnPeerUp(int32_t host, uint32_t epoch);
  // Answers a StatusQuery.
  void OnDescribe(const LocalMessage& message);
  // A deadline of a load or drain has passed.
  void OnLoadDeadline();
  void OnDrain(uint32_t client, const proto::DrainRequest& request);
  // Sends a part of a plan to a process with hosts.
  void OnPlanRequest(ActorId from, const proto::PlanRequest& request);
  void OnWorkerLost(const proto::WorkerLost& lost);
  // Forwards a report of long work to the client that owns the program.
  void OnLongWork(const proto::LongWorkSeen& seen);
  void OnLaunchReady(const proto::LaunchReady& ready);
  void OnTick();
  void OnDiagnose(uint32_t client, const proto::DiagnoseRequest& request);

  RuntimeContext& context_;
  HostEpochs lives_;
  Outbox outbox_;
  TickTimer timer_;
  HandlerClock clock_;
  // Tables.
  AwaitedPlans awaited_;
  ProgramTable programs_;
  LoadQueue loads_;
  ObjectTable objects_;
  LaunchTable launches_{&objects_};
  GrantOrder grants_;
  StoreLog store_log_;
  FetchTable fetch_table_;
  HostMemory& memory_;
  ClientTable clients_;
  // Views of the tables.
  StatusReport report_;
  Quotas quotas_;
  OpenLaunches open_;
  // Services. Each one refers only to earlier ones.
  SliceRequests slices_;
  Drains drains_;
  ProcessQuestions questions_;
  AnswerTimer answer_timer_;
  WaitTimer wait_timer_;
  StoreMessages stores_;
  Fetches fetches_;
  LaunchReader launch_reader_;
  GrantSender grant_sender_;
  LaunchService launch_service_;
  ProgramRounds rounds_;
  LoadService load_service_;
  LoadRequests load_requests_;
  ProgramEnds ends_;
  ClientService client_service_;
  StallRounds stalls_;
  Counters counters_;
};

}  // namespace pathways

#endif  // RUNTIME_CONTROLLER_CONTROLLER_H_
