//===- control_channel.h - A client's way to the controller -----*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_CONTROL_CHANNEL_H_
#define RUNTIME_CLIENT_CONTROL_CHANNEL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "pathways/Options.h"
#include "runtime/base/mutex.h"
#include "runtime/client/client_actor.h"
#include "runtime/client/client_context.h"
#include "runtime/client/completion.h"
#include "runtime/client/request.h"
#include "runtime/proto/control.pb.h"
#include "runtime/world/control_actor.h"

namespace pathways {

// Sends the messages of one client to the controller, and waits for what they
// cause. It has the lock of the client, which guards the client's tables:
// messages are numbered under it, and the controller handles them in the order
// of their numbers, so in the order in which the tables changed. Any thread may
// call it, but handlers run on the worker of the client's actor. No call waits
// with the lock held.
class ControlChannel {
 public:
  // `context` and `actor` outlive the channel. `client`: name of the client.
  ControlChannel(ClientContext* context, ClientActor* actor,
                 std::string client);

  Mutex& mutex() ABSL_LOCK_RETURNED(mutex_) { return mutex_; }
  ClientNumbers& numbers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return actor_.numbers;
  }

  // Waits for the controller's answer. Returns AlreadyExists if another client
  // has the name; the channel is closed after an error.
  absl::Status Connect(const ClientOptions& options);
  // Detaches the actor, after which no handler runs, and returns the number of
  // the DisconnectRequest that the caller must post. Returns nullopt if the
  // channel is closed already.
  std::optional<uint64_t> BeginClose() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns true once calls that wait get no answer; EndReason then returns
  // why.
  bool stopping() const { return closed_.load() || context_.stopping.load(); }
  absl::Status EndReason() const;

  ControlRef NewControl() { return context_.runtime->controls.New(); }
  ControlRef NewControl(ControlMessage::Kind kind) {
    return context_.runtime->controls.New(kind);
  }
  // Gives a message its place among those of this client. The caller must send
  // it before it releases the lock or destroys its SendTracker::Sender.
  void Number(const ControlRef& control) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `from`: the client's actor if its handler calls; otherwise kNoActor.
  void Send(ControlRef control, ActorId from = kNoActor);
  // Numbers a message and sends it.
  void Post(ControlRef control, ActorId from = kNoActor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Asks the controller to release objects, if there are any. `from` is that of
  // Send.
  void ReleaseObjects(absl::Span<const uint64_t> objects,
                      ActorId from = kNoActor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Makes a request from its number.
  using Fill = absl::FunctionRef<void(uint64_t id, proto::Control*)>;
  // Posts a request that the caller can wait for.
  std::shared_ptr<Request> Ask(
      Fill fill, std::shared_ptr<Request> request = std::make_shared<Request>())
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Does what Ask does. `from` is that of Send.
  std::shared_ptr<Request> AskLocked(Fill fill, ActorId from)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ignores the answer to a request that nothing waits for any more.
  void Forget(uint64_t request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    requests_.erase(request);
  }

  // Waits until `done` returns true. Returns DeadlineExceeded if that can never
  // happen (in a simulation); EndReason if the channel ends. `what` is called
  // for its name only after an error.
  absl::Status WaitUntil(absl::FunctionRef<bool()> done,
                         absl::FunctionRef<std::string()> what);
  // Does what WaitUntil does, but waits for at most `limit_ns` nanoseconds if
  // that is not negative, and returns false once they have passed.
  absl::StatusOr<bool> WaitUntilLimit(absl::FunctionRef<bool()> done,
                                      int64_t limit_ns,
                                      absl::FunctionRef<std::string()> what);
  // Waits for `done` as WaitUntil does.
  absl::Status WaitFor(Completion& done, absl::FunctionRef<std::string()> what);
  absl::StatusOr<bool> WaitForLimit(Completion& done, int64_t limit_ns,
                                    absl::FunctionRef<std::string()> what);
  // Waits for a request that may wait for other clients, and returns its
  // status. Cancels it if the wait fails.
  absl::Status AwaitOrCancel(Request& request, uint64_t number,
                             absl::FunctionRef<std::string()> what)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Handlers of messages about requests.
  void OnAnswer(const proto::Answer& answer);
  void OnCollected(const proto::Collected& collected);
  void OnLoadWaits(const proto::LoadWaits& waits);

 private:
  // Does what WaitUntilLimit does, but asks no WaitInterrupt.
  absl::StatusOr<bool> WaitUninterrupted(absl::FunctionRef<bool()> done,
                                         int64_t limit_ns,
                                         absl::FunctionRef<std::string()> what);
  // Returns null if the request has ended.
  std::shared_ptr<Request> Find(uint64_t request) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PostRequest(ControlRef control, Fill fill,
                   std::shared_ptr<Request> request, ActorId from)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ClientContext& context_;
  ClientActor& actor_;
  const std::string client_;
  std::atomic<bool> closed_{false};
  Mutex mutex_;
  // Requests without an answer yet, by number.
  absl::flat_hash_map<uint64_t, std::shared_ptr<Request>> requests_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_CONTROL_CHANNEL_H_
