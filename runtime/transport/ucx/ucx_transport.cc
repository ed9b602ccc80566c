//===- ucx_transport.cc - Transport over UCX ------------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/ucx/ucx_transport.h"

#include <sys/random.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/transport/strangers.h"
#include "runtime/transport/ucx/ucx_address.h"
#include "runtime/transport/ucx/ucx_connection.h"
#include "runtime/transport/ucx/ucx_loop.h"
#include "runtime/transport/ucx/ucx_worker.h"

namespace pathways {
namespace {

using Connection = std::shared_ptr<UcxConnection>;
using Clock = std::chrono::steady_clock;

// With less the other side could not report that bytes were taken.
constexpr uint64_t kLeastWindow = 256 << 10;
// Time in which notifications of the end can leave.
constexpr std::chrono::seconds kStopTimeout{1};

uint64_t Random() {
  uint64_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

class UcxTransport : public Transport, private UcxWork {
 public:
  UcxTransport(const UcxOptions& options, TransportEvents* events)
      : options_(options), loop_(this) {
    home_.loop = &loop_;
    home_.events = events;
    home_.limits = options.limits;
    home_.window_bytes = std::max(options.window_bytes, kLeastWindow);
    home_.name = Random();
    home_.silence_timeout =
        options.way == UcxWay::kTcp
            ? absl::ToChronoNanoseconds(options.silence_timeout)
            : std::chrono::nanoseconds::max();
    home_.stranger_timeout =
        absl::ToChronoNanoseconds(options.stranger_timeout);
    home_.admit = [this](UcxConnection* c) { return Admit(c); };
    home_.close_endpoint = [this](ucp_ep_h ep) {
      if (ep == last_endpoint_.first) last_endpoint_ = {};
      by_endpoint_.erase(ep);
    };
    home_.forget = [this](UcxConnection* c) { Forget(c); };
    home_.list = [this](UcxConnection* c) { List(c); };
    home_.refused = options.refused;
  }
  ~UcxTransport() override { UcxTransport::Stop(); }

  absl::StatusOr<std::string> Listen(absl::string_view text) override;
  absl::StatusOr<PeerId> Dial(absl::string_view text,
                              absl::Duration timeout) override;
  void Send(PeerId peer, Urgency urgency, absl::Span<const char> header,
            absl::Span<const char> payload) override {
    if (urgency == Urgency::kCritical && loop_.Enter()) {
      if (UcxConnection* to = FindInside(peer)) to->SendInside(header, payload);
      return loop_.Leave();
    }
    if (Connection to = Find(peer)) to->Send(urgency, header, payload);
  }
  void Expect(PeerId peer, uint64_t token, void* memory,
              uint64_t bytes) override {
    if (Connection from = Find(peer)) from->Expect(token, memory, bytes);
  }
  void Put(PeerId peer, uint64_t token, absl::Span<const char> bytes,
           std::function<void()> sent) override;
  uint64_t backlog(PeerId peer) const override {
    const Connection of = Find(peer);
    return of == nullptr ? 0 : of->backlog();
  }
  void Close(PeerId peer) override {
    if (Connection connection = Find(peer)) connection->Close();
  }
  bool Poll() override { return loop_.Poll(); }
  void OnIdle() override { loop_.OnIdle(); }
  void Stop() override;

 private:
  // Functions of UcxWork.
  bool Move() override;
  void MoveUrgent() override;
  bool Arm() override {
    return worker_ != nullptr && !any_listed_.load() && worker_->Arm();
  }
  int event_fd() override { return worker_->event_fd(); }
  Time Tick(Time now) override;

  // Enters the loop and makes a worker for this address if there is none. On
  // error the thread is not inside.
  absl::Status EnterFor(const Endpoint& endpoint, absl::string_view what);
  void Adopt(const Connection& connection, ucp_ep_h endpoint);
  static void OnDialed(ucp_conn_request_h request, void* ear);
  void AcceptStranger(ucp_conn_request_h request);
  // Ends the connection of a stranger if there are max_strangers.
  void MakeRoomFor(const std::string& from);
  static void OnEndpointError(void* transport, ucp_ep_h endpoint,
                              ucs_status_t status);
  template <UcxPacket kPacket>
  static ucs_status_t OnPacket(void* transport, const void* head,
                               size_t head_bytes, void* data, size_t bytes,
                               const ucp_am_recv_param_t* param);
  UcxConnection* Of(ucp_ep_h endpoint);
  PeerId Admit(UcxConnection* connection);
  void Forget(UcxConnection* connection);
  void List(UcxConnection* connection);
  Connection Find(PeerId peer) const;
  // Must be called inside, without the lock. Returns null if the peer is gone.
  UcxConnection* FindInside(PeerId peer);

  struct Ear {
    UcxTransport* transport;
    ucp_listener_h listener;
  };

  const UcxOptions options_;
  const uint64_t secret_ = Random();  // a process that dials must know it
  UcxLoop loop_;
  UcxConnection::Home home_;
  Mutex stop_mutex_;  // held during Stop

  // Used only by the thread that is inside.
  std::unique_ptr<UcxWorker> worker_;
  std::vector<std::unique_ptr<Ear>> ears_;
  std::unordered_map<ucp_ep_h, UcxConnection*> by_endpoint_;
  std::unordered_map<PeerId, UcxConnection*> by_peer_;
  // The latest lookups, which are mostly repeated.
  std::pair<ucp_ep_h, UcxConnection*> last_endpoint_{};
  std::pair<PeerId, UcxConnection*> last_peer_{};
  std::unordered_map<UcxConnection*, Connection> connections_;
  std::vector<Connection> at_hand_;

  mutable Mutex mutex_;
  uint32_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<PeerId, Connection> peers_ ABSL_GUARDED_BY(mutex_);

  Mutex list_mutex_;  // the last lock to be taken
  std::vector<Connection> listed_ ABSL_GUARDED_BY(list_mutex_);
  std::vector<std::function<void()>> calls_ ABSL_GUARDED_BY(list_mutex_);
  std::atomic<bool> any_listed_{false};
};

absl::Status UcxTransport::EnterFor(const Endpoint& endpoint,
                                    absl::string_view what) {
  absl::Status stopped =
      absl::UnavailableError(absl::StrCat(what, ": the transport has stopped"));
  if (home_.stopped.load() || !loop_.EnterWaiting()) return stopped;
  if (worker_ != nullptr) return absl::OkStatus();
  absl::Status status;
  absl::StatusOr<std::unique_ptr<UcxWorker>> worker =
      UcxWorker::Make(options_.way, DeviceTowards(endpoint));
  status = worker.status();
  if (status.ok()) {
    status.Update((*worker)->Receive(static_cast<unsigned>(UcxPacket::kHello),
                                     &OnPacket<UcxPacket::kHello>, this));
    status.Update((*worker)->Receive(static_cast<unsigned>(UcxPacket::kBytes),
                                     &OnPacket<UcxPacket::kBytes>, this));
    status.Update((*worker)->Receive(static_cast<unsigned>(UcxPacket::kTaken),
                                     &OnPacket<UcxPacket::kTaken>, this));
    status.Update((*worker)->Receive(static_cast<unsigned>(UcxPacket::kEnd),
                                     &OnPacket<UcxPacket::kEnd>, this));
  }
  if (!status.ok()) {
    loop_.Leave();
    return absl::UnavailableError(absl::StrCat(what, ": ", status.message()));
  }
  worker_ = *std::move(worker);
  loop_.Start();
  return absl::OkStatus();
}

absl::StatusOr<std::string> UcxTransport::Listen(absl::string_view text) {
  absl::StatusOr<UcxAddress> address = ResolveUcx(text);
  if (!address.ok()) return address.status();
  absl::Status entered =
      EnterFor(address->endpoint,
               absl::StrCat("cannot listen on '", address->shown, "'"));
  if (!entered.ok()) return entered;
  auto ear = std::make_unique<Ear>(Ear{this, nullptr});
  absl::StatusOr<ucp_listener_h> listener =
      worker_->Listen(address->endpoint, address->shown, &OnDialed, ear.get());
  ucp_listener_attr_t attributes = {};
  attributes.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
  if (listener.ok()) {
    ear->listener = *listener;
    ears_.push_back(std::move(ear));
    ucp_listener_query(*listener, &attributes);
  }
  loop_.Leave();
  if (!listener.ok()) return listener.status();
  Endpoint bound;
  bound.storage = attributes.sockaddr;
  const std::string& shown = address->shown;
  return WithSecret(
      absl::StrCat(shown.substr(0, shown.rfind(':') + 1), bound.port()),
      secret_);
}

absl::StatusOr<PeerId> UcxTransport::Dial(absl::string_view text,
                                          absl::Duration timeout) {
  absl::StatusOr<UcxAddress> address = ResolveUcx(text);
  if (!address.ok()) return address.status();
  const std::string what = absl::StrCat("cannot dial '", address->shown, "'");
  absl::Status entered = EnterFor(address->endpoint, what);
  if (!entered.ok()) return entered;
  const auto connection =
      std::make_shared<UcxConnection>(&home_, "", address->secret);
  ucp_ep_params_t params = {};
  params.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
  params.sockaddr.addr = address->endpoint.get();
  params.sockaddr.addrlen = address->endpoint.bytes;
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = &OnEndpointError;
  params.err_handler.arg = this;
  ucp_ep_h made = nullptr;
  const ucs_status_t status = ucp_ep_create(worker_->get(), &params, &made);
  if (status == UCS_OK) Adopt(connection, made);
  loop_.Leave();
  if (status != UCS_OK) return UcxError(what, status);
  loop_.OnIdle();  // a thread must move it
  absl::StatusOr<PeerId> peer =
      connection->WaitUntilUp(absl::ToChronoNanoseconds(timeout));
  if (peer.ok()) return peer;
  if (loop_.EnterWaiting()) {
    connection->Fail(peer.status());
    loop_.Leave();
  }
  peer = connection->WaitUntilUp(std::chrono::nanoseconds(0));
  if (peer.ok()) return peer;
  return absl::Status(peer.status().code(),
                      absl::StrCat(what, ": ", peer.status().message()));
}

void UcxTransport::Adopt(const Connection& connection, ucp_ep_h endpoint) {
  connections_.emplace(connection.get(), connection);
  by_endpoint_.emplace(endpoint, connection.get());
  connection->Open(endpoint);
}

void UcxTransport::OnDialed(ucp_conn_request_h request, void* ear) {
  const Ear* of = static_cast<Ear*>(ear);
  of->transport->AcceptStranger(request);
}

void UcxTransport::MakeRoomFor(const std::string& from) {
  std::vector<UcxConnection*> known;
  // They are sorted below, so any order will do here.
  for (const auto& [connection, owner] : connections_) {
    if (connection->is_stranger()) known.push_back(connection);
  }
  if (known.empty() || known.size() < options_.max_strangers) return;
  std::sort(known.begin(), known.end(), [](const auto* a, const auto* b) {
    return a->hello_due() < b->hello_due();
  });
  std::vector<Stranger> strangers;
  for (const UcxConnection* connection : known) {
    strangers.push_back({std::string(StrangerAddress(connection->from())),
                         /*has_spoken=*/false});
  }
  known[WhoGivesWay(strangers)]->Fail(absl::ResourceExhaustedError(absl::StrCat(
      "the connection was dropped in favor of '", from,
      "': ", options_.max_strangers, " connections have not sent a hello")));
}

void UcxTransport::AcceptStranger(ucp_conn_request_h request) {
  ucp_conn_request_attr_t attributes = {};
  attributes.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR;
  ucp_conn_request_query(request, &attributes);
  Endpoint endpoint;
  endpoint.storage = attributes.client_address;
  const std::string from = DescribeUcx(endpoint);
  ucp_ep_params_t params = {};
  params.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.conn_request = request;
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = &OnEndpointError;
  params.err_handler.arg = this;
  ucp_ep_h made = nullptr;
  MakeRoomFor(from);
  if (ucp_ep_create(worker_->get(), &params, &made) != UCS_OK) return;
  Adopt(std::make_shared<UcxConnection>(&home_, from, secret_), made);
  loop_.WakeAt(Clock::now() + home_.stranger_timeout);
}

void UcxTransport::OnEndpointError(void* transport, ucp_ep_h endpoint,
                                   ucs_status_t status) {
  auto* self = static_cast<UcxTransport*>(transport);
  if (UcxConnection* of = self->Of(endpoint)) {
    of->Fail(UcxError(
        of->is_up() ? "the connection broke" : "the other side sent no hello",
        status));
  }
}

template <UcxPacket kPacket>
ucs_status_t UcxTransport::OnPacket(void* transport, const void* head,
                                    size_t head_bytes, void* data, size_t bytes,
                                    const ucp_am_recv_param_t* param) {
  auto* self = static_cast<UcxTransport*>(transport);
  if (self->home_.stopped.load(std::memory_order_relaxed) ||
      !(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP)) {
    return UCS_OK;
  }
  UcxConnection* const of = self->Of(param->reply_ep);
  if (of == nullptr) return UCS_OK;
  if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
    of->Fail(absl::InvalidArgumentError(
        absl::StrCat("the other side offers ", bytes,
                     " bytes by rendezvous, expected them in packets")));
    return UCS_OK;
  }
  of->OnPacket(kPacket,
               absl::MakeConstSpan(static_cast<const char*>(head), head_bytes),
               absl::MakeConstSpan(static_cast<const char*>(data), bytes));
  return UCS_OK;
}

UcxConnection* UcxTransport::Of(ucp_ep_h endpoint) {
  if (endpoint == last_endpoint_.first) return last_endpoint_.second;
  const auto found = by_endpoint_.find(endpoint);
  if (found == by_endpoint_.end()) return nullptr;
  last_endpoint_ = *found;
  return found->second;
}

UcxConnection* UcxTransport::FindInside(PeerId peer) {
  if (peer == last_peer_.first) return last_peer_.second;
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return nullptr;
  last_peer_ = *found;
  return found->second;
}

PeerId UcxTransport::Admit(UcxConnection* connection) {
  MutexLock lock(&mutex_);
  const PeerId peer{++last_};
  peers_.emplace(peer, connection->shared_from_this());
  by_peer_.emplace(peer, connection);
  return peer;
}

void UcxTransport::Forget(UcxConnection* connection) {
  {
    MutexLock lock(&mutex_);
    peers_.erase(connection->peer());
  }
  by_peer_.erase(connection->peer());
  if (connection == last_peer_.second) last_peer_ = {};
  connections_.erase(connection);  // the caller holds a reference
}

void UcxTransport::List(UcxConnection* connection) {
  if (connection->listed.exchange(true)) return;
  {
    MutexLock lock(&list_mutex_);
    listed_.push_back(connection->shared_from_this());
    any_listed_.store(true);
  }
  loop_.Wake();
}

Connection UcxTransport::Find(PeerId peer) const {
  MutexLock lock(&mutex_);
  const auto found = peers_.find(peer);
  return found == peers_.end() ? nullptr : found->second;
}

void UcxTransport::Put(PeerId peer, uint64_t token,
                       absl::Span<const char> bytes,
                       std::function<void()> sent) {
  const Connection to = Find(peer);
  if (to != nullptr && to->Put(token, bytes, &sent)) return;
  {
    MutexLock lock(&list_mutex_);
    calls_.push_back(std::move(sent));
    any_listed_.store(true);
  }
  loop_.Wake();
}

bool UcxTransport::Move() {
  bool moved = worker_ != nullptr && ucp_worker_progress(worker_->get()) > 0;
  if (!any_listed_.load(std::memory_order_relaxed)) return moved;
  std::vector<std::function<void()>> calls;
  {
    MutexLock lock(&list_mutex_);
    at_hand_.swap(listed_);
    calls.swap(calls_);
    any_listed_.store(false);
  }
  for (auto& call : calls) call();
  for (const Connection& connection : at_hand_) {
    connection->listed.store(false);
    moved |= connection->Flush(/*all=*/true);
    connection->Notify();
  }
  moved |= !calls.empty();
  at_hand_.clear();
  return moved;
}

void UcxTransport::MoveUrgent() {
  // They stay listed, since Move does their other work.
  std::vector<Connection> listed;
  {
    MutexLock lock(&list_mutex_);
    listed = listed_;
  }
  for (const Connection& connection : listed) connection->Flush(false);
}

UcxWork::Time UcxTransport::Tick(Time now) {
  Time due = Time::max();
  // Each connection has timers of its own, which may be looked at in any order.
  for (const auto& [connection, owner] : connections_) {
    due = std::min(due, connection->Tick(now));
  }
  return due;
}

void UcxTransport::Stop() {
  MutexLock stop_lock(&stop_mutex_);
  home_.stopped.store(true);
  if (!loop_.Stop()) return;
  if (worker_ == nullptr) return;
  const auto until = Clock::now() + kStopTimeout;
  for (const auto& ear : ears_) ucp_listener_destroy(ear->listener);
  for (bool over = false; !over && Clock::now() < until;) {
    over = true;
    // Connections may be abandoned in any order.
    for (const auto& [connection, owner] : connections_) {
      over &= connection->Abandon();
    }
    ucp_worker_progress(worker_->get());
  }
  worker_.reset();
  by_peer_.clear();
  last_peer_ = {};
  MutexLock lock(&mutex_);
  peers_.clear();
}

}  // namespace

std::unique_ptr<Transport> MakeUcxTransport(const UcxOptions& options,
                                            TransportEvents* events) {
  return std::make_unique<UcxTransport>(options, events);
}

}  // namespace pathways
