//===- foreign_message_test.cc - Messages that nobody asked for -----------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every actor gets every kind of message, with random fields. From those who
// may not send it, nothing comes of it: the run that goes on meanwhile has the
// same end. From those who may, it may spoil the run, and nothing else: the
// sanitizers look on.
//
//===----------------------------------------------------------------------===//

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/plan/testing/test_plans.h"
#include "runtime/protocol/control_check.h"
#include "runtime/protocol/wire_kind.h"
#include "unittests/random_cases.h"
#include "unittests/runtime/client/recorded_cluster.h"

namespace pathways::testing {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;
using ::testing::Each;

// A feed, a gang with a kernel, a sum over two hosts, a move to another island,
// a control edge, a fetch.
proto::Plan SomePlan() {
  ChainBuilder b({.slice = {.shards = 4}});
  b.Feed("u").Run("first", "twice1");
  const uint32_t first = b.last_action();
  b.Collective("sum", proto::ALL_REDUCE)
      .Move("m", {.shards = 4, .island = 1})
      .Run("last", "add_one1");
  b.AddControl(first, b.last_action());
  return b.Fetch("y").Finish();
}

class Forger {
 public:
  Forger(uint64_t seed, RecordedCluster* cluster)
      : random_(seed), cluster_(*cluster) {}

  // Numbers that mean something, are next to what does, or are anything.
  uint64_t Number() {
    switch (random_() % 8) {
      case 0:
        return random_();
      case 1:
        return uint64_t{1} << (random_() % 64);
      case 2:
        return UINT32_MAX - random_() % 3;
      case 3:
        return UINT64_MAX - random_() % 3;
      default:
        return random_() % 6;
    }
  }
  // An actor that there is, or a number next to them, or nobody's.
  ActorId Anybody() {
    const Directory& directory = cluster_.context.directory;
    return random_() % 20 == 0 ? static_cast<ActorId>(Number())
                               : random_() % (directory.client(0) + 3);
  }
  WireMessage Wire() {
    WireMessage message;
    message.kind = static_cast<uint16_t>(
        random_() % 3 ? random_() % (kNumWireKinds + 1) : Number());
    message.flags = static_cast<uint16_t>(random_() % 3);
    message.program = random_() % 2 ? 0 : static_cast<uint32_t>(Number());
    message.incarnation = random_() % 2 ? 1 : static_cast<uint32_t>(Number());
    message.target = static_cast<uint32_t>(Number());
    message.shard = static_cast<uint32_t>(Number());
    message.item = static_cast<uint32_t>(Number());
    message.from_epoch = random_() % 8 ? 1 : static_cast<uint32_t>(Number());
    message.to_epoch = random_() % 8 ? 1 : static_cast<uint32_t>(Number());
    message.step = Number();
    // Numbers of which some were used, or will be.
    message.sequence = random_() % 4 ? 1 + random_() % 100 : Number();
    return message;
  }
  proto::Control Control() {
    const auto* oneof = proto::Control::descriptor()->FindOneofByName("kind");
    return Control(oneof->field(random_() % oneof->field_count()));
  }
  proto::Control Control(const FieldDescriptor* kind) {
    proto::Control control;
    Fill(control.GetReflection()->MutableMessage(&control, kind), 0);
    control.set_client(random_() % 4 ? 0 : static_cast<uint32_t>(Number()));
    control.set_sequence(random_() % 2 ? 0 : Number());
    return control;
  }
  // Sends one of some kind to somebody.
  void Send(bool control) {
    const ActorId from = Anybody(), to = Anybody();
    if (control) {
      cluster_.world.SendControl(from, to, Control().SerializeAsString());
      return;
    }
    bytes_.resize(random_() % 65);
    cluster_.world.Send(from, to, Wire(), {bytes_.data(), bytes_.size()});
  }
  uint64_t random() { return random_(); }

