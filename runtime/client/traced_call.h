//===- traced_call.h - Trace event of a client's call -----------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CLIENT_TRACED_CALL_H_
#define RUNTIME_CLIENT_TRACED_CALL_H_

#include <cstdint>

#include "runtime/client/client_actor.h"
#include "runtime/client/client_context.h"
#include "runtime/protocol/client_id.h"
#include "runtime/trace/trace.h"

namespace pathways {

// Traces a call from construction to destruction, if there is a trace.
class TracedCall {
 public:
  // `actor`: that of the client. `run`: 0 if the call concerns none, or if its
  // number is not known yet.
  TracedCall(const ClientContext& context, const ClientActor& actor,
             TraceCall call, uint64_t run = 0)
      : client_(actor.index()), trace_(context.runtime->trace) {
    if (trace_ == nullptr) return;
    event_ =
        NewTraceEvent(TraceKind::kCall, context.trace_actor, trace_->Now());
    event_.target = static_cast<uint32_t>(call);
    set_run(run);
  }
  ~TracedCall() {
    if (trace_ == nullptr) return;
    event_.value = static_cast<uint64_t>(trace_->Now());
    trace_->RecordOutside(event_);
  }
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

  void set_run(uint64_t run) {
    event_.other = run == 0 ? 0 : TraceLaunch(ClientId(client_, run));
  }

 private:
  const uint32_t client_;
  Trace* const trace_;
  TraceEvent event_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_TRACED_CALL_H_
