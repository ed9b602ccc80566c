//===- client_actor.cc - The address of a client --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/client/client_actor.h"

#include <utility>

namespace pathways {

bool ClientActor::Attach(const std::string& name) {
  MutexLock lock(&mutex_);
  if (taken_) return false;
  taken_ = true;
  name_ = name;
  return true;
}

void ClientActor::Listen(Handler handler, Tick tick) {
  MutexLock lock(&mutex_);
  handler_ = std::move(handler);
  tick_ = std::move(tick);
}

void ClientActor::TickAfter(TimeNs delay) {
  world_.SendAfter(local_id(), local_id(), delay, LocalMessage());
}

std::function<void()> ClientActor::FileTeller() {
  return [this] {
    LocalMessage message;
    message.kind = kFilesRead;
    world_.SendLocal(kNobody, local_id(), message);
  };
}

void ClientActor::OnLocal(const LocalMessage& message) {
  if (message.kind == kFilesRead) {
    return transfers_.OnRead(
        [&](int32_t to, const WireMessage& answer, Payload values) {
          world_.Send(self(), directory_.executor(to), answer, values);
        });
  }
  MutexLock lock(&mutex_);
  if (tick_ != nullptr) tick_();  // null if the client is gone
}

void ClientActor::Detach(uint64_t request) {
  MutexLock lock(&mutex_);
  handler_ = nullptr;
  tick_ = nullptr;
  leaving_ = request;
  taken_ = request != 0;
}

void ClientActor::OnWire(ActorId from, const WireMessage& message,
                         Payload payload) {
  const int32_t host = directory_.HostOfExecutor(from);
  if (host < 0) return;
  transfers_.OnWire(host, message, payload,
                    [&](int32_t to, const WireMessage& answer, Payload values) {
                      world_.Send(self(), directory_.executor(to), answer,
                                  values);
                    });
}

bool ClientActor::leaving(const std::string& name) {
  MutexLock lock(&mutex_);
  return leaving() && name_ == name;
}

void ClientActor::OnMessage(ActorId, ControlRef message) {
  const proto::Control& control = *message;
  {
    MutexLock lock(&mutex_);
    if (handler_ != nullptr) return handler_(control);
    if (!leaving() || control.answer().request() != leaving_) return;
    // Uploads of the last client end before the next client adds its own.
    transfers_.EndLaunches();
    taken_ = false;
    leaving_ = 0;
  }
  world_.Notify();
}

}  // namespace pathways
