//===- EventQueue.cpp - Queue of ended runs -------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EventQueueState.h"
#include "Handles.h"
#include "PlanState.h"
#include "runtime/base/steady_time.h"

#include <cerrno>
#include <cstring>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace pathways;

EventQueue::State::~State() { close(descriptor); }

uint64_t EventQueue::State::expect(std::weak_ptr<Session::State> session) {
  MutexLock lock(&mutex);
  awaited.emplace(++last, std::move(session));
  return last;
}

void EventQueue::State::forget(uint64_t number) {
  MutexLock lock(&mutex);
  awaited.erase(number);
}

void EventQueue::State::add(uint64_t number, RunEvent event) {
  MutexLock lock(&mutex);
  awaited.erase(number);
  events.push_back(std::move(event));
  if (events.size() == 1)
    (void)eventfd_write(descriptor, 1);
  added.notify_one();
}

RunEvent EventQueue::State::takeFirst() {
  RunEvent event = std::move(events.front());
  events.pop_front();
  eventfd_t count;
  if (events.empty())
    (void)eventfd_read(descriptor, &count);
  return event;
}

Result<EventQueue> EventQueue::create() {
  const int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0)
    return Error{ErrorCode::kRefused,
                 std::string("cannot create an event queue: ") +
                     std::strerror(errno)};
  return EventQueue(std::make_shared<State>(descriptor));
}

int EventQueue::descriptor() const { return state ? state->descriptor : -1; }

std::vector<RunEvent> EventQueue::take() {
  std::vector<RunEvent> taken;
  if (!state)
    return taken;
  MutexLock lock(&state->mutex);
  while (!state->events.empty())
    taken.push_back(state->takeFirst());
  return taken;
}

/// If an awaited run is simulated, runs the simulation until there is an event.
/// Errors: RunFailed if there never will be one.
static Status runSimulated(EventQueue::State &state) {
  auto hasEvent = [&state] {
    MutexLock lock(&state.mutex);
    return !state.events.empty();
  };
  std::shared_ptr<Session::State> session;
  {
    MutexLock lock(&state.mutex);
    for (const auto &[number, awaited] : state.awaited) {
      session = awaited.lock();
      if (session && session->cluster->simulated())
        break;
      session.reset();
    }
  }
  if (!session)
    return {};
  const absl::Status status = session->client->WaitUntil(
      hasEvent, [] { return "the end of a run in an event queue"; });
  if (!status.ok() && !hasEvent())
    return makeError(ErrorCode::kRunFailed, status);
  return {};
}

Result<std::optional<RunEvent>> EventQueue::wait(int64_t waitNs) {
  if (!state)
    return makeEmptyError("event queue");
  if (Status status = runSimulated(*state); !status)
    return status.error();
  const SteadyTime until = waitNs < 0
                               ? SteadyTime::Never()
                               : SteadyTime::Now() + absl::Nanoseconds(waitNs);
  MutexLock lock(&state->mutex);
  while (state->events.empty())
    if (WaitUntil(&state->added, &state->mutex, until) ==
            std::cv_status::timeout &&
        state->events.empty())
      return std::optional<RunEvent>();
  return std::optional<RunEvent>(state->takeFirst());
}
