//===- ucx_worker.h - A UCP worker ------------------------------*- C++ -*-===//
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

// A UCP context and its worker, set up as this runtime wants them, whatever the
// environment says of these settings. One thread at a time.
class UcxWorker {
 public:
  // What one packet may have, so that it is one step for UCX: a long one would
  // be put together in memory of UCX first.
  static constexpr size_t kPacketBytes = 32 << 10;
  // And so many more in its header.
  static constexpr size_t kHeadBytes = 256;

  // `device`: of the network; empty: any. Unavailable: UCX says no.
  static absl::StatusOr<std::unique_ptr<UcxWorker>> Make(
      UcxWay way, const std::string& device);
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;

  ucp_worker_h get() const { return worker_; }
  // Readable when Arm said that the worker may be left alone, and there is
  // something to do again.
  int event_fd() const { return event_fd_; }
  // False: there is something to do already.
  bool Arm() { return ucp_worker_arm(worker_) == UCS_OK; }

  // `on_packet` with `argument` for packets with this number.
  absl::Status Receive(unsigned id, ucp_am_recv_callback_t on_packet,
                       void* argument);
  // `text` names the endpoint. Codes as Transport::Listen.
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

// "`what`: ", and UCX's reason.
absl::Status UcxError(absl::string_view what, ucs_status_t status);

}  // namespace pathways

#endif  // RUNTIME_TRANSPORT_UCX_UCX_WORKER_H_