 private:
  void Fill(google::protobuf::Message* message, int depth) {
    const Reflection* reflection = message->GetReflection();
    const auto* descriptor = message->GetDescriptor();
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const FieldDescriptor* field = descriptor->field(i);
      const int count =
          field->is_repeated() ? random_() % 4 : random_() % 8 != 0;
      for (int k = 0; k < count; ++k)
        FillField(message, reflection, field, depth);
    }
  }
  void FillField(google::protobuf::Message* message,
                 const Reflection* reflection, const FieldDescriptor* field,
                 int depth) {
    const bool repeated = field->is_repeated();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_UINT32: {
        const uint32_t value = static_cast<uint32_t>(Number());
        repeated ? reflection->AddUInt32(message, field, value)
                 : reflection->SetUInt32(message, field, value);
        break;
      }
      case FieldDescriptor::CPPTYPE_UINT64: {
        const uint64_t value = Number();
        repeated ? reflection->AddUInt64(message, field, value)
                 : reflection->SetUInt64(message, field, value);
        break;
      }
      case FieldDescriptor::CPPTYPE_INT32:
        reflection->SetInt32(message, field, static_cast<int32_t>(Number()));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        reflection->SetInt64(message, field, static_cast<int64_t>(Number()));
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        reflection->SetBool(message, field, random_() % 2);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        reflection->SetDouble(message, field, static_cast<double>(Number()));
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        reflection->SetEnumValue(message, field, static_cast<int>(Number()));
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        reflection->SetString(message, field, std::string(random_() % 20, 'x'));
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (depth > 3 || field->message_type() == proto::Plan::descriptor()) {
          break;
        }
        Fill(repeated ? reflection->AddMessage(message, field)
                      : reflection->MutableMessage(message, field),
             depth + 1);
        break;
      default:
        FAIL() << field->full_name();
    }
  }

  std::mt19937_64 random_;
  RecordedCluster& cluster_;
  std::string bytes_;
};

// Sends messages as the client at address `self`, in its own name and in order.
class HostileClient {
 public:
  HostileClient(Forger* forger, RecordedCluster* cluster, uint32_t self)
      : forger_(*forger), cluster_(*cluster), self_(self) {}

  void Connect() {
    proto::Control control;
    control.mutable_connect_request()->set_name("hostile");
    Say(&control);
  }
  void Load(const proto::PlanName& plan) {
    proto::Control control;
    control.mutable_load_request()->set_request(1);
    *control.mutable_load_request()->mutable_plan() = plan;
    Say(&control);
  }
  // Something that clients say, but that it goes.
  void SaySomething() {
    const int kind = kKinds[forger_.random() % std::size(kKinds)];
    proto::Control control =
        forger_.Control(proto::Control::descriptor()->FindFieldByNumber(kind));
    Say(&control);
  }

 private:
  static constexpr int kKinds[] = {
      proto::Control::kLoadRequest,    proto::Control::kUnloadRequest,
      proto::Control::kLaunchRequest,  proto::Control::kReleaseRequest,
      proto::Control::kSettleRequest,  proto::Control::kFetchRequest,
      proto::Control::kFetchEnd,       proto::Control::kDiagnoseRequest,
      proto::Control::kCollectRequest, proto::Control::kConnectRequest,
      proto::Control::kPlanPart};

  void Say(proto::Control* control) {
    control->set_client(self_);
    control->set_sequence(++sequence_);
    const Directory& directory = cluster_.context.directory;
    cluster_.world.SendControl(directory.client(self_), directory.controller(),
                               control->SerializeAsString());
  }

  Forger& forger_;
  RecordedCluster& cluster_;
  const uint32_t self_;
  uint64_t sequence_ = 0;
};

DispatchOptions Dispatch(uint64_t seed) {
  DispatchOptions dispatch;
  dispatch.sequential = seed % 2 == 1;
  return dispatch;
}

// The handle of the program that was loaded.
uint64_t Loaded(const RecordedCluster& cluster) {
  for (const proto::Control& control : cluster.told) {
    if (control.has_answer() && control.answer().request() == 1) {
      EXPECT_EQ(control.answer().code(), 0) << control.answer().message();
      return control.answer().program();
    }
  }
  ADD_FAILURE() << "no answer to the load";
  return 0;
}

// The four numbers of the result.
std::vector<float> Fetched(const RecordedCluster& cluster) {
  const ArrayBytes& bytes = cluster.fetched.data;
  std::vector<float> values(4);
  if (bytes.size() != values.size() * sizeof(float)) {
    ADD_FAILURE() << bytes.size() << " bytes were fetched";
    return {};
  }
  std::memcpy(values.data(), &bytes[0], bytes.size());
  return values;
}

