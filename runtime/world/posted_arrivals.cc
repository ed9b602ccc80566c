//===- posted_arrivals.cc - Messages from other processes -----------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/world/posted_arrivals.h"

#include <cstddef>

#include "runtime/world/envelope_body.h"

namespace pathways {
namespace {

// Most messages that are posted to a worker at one time. A batch (link_batch.h)
// has fewer.
constexpr size_t kMaxTogether = 128;

}  // namespace

bool PostedArrivals::Offer(ActorId from, ActorId to, const WireMessage& message,
                           uint64_t bytes, uint64_t offer) {
  const LocalId receiver = actors_.Find(to);
  if (receiver == kNobody) return false;
  const WireBody body{message, {reinterpret_cast<const void*>(offer), bytes}};
  router_.Arrive(Envelope::Of(Envelope::kOffer, body, from, receiver));
  return true;
}

void PostedArrivals::SendAll(absl::Span<const Arrival> arrivals) {
  Posted together[kMaxTogether];
  size_t count = 0;
  int worker = 0;
  for (const Arrival& one : arrivals) {
    const LocalId to = actors_.Find(one.to);
    if (to == kNobody) {
      uplink_.Send(workers_.Self(), one.from, one.to, one.message, one.payload);
      continue;
    }
    const int next = router_.WorkerOf(to);
    if (count == kMaxTogether || (count > 0 && next != worker)) {
      router_.Arrive(worker, absl::MakeConstSpan(together, count));
      count = 0;
    }
    worker = next;
    together[count++] = {
        -1, KeepEnvelope(Envelope::Of(Envelope::kWire,
                                      WireBody{one.message, one.payload},
                                      one.from, to))};
  }
  if (count > 0) router_.Arrive(worker, absl::MakeConstSpan(together, count));
}

}  // namespace pathways
