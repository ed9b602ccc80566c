//===- process_bench.cc - Cost of communication between processes ---------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <sys/socket.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmarks/bare_ucx.h"
#include "benchmarks/bench.h"
#include "benchmarks/two_processes.h"
#include "runtime/transport/socket/socket_transport.h"
#include "runtime/transport/transport.h"
#include "runtime/transport/ucx/ucx_transport.h"

// Calls to the system or to UCX: the linker redirects all of them here.
static std::atomic<long> sends{0};
extern "C" ssize_t __real_sendmsg(int fd, const msghdr* message, int flags);
extern "C" ssize_t __wrap_sendmsg(int fd, const msghdr* message, int flags) {
  ++sends;
  return __real_sendmsg(fd, message, flags);
}
extern "C" ucs_status_ptr_t __real_ucp_am_send_nbx(
    ucp_ep_h ep, unsigned id, const void* header, size_t header_bytes,
    const void* data, size_t count, const ucp_request_param_t* param);
extern "C" ucs_status_ptr_t __wrap_ucp_am_send_nbx(
    ucp_ep_h ep, unsigned id, const void* header, size_t header_bytes,
    const void* data, size_t count, const ucp_request_param_t* param) {
  sends.fetch_add(1, std::memory_order_relaxed);
  return __real_ucp_am_send_nbx(ep, id, header, header_bytes, data, count,
                                param);
}

namespace pathways::bench {
namespace {

constexpr size_t kTransferBytes = 64 << 20;
constexpr int kManyTransfers = 16;  // 1 GiB
constexpr int kMessages = 10'000;

// First byte of a message.
enum What : char { kPing, kPong, kCount, kLast, kExpect, kGo, kCame };

std::unique_ptr<Transport> Make(const std::string& engine,
                                TransportEvents* events) {
  if (engine.substr(0, 4) == "ucx_") {
    UcxOptions options;
    options.way = engine == "ucx_shm" ? UcxWay::kSharedMemory : UcxWay::kTcp;
    return MakeUcxTransport(options, events);
  }
  if (engine != "unix" && engine != "tcp") Die("no engine " + engine);
  SocketOptions options;
  options.trust_loopback = true;
  return MakeSocketTransport(options, events);
}

std::string AddressOf(const std::string& engine) {
  if (engine == "unix") return absl::StrCat("unix:@pathways-bench-", getpid());
  return engine == "tcp" ? "tcp:127.0.0.1:0" : "ucx:127.0.0.1:0";
}

// One of the two processes.
class Side : public TransportEvents {
 public:
  explicit Side(const std::string& engine) : transport(Make(engine, this)) {}
  ~Side() override { transport->Stop(); }

  void OnPeerUp(PeerId who) override { peer = who; }
  void OnMessage(PeerId from, absl::Span<const char> header,
                 absl::Span<const char>) override {
    switch (header[0]) {
      case kPing:
        return Send(from, kPong, Urgency::kCritical);
      case kLast:
        return Send(from, kCame, Urgency::kCritical);
      case kExpect:
        memory_.resize(kTransferBytes);
        transport->Expect(from, ++token_, memory_.data(), kTransferBytes);
        return Send(from, kGo, Urgency::kCritical);
      default:
        ++came[static_cast<unsigned char>(header[0])];
    }
  }
  void OnPayload(PeerId from, uint64_t) override {
    Send(from, kCame, Urgency::kCritical);
  }
  void OnPeerDown(PeerId, const absl::Status&) override { over = true; }

  void Send(PeerId to, What what, Urgency urgency) {
    static const char kBytes[kSmallBytes - 1] = {};
    const char header[] = {what};
    transport->Send(to, urgency, header, kBytes);
  }
  void Send(What what, Urgency urgency = Urgency::kCritical) {
    Send(peer, what, urgency);
  }
  void WaitFor(What what, int count) {
    Idle idle;
    while (came[what] < count) idle.After(transport->Poll());
  }
  void Ping() {
    const int before = came[kPong];
    Send(kPing);
    WaitFor(kPong, before + 1);
  }
  // The other side first confirms that it expects a transfer; then it is sent.
  void BeginTransfer(const std::vector<char>& bytes) {
    const int before = came[kGo];
    Send(kExpect);
    WaitFor(kGo, before + 1);
    transport->Put(peer, ++token_, bytes, [] {});
  }

  PeerId peer{};
  bool over = false;
  int came[kCame + 1] = {};
  std::unique_ptr<Transport> transport;

