//===- random_plan_test.cc - Random plans and what breaks them ------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/testing/random_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "runtime/plan/plan_file.h"
#include "runtime/plan/tables.h"
#include "runtime/plan/verify.h"
#include "unittests/random_cases.h"
#include "unittests/runtime/plan/sample_plan.h"
#include "unittests/runtime/plan/token_machine.h"

namespace pathways::testing {
namespace {

TEST(RandomPlanTest, PlansAreAcceptedAndPlay) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    proto::Plan plan = RandomPlan(seed);
    absl::Status status = CheckPlan(plan, 0);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(PlayPlan(plan, 8, seed), "");
  }
}

TEST(RandomPlanTest, OptionsBoundThePlan) {
  RandomPlanOptions options;
  options.islands = 3;
  options.devices_per_island = 2;
  options.max_slices = 9;
  options.max_actions = 300;
  options.max_steps_in_flight = 1;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    proto::Plan plan = RandomPlan(seed, options);
    absl::Status status = CheckPlan(plan, 0);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(plan.header().steps_in_flight(), 1u);
    for (const proto::Slice& slice : plan.slices()) {
      EXPECT_LT(slice.binding().island(), 3u);
      for (int64_t s = 0; s < NumShards(slice); ++s) {
        ASSERT_TRUE(DeviceOf(slice, s).has_value());
        EXPECT_LT(DeviceOf(slice, s)->device, 2);
      }
    }
  }
  options = {};
  options.collectives = options.moves = options.controls = false;
  options.memory_sharing = options.carried = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    proto::Plan plan = RandomPlan(seed, options);
    for (const proto::Action& action : plan.actions()) {
      EXPECT_NE(action.kind(), proto::SEND);
      EXPECT_EQ(action.steps_size(), 0);
    }
    for (const proto::Edge& edge : plan.edges()) {
      EXPECT_NE(edge.kind(), proto::CONTROL);
      EXPECT_NE(edge.kind(), proto::REUSE);
    }
  }
}

TEST(RandomPlanTest, SamePlanForSameSeed) {
  std::set<std::string> plans;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::string bytes = SerializePlan(RandomPlan(seed), {});
    EXPECT_EQ(bytes, SerializePlan(RandomPlan(seed), {}));
    plans.insert(bytes);
  }
  EXPECT_EQ(plans.size(), 20u);
}

TEST(RandomPlanTest, PlansAreVaried) {
  int reuse_same = 0, reuse_pieces = 0, aliases = 0, carried = 0, stepped = 0;
  int controls = 0, partial = 0, lists = 0;
  std::set<int> collectives, credits;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    proto::Plan plan = RandomPlan(seed);
    for (const proto::Edge& edge : plan.edges()) {
      controls += edge.kind() == proto::CONTROL;
      if (edge.kind() != proto::REUSE) continue;
      (edge.relation() == proto::PIECES ? reuse_pieces : reuse_same) += 1;
    }
    for (const proto::Action& action : plan.actions()) {
      aliases += action.aliases_size();
      for (const proto::GangStep& step : action.steps())
        collectives.insert(step.collective().kind());
    }
    for (const proto::Argument& argument : plan.interface().arguments()) {
      carried += argument.carried();
      stepped += argument.stepped();
    }
    for (const proto::Layout& layout : plan.layouts())
      partial += layout.partial_axes_size() > 0;
    for (const proto::Slice& slice : plan.slices())
      lists += slice.binding().has_list();
    for (const proto::Buffer& buffer : plan.buffers())
      credits.insert(buffer.credits());
  }
  for (int count : {reuse_same, reuse_pieces, aliases, carried, stepped,
                    controls, partial, lists})
    EXPECT_GT(count, 100);
  EXPECT_EQ(collectives.size(), 6u);
  EXPECT_EQ(credits.size(), 4u);
}

