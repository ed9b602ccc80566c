//===- control_fuzz.cc - Control messages of anybody, to anybody ----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <string>

#include "google/protobuf/stubs/logging.h"
#include "runtime/protocol/control_check.h"
#include "unittests/runtime/fuzz/fuzz_input.h"
#include "unittests/runtime/fuzz/fuzz_target.h"

namespace pathways {
namespace {

using proto::Control;

// Two islands, of two hosts in one process and of one in another.
const Directory& SomeDirectory() {
  static const auto* const directory =
      new Directory({0, 2}, {{1, 1}, {1, 1}, {2, 1}});
  return *directory;
}

// Actors and those next to them, and what is none.
ActorId ActorOf(uint8_t byte) { return byte == 255 ? kNoActor : byte; }

// Returns true if the message names the host that sent it.
bool NamesItsHost(const Control& control) {
  switch (control.kind_case()) {
    case Control::kLoadReply:
    case Control::kStopReply:
    case Control::kFreeReply:
    case Control::kLaunchReady:
    case Control::kObjectsDropped:
    case Control::kFetchReport:
    case Control::kReport:
    case Control::kWorkerLost:
      return true;
    default:
      return false;
  }
}

}  // namespace

// A message of two bytes may be a StuckShard, of some 150.
const fuzz::Budget fuzz::kBudget = {256 << 10, 300};

}  // namespace pathways

// Sender, receiver, and the message.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pathways;
  // Protobuf logs text that is not UTF-8.
  const google::protobuf::LogSilencer silence;
  const Directory& directory = SomeDirectory();
  fuzz::Input input(data, size);
  const ActorId from = ActorOf(input.Byte()), to = ActorOf(input.Byte());
  Control control;
  if (!ReadControl(directory, from, to, input.TakeRest(), &control)) return 0;
  FUZZ_CHECK(CheckControl(directory, from, to, control));
  // It is what it was when it goes on.
  Control again;
  const std::string bytes = control.SerializeAsString();
  FUZZ_CHECK(ReadControl(directory, from, to, bytes, &again));
  FUZZ_CHECK(again.SerializeAsString() == bytes);

  FUZZ_CHECK(control.kind_case() != Control::KIND_NOT_SET);
  FUZZ_CHECK(directory.Find(to).has_value());
  FUZZ_CHECK(control.client() < kMaxClients);
  if (const int64_t client = directory.ClientOf(from); client >= 0) {
    FUZZ_CHECK(control.client() == client);
  }
  if (const int64_t client = directory.ClientOf(to); client >= 0) {
    FUZZ_CHECK(control.client() == client);
  }
  // Nobody else could have said so.
  if (NamesItsHost(control) && directory.HostOfExecutor(from) >= 0) {
    for (uint32_t host = 0; host < directory.num_hosts(); ++host) {
      const ActorId other = directory.executor(host);
      FUZZ_CHECK(CheckControl(directory, other, to, control) ==
                 (other == from));
    }
  }
  return 0;
}
