//===- worker.cc - Hosts of a cluster -------------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/mutex.h"
#include "runtime/base/steady_time.h"
#include "runtime/node/backoff.h"
#include "tools/pw-node/commands.h"
#include "tools/pw-node/note.h"

namespace pathways::pw_node {
namespace {

struct Life {
  bool joined = false;
  bool is_stuck = false;  // in a kernel that does not return
};

absl::Status Live(const MemberOptions& options, const TransportFactory& links,
                  Stopper* stopper, Life* life) {
  absl::StatusOr<std::unique_ptr<Member>> member =
      Member::Create(options, links);
  if (!member.ok()) return member.status();
  stopper->Set([stopped = member->get()] { stopped->Stop(); });
  absl::Status status = (*member)->Join();
  if (status.ok()) {
    life->joined = true;
    if (options.any_host_of.has_value()) {
      Note(absl::StrCat("this worker is host '", (*member)->hosts().front(),
                        "'"));
    }
    status = (*member)->Serve();
    life->is_stuck = (*member)->process().cluster().has_lost_workers();
  }
  stopper->Set(nullptr);
  return status;
}

// Waits for the next attempt, or until `until`. Returns false if it was
// stopped.
bool Pause(absl::Duration pause, SteadyTime until, Stopper* stopper) {
  Mutex mutex;
  std::condition_variable_any changed;
  bool is_stopped = false;
  stopper->Set([&] {
    MutexLock lock(&mutex);
    is_stopped = true;
    changed.notify_all();
  });
  const SteadyTime end = std::min(until, SteadyTime::Now() + pause);
  bool was_stopped = false;
  {
    MutexLock lock(&mutex);
    while (!is_stopped &&
           WaitUntil(&changed, &mutex, end) != std::cv_status::timeout) {
    }
    was_stopped = is_stopped;
  }
  stopper->Set(nullptr);
  return !was_stopped;
}

// Returns the default address at which others reach this process: the one from
// which it reaches the controller. Waits, since the controller's name may not
// resolve before it runs. Returns Aborted if it was stopped.
absl::StatusOr<std::string> AwaitAddress(const MemberOptions& options,
                                         Stopper* stopper) {
  const SteadyTime until = SteadyTime::Now() + options.patience;
  Backoff backoff;
  bool said = false;
  absl::StatusOr<std::string> address = AddressTowards(options.connect);
  while (absl::IsUnavailable(address.status()) && SteadyTime::Now() < until) {
    if (!std::exchange(said, true)) {
      Note(absl::StrCat(WithoutTag(address.status().message()),
                        "; waiting for it"));
    }
    if (!Pause(backoff.Next(), until, stopper)) {
      return absl::AbortedError("the worker was stopped");
    }
    address = AddressTowards(options.connect);
  }
  return address;
}

}  // namespace

absl::Status RunWorker(WorkerCommand command, Stopper* stopper) {
  absl::StatusOr<TransportFactory> links = MakeLinks(command.links);
  if (!links.ok()) return links.status();
  command.member.connect = MakeNodeAddress(command.member.connect);
  // Clients of other processes need an address, too.
  if (!command.ends_with_controller &&
      absl::c_all_of(command.member.listen, IsUcxAddress)) {
    absl::StatusOr<std::string> address = AwaitAddress(command.member, stopper);
    if (absl::IsAborted(address.status())) return absl::OkStatus();
    if (!address.ok()) return address.status();
    command.member.listen.push_back(*std::move(address));
  }
  for (std::string& listen : command.member.listen) {
    listen = MakeNodeAddress(listen);
  }
  KeptPlans plans;
  command.member.plans = &plans;
  command.member.on_waiting = [](const std::string& why) {
    Note(absl::StrCat("waiting as a spare: ", why));
  };
  bool was_member = false;
  SteadyTime until = SteadyTime::Never();  // deadline for joining again
  Backoff backoff;
  while (true) {
    Life life;
    absl::Status status = Live(command.member, *links, stopper, &life);
    if (absl::IsAborted(status)) return absl::OkStatus();
    if (life.is_stuck) {
      if (!command.ends_with_controller) Note(std::string(status.message()));
      stopper->Set([] { std::_Exit(0); });
      return command.start_again();
    }
    if (command.ends_with_controller) return status;
    if (life.joined) {
      was_member = true;
      until = SteadyTime::Now() + command.member.patience;
      backoff.Reset();
      Note(std::string(status.message()));
    }
    if (!was_member || SteadyTime::Now() >= until) return status;
    if (!Pause(backoff.Next(), until, stopper)) return absl::OkStatus();
  }
}

}  // namespace pathways::pw_node
