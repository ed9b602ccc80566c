//===- process_reporter.cc - Reports of one process -----------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cluster/process_reporter.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/program/launch.h"
#include "runtime/program/local_kind.h"
#include "runtime/protocol/control_check.h"
#include "runtime/trace/trace_message.h"

namespace pathways {
namespace {

// Most bytes of a trace in one message.
constexpr uint64_t kMaxReportBytes = uint64_t{4} << 20;

}  // namespace
namespace {

void CountHost(const HostExecutor& executor, proto::HostStats* out) {
  const HostCounters& host = executor.counters();
  out->set_own_shards(host.own_shards.get());
  out->set_action_shards(host.entries.get());
  out->set_queue_entries(host.queue_entries.get());
  out->set_edge_entries(host.in_edges.get());
  out->set_messages_sent(host.messages.get());
  out->set_bytes_sent(host.bytes.get());
  out->set_duplicates_dropped(host.duplicates.get());
  out->set_stale_dropped(host.stale.get());
  const uint64_t used = executor.host_arena().used();
  out->set_memory_used_bytes(used);
  // `used` and program_bytes are read at different times, so programs may come
  // between; std::min prevents an underflow.
  out->set_stored_bytes(host.stored_bytes.get());
  out->set_placed_bytes(host.placed_bytes.get());
  out->set_spilled_bytes(host.spilled_bytes.get());
  out->set_object_bytes(used - std::min(used, host.program_bytes.get()));
}

void CountLinks(const LinkStats& links, proto::LinkCounts* out) {
  out->set_messages_sent(links.messages_sent);
  out->set_bytes_sent(links.bytes_sent);
  out->set_messages_received(links.messages_received);
  out->set_bytes_received(links.bytes_received);
  out->set_unlinked(links.unlinked);
  out->set_foreign(links.foreign);
  out->set_frames_sent(links.frames_sent);
  out->set_frames_received(links.frames_received);
}

void CountDevice(const DeviceCounters& device, const DeviceTimes& times,
                 const Arena& arena, proto::DeviceStats* out) {
  out->set_name(arena.name());
  out->set_memory_bytes(arena.bound());
  out->set_used_bytes(arena.used());
  out->set_peak_bytes(arena.peak());
  out->set_gangs_run(device.gangs.get());
  out->set_kernels_run(device.kernels.get());
  out->set_fed_bytes(device.fed_bytes.get());
  out->set_fetched_bytes(device.fetched_bytes.get());
  out->set_moved_bytes(device.moved_bytes.get());
  out->set_busy_ns(times.busy());
  out->set_waiting_ns(times.waiting());
  out->set_first_begin_ns(times.first_begin.get());
  out->set_first_end_ns(times.first_end.get());
  out->set_last_end_ns(times.last_end.get());
}

}  // namespace

void ProcessReporter::OnMessage(ActorId from, ControlRef message) {
  switch (message->kind_case()) {
    case proto::Control::kCollect:
      return OnCollect(*message);
    case proto::Control::kPlanWanted:
      return OnPlanWanted(from, *message);
    case proto::Control::kPlanPart:
      return Send(plans_.Take(message->plan_part()));
    default:
      return;
  }
}

void ProcessReporter::OnPlanWanted(ActorId from,
                                   const proto::Control& control) {
  const int32_t host = context_.directory.HostOfExecutor(from);
  // Answers only hosts of this process, in their current epoch.
  if (host < 0 || control.restarts() != ReplacedOf(host)) return;
  Send(plans_.Want(static_cast<uint32_t>(host), control.plan_wanted().load()));
}

uint32_t ProcessReporter::ReplacedOf(int32_t host) const {
  return context_.directory.place(host).epoch - 1;
}

void ProcessReporter::Send(HostPlans::Outcome outcome) {
  if (outcome.request.has_value()) {
    ControlRef control = NewControl();
    *control->mutable_plan_request() = *std::move(outcome.request);
    SendControl(context_.directory.controller(), std::move(control));
  }
  for (HostPlans::Answer& answer : outcome.answers) {
    ControlRef control = NewControl();
    control->set_restarts(ReplacedOf(static_cast<int32_t>(answer.host)));
    *control->mutable_plan_arrived() = std::move(answer.arrived);
    SendControl(context_.directory.executor(answer.host), std::move(control));
  }
}

void ProcessReporter::OnCollect(const proto::Control& control) {
  proto::Collected collected;
  collected.set_request(control.collect().request());
  collected.set_process(context_.process);
  collected.set_parts(1);
  switch (control.collect().question()) {
    case proto::TIME:
      collected.set_time_ns(context_.world->Now());
      return Send(control.client(), std::move(collected));
    case proto::TRACED:
      return SendTrace(control.client(), std::move(collected));
    default:
      *collected.mutable_stats() = Count();
      return Send(control.client(), std::move(collected));
  }
}

void ProcessReporter::SendTrace(uint32_t client, proto::Collected collected) {
  const TraceLog log =
      context_.trace == nullptr ? TraceLog() : context_.trace->Read();
  std::vector<proto::ProcessTrace> parts =
      WriteTraceMessages(log, kMaxReportBytes);
  parts.front().set_simulated(context_.world->simulated());
  parts.front().set_seed(seed_);
  parts.front().set_workers(context_.world->num_workers());
  collected.set_parts(static_cast<uint32_t>(parts.size()));
  for (size_t i = 0; i < parts.size(); ++i) {
    collected.set_part(static_cast<uint32_t>(i));
    collected.mutable_trace()->Swap(&parts[i]);
    Send(client, collected);
  }
}

void ProcessReporter::Send(uint32_t client, proto::Collected collected) {
  ControlRef control = NewControl();
  control->set_client(client);
  *control->mutable_collected() = std::move(collected);
  SendControl(context_.directory.client(client), std::move(control));
}

uint64_t ProcessReporter::firings() const {
  uint64_t firings = 0;
  for (const LocalActors::Host& host : actors_.hosts()) {
    for (const auto& device : host.devices) {
      firings += device->counters().firings.get();
    }
  }
  return firings;
}

proto::ProcessStats ProcessReporter::Count() const {
  proto::ProcessStats stats;
  stats.set_process(context_.process);
  if (world_.link_stats) CountLinks(world_.link_stats(), stats.mutable_links());
  uint64_t sent[kNumMessageKinds] = {};
  for (const LocalActors::Host& host : actors_.hosts()) {
    proto::HostStats* out = stats.add_hosts();
    out->set_host(static_cast<uint32_t>(host.number));
    out->set_name(context_.topology->HostName(host.number));
    CountHost(*host.executor, out);
    for (size_t d = 0; d < host.devices.size(); ++d) {
      CountDevice(host.devices[d]->counters(), host.devices[d]->times(),
                  host.executor->arena(static_cast<int>(d)),
                  out->add_devices());
    }
    for (int k = 0; k < kNumMessageKinds; ++k) {
      sent[k] += host.executor->counters().sent[k].get();
      for (const auto& device : host.devices) {
        sent[k] += device->counters().sent[k].get();
      }
    }
  }
  for (int k = 1; k < kNumMessageKinds; ++k) {
    proto::MessageCount* count = stats.add_messages();
    count->set_kind(MessageKindName(k));
    count->set_sent(sent[k]);
  }
  stats.set_firings(firings());
  if (const Controller* controller = actors_.controller()) {
    stats.set_controller_messages(controller->messages_received());
    stats.set_controller_bytes(controller->bytes_received());
    stats.set_steps_done(controller->steps_done());
    stats.set_programs(controller->programs());
  }
  for (const ClientActor& client : actors_.clients()) {
    const ClientTransfers& transfers = client.transfers();
    stats.set_gathered_bytes(stats.gathered_bytes() +
                             transfers.bytes_gathered());
    stats.set_received_bytes(stats.received_bytes() +
                             transfers.bytes_fetched());
  }
  stats.set_plan_bytes_received(context_.plans.received());
  stats.set_plan_bytes_sent(context_.plans.sent());
  if (world_.threads != nullptr) {
    uint64_t sleeps = 0;
    for (int w = 0; w < world_.threads->num_workers(); ++w) {
      sleeps += world_.threads->stats(w).sleeps;
    }
    stats.set_worker_wakeups(sleeps);
  }
  if (world_.sim != nullptr) {
    stats.set_events(world_.sim->events());
    stats.set_event_hash(world_.sim->event_hash());
  }
  return stats;
}

}  // namespace pathways
