//===- client_requests.cc - Requests of clients ---------------------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/resources/client_requests.h"

#include "runtime/protocol/client_id.h"

namespace pathways {
namespace {

// Replaces the numbers of one client by ids.
class Namer {
 public:
  explicit Namer(uint32_t client) : client_(client) {}

  bool good() const { return good_; }
  uint64_t operator()(uint64_t number) {
    good_ &= number <= kMaxClientNumber;
    return good_ ? ClientId(client_, number) : 0;
  }
  void operator()(proto::ObjectRef* ref) {
    ref->set_object((*this)(ref->object()));
  }
  void operator()(proto::LaunchRequest* request) {
    request->set_launch((*this)(request->launch()));
    for (proto::ObjectRef& ref : *request->mutable_arguments()) (*this)(&ref);
    for (proto::ObjectRef& ref : *request->mutable_results()) (*this)(&ref);
  }

 private:
  const uint32_t client_;
  bool good_ = true;
};

}  // namespace

bool NameByIds(proto::Control* control) {
  Namer name(control->client());
  switch (control->kind_case()) {
    case proto::Control::kLaunchRequest:
      name(control->mutable_launch_request());
      break;
    case proto::Control::kReleaseRequest:
      for (uint64_t& object :
           *control->mutable_release_request()->mutable_objects()) {
        object = name(object);
      }
      break;
    case proto::Control::kDisconnectRequest:
      for (uint64_t& object :
           *control->mutable_disconnect_request()->mutable_objects()) {
        object = name(object);
      }
      break;
    case proto::Control::kCancelRequest: {
      proto::CancelRequest* cancel = control->mutable_cancel_request();
      cancel->set_launch(name(cancel->launch()));
      break;
    }
    case proto::Control::kFetchRequest: {
      proto::FetchRequest* fetch = control->mutable_fetch_request();
      fetch->set_object(name(fetch->object()));
      break;
    }
    default:
      break;
  }
  return name.good();
}

}  // namespace pathways
