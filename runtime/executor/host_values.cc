//===- host_values.cc - Values of launches on a host ----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "runtime/executor/host_executor.h"

namespace pathways {
namespace {

// Time of a simulated disk access, plus a nanosecond for each byte.
constexpr TimeNs kSimDiskNs = 100'000;
// Change of the spilled bytes that is reported while the disk stays busy.
constexpr uint64_t kReportedSpillBytes = uint64_t{64} << 20;

}  // namespace

void HostExecutor::StartSpilling(std::unique_ptr<SpillDisk> disk) {
  LocalMessage done;
  done.kind = kSpillDone;
  auto run = [this, done](uint64_t bytes, std::function<void()> work) {
    if (!world_->simulated()) {
      const std::function<void()> tell = [this, done, work = std::move(work)] {
        work();
        world_->SendLocal(kNobody, local_id(), done);
      };
      // If there is no thread, the executor itself waits for the disk.
      if (!io_thread_.Do(tell)) tell();
      return;
    }
    work();
    const TimeNs time_ns =
        static_cast<TimeNs>(std::min<uint64_t>(bytes, uint64_t{1} << 60));
    world_->SendAfter(local_id(), local_id(), kSimDiskNs + time_ns, done);
  };
  staging_.StartSpilling(std::move(disk), context_.spill, std::move(run));
}

void HostExecutor::OnSpillDone() {
  counters_.sent[kSpillDone].Add();
  staging_.OnSpillDone();
  grants_.Release();
  counters_.spilled_bytes.Set(staging_.spilled_bytes());
  // Reports progress, for statistics of the cluster and for what waits on this
  // host.
  const uint64_t spilled = staging_.spilled_bytes();
  const uint64_t change =
      std::max(spilled, told_spilled_) - std::min(spilled, told_spilled_);
  if (!staging_.is_spilling() || change >= kReportedSpillBytes) {
    SendStored(staging_.last());
  }
  if (outbox_.trace() != nullptr) TraceMemory();
}

void HostExecutor::Proceed() {
  if (!staging_.waits()) return;
  staging_.Proceed();
  grants_.Release();
}

void HostExecutor::OnStore(const ControlRef& control) {
  if (!staging_.Take(control)) return counters_.duplicates.Add();
  counters_.spilled_bytes.Set(staging_.spilled_bytes());
  grants_.Release();
}

void HostExecutor::OnClientWire(uint32_t client, const WireMessage& message,
                                Payload payload) {
  staging_.OnWire(client, message, payload);
  counters_.stored_bytes.Set(staging_.bytes_stored());
}

const HostProgram* HostExecutor::FindProgram(uint32_t program,
                                             uint32_t incarnation) const {
  return programs_.Find(program, incarnation);
}

void HostExecutor::SendReady(uint64_t launch, const absl::Status& status) {
  ControlRef control = outbox_.New(proto::Control::kLaunchReady);
  proto::LaunchReady* ready = control->mutable_launch_ready();
  ready->set_launch(launch);
  ready->set_host(host_);
  ready->set_code(static_cast<int>(status.code()));
  ready->set_message(std::string(status.message()));
  outbox_.SendToController(std::move(control));
}

void HostExecutor::SendStored(uint64_t sequence) {
  ControlRef control = outbox_.New(proto::Control::kObjectsDropped);
  control->mutable_objects_dropped()->set_host(host_);
  control->mutable_objects_dropped()->set_sequence(sequence);
  control->mutable_objects_dropped()->set_spilled_bytes(
      staging_.spilled_bytes());
  told_spilled_ = staging_.spilled_bytes();
  outbox_.SendToController(std::move(control));
}

// The message to itself comes after what arrived together with the launch,
// mostly its grant, which need not wait until the controller is notified. It is
// sent once for all launches that arrive together. Devices receive the grant
// after it.
void HostExecutor::SendStoredSoon() {
  if (std::exchange(stored_due_, true)) return;
  LocalMessage due;
  due.kind = kStoredDue;
  outbox_.SendToExecutor(due);
}

void HostExecutor::SendFetched(uint32_t client, uint64_t request,
                               uint64_t pieces) {
  ControlRef control = outbox_.New();
  control->set_client(client);
  proto::FetchReport* report = control->mutable_fetch_report();
  report->set_request(request);
  report->set_host(host_);
  report->set_pieces(pieces);
  outbox_.SendToController(std::move(control));
}

void HostExecutor::OnLent(uint32_t client, uint64_t request,
                          const HostStore::Object& object) {
  context_.lent.Add(client, request, object.data());
}

void HostExecutor::OnLentEnd(uint32_t client, uint64_t request) {
  context_.lent.Remove(client, request);
}

}  // namespace pathways
