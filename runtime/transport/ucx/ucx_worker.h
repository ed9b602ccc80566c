//===- ucx_worker.h - UCP worker --------------------------------*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_TRANSPORT_UCX_UCX_WORKER_H_
#define RUNTIME_TRANSPORT_UCX_UCX_WORKER_H_

#include <ucp/api/ucp.h>

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/transport/socket_address.h"
#include "runtime/transport/ucx_options.h"

namespace pathways {

// A UCP context and its worker with the settings of this runtime, which
// override those of the environment. One thread at a time.
class UcxWorker {
 public:
  // Largest data of one packet, so that UCX sends it in one step: it would
  // first assemble a longer one in memory of its own.
  static constexpr size_t kPacketBytes = 32 << 10;
  // Largest header of a packet, in addition.
  static constexpr size_t kHeadBytes = 256;

  // `device` is the network device; empty: any. Returns Unavailable if UCX
  // fails.
  static absl::StatusOr<std::unique_ptr<UcxWorker>> Make(
      UcxWay way, const std::string& device);
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;

  ucp_worker_h get() const { return worker_; }
  // Becomes readable when there is work, after Arm returned true.
  int event_fd() const { return event_fd_; }
  // Returns false if there is work already.
  bool Arm() { return ucp_worker_arm(worker_) == UCS_OK; }

  // Calls `on_packet` with `argument` for packets with this id.
  absl::Status Receive(unsigned id, ucp_am_recv_callback_t on_packet,
                       void* argument);
  // `text` names the endpoint in errors, which are as for Transport::Listen.
  absl::StatusOr<ucp_listener_h> Listen(const Endpoint& endpoint,
                                        absl::string_view text,
                                        ucp_listener_conn_callback_t on_dialed,
                                        void* argument);

 private:
  UcxWorker() = default;

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int event_fd_ = -1;
};

// Returns the error "`what`: " with UCX's reason.
absl::Status UcxError(absl::string_view what, ucs_status_t status);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_WORKER_H_
