//===- bare_ucx.cc - UCX without a transport ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "benchmarks/bare_ucx.h"

#include <arpa/inet.h>
#include <ucp/api/ucp.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "benchmarks/bench.h"
#include "benchmarks/two_processes.h"
#include "runtime/program/token_record.h"
#include "runtime/protocol/link_frame.h"
#include "runtime/transport/frame.h"
#include "runtime/transport/ucx/ucx_address.h"
#include "runtime/transport/ucx/ucx_worker.h"

namespace pathways::bench {
namespace {

constexpr size_t kTransferBytes = 64 << 20;
constexpr size_t kPieceBytes = UcxWorker::kPacketBytes;
// Bytes of a hop of gang8: a frame of the transport with a batch of two
// messages, one with the pieces of eight members, of one number each, and one
// with as many tokens.
constexpr size_t kGangBytes = kFrameBytes + 3 * sizeof(LinkFrame) +
                              8 * (2 * sizeof(MemberHeader) + sizeof(float));
enum Packet : unsigned { kPing = 1, kPong = 2, kPiece = 3 };

class Side {
 public:
  explicit Side(UcxWay way) : worker_(Must(UcxWorker::Make(way, "lo"))) {
    Must(worker_->Receive(kPing, &OnPing, this));
    Must(worker_->Receive(kPong, &OnPong, this));
    Must(worker_->Receive(kPiece, &OnPiece, this));
  }

  std::string Listen() {
    const Endpoint any = Must(ResolveUcx("ucx:127.0.0.1:0")).endpoint;
    ucp_listener_h listener =
        Must(worker_->Listen(any, "ucx:127.0.0.1:0", &OnDialed, this));
    ucp_listener_attr_t attributes = {};
    attributes.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
    ucp_listener_query(listener, &attributes);
    Endpoint bound;
    bound.storage = attributes.sockaddr;
    return DescribeUcx(bound);
  }
  void Dial(const std::string& address) {
    const Endpoint endpoint = Must(ResolveUcx(address)).endpoint;
    ucp_ep_params_t params = {};
    params.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR;
    params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
    params.sockaddr.addr = endpoint.get();
    params.sockaddr.addrlen = endpoint.bytes;
    Create(params);
  }
  void Send(unsigned id, const void* data, size_t bytes) {
    ucp_request_param_t param = {};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER;
    const ucs_status_ptr_t request =
        ucp_am_send_nbx(peer_, id, nullptr, 0, data, bytes, &param);
    if (request == nullptr) return;
    if (UCS_PTR_IS_ERR(request)) Die("UCX does not send");
    while (ucp_request_check_status(request) == UCS_INPROGRESS) Poll();
    ucp_request_free(request);
  }
  bool Poll() { return ucp_worker_progress(worker_->get()) > 0; }

  bool over = false;  // the other side is gone
  int pongs = 0;

 private:
  void Create(ucp_ep_params_t params) {
    params.field_mask |=
        UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = [](void* side, ucp_ep_h, ucs_status_t) {
      static_cast<Side*>(side)->over = true;
    };
    params.err_handler.arg = this;
    if (ucp_ep_create(worker_->get(), &params, &peer_) != UCS_OK) {
      Die("UCX does not connect");
    }
  }
  static void OnDialed(ucp_conn_request_h request, void* side) {
    ucp_ep_params_t params = {};
    params.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST;
    params.conn_request = request;
    static_cast<Side*>(side)->Create(params);
  }
  // Answers with as many bytes as it received.
  static ucs_status_t OnPing(void* side, const void*, size_t, void*,
                             size_t bytes, const ucp_am_recv_param_t*) {
    static_cast<Side*>(side)->SendSoon(kPong, bytes);
    return UCS_OK;
  }
  static ucs_status_t OnPong(void* side, const void*, size_t, void*, size_t,
                             const ucp_am_recv_param_t*) {
    ++static_cast<Side*>(side)->pongs;
    return UCS_OK;
  }
  static ucs_status_t OnPiece(void* side, const void*, size_t, void* data,
                              size_t bytes, const ucp_am_recv_param_t*) {
    auto* self = static_cast<Side*>(side);
    if (self->memory_.empty()) self->memory_.assign(kTransferBytes, 0);
    std::memcpy(self->memory_.data() + self->came_, data, bytes);
    self->came_ += bytes;
    if (self->came_ < kTransferBytes) return UCS_OK;
    self->came_ = 0;
    self->SendSoon(kPong, kSmallBytes);
    return UCS_OK;
  }
  // Sends from a handler; never waits, since rings have room for one message.
  void SendSoon(unsigned id, size_t bytes) {
    ucp_request_param_t param = {};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK;
    param.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER;
    param.cb.send = [](void* request, ucs_status_t, void*) {
      ucp_request_free(request);
    };
    static const char kBytes[std::max(kSmallBytes, kGangBytes)] = {};
    ucp_am_send_nbx(peer_, id, nullptr, 0, kBytes,
                    std::min(bytes, sizeof kBytes), &param);
  }

  const std::unique_ptr<UcxWorker> worker_;
  ucp_ep_h peer_ = nullptr;
  std::vector<char> memory_;
  size_t came_ = 0;
};

void Serve(UcxWay way, int to_parent) {
  Side side(way);
  Notify(to_parent, side.Listen());
  Idle idle;
  while (!side.over) idle.After(side.Poll());
}

}  // namespace

void BareUcx(UcxWay way, const std::string& name, double scale) {
  const Child child([&](int to_parent) { Serve(way, to_parent); });
  Side side(way);
  side.Dial(child.Hear());
  const auto wait_for = [&](int pongs) {
    Idle idle;
    while (side.pongs < pongs) idle.After(side.Poll());
  };
  const char bytes[std::max(kSmallBytes, kGangBytes)] = {};
  const auto ping = [&](size_t count) {
    const int before = side.pongs;
    side.Send(kPing, bytes, count);
    wait_for(before + 1);
  };
  RoundTrips(name, scale, [&] { ping(kSmallBytes); });
  // A round trip is two hops.
  Figure("process.gang8." + name + ".us",
         RoundTrip(scale, [&] { ping(kGangBytes); }) / 2, "us");
  const std::vector<char> memory(kTransferBytes, 1);
  Transfers(name, scale, kTransferBytes, [&] {
    const int before = side.pongs;
    for (size_t done = 0; done < kTransferBytes; done += kPieceBytes) {
      side.Send(kPiece, memory.data() + done, kPieceBytes);
    }
    wait_for(before + 1);
  });
}

}  // namespace pathways::bench
