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

#include "runtime/client/client.h"
#include "runtime/trace/trace.h"

namespace pathways {

// Traces a call from construction to destruction, if there is a trace.
class Client::TracedCall {
 public:
  TracedCall(const Client* client, TraceCall call, uint64_t run = 0)
      : client_(*client), trace_(client->context_.runtime->trace) {
    if (trace_ == nullptr) return;
    event_ = NewTraceEvent(TraceKind::kCall, client_.context_.trace_actor,
                           trace_->Now());
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
    event_.other = run == 0 ? 0 : TraceLaunch(client_.IdOf(run));
  }

 private:
  const Client& client_;
  Trace* const trace_;
  TraceEvent event_;
};

}  // namespace pathways

#endif  // RUNTIME_CLIENT_TRACED_CALL_H_