// Sends that may be made by whoever makes them are left out.
TEST(ForeignMessageTest, NothingComesOfWhatOthersMayNotSay) {
  for (uint64_t seed = 1; seed <= SampleSize(10, 30); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RecordedCluster cluster("2x2x2", Dispatch(seed));
    const Directory& directory = cluster.context.directory;
    Forger forger(seed, &cluster);
    auto forge = [&] {
      std::vector<Sent> kept = cluster.world.Take();
      forger.Send(forger.random() % 2 == 0);
      std::vector<Sent> forged = cluster.world.Take();
      proto::Control read;
      for (const Sent& one : forged) {
        const bool is_allowed =
            one.kind == Sent::kControl
                ? ReadControl(directory, one.from, one.to, one.bytes, &read)
                : directory.HostOfExecutor(one.from) >= 0 && one.from != one.to;
        if (!is_allowed) kept.push_back(one);
      }
      for (Sent& one : kept) cluster.world.sent.push_back(std::move(one));
    };
    cluster.AskLoad(SomePlan());
    cluster.Run(2000, forge);
    cluster.Run();
    const uint64_t program = Loaded(cluster);
    cluster.AskLaunch(program, 1, 1.0f);
    cluster.Run(2000, forge);
    cluster.Run();
    cluster.AskFetch(1);
    cluster.Run(2000, forge);
    cluster.Run();
    // Twice 1, summed over four shards, and one more.
    EXPECT_THAT(Fetched(cluster), Each(9.0f));
    uint64_t foreign = 0;
    for (const auto& executor : cluster.executors) {
      foreign += executor->counters().foreign.get();
    }
    EXPECT_GT(foreign, 100u);
    if (HasFailure()) return;
  }
}

TEST(ForeignMessageTest, NoHostSendsWhatItDoesNotHave) {
  RecordedCluster cluster("2x2x2", {});
  cluster.AskLoad(SomePlan());
  cluster.Run();
  cluster.AskLaunch(Loaded(cluster), 1, 1.0f);
  cluster.Run();
  absl::Status ended;
  auto fetch = std::make_shared<ArrayFetch>(FetchAssembly(
      *cluster.result(), ElementType::kF32, cluster.result()->layout.shape));
  fetch->on_end = [&](const absl::Status& status) { ended = status; };
  cluster.client->transfers().AddFetch(2, std::move(fetch));
  proto::Control control;
  proto::FetchRequest* request = control.mutable_fetch_request();
  request->set_request(2);
  request->set_object(3);
  proto::FetchSource* source = request->add_sources();
  source->set_host(cluster.result()->hosts.front().host);
  source->set_first_piece(UINT32_MAX);
  cluster.Ask(control);
  cluster.Run(2000, [] {});
  EXPECT_EQ(ended.code(), absl::StatusCode::kNotFound);
}

// All that other hosts may say, at every point of a run. One that says of
// values that are on their way that it has them is in another process, and on a
// link they are copies: inside a process hosts are ours.
TEST(ForeignMessageTest, NothingBreaksWhateverIsSaid) {
  std::set<int> heard;
  for (uint64_t seed = 1; seed <= SampleSize(20, 60); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RecordedCluster cluster("2x2x2", Dispatch(seed));
    cluster.world.copies_payloads = true;
    const Directory& directory = cluster.context.directory;
    Forger forger(seed, &cluster);
    cluster.AskLoad(SomePlan());
    cluster.Run();
    cluster.AskLaunch(Loaded(cluster), 1, 1.0f);
    cluster.AskLaunch(Loaded(cluster), 2, 2.0f);
    cluster.Run(1500, [&] {
      // Twenty control messages: those that pass.
      for (int i = 0; i < 20; ++i) {
        forger.Send(/*control=*/i < 19);
        const Sent& one = cluster.world.sent.back();
        if (one.kind != Sent::kControl) break;
        proto::Control read;
        if (ReadControl(directory, one.from, one.to, one.bytes, &read)) {
          heard.insert(read.kind_case());
          break;
        }
        cluster.world.sent.pop_back();
      }
    });
    if (HasFailure()) return;
  }
  // Each kind, by whom it may be sent to.
  const auto* kinds = proto::Control::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kinds->field_count(); ++i) {
    EXPECT_GT(heard.count(kinds->field(i)->number()), 0u)
        << kinds->field(i)->name();
  }
}

// Whatever a client says, in its own name: another one has what it asked for.
TEST(ForeignMessageTest, AClientHurtsItselfAlone) {
  for (uint64_t seed = 1; seed <= SampleSize(4, 12); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RecordedCluster cluster("2x2x2", Dispatch(seed));
    Forger forger(seed, &cluster);
    cluster.world.copies_payloads = true;
    HostileClient hostile(&forger, &cluster, /*self=*/1);
    cluster.AskLoad(SomePlan());
    cluster.Run();
    hostile.Connect();
    // It has a program of its own, too.
    hostile.Load(cluster.plan_name());
    cluster.Run();
    cluster.AskLaunch(Loaded(cluster), 1, 1.0f);
    cluster.AskLaunch(Loaded(cluster), 2, 2.0f);
    const auto talk = [&] {
      if (forger.random() % 4 == 0) hostile.SaySomething();
    };
    cluster.Run(1500, talk);
    cluster.Run();
    cluster.AskFetch(2);
    cluster.Run(1500, talk);
    cluster.Run();
    // Twice 2, summed over four shards, and one more.
    EXPECT_THAT(Fetched(cluster), Each(17.0f));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace pathways::testing
