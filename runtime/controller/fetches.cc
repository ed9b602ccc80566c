//===- fetches.cc - Fetches of values by clients --------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/controller/fetches.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace pathways {

void Fetches::Begin(uint32_t client, const proto::FetchRequest& fetch) {
  const ClientRequest request{client, fetch.request()};
  const ObjectTable::Object* object = uses_.objects.Find(fetch.object());
  if (object == nullptr) {
    return uses_.outbox.Answer(request,
                               absl::NotFoundError("the values were released"));
  }
  if (object->lost) return uses_.outbox.Answer(request, object->failure);
  std::vector<FetchSource> sources;
  for (const proto::FetchSource& source : fetch.sources()) {
    if (source.host() >= num_hosts_) {
      return uses_.outbox.Answer(
          request, absl::InvalidArgumentError(
                       absl::StrCat("there is no host ", source.host())));
    }
    sources.push_back(
        {static_cast<int32_t>(source.host()), source.first_piece()});
  }
  if (uses_.table.Add(uses_.clock.Now(), request, fetch.object(), sources)) {
    uses_.objects.Refer(fetch.object());
  }
  for (const FetchSource& source : sources) {
    Send(request, fetch.object(), source, /*again=*/false, fetch.views());
  }
  uses_.timer.Arm();
}

void Fetches::Send(ClientRequest request, uint64_t object,
                   const FetchSource& source, bool again, bool views) {
  ControlRef control = uses_.outbox.New();
  control->set_client(request.client);
  proto::FetchBegin* fetch = control->mutable_fetch_begin();
  fetch->set_request(request.id);
  fetch->set_object(object);
  fetch->set_first_piece(source.first_piece);
  fetch->set_views(views);
  if (again) return uses_.outbox.SendToHost(source.host, std::move(control));
  uses_.stores.Send(source.host, /*launch=*/0, /*asks=*/false,
                    std::move(control));
}

void Fetches::Take(uint32_t client, const proto::FetchEnd& end) {
  const ClientRequest request{client, end.request()};
  end.keeps() ? uses_.table.Keep(request) : End(request);
}

void Fetches::Take(uint32_t client, const proto::FetchReport& report) {
  uses_.table.Sent(uses_.clock.Now(), {client, report.request()},
                   static_cast<int32_t>(report.host()), report.pieces());
}

void Fetches::End(ClientRequest request) {
  const uint64_t object = uses_.table.ObjectOf(request);
  for (int32_t host : uses_.table.End(request)) {
    ControlRef control = uses_.outbox.New();
    control->set_client(request.client);
    control->mutable_drop_objects()->set_fetch(request.id);
    uses_.stores.Send(host, /*launch=*/0, /*asks=*/false, std::move(control));
  }
  if (object != 0) uses_.stores.Release({object});
}

void Fetches::Leave(uint32_t client) {
  for (ClientRequest request : uses_.table.OfClient(client)) End(request);
}

void Fetches::HostGone(int32_t host, const absl::Status& why) {
  for (ClientRequest request : uses_.table.HostGone(host)) {
    uses_.outbox.Answer(request, why);
  }
}

void Fetches::Tick(const WaitSet& busy) {
  std::vector<FetchTable::Again> again;
  std::vector<FetchTable::Late> late;
  uses_.table.Tick(uses_.clock.Now(), busy, &again, &late);
  for (const FetchTable::Again& one : again) {
    Send(one.request, one.object, one.source, /*again=*/true, /*views=*/false);
  }
  for (const FetchTable::Late& one : late) {
    uses_.outbox.Answer(one.request, one.status);
  }
}

}  // namespace pathways
