//===- transport_engines_test.cc - Engines to conform ---------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/transport/socket/socket_transport.h"
#include "runtime/transport/testing/chaos_transport.h"
#include "runtime/transport/testing/in_process_transport.h"
#include "runtime/transport/transport_mux.h"
#ifdef PATHWAYS_HAS_UCX
#include "runtime/transport/ucx/ucx_transport.h"
#endif
#include "unittests/runtime/transport/socket_folder.h"
#include "unittests/runtime/transport/transport_conformance.h"

namespace pathways {
namespace {

class InProcessFabric : public Fabric {
 public:
  std::unique_ptr<Transport> Make(const TransportLimits& limits,
                                  TransportEvents* events) override {
    return MakeInProcessTransport(network_, limits, events);
  }
  std::string NewAddress() override {
    return "local:name" + std::to_string(++addresses_);
  }
  std::string NobodysAddress() override { return "local:nobody"; }
  std::vector<std::string> BadAddresses() override {
    return {"", "local:", "name", "unix:/name"};
  }

 private:
  const std::shared_ptr<InProcessNetwork> network_ =
      std::make_shared<InProcessNetwork>();
  int addresses_ = 0;
};

class SocketFabric : public Fabric {
 public:
  std::unique_ptr<Transport> Make(const TransportLimits& limits,
                                  TransportEvents* events) override {
    SocketOptions options;
    options.limits = limits;
    options.trust_loopback = true;
    return MakeSocketTransport(options, events);
  }
};

class UnixFabric : public SocketFabric {
 public:
  std::string NewAddress() override {
    return folder_.address("socket" + std::to_string(++addresses_));
  }
  std::string NobodysAddress() override { return folder_.address("nobody"); }
  std::vector<std::string> BadAddresses() override {
    return {"",
            "unix:",
            "unix:relative",
            "unix:/" + std::string(200, 'x'),
            "local:name",
            std::string("unix:/a\0b", 9)};
  }

 private:
  const SocketFolder folder_;
  int addresses_ = 0;
};

class NamedUnixFabric : public SocketFabric {
 public:
  std::string NewAddress() override { return Named(++addresses_); }
  std::string NobodysAddress() override { return Named(0); }
  std::vector<std::string> BadAddresses() override {
    return {"unix:@", "unix:@" + std::string(200, 'x'), "@name",
            std::string("unix:@a\0b", 10)};
  }

 private:
  // Returns a name that no other process of this machine has.
  std::string Named(int number) {
    return "unix:@pathways-transport-test-" + std::to_string(getpid()) + "-" +
           std::to_string(number);
  }
  int addresses_ = 0;
};

class TcpFabric : public SocketFabric {
 public:
  std::string NewAddress() override { return "tcp:127.0.0.1:0"; }
  // Nobody listens on a port that is reserved for that.
  std::string NobodysAddress() override { return "tcp:127.0.0.1:1"; }
  std::vector<std::string> BadAddresses() override {
    return {"tcp:",
            "tcp:127.0.0.1",
            "tcp:127.0.0.1:",
            "tcp::80",
            "tcp:127.0.0.1:65536",
            "tcp:127.0.0.1:-1",
            "tcp:127.0.0.1:http",
            "tcp:::1:80",
            "tcp:[::1:80",
            "tcp:[127.0.0.1:0",
            "tcp:[[::1]]:0",
            "tcp:[::1]]:0",
            "127.0.0.1:80"};
  }
};

// Under TLS.
class KeyFabric : public TcpFabric {
 public:
  std::unique_ptr<Transport> Make(const TransportLimits& limits,
                                  TransportEvents* events) override {
    SocketOptions options;
    options.limits = limits;
    options.key = key_;
    return MakeSocketTransport(options, events);
  }

 private:
  const SocketFolder folder_;
  const std::shared_ptr<const ClusterKey> key_ =
      *ClusterKey::Read(folder_.NewKey("key"));
};

#ifdef PATHWAYS_HAS_UCX
template <UcxWay kWay>
class UcxFabric : public Fabric {
 public:
  std::unique_ptr<Transport> Make(const TransportLimits& limits,
                                  TransportEvents* events) override {
    UcxOptions options;
    options.limits = limits;
    options.way = kWay;
    return MakeUcxTransport(options, events);
  }
  std::string NewAddress() override { return "ucx:127.0.0.1:0"; }
  std::string NobodysAddress() override { return "ucx:127.0.0.1:1"; }
  std::vector<std::string> BadAddresses() override {
    return {"",
            "ucx:",
            "ucx:127.0.0.1",
            "ucx::80",
            "ucx:host:http",
            "ucx:127.0.0.1:65536",
            "ucx:::1:",
            "tcp:[::1]:80",
            "unix:/name",
            "ucx:[127.0.0.1:0"};
  }
};
#endif

// Chaos that does nothing, over another.
template <typename Inner>
class ChaosFabric : public Inner {
 public:
  std::unique_ptr<Transport> Make(const TransportLimits& limits,
                                  TransportEvents* events) override {
    return std::make_unique<ChaosTransport>(
        ChaosOptions(), events, [&](TransportEvents* inner_events) {
          return Inner::Make(limits, inner_events);
        });
  }
};

// Two engines, of which this case uses the one for addresses with a prefix, or
// the other one.
template <bool kSpecial>
class TwoFabric : public InProcessFabric {
 public:
  std::unique_ptr<Transport> Make(const TransportLimits& limits,
                                  TransportEvents* events) override {
    const auto used = [this, limits](TransportEvents* inner) {
      return InProcessFabric::Make(limits, inner);
    };
    const auto unused = [](TransportEvents* inner) {
      return MakeSocketTransport(SocketOptions(), inner);
    };
    if (kSpecial) {
      return std::make_unique<TransportMux>("local:", used, unused, events);
    }
    return std::make_unique<TransportMux>("unix:@", unused, used, events);
  }
  // Of neither.
  std::vector<std::string> BadAddresses() override {
    return {"", "local:", "name"};
  }
};

}  // namespace

std::vector<TransportCase> TransportCases() {
  return {
      {"InProcess", [] { return std::make_unique<InProcessFabric>(); }},
      {"Unix", [] { return std::make_unique<UnixFabric>(); }},
      {"NamedUnix", [] { return std::make_unique<NamedUnixFabric>(); }},
      {"Tcp", [] { return std::make_unique<TcpFabric>(); }},
      {"TcpWithKey", [] { return std::make_unique<KeyFabric>(); }},
      {"ChaosInProcess",
       [] { return std::make_unique<ChaosFabric<InProcessFabric>>(); }},
#ifdef PATHWAYS_HAS_UCX
      {"UcxTcp", [] { return std::make_unique<UcxFabric<UcxWay::kTcp>>(); }},
      {"UcxSharedMemory",
       [] { return std::make_unique<UcxFabric<UcxWay::kSharedMemory>>(); }},
      {"ChaosUcx",
       [] { return std::make_unique<ChaosFabric<UcxFabric<UcxWay::kTcp>>>(); }},
#endif
      {"FirstOfTwo", [] { return std::make_unique<TwoFabric<true>>(); }},
      {"SecondOfTwo", [] { return std::make_unique<TwoFabric<false>>(); }},
      {"ChaosUnix", [] { return std::make_unique<ChaosFabric<UnixFabric>>(); }},
  };
}

}  // namespace pathways