// Changes one thing somewhere in `message`, of any depth.
class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  void Mutate(google::protobuf::Message* message) {
    const auto* descriptor = message->GetDescriptor();
    const auto* reflection = message->GetReflection();
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto* field =
          descriptor->field(random_() % descriptor->field_count());
      bool is_message = field->cpp_type() == field->CPPTYPE_MESSAGE;
      if (field->is_repeated()) {
        int size = reflection->FieldSize(*message, field);
        if (size == 0) continue;
        int i = random_() % size;
        switch (random_() % (is_message ? 12 : 4)) {
          case 0:
            reflection->RemoveLast(message, field);
            return;
          case 1:
            reflection->SwapElements(message, field, i, random_() % size);
            return;
          case 2:
            if (!is_message) break;
            reflection->AddMessage(message, field)
                ->CopyFrom(reflection->GetRepeatedMessage(*message, field, i));
            return;
        }
        if (is_message) {
          Mutate(reflection->MutableRepeatedMessage(message, field, i));
          return;
        }
        if (field->cpp_type() == field->CPPTYPE_UINT32) {
          reflection->SetRepeatedUInt32(
              message, field, i,
              Number(reflection->GetRepeatedUInt32(*message, field, i)));
        } else if (field->cpp_type() == field->CPPTYPE_INT64) {
          reflection->SetRepeatedInt64(
              message, field, i,
              Number(reflection->GetRepeatedInt64(*message, field, i)));
        } else if (field->cpp_type() == field->CPPTYPE_STRING) {
          reflection->SetRepeatedString(message, field, i, Text());
        } else {
          continue;
        }
        return;
      }
      switch (field->cpp_type()) {
        case google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE:
          if (!reflection->HasField(*message, field)) continue;
          Mutate(reflection->MutableMessage(message, field));
          return;
        case google::protobuf::FieldDescriptor::CPPTYPE_UINT32:
          reflection->SetUInt32(message, field,
                                Number(reflection->GetUInt32(*message, field)));
          return;
        case google::protobuf::FieldDescriptor::CPPTYPE_UINT64:
          reflection->SetUInt64(message, field,
                                Number(reflection->GetUInt64(*message, field)));
          return;
        case google::protobuf::FieldDescriptor::CPPTYPE_INT64:
          reflection->SetInt64(message, field,
                               Number(reflection->GetInt64(*message, field)));
          return;
        case google::protobuf::FieldDescriptor::CPPTYPE_ENUM:
          reflection->SetEnumValue(message, field, random_() % 8);
          return;
        case google::protobuf::FieldDescriptor::CPPTYPE_BOOL:
          reflection->SetBool(message, field,
                              !reflection->GetBool(*message, field));
          return;
        case google::protobuf::FieldDescriptor::CPPTYPE_STRING:
          reflection->SetString(message, field, Text());
          return;
        default:
          continue;
      }
    }
  }

 private:
  uint64_t Number(uint64_t now) {
    switch (random_() % 8) {
      case 0:
        return 0;
      case 1:
        return now + 1;
      case 2:
        return now - 1;
      case 3:
        return now + 128;
      case 4:
        return ~uint64_t{0} >> random_() % 64;
      case 5:
        return uint64_t{1} << random_() % 64;
      default:
        return random_() % 16;
    }
  }
  std::string Text() {
    static const char* kTexts[] = {"", "x", "y", "z", "b1", "g2", "\n\x01"};
    return kTexts[random_() % 7];
  }

  std::mt19937_64 random_;
};

// Mutants are refused or really are harmless: those accepted play.
TEST(RandomPlanTest, AcceptedMutantsPlay) {
  int accepted = 0;
  int refused[12] = {};
  for (uint64_t seed = 0; seed < SampleSize(10000, 30000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RandomPlanOptions options;
    options.max_actions = 16;
    proto::Plan plan =
        seed % 4 == 0 ? SamplePlan() : RandomPlan(seed / 8, options);
    Mutator mutator(seed);
    for (uint64_t n = 0; n <= seed % 3; ++n) mutator.Mutate(&plan);
    std::vector<PlanIssue> issues = VerifyPlan(plan, kSampleBlobBytes);
    for (const PlanIssue& issue : issues) {
      ASSERT_GE(issue.rule, 1);
      ASSERT_LE(issue.rule, 11);
      ASSERT_FALSE(issue.message.empty());
      ++refused[issue.rule];
    }
    ASSERT_EQ(IssuesToStatus(plan, issues).ok(), issues.empty());
    if (!issues.empty()) continue;
    ++accepted;
    uint64_t bytes = 0;
    for (const proto::Buffer& buffer : plan.buffers()) bytes += buffer.bytes();
    // Layouts may have grown to anything.
    if (bytes < (1 << 20)) ASSERT_EQ(PlayPlan(plan, 8, seed), "");
  }
  EXPECT_GT(accepted, 1000);
  for (int rule = 1; rule <= 10; ++rule)
    EXPECT_GT(refused[rule], 0) << RuleName(rule);
}

// The oracle itself: without an edge, or with too few bytes of its own, some
// plan goes wrong. Else the tests above would say little.
TEST(TokenMachineTest, FindsWhatIsMissing) {
  int overwritten = 0, ahead = 0, stuck = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    proto::Plan plan = RandomPlan(seed);
    if (plan.edges_size() == 0) continue;
    proto::Plan cut = plan;
    cut.mutable_edges()->SwapElements(seed % plan.edges_size(),
                                      plan.edges_size() - 1);
    cut.mutable_edges()->RemoveLast();
    std::string fault = PlayPlan(cut, 8, seed);
    overwritten += fault.find("reads") != std::string::npos;
    ahead += fault.find("token") != std::string::npos;
    proto::Plan knot = plan;
    proto::Edge* edge = knot.mutable_edges(seed % plan.edges_size());
    edge->set_tokens(0);
    uint32_t from = edge->from();
    edge->set_from(edge->to());
    edge->set_to(from);
    stuck += PlayPlan(knot, 8, seed) == "nothing can fire";
  }
  EXPECT_GT(overwritten, 20);
  EXPECT_GT(ahead, 5);
  EXPECT_GT(stuck, 20);
}

}  // namespace
}  // namespace pathways::testing
