//===- ucx_packets_fuzz.cc - Packets of whoever dialed over UCX -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/transport/frame_decoder.h"
#include "runtime/transport/ucx/ucx_connection.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

constexpr uint64_t kMost = 100'000;
constexpr uint64_t kSecret = 0x1122334455667788, kName = 0x0102030405060708;
constexpr size_t kPayloadBytes[] = {0, 5, 300};  // by token

std::string Message(absl::Span<const char> header,
                    absl::Span<const char> payload) {
  return absl::StrCat("m", header.size(), " ",
                      absl::string_view(header.data(), header.size()),
                      absl::string_view(payload.data(), payload.size()));
}
std::string Payload(uint64_t token) { return absl::StrCat("p", token); }

// Keeps what a connection tells.
class Events final : public TransportEvents {
 public:
  void OnPeerUp(PeerId) override {}
  void OnMessage(PeerId, absl::Span<const char> header,
                 absl::Span<const char> payload) override {
    told.push_back(Message(header, payload));
  }
  void OnPayload(PeerId, uint64_t token) override {
    told.push_back(Payload(token));
  }
  void OnPeerDown(PeerId, const absl::Status&) override {}

  std::vector<std::string> told;
};

// The outcome of packets by the rules of ucx.md.
class Model final : private FrameSink {
 public:
  Model() {
    for (size_t bytes : kPayloadBytes) memory_.emplace_back(bytes);
  }
  void OnPacket(UcxPacket packet, const std::string& head,
                const std::string& body) {
    if (state == kNew) {
      state = packet == UcxPacket::kHello && IsHello(body) ? kUp : kFailed;
    } else if (state == kUp) {
      const bool is_fine =
          packet == UcxPacket::kBytes
              ? Feed(head + body)
              : packet == UcxPacket::kTaken && body == std::string(8, '\0');
      if (!is_fine) state = kFailed;
    }
  }

  enum { kNew, kUp, kFailed } state = kNew;
  std::vector<std::string> told;

 private:
  static bool IsHello(const std::string& bytes) {
    char own[UcxHello::kBytes];
    EncodeUcxHello({kSecret, kName}, own);
    return bytes.size() == sizeof own &&
           std::memcmp(bytes.data(), own, 24) == 0 &&
           std::memcmp(bytes.data(), own, sizeof own) != 0;
  }
  bool Feed(absl::string_view bytes) {
    for (char byte : bytes) {
      decoder_.Buffers()[0][0] = byte;
      if (!decoder_.Advance(1).ok()) return false;
    }
    return true;
  }
  absl::Status OnWholeMessage(absl::Span<const char> header,
                              absl::Span<const char> payload) override {
    told.push_back(Message(header, payload));
    return absl::OkStatus();
  }
  absl::StatusOr<absl::Span<char>> FindPayload(uint64_t token) override {
    if (token < memory_.size() && !came_[token]) {
      return absl::MakeSpan(memory_[token]);
    }
    return absl::InvalidArgumentError("not expected");
  }
  absl::Status OnWholePayload(uint64_t token) override {
    came_[token] = true;
    told.push_back(Payload(token));
    return absl::OkStatus();
  }

  FrameDecoder decoder_{kMost, this};
  std::vector<std::vector<char>> memory_;
  std::map<uint64_t, bool> came_;
};

}  // namespace

const fuzz::Budget fuzz::kBudget = {2 * (64 << 10) + 4 * kMost + (512 << 10),
                                    16};

}  // namespace pathways

// Packets: what kind, how many bytes of header and of data, and those. Of this
// side, which dialed, nothing was taken, and nothing is sent.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  Events events;
  static UcxLoop loop(nullptr);  // does nothing
  UcxConnection::Home home;
  home.loop = &loop;
  home.events = &events;
  home.limits.max_message_bytes = kMost;
  home.window_bytes = 1 << 20;
  home.name = kName;
  home.stranger_timeout = home.silence_timeout = std::chrono::hours(1);
  home.admit = [](UcxConnection*) { return PeerId{1}; };
  home.close_endpoint = [](ucp_ep_h) {};
  home.forget = home.list = [](UcxConnection*) {};
  std::vector<std::vector<char>> memory;
  for (size_t bytes : kPayloadBytes) memory.emplace_back(bytes);
  const auto connection =
      std::make_shared<UcxConnection>(&home, /*from=*/"", kSecret);
  for (uint64_t token = 0; token < memory.size(); ++token) {
    connection->Expect(token, memory[token].data(), memory[token].size());
  }
  Model model;
  fuzz::Input input(data, size);
  while (!input.empty()) {
    const auto packet = static_cast<UcxPacket>(input.Byte());
    const size_t head_bytes = input.Byte(), body_bytes = input.Number(2);
    const std::string head = input.Take(head_bytes);
    const std::string body = input.Take(body_bytes);
    connection->OnPacket(packet, head, body);
    model.OnPacket(packet, head, body);
    FUZZ_CHECK(connection->is_up() == (model.state == Model::kUp));
  }
  FUZZ_CHECK(events.told == model.told);
  return 0;
}
