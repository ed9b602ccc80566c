//===- verify_action_faults_test.cc - Planted faults of rules 7 to 10 -----===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/tables.h"
#include "unittests/runtime/plan/planted_fault.h"

namespace pathways::testing {
namespace {

// Gives argument 'x' a constant value without a fault, at the begin of the
// blobs.
proto::Constant* AddConstant(Edit& e) {
  const proto::Layout& layout = e.plan->layouts(e.Buffer("x")->layout());
  auto bytes = static_cast<uint64_t>(elementBytes(layout.element()));
  for (int64_t extent : layout.shape()) bytes *= extent;
  proto::Constant* constant = e.Argument(1)->mutable_constant();
  constant->set_blob_bytes(bytes);
  constant->set_sha256(std::string(32, 'h'));
  e.Argument(1)->set_stepped(false);
  return constant;
}

const std::vector<Fault>& ActionFaults() {
  static const auto* const kFaults = new std::vector<Fault>{
      // 7. Actions.
      {"operand_elsewhere",
       7,
       {"gang 'layer1' on slice 'back' reads buffer 's' on slice "
        "'front'"},
       [](Edit& e) { e.Action("layer1")->set_operands(0, e.B("s")); }},
      {"result_twice",
       7,
       {"gang 'layer0'", "'h' twice"},
       [](Edit& e) { e.Action("layer0")->add_results(e.B("h")); }},
      {"steps_of_a_send",
       7,
       {"send 'm.send' has 1 steps"},
       [](Edit& e) { e.Action("m.send")->add_steps()->mutable_run(); }},
      {"alias_of_a_fetch",
       7,
       {"fetch 'z.fetch' has 1 aliases"},
       [](Edit& e) { e.Action("z.fetch")->add_aliases(); }},
      {"kernel_without_run",
       7,
       {"gang 'reduce' names kernel 1, but none of its steps runs a kernel"},
       [](Edit& e) { e.Action("reduce")->set_kernel(1); }},
      {"peer_of_a_gang",
       7,
       {"gang 'layer0' names peer 3"},
       [](Edit& e) { e.Action("layer0")->set_peer(3); }},
      {"interface_of_a_gang",
       7,
       {"gang 'layer0' names interface entry 1"},
       [](Edit& e) { e.Action("layer0")->set_interface(1); }},
      {"send_of_two",
       7,
       {"send 'm.send' has 2 operands, expected 1"},
       [](Edit& e) { e.Action("m.send")->add_operands(e.B("h")); }},
      {"guard_of_a_fetch",
       7,
       {"fetch 'z.fetch' has a guard, but only a gang or send has a guard"},
       [](Edit& e) {
         e.Action("z.fetch")->mutable_guard()->set_buffer(e.B("z"));
       }},
      {"guard_is_no_i1",
       7,
       {"gang 'layer0' has buffer 'x' of ", " as its guard, expected one i1"},
       [](Edit& e) {
         e.Action("layer0")->mutable_guard()->set_buffer(e.B("x"));
       }},
      {"guard_is_no_operand",
       7,
       {"gang 'layer0' has buffer 's' as its guard, which is not one of its "
        "operands"},
       [](Edit& e) {
         e.Action("layer0")->mutable_guard()->set_buffer(e.B("s"));
       }},
      {"send_of_two_with_guard",
       7,
       {"send 'm.send' sends buffer 's' and reads buffer 'h', expected its "
        "guard, buffer 's'"},
       [](Edit& e) {
         e.Action("m.send")->add_operands(e.B("h"));
         e.Action("m.send")->mutable_guard()->set_buffer(e.B("s"));
       }},
      {"recv_of_none",
       7,
       {"recv 'm.recv' has 0 results, expected 1"},
       [](Edit& e) { e.Action("m.recv")->clear_results(); }},
      {"send_of_partial",
       7,
       {"send 'm.send' moves buffer 'h'", "partial add",
        "a gang must reduce them first"},
       [](Edit& e) { e.Action("m.send")->set_operands(0, e.B("h")); }},
      {"peer_is_no_recv",
       7,
       {"send 'm.send' has gang 'layer0' as its peer, expected a "
        "recv"},
       [](Edit& e) { e.Action("m.send")->set_peer(e.A("layer0")); }},
      {"peer_of_another",
       7,
       {"recv 'm.recv'", "whose own peer is"},
       [](Edit& e) {
         proto::Action copy = *e.Action("m.recv");
         copy.set_name("m2.recv");
         *e.plan->add_actions() = copy;
         e.Action("m.send")->set_peer(e.plan->actions_size() - 1);
       }},
      {"sent_shape",
       7,
       {"send 'm.send' sends 2x6xf32", "receives 4x6xf32"},
       [](Edit& e) { e.LayoutOf("g")->set_shape(0, 4); }},
      {"sent_element",
       7,
       {"sends 2x6xf32", "receives 2x6xi32"},
       [](Edit& e) { e.LayoutOf("g")->set_element(proto::I32); }},
      {"run_count",
       7,
       {"gang 'layer0', step 0,", "2 buffers", "3 operands"},
       [](Edit& e) {
         e.Action("layer0")
             ->mutable_steps(0)
             ->mutable_run()
             ->mutable_buffers()
             ->RemoveLast();
       }},
      {"run_shape",
       7,
       {"gang 'layer0'", "buffer 'w'", "2x6xf32", "operand 0", "'layer0_0'",
        "2x7xf32"},
       [](Edit& e) {
         e.plan->mutable_kernels(0)
             ->mutable_segments(0)
             ->mutable_operands(0)
             ->set_shape(1, 7);
       }},
      {"run_element",
       7,
       {"buffer 'w'", "2x6xf32", "expects 2x6xf64"},
       [](Edit& e) {
         e.plan->mutable_kernels(0)
             ->mutable_segments(0)
             ->mutable_operands(0)
             ->set_element(proto::F64);
       }},
      {"coordinates",
       7,
       {"kernel 'layer0'", "2 coordinates", "1 mesh axes"},
       [](Edit& e) { e.plan->mutable_kernels(0)->set_coordinates(2); }},
      {"run_foreign_buffer",
       7,
       {"gang 'layer0', step 0, uses buffer 'w2', which is "
        "neither"},
       [](Edit& e) {
         e.Action("layer0")->mutable_steps(0)->mutable_run()->set_buffers(
             0, e.B("w2"));
       }},
      {"run_writes_operand",
       7,
       {"gang 'layer0'", "writes buffer 'x'"},
       [](Edit& e) {
         e.plan->mutable_kernels(0)
             ->mutable_segments(0)
             ->mutable_operands(1)
             ->set_written(true);
       }},
      {"read_before_write",
       7,
       {"gang 'update', step 0,", "reads buffer 't' before any step writes it"},
       [](Edit& e) {
         e.Action("update")->mutable_steps()->SwapElements(0, 1);
       }},
      {"result_not_written",
       7,
       {"gang 'update'", "'w2'", "no step writes it"},
       [](Edit& e) { e.Action("update")->mutable_steps()->RemoveLast(); }},
      {"alias_of_others",
       7,
       {"gang 'inplace' aliases buffer 'g'"},
       [](Edit& e) {
         e.Action("inplace")->mutable_aliases(0)->set_operand(e.B("g"));
       }},
      {"alias_twice",
       7,
       {"gang 'inplace'", "already has an alias"},
       [](Edit& e) {
         *e.Action("inplace")->add_aliases() = e.Action("inplace")->aliases(0);
       }},
      {"alias_apart",
       7,
       {"'y'", "'z'", "at offsets", "expected the same bytes"},
       [](Edit& e) { e.Buffer("z")->set_offset(1 << 20); }},
      {"collective_axis",
       7,
       {"gang 'reduce'", "axis 'k'", "slice 'front'"},
       [](Edit& e) { e.Reduce()->set_axes(0, "k"); }},
      {"collective_axis_twice",
       7,
       {"gang 'reduce'", "axis 'x' twice"},
       [](Edit& e) { e.Reduce()->add_axes("x"); }},
      {"no_reduction",
       7,
       {"gang 'reduce'", "all_reduce has no reduction"},
       [](Edit& e) { e.Reduce()->clear_reduction(); }},
      {"reduction_of_a_permute",
       7,
       {"permute has a reduction"},
       [](Edit& e) { e.Reduce()->set_kind(proto::PERMUTE); }},
      {"broadcast_from_nobody",
       7,
       {"broadcast has root rank 2, but its groups have 2 ranks"},
       [](Edit& e) {
         e.Reduce()->clear_reduction();
         e.Reduce()->set_kind(proto::BROADCAST);
         e.Reduce()->set_root(2);
       }},
      {"pairs_out_of_the_group",
       7,
       {"permute sends from rank 0 to rank 2, but its groups have 2 ranks"},
       [](Edit& e) {
         e.Reduce()->clear_reduction();
         e.Reduce()->set_kind(proto::PERMUTE);
         e.Reduce()->add_pairs(0);
         e.Reduce()->add_pairs(2);
       }},
      {"pairs_to_one_rank",
       7,
       {"permute sends to rank 1 from ranks 0 and 1"},
       [](Edit& e) {
         e.Reduce()->clear_reduction();
         e.Reduce()->set_kind(proto::PERMUTE);
         for (int64_t rank : {0, 1, 1, 1}) e.Reduce()->add_pairs(rank);
       }},
      {"half_a_pair",
       7,
       {"permute has 1 ranks in its pairs, expected an even number"},
       [](Edit& e) {
         e.Reduce()->clear_reduction();
         e.Reduce()->set_kind(proto::PERMUTE);
         e.Reduce()->add_pairs(0);
       }},
      {"pairs_and_a_shift",
       7,
       {"permute has pairs, but only a permute without a shift has pairs"},
       [](Edit& e) {
         e.Reduce()->clear_reduction();
         e.Reduce()->set_kind(proto::PERMUTE);
         e.Reduce()->set_shift(1);
         for (int64_t rank : {0, 1}) e.Reduce()->add_pairs(rank);
       }},
      {"collective_in_place",
       7,
       {"reads and writes buffer 's'"},
       [](Edit& e) { e.Reduce()->set_source(e.B("s")); }},
      {"gather_shape",
       7,
       {"all_gather of 2x6xf32", "writes 2x6xf32", "expected 2x12xf32"},
       [](Edit& e) {
         e.Reduce()->clear_reduction();
         e.Reduce()->set_kind(proto::ALL_GATHER);
         e.Reduce()->set_dim(1);
       }},
      {"scatter_shape",
       7,
       {"reduce_scatter of 2x6xf32", "expected 1x6xf32"},
       [](Edit& e) { e.Reduce()->set_kind(proto::REDUCE_SCATTER); }},
      {"scatter_dim",
       7,
       {"reduce_scatter", "dimension 2", "rank 2"},
       [](Edit& e) {
         e.Reduce()->set_kind(proto::REDUCE_SCATTER);
         e.Reduce()->set_dim(2);
       }},
      {"exchange_shape",
       7,
       {"all_to_all of 2x6xf32", "expected 1x12xf32"},
       [](Edit& e) {
         e.Reduce()->clear_reduction();
         e.Reduce()->set_kind(proto::ALL_TO_ALL);
         e.Reduce()->set_concat_dim(1);
       }},
      {"exchange_concat_dim",
       7,
       {"all_to_all", "concat dimension -1"},
       [](Edit& e) {
         e.Reduce()->clear_reduction();
         e.Reduce()->set_kind(proto::ALL_TO_ALL);
         e.Reduce()->set_concat_dim(-1);
       }},
      {"same_between_slices",
       7,
       {"reuse edge 'layer0' -> 'layer1'", "slice 'front' and slice 'back'"},
       [](Edit& e) {
         e.AddEdge("layer0", "layer1", 0, proto::REUSE, proto::SAME);
       }},
      {"pieces_without_send",
       7,
       {"reuse edge 'layer0' -> 'update'", "does not go to a send"},
       [](Edit& e) {
         e.AddEdge("layer0", "update", 0, proto::REUSE, proto::PIECES);
       }},
      {"pieces_from_elsewhere",
       7,
       {"reuse edge 'layer0' -> 'm.send'", "slice 'front'",
        "but the movement goes to slice 'back'"},
       [](Edit& e) {
         e.AddEdge("layer0", "m.send", 0, proto::REUSE, proto::PIECES);
       }},
      {"pieces_data",
       7,
       {"'layer0' -> 'reduce'", "from a send to its recv"},
       [](Edit& e) {
         e.Edge("layer0", "reduce", proto::DATA)->set_relation(proto::PIECES);
       }},
      {"pieces_control",
       7,
       {"control edge", "has the relation same or all"},
       [](Edit& e) {
         e.Edge("update", "layer1", proto::CONTROL)
             ->set_relation(proto::PIECES);
       }},
      {"data_to_all",
       7,
       {"'layer0' -> 'reduce'", "has the relation same or pieces"},
       [](Edit& e) {
         e.Edge("layer0", "reduce", proto::DATA)->set_relation(proto::ALL);
       }},
      {"control_tokens",
       7,
       {"control edge 'update' -> 'layer1'", "no tokens"},
       [](Edit& e) {
         e.Edge("update", "layer1", proto::CONTROL)->set_tokens(1);
       }},

      // 8. Interface.
      {"argument_is_no_feed",
       8,
       {"argument 'x'", "gang 'layer0'", "a feed"},
       [](Edit& e) { e.Argument(1)->set_action(e.A("layer0")); }},
      {"argument_of_another",
       8,
       {"argument 'x'", "feed 'w.feed'", "belongs to argument 'w'"},
       [](Edit& e) { e.Argument(1)->set_action(e.A("w.feed")); }},
      {"feed_of_another",
       8,
       {"feed 'x.feed' is for argument 'w', whose action is feed "
        "'w.feed'"},
       [](Edit& e) { e.Action("x.feed")->set_interface(0); }},
      {"result_of_another",
       8,
       {"result 'z'", "fetch 'w2.fetch'"},
       [](Edit& e) { e.Result(1)->set_action(e.A("w2.fetch")); }},
      {"carried_and_stepped",
       8,
       {"argument 'w' is both carried and stepped"},
       [](Edit& e) { e.Argument(0)->set_stepped(true); }},
      {"carried_reads_nothing",
       8,
       {"argument 'w'", "result 'w2'", "feed 'w.feed' reads nothing"},
       [](Edit& e) { e.Action("w.feed")->clear_operands(); }},
      {"carried_reads_another",
       8,
       {"argument 'w'", "buffer 'w2'", "reads buffer 's'"},
       [](Edit& e) { e.Action("w.feed")->set_operands(0, e.B("s")); }},
      {"carried_layout",
       8,
       {"argument 'w' in buffer 'w'", "not equal"},
       [](Edit& e) { e.Buffer("w")->set_layout(e.Buffer("s")->layout()); }},
      {"not_carried_reads",
       8,
       {"argument 'x' is not carried", "reads buffer 'w2'"},
       [](Edit& e) { e.Action("x.feed")->add_operands(e.B("w2")); }},
      {"not_carried_from",
       8,
       {"argument 'x' is not carried", "result 1"},
       [](Edit& e) { e.Argument(1)->set_from(1); }},
      {"constant_carried",
       8,
       {"argument 'w' has a constant value, but is carried"},
       [](Edit& e) { e.Argument(0)->mutable_constant(); }},
      {"constant_stepped",
       8,
       {"argument 'x' has a constant value, but is stepped"},
       [](Edit& e) {
         AddConstant(e);
         e.Argument(1)->set_stepped(true);
       }},
      {"constant_bytes",
       8,
       {"argument 'x' has a constant value of 1 bytes, but takes "},
       [](Edit& e) { AddConstant(e)->set_blob_bytes(1); }},
      {"constant_place",
       8,
       {"argument 'x' has a constant value at 32 in the blobs, not a multiple "
        "of 64"},
       [](Edit& e) { AddConstant(e)->set_blob_offset(32); }},
      {"constant_outside",
       8,
       {"argument 'x' has a constant value of ", "but the blobs have "},
       [](Edit& e) { AddConstant(e)->set_blob_offset(uint64_t{1} << 62); }},
      {"constant_hash",
       8,
       {"argument 'x' has a constant value with a hash of 31 bytes, expected "
        "32"},
       [](Edit& e) { AddConstant(e)->set_sha256(std::string(31, 'h')); }},

      // 9. Limits.
      {"no_steps_in_flight",
       9,
       {"'sample' has 0 steps in flight", "1 to 1024"},
       [](Edit& e) { e.plan->mutable_header()->set_steps_in_flight(0); }},
      {"many_steps_in_flight",
       9,
       {"1025 steps in flight"},
       [](Edit& e) { e.plan->mutable_header()->set_steps_in_flight(1025); }},
      {"bad_fingerprint",
       9,
       {"'sample' has fingerprint '0123'", "expected 32 hexadecimal digits"},
       [](Edit& e) { e.plan->mutable_header()->set_fingerprint("0123"); }},
      {"upper_case_fingerprint",
       9,
       {"has fingerprint '0123456789ABCDEF0123456789ABCDEF'"},
       [](Edit& e) {
         e.plan->mutable_header()->set_fingerprint(
             "0123456789ABCDEF0123456789ABCDEF");
       }},
      {"many_shards",
       9,
       {"slice 'front' has more than 16777216 shards"},
       [](Edit& e) {
         e.Slice("front")->mutable_axes(0)->set_size((1 << 24) + 1);
       }},
      {"shards_overflow",
       9,
       {"slice 'front' has more than 16777216 shards"},
       [](Edit& e) {
         for (int i = 0; i < 8; ++i) {
           auto* axis = e.Slice("front")->add_axes();
           axis->set_name("a" + std::to_string(i));
           axis->set_size(std::numeric_limits<int64_t>::max());
         }
       }},
      {"many_axes",
       9,
       {"slice 'front' has 66 mesh axes, at most 64"},
       [](Edit& e) {
         for (int i = 0; i < 65; ++i) {
           auto* axis = e.Slice("front")->add_axes();
           axis->set_name("a" + std::to_string(i));
           axis->set_size(1);
         }
       }},
      {"rank",
       9,
       {"layout 0 has rank 67, at most 64"},
       [](Edit& e) {
         for (int i = 0; i < 65; ++i) e.plan->mutable_layouts(0)->add_shape(1);
       }},
      {"elements",
       9,
       {"layout 0 has more than 281474976710656 elements"},
       [](Edit& e) {
         e.plan->mutable_layouts(0)->set_shape(0, int64_t{1} << 60);
         e.plan->mutable_layouts(0)->set_shape(1, int64_t{1} << 60);
       }},
      {"segment_bytes",
       9,
       {"buffer 's'", "ends beyond"},
       [](Edit& e) { e.Buffer("s")->set_offset(uint64_t{1} << 62); }},
      {"segment_overflows",
       9,
       {"buffer 's'", "18446744073709551488"},
       [](Edit& e) { e.Buffer("s")->set_slot_stride(kHuge - 127); }},
      {"scratch",
       9,
       {"kernel 'layer0'", "segment 0", "of scratch"},
       [](Edit& e) {
         e.plan->mutable_kernels(0)->mutable_segments(0)->set_scratch_bytes(
             kHuge);
       }},
      {"cost",
       9,
       {"gang 'layer0' has a cost of 18446744073709551615 ns"},
       [](Edit& e) { e.Action("layer0")->set_cost_ns(kHuge); }},

      // 10. Ends.
      {"first_action",
       10,
       {"buffer 'h'", "from action 3", "gang 'layer0' at 2"},
       [](Edit& e) { e.Buffer("h")->set_first_action(3); }},
      {"last_action",
       10,
       {"buffer 'h'", "gang 'reduce' at 3"},
       [](Edit& e) { e.Buffer("h")->set_last_action(99); }},
  };
  return *kFaults;
}

class ActionFaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(ActionFaultTest, IsRefusedByName) { ExpectRefused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Planted, ActionFaultTest,
                         ::testing::ValuesIn(ActionFaults()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

TEST(ActionFaultTestList, EveryRuleHasFaults) {
  ExpectFaultsOfRules(ActionFaults(), 7, 10);
}

}  // namespace
}  // namespace pathways::testing