 private:
  std::vector<char> memory_;
  uint64_t token_ = 0;
};

void Serve(const std::string& engine, int to_parent) {
  Side side(engine);
  Notify(to_parent, Must(side.transport->Listen(AddressOf(engine))));
  Idle idle;
  while (!side.over) idle.After(side.transport->Poll());
}

void Rates(Side& side, const std::string& engine, double scale) {
  for (const auto& [urgency, name] : {std::pair(Urgency::kCritical, "separate"),
                                      std::pair(Urgency::kBulk, "together")}) {
    const int count = std::max(100, static_cast<int>(100'000 * scale));
    const int before = side.came[kCame];
    const double begin = Seconds();
    for (int i = 0; i < count; ++i) {
      side.Send(kCount, urgency);
      if (i % 64 == 0) side.transport->Poll();
    }
    side.Send(kLast, urgency);
    side.WaitFor(kCame, before + 1);
    Figure(absl::StrCat("process.rate.", engine, ".", name, ".per_s"),
           count / (Seconds() - begin), "1/s");
  }
}

void Coalescing(Side& side, const std::string& engine) {
  const auto sends_of = [&](Urgency urgency) {
    const int before = side.came[kCame];
    const long sent = sends.load();
    for (int i = 1; i < kMessages; ++i) {
      side.Send(kCount, urgency);
      // Polls as after each handler run of a worker.
      if (i % 64 == 0) side.transport->Poll();
    }
    side.Send(kLast, urgency);
    side.WaitFor(kCame, before + 1);
    return sends.load() - sent;
  };
  const double separate = kMessages;
  Figure("process.coalesce_ratio." + engine,
         separate / sends_of(Urgency::kBulk), "x");
}

void Shared(Side& side, const std::string& engine, double scale, double alone) {
  const std::vector<char> bytes(kTransferBytes, 1);
  const int transfers = std::max(1.0, kManyTransfers * scale);
  std::vector<double> us;
  const int came = side.came[kCame];
  const double begin = Seconds();
  // The next transfer begins before one ends, so one is always in flight.
  side.BeginTransfer(bytes);
  for (int i = 1; i <= transfers; ++i) {
    if (i < transfers) side.BeginTransfer(bytes);
    while (side.came[kCame] < came + i) {
      const double sent = Seconds();
      side.Ping();
      us.push_back((Seconds() - sent) * 1e6);
    }
  }
  const double rate = transfers * kTransferBytes * 1e-9 / (Seconds() - begin);
  std::sort(us.begin(), us.end());
  Figure("process.critical_p99." + engine + ".us", us[us.size() * 99 / 100],
         "us");
  Figure("process.bulk_shared." + engine, rate / alone, "x");
}

void Links(const std::string& engine, double scale) {
  const Child child([&](int to_parent) { Serve(engine, to_parent); });
  Side side(engine);
  side.peer = Must(side.transport->Dial(child.Hear(), absl::Seconds(30)));
  RoundTrips(engine, scale, [&] { side.Ping(); });
  Rates(side, engine, scale);
  Coalescing(side, engine);
  const std::vector<char> bytes(kTransferBytes, 1);
  const double alone = Transfers(engine, scale, kTransferBytes, [&] {
    const int before = side.came[kCame];
    side.BeginTransfer(bytes);
    side.WaitFor(kCame, before + 1);
  });
  Shared(side, engine, scale, alone);
}

// Measures round trips with one of several processes, while all of them poll.
void Pollers(const std::string& engine, int processes, double scale) {
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 1; i < processes; ++i) {
    children.push_back(std::make_unique<Child>(
        [&](int to_parent) { Serve(engine, to_parent); }));
  }
  Side side(engine);
  std::vector<PeerId> peers;
  for (const auto& child : children) {
    peers.push_back(
        Must(side.transport->Dial(child->Hear(), absl::Seconds(30))));
  }
  size_t next = 0;
  RoundTrips(absl::StrCat(engine, ".pollers", processes), scale, [&] {
    side.peer = peers[next++ % peers.size()];
    side.Ping();
  });
}

int Main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  const std::string engine = argc > 2 ? argv[2] : "";
  const double scale = argc > 3 ? std::atof(argv[3]) : 1;
  if (what == "links") {
    Links(engine, scale);
    return 0;
  }
  if (what == "pollers") {
    for (int processes : {2, 3, 4}) Pollers(engine, processes, scale);
    return 0;
  }
  if (what == "bare") {
    BareUcx(engine == "shm" ? UcxWay::kSharedMemory : UcxWay::kTcp,
            "bare_" + engine, scale);
    return 0;
  }
  Die("usage: process_bench links|pollers unix|tcp|ucx_shm|ucx_tcp [SCALE], or "
      "bare shm|tcp [SCALE]");
}

}  // namespace
}  // namespace pathways::bench

int main(int argc, char** argv) { return pathways::bench::Main(argc, argv); }
