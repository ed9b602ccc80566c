//===- process_links_fuzz.cc - Bytes that arrive on links, from any peer --===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/protocol/link_batch.h"
#include "runtime/world/process_links.h"
#include "runtime/world/testing/recording_world.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

// Actors 10 n to 10 n + 9 live in process n, of three.
int64_t ProcessOf(ActorId actor) { return actor < 30 ? actor / 10 : -1; }

class NoTransport final : public Transport {
 public:
  absl::StatusOr<std::string> Listen(absl::string_view) override { return ""; }
  absl::StatusOr<PeerId> Dial(absl::string_view, absl::Duration) override {
    return absl::UnavailableError("nobody");
  }
  void Send(PeerId, Urgency, absl::Span<const char>,
            absl::Span<const char>) override {}
  void Expect(PeerId, uint64_t, void*, uint64_t) override {}
  void Put(PeerId, uint64_t, absl::Span<const char>,
           std::function<void()>) override {}
  uint64_t backlog(PeerId) const override { return 0; }
  void Close(PeerId) override {}
  bool Poll() override { return false; }
  void Stop() override {}
};

// Links, and who is linked as they should have it.
class Case {
 public:
  Case()
      : links_({[this](PeerId, std::string_view) { ++memberships_; },
                [this](PeerId peer, std::optional<uint32_t> process,
                       const absl::Status&) {
                  FUZZ_CHECK(process == linked_.at(peer));
                  ++downs_;
                }}) {
    links_.Open(&transport_);
    links_.Place(0, &world_, ProcessOf);
  }

  void Up() {
    const PeerId peer{peers_++};
    linked_[peer] = std::nullopt;
    links_.OnPeerUp(peer);
  }
  void Down(PeerId peer) {
    if (!linked_.contains(peer)) return;
    const int before = downs_;
    links_.OnPeerDown(peer, absl::OkStatus());
    FUZZ_CHECK(downs_ == before + 1);
    linked_.erase(peer);
    // Whoever awaits a payload of it is told, once.
    FUZZ_CHECK(world_.Take().size() == awaited_[peer]);
    awaited_.erase(peer);
  }
  void Link(uint32_t process, PeerId peer) {
    bool is_free = process != 0 && process < kMaxProcesses &&
                   linked_.contains(peer) && !linked_[peer].has_value();
    for (const auto& [other, to] : linked_) is_free &= to != process;
    FUZZ_CHECK(links_.Link(process, peer).ok() == is_free);
    if (is_free) linked_[peer] = process;
  }
  void Unlink(uint32_t process) {
    links_.Unlink(process);
    for (auto& [peer, to] : linked_) {
      if (to == process) to = std::nullopt;
    }
  }
  void Hear(PeerId peer, const std::string& header,
            const std::string& payload) {
    // Nothing comes of who is down. Of who dials something may come before.
    if (static_cast<uint32_t>(peer) < peers_ && !linked_.contains(peer)) return;
    const int before = memberships_;
    links_.OnMessage(peer, header, payload);
    const auto frame = ReadLinkFrame(header, payload.size());
    FUZZ_CHECK(memberships_ - before ==
               (frame.has_value() && frame->kind == LinkFrame::kMembership));
    const auto process = linked_.contains(peer) ? linked_[peer] : std::nullopt;
    const std::vector<testing::Sent> came = world_.Take();
    FUZZ_CHECK(came.empty() || (frame.has_value() && process.has_value()));
    size_t bytes = 0;
    for (const testing::Sent& one : came) {
      // Nobody speaks for others, and nobody else is spoken to.
      FUZZ_CHECK(ProcessOf(one.from) == int64_t{*process});
      FUZZ_CHECK(ProcessOf(one.to) == 0);
      if (one.kind == testing::Sent::kOffer) {
        Answer(peer, one.offer);
      } else if (one.kind == testing::Sent::kWire) {
        const char* data = static_cast<const char*>(one.payload.data);
        FUZZ_CHECK(
            one.payload.bytes == 0 ||
            (data >= payload.data() &&
             data + one.payload.bytes <= payload.data() + payload.size()));
        bytes += one.payload.bytes;
      } else {
        bytes += one.bytes.size();
      }
    }
    FUZZ_CHECK(bytes <= payload.size());
  }
  // Every other one is wanted.
  void Answer(PeerId peer, uint64_t offer) {
    if (offer % 2 == 0) return links_.remote_channel().refuse(offer);
    ReceiveBuffer landing;
    landing.memory = &memory_;
    links_.remote_channel().take(offer, LocalId{1}, landing);
    FUZZ_CHECK(world_.Take().empty());
    ++awaited_[peer];
  }
  PeerId PeerOf(uint8_t byte) const { return PeerId{byte % (peers_ + 1)}; }

 private:
  testing::RecordingWorld world_;
  NoTransport transport_;
  uint32_t peers_ = 0;
  // Those that are up.
  std::map<PeerId, std::optional<uint32_t>> linked_;
  // Payloads that were offered and taken, and do not come.
  std::map<PeerId, size_t> awaited_;
  char memory_ = 0;
  int memberships_ = 0, downs_ = 0;
  ProcessLinks links_;
};

}  // namespace

// The table of all processes; and batches of small messages, each of which the
// world keeps.
const fuzz::Budget fuzz::kBudget = {1 << 20, 64};

}  // namespace pathways

// Steps: what happens, to which peer, and what it sends.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  Case links;
  // Two that are linked, so that an input may begin with what they send.
  for (uint32_t process : {1, 2}) {
    links.Up();
    links.Link(process, PeerId{process - 1});
  }
  fuzz::Input input(data, size);
  while (!input.empty()) {
    const uint8_t what = input.Byte();
    const PeerId peer = links.PeerOf(input.Byte());
    switch (what % 8) {
      case 0:
        links.Up();
        break;
      case 1:
        links.Down(peer);
        break;
      case 2:
        links.Link(static_cast<uint32_t>(input.Number(2)), peer);
        break;
      case 3:
        links.Unlink(static_cast<uint32_t>(input.Number(2)));
        break;
      case 4: {
        const size_t bytes = input.Byte();
        const std::string header = input.Take(bytes);
        links.Hear(peer, header, input.Take(input.Byte()));
        break;
      }
      default: {
        // Says how long it is.
        const size_t bytes = input.Number(2);
        std::string header = input.Take(sizeof(LinkFrame));
        const std::string payload = input.Take(bytes);
        header.resize(sizeof(LinkFrame));
        const uint64_t length = payload.size();
        std::memcpy(header.data() + sizeof(LinkFrame) - sizeof(length), &length,
                    sizeof(length));
        links.Hear(peer, header, payload);
        break;
      }
    }
  }
  return 0;
}
