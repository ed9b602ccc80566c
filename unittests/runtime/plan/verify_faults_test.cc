//===- verify_faults_test.cc - Planted faults of rules 1 to 6 -------------===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/runtime/plan/planted_fault.h"

namespace pathways::testing {
namespace {

const std::vector<Fault>& FlowFaults() {
  static const auto* const kFaults = new std::vector<Fault>{
      // 1. References.
      {"slice_without_name",
       1,
       {"slice 1 has no name"},
       [](Edit& e) { e.Slice("back")->clear_name(); }},
      {"slice_name_twice",
       1,
       {"slices 0 and 1", "'front'"},
       [](Edit& e) { e.Slice("back")->set_name("front"); }},
      {"buffer_name_twice",
       1,
       {"buffers 0 and 1", "'w'"},
       [](Edit& e) { e.Buffer("x")->set_name("w"); }},
      {"action_name_twice",
       1,
       {"actions", "'layer0'"},
       [](Edit& e) { e.Action("layer1")->set_name("layer0"); }},
      {"kernel_without_name",
       1,
       {"kernel 0 has no name"},
       [](Edit& e) { e.plan->mutable_kernels(0)->clear_name(); }},
      {"rounding_of_a_kernel",
       1,
       {"kernel 'layer0' has rounding 7"},
       [](Edit& e) {
         e.plan->mutable_kernels(0)->set_rounding(
             static_cast<proto::Rounding>(7));
       }},
      {"argument_name_twice",
       1,
       {"arguments 0 and 1", "'w'"},
       [](Edit& e) { e.Argument(1)->set_name("w"); }},
      {"result_without_name",
       1,
       {"result 1 has no name"},
       [](Edit& e) { e.Result(1)->clear_name(); }},
      {"axis_twice",
       1,
       {"slice 'front'", "'x'", "twice"},
       [](Edit& e) {
         *e.Slice("front")->add_axes() = e.Slice("front")->axes(0);
       }},
      {"axis_of_size_0",
       1,
       {"slice 'front'", "size 0"},
       [](Edit& e) { e.Slice("front")->mutable_axes(0)->set_size(0); }},
      {"not_bound",
       1,
       {"slice 'front' is not bound"},
       [](Edit& e) { e.Slice("front")->mutable_binding()->clear_affine(); }},
      {"strides_and_axes",
       1,
       {"slice 'front'", "2 strides", "1 axes"},
       [](Edit& e) {
         e.Slice("front")->mutable_binding()->mutable_affine()->add_strides(1);
       }},
      {"device_list_and_shards",
       1,
       {"slice 'front'", "1 devices", "2 shards"},
       [](Edit& e) {
         e.Slice("front")->mutable_binding()->mutable_list()->add_devices(0);
       }},
      {"device_below_0",
       1,
       {"slice 'front'", "shard 1", "device -4"},
       [](Edit& e) {
         auto* list = e.Slice("front")->mutable_binding()->mutable_list();
         list->add_devices(0);
         list->add_devices(-4);
       }},
      {"device_overflows",
       1,
       {"slice 'front'", "9223372036854775807"},
       [](Edit& e) {
         e.Slice("front")->mutable_binding()->mutable_affine()->set_base(
             std::numeric_limits<int64_t>::max());
       }},
      {"stride_below_0",
       1,
       {"slice 'front'", "device number"},
       [](Edit& e) {
         e.Slice("front")->mutable_binding()->mutable_affine()->set_strides(0,
                                                                            -1);
       }},
      {"element_unknown",
       1,
       {"layout 0", "element type 99"},
       [](Edit& e) {
         e.plan->mutable_layouts(0)->set_element(
             static_cast<proto::ElementType>(99));
       }},
      {"partial_kind_unknown",
       1,
       {"layout 0", "partial kind 10"},
       [](Edit& e) {
         e.plan->mutable_layouts(0)->set_partial_kind(
             static_cast<proto::ReductionKind>(10));
       }},
      {"partial_kind_of_floats",
       1,
       {"layout", "is partial: expected integers, got xor of f32"},
       [](Edit& e) { e.LayoutOf("h")->set_partial_kind(proto::XOR); }},
      {"partial_kind_of_unsigned",
       1,
       {"layout", "is partial: expected umax for unsigned integers, got max"},
       [](Edit& e) {
         e.LayoutOf("h")->set_element(proto::UI32);
         e.LayoutOf("h")->set_partial_kind(proto::MAX);
       }},
      {"operand_with_a_sign",
       1,
       {"kernel 'layer0'", "element type ui32, expected i32"},
       [](Edit& e) {
         e.plan->mutable_kernels(0)
             ->mutable_segments(0)
             ->mutable_operands(0)
             ->set_element(proto::UI32);
       }},
      {"dims_and_rank",
       1,
       {"layout 0 splits 1 dimensions", "rank 2"},
       [](Edit& e) {
         e.plan->mutable_layouts(0)->mutable_dims()->RemoveLast();
       }},
      {"dimension_below_0",
       1,
       {"layout 0", "size -1"},
       [](Edit& e) { e.plan->mutable_layouts(0)->set_shape(0, -1); }},
      {"layout_axis_unknown",
       1,
       {"layout 0 of buffer 'w'", "slice 'front'", "'q'"},
       [](Edit& e) { e.LayoutOf("w")->mutable_dims(0)->set_axes(0, "q"); }},
      {"partial_without_kind",
       1,
       {"buffer 'h'", "slice 'front'"},
       [](Edit& e) { e.LayoutOf("h")->clear_partial_kind(); }},
      {"blob_misaligned",
       1,
       {"kernel 'layer0'", "object 0 begins at 32", "64"},
       [](Edit& e) {
         e.plan->mutable_kernels(0)->mutable_objects(0)->set_blob_offset(32);
       }},
      {"blob_beyond_end",
       1,
       {"kernel 'layer0'", "129 bytes from 64", "192"},
       [](Edit& e) {
         e.plan->mutable_kernels(0)->mutable_objects(0)->set_blob_bytes(129);
       }},
      {"blob_overflows",
       1,
       {"kernel 'layer0'", "18446744073709551552"},
       [](Edit& e) {
         auto* object = e.plan->mutable_kernels(0)->mutable_objects(0);
         object->set_blob_offset(kHuge - 63);
         object->set_blob_bytes(64);
       }},
      {"segment_without_symbol",
       1,
       {"kernel 'layer0'", "segment 1", "symbol"},
       [](Edit& e) {
         e.plan->mutable_kernels(0)->mutable_segments(1)->clear_symbol();
       }},
      {"operand_element_unknown",
       1,
       {"kernel 'layer0'", "element type 0"},
       [](Edit& e) {
         e.plan->mutable_kernels(0)
             ->mutable_segments(0)
             ->mutable_operands(0)
             ->clear_element();
       }},
      {"buffer_slice",
       1,
       {"buffer 'w' names slice 2, but the plan has 2"},
       [](Edit& e) { e.Buffer("w")->set_slice(2); }},
      {"buffer_layout",
       1,
       {"buffer 'w' names layout 77"},
       [](Edit& e) { e.Buffer("w")->set_layout(77); }},
      {"memory_unknown",
       1,
       {"buffer 'w' has memory kind 5"},
       [](Edit& e) {
         e.Buffer("w")->set_memory(static_cast<proto::MemoryKind>(5));
       }},
      {"action_kind",
       1,
       {"action 'layer0' has kind 0"},
       [](Edit& e) { e.Action("layer0")->clear_kind(); }},
      {"action_slice",
       1,
       {"gang 'layer0' names slice 9"},
       [](Edit& e) { e.Action("layer0")->set_slice(9); }},
      {"operand_buffer",
       1,
       {"gang 'layer0' names operand buffer 4294967295"},
       [](Edit& e) { e.Action("layer0")->set_operands(0, 0xffffffff); }},
      {"result_buffer",
       1,
       {"gang 'layer0' names result buffer 9"},
       [](Edit& e) { e.Action("layer0")->set_results(0, 9); }},
      {"alias_buffer",
       1,
       {"gang 'inplace' names alias buffer 10"},
       [](Edit& e) {
         e.Action("inplace")->mutable_aliases(0)->set_result(10);
       }},
      {"peer_action",
       1,
       {"send 'm.send' names peer action 999"},
       [](Edit& e) { e.Action("m.send")->set_peer(999); }},
      {"feed_interface",
       1,
       {"feed 'x.feed' names argument 2, but the plan has 2"},
       [](Edit& e) { e.Action("x.feed")->set_interface(2); }},
      {"fetch_interface",
       1,
       {"fetch 'z.fetch' names result 5"},
       [](Edit& e) { e.Action("z.fetch")->set_interface(5); }},
      {"kernel_index",
       1,
       {"gang 'layer0'", "kernel 1"},
       [](Edit& e) { e.Action("layer0")->set_kernel(1); }},
      {"segment_index",
       1,
       {"gang 'layer0'", "segment 3", "'layer0' has 3"},
       [](Edit& e) {
         e.Action("layer0")->mutable_steps(0)->mutable_run()->set_segment(3);
       }},
      {"run_buffer",
       1,
       {"gang 'layer0', step 0, names buffer 50"},
       [](Edit& e) {
         e.Action("layer0")->mutable_steps(0)->mutable_run()->set_buffers(1,
                                                                          50);
       }},
      {"step_empty",
       1,
       {"gang 'reduce', step 0, is neither"},
       [](Edit& e) { e.Action("reduce")->mutable_steps(0)->Clear(); }},
      {"collective_kind",
       1,
       {"gang 'reduce', step 0,", "collective kind 7"},
       [](Edit& e) {
         e.Reduce()->set_kind(static_cast<proto::CollectiveKind>(7));
       }},
      {"collective_reduction",
       1,
       {"gang 'reduce', step 0,", "reduction 10"},
       [](Edit& e) {
         e.Reduce()->set_reduction(static_cast<proto::ReductionKind>(10));
       }},
      {"collective_buffer",
       1,
       {"gang 'reduce', step 0,", "source buffer 31"},
       [](Edit& e) { e.Reduce()->set_source(31); }},
      {"edge_action",
       1,
       {"edge 0 names target action 100"},
       [](Edit& e) { e.plan->mutable_edges(0)->set_to(100); }},
      {"edge_kind",
       1,
       {"'layer0'", "'reduce'", "kind 0"},
       [](Edit& e) { e.Edge("layer0", "reduce", proto::DATA)->clear_kind(); }},
      {"edge_relation",
       1,
       {"'layer0'", "'reduce'", "relation 4"},
       [](Edit& e) {
         e.Edge("layer0", "reduce", proto::DATA)
             ->set_relation(static_cast<proto::Relation>(4));
       }},
      {"edge_twice",
       1,
       {"data edge 'layer0' -> 'reduce'", "twice"},
       [](Edit& e) {
         *e.plan->add_edges() = *e.Edge("layer0", "reduce", proto::DATA);
       }},
      {"argument_action",
       1,
       {"argument 'x' names action 64"},
       [](Edit& e) { e.Argument(1)->set_action(64); }},
      {"argument_from",
       1,
       {"argument 'w' names result 2"},
       [](Edit& e) { e.Argument(0)->set_from(2); }},
      {"result_action",
       1,
       {"result 'z' names action 64"},
       [](Edit& e) { e.Result(1)->set_action(64); }},

      // 2. Order.
      {"cycle",
       2,
       {"'reduce' -> 'layer0' (reuse, 0 tokens) -> 'reduce' (data, 0 tokens)"},
       [](Edit& e) {
         e.AddEdge("reduce", "layer0", 0, proto::REUSE, proto::SAME);
       }},
      {"self_cycle",
       2,
       {"'layer0' -> 'layer0' (reuse, 0 tokens)"},
       [](Edit& e) {
         e.AddEdge("layer0", "layer0", 0, proto::REUSE, proto::SAME);
       }},
      {"backward",
       2,
       {"control edge 'z.fetch' -> 'w2.fetch'", "fetch 'w2.fetch' at",
        "must be in the other order"},
       [](Edit& e) {
         e.AddEdge("z.fetch", "w2.fetch", 0, proto::CONTROL, proto::ALL);
         e.AddEdge("w2.fetch", "z.fetch", 2, proto::CREDIT, proto::ALL);
       }},

      // 3. Data.
      {"two_writers",
       3,
       {"buffer 'h'", "gang 'layer0'", "gang 'update'"},
       [](Edit& e) {
         e.Action("update")->clear_steps();
         e.Action("update")->add_results(e.B("h"));
       }},
      {"no_writer",
       3,
       {"buffer 'extra' is written by no action"},
       [](Edit& e) {
         *e.plan->add_buffers() = *e.Buffer("h");
         e.plan->mutable_buffers(e.plan->buffers_size() - 1)->set_name("extra");
       }},
      {"data_missing",
       3,
       {"buffer 'h' needs a data edge from gang 'layer0' to gang "
        "'reduce'",
        "there is none"},
       [](Edit& e) { e.RemoveEdge("layer0", "reduce", proto::DATA); }},
      {"data_tokens",
       3,
       {"buffer 'h'", "0 tokens", "there is data edge", "(same, 1 token)"},
       [](Edit& e) { e.Edge("layer0", "reduce", proto::DATA)->set_tokens(1); }},
      {"carried_data_tokens",
       3,
       {"buffer 'w2'", "feed 'w.feed'", "with 1 token;", "(same, 2 tokens)"},
       [](Edit& e) { e.Edge("update", "w.feed", proto::DATA)->set_tokens(2); }},
      {"recv_data_missing",
       3,
       {"buffer 'g'", "send 'm.send'", "recv 'm.recv'", "relation pieces"},
       [](Edit& e) { e.RemoveEdge("m.send", "m.recv", proto::DATA); }},
      {"data_without_reader",
       3,
       {"data edge 'layer0' -> 'update'", "carries no data"},
       [](Edit& e) {
         e.AddEdge("layer0", "update", 0, proto::DATA, proto::SAME);
       }},

      // 4. Credit.
      {"credit_missing",
       4,
       {"buffer 'h' needs a credit edge from gang 'reduce' to gang "
        "'layer0'"},
       [](Edit& e) { e.RemoveEdge("reduce", "layer0", proto::CREDIT); }},
      {"credit_tokens",
       4,
       {"buffer 's'", "with 2 tokens", "(same, 1 token)"},
       [](Edit& e) {
         e.Edge("m.send", "reduce", proto::CREDIT)->set_tokens(1);
       }},
      {"carried_credit_tokens",
       4,
       {"buffer 'w2'", "feed 'w.feed'", "with 1 token;", "(same, 2 tokens)"},
       [](Edit& e) {
         e.Edge("w.feed", "update", proto::CREDIT)->set_tokens(2);
       }},
      {"recv_credit_missing",
       4,
       {"buffer 'g'", "gang 'layer1'", "send 'm.send'", "relation pieces"},
       [](Edit& e) { e.RemoveEdge("layer1", "m.send", proto::CREDIT); }},
      {"recv_credit_tokens",
       4,
       {"buffer 'g'", "2 tokens", "(pieces, 1 token)"},
       [](Edit& e) {
         e.Edge("layer1", "m.send", proto::CREDIT)->set_tokens(1);
       }},
      {"credit_without_reader",
       4,
       {"credit edge 'update' -> 'layer0'", "returns no credit"},
       [](Edit& e) {
         e.AddEdge("update", "layer0", 1, proto::CREDIT, proto::SAME);
       }},

      // 5. Bounded.
      {"no_credits",
       5,
       {"buffer 'h' has 0 credits", "1 to 2"},
       [](Edit& e) { e.Buffer("h")->set_credits(0); }},
      {"many_credits",
       5,
       {"buffer 's' has 3 credits", "1 to 2"},
       [](Edit& e) { e.Buffer("s")->set_credits(3); }},
      {"control_without_way_back",
       5,
       {"control edge 'update' -> 'layer1'", "no edge of relation all back"},
       [](Edit& e) { e.RemoveEdge("layer1", "update", proto::CREDIT); }},
      {"way_back_too_long",
       5,
       {"control edge 'update' -> 'layer1'", "3 tokens, at most 2"},
       [](Edit& e) {
         e.Edge("layer1", "update", proto::CREDIT)->set_tokens(3);
       }},
      {"reuse_too_long",
       5,
       {"reuse edge 'z.fetch' -> 'layer1'", "have 9 tokens"},
       [](Edit& e) {
         e.Edge("z.fetch", "layer1", proto::REUSE)->set_tokens(9);
       }},
      {"same_way_back_too_long",
       5,
       {"reuse edge 'x.feed' -> 'w2.fetch'", "path back have 5 tokens",
        "at most 2"},
       [](Edit& e) {
         e.AddEdge("x.feed", "w2.fetch", 0, proto::REUSE, proto::SAME);
       }},

      // 6. Memory.
      {"offset",
       6,
       {"buffer 'h' is at offset", "multiple of 128"},
       [](Edit& e) {
         e.Buffer("h")->set_offset(e.Buffer("h")->offset() + 64);
       }},
      {"stride",
       6,
       {"buffer 's' has a slot stride of 100"},
       [](Edit& e) { e.Buffer("s")->set_slot_stride(100); }},
      {"bytes",
       6,
       {"buffer 's' has 47 bytes, but one shard has 48"},
       [](Edit& e) { e.Buffer("s")->set_bytes(47); }},
      {"slots_overlap",
       6,
       {"buffer 's' has a slot stride of 0 and 2 slots"},
       [](Edit& e) { e.Buffer("s")->set_slot_stride(0); }},
      {"overlap_credits",
       6,
       {"'x'", "'h'", "slice 'front'", "2 and 1 credits"},
       [](Edit& e) { e.Buffer("h")->set_offset(e.Buffer("x")->offset()); }},
      {"overlap_unordered",
       6,
       {"'s' and 'x'", "send 'm.send'", "does not come before feed 'x.feed'",
        "2 steps later", "5 tokens"},
       [](Edit& e) { e.Buffer("x")->set_offset(e.Buffer("s")->offset()); }},
      {"overlap_one_writer",
       6,
       {"'w2'", "'t'"},
       [](Edit& e) {
         e.Buffer("w2")->set_credits(1);
         e.Edge("w.feed", "update", proto::CREDIT)->set_tokens(0);
         e.Edge("w2.fetch", "update", proto::CREDIT)->set_tokens(1);
         e.Buffer("w2")->set_offset(e.Buffer("t")->offset());
       }},
      {"window",
       6,
       {"'w'", "'x'", "do not lie within one stride"},
       [](Edit& e) {
         e.Buffer("x")->set_offset(e.Buffer("w")->offset() + 128);
       }},
      {"alias_missing",
       6,
       {"'y'", "'z'", "gang 'inplace' reads the first and writes the second"},
       [](Edit& e) { e.Action("inplace")->clear_aliases(); }},
      {"way_back_missing",
       6,
       {"'z' and 'y'", "fetch 'z.fetch'", "gang 'layer1'",
        "3 tokens, at most 2"},
       [](Edit& e) { e.RemoveEdge("z.fetch", "layer1", proto::REUSE); }},
  };
  return *kFaults;
}

class FlowFaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(FlowFaultTest, IsRefusedByName) { ExpectRefused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Planted, FlowFaultTest,
                         ::testing::ValuesIn(FlowFaults()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

TEST(FlowFaultTestList, EveryRuleHasFaults) {
  ExpectFaultsOfRules(FlowFaults(), 1, 6);
}

}  // namespace
}  // namespace pathways::testing
