//===- sample_plan.h - A plan with one of everything ---------- -*- C++ -*-===//
//
// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_RUNTIME_PLAN_SAMPLE_PLAN_H_
#define UNITTESTS_RUNTIME_PLAN_SAMPLE_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/plan_builder.h"
#include "runtime/proto/plan.pb.h"

namespace pathways::testing {

inline constexpr uint64_t kSampleBlobBytes = 192;

// Two slices on two islands. On 'front': arguments 'w' (carried from 'w2') and
// 'x' (stepped), 'layer0' (runs code), 'reduce' (a collective), 'update', whose
// temporary 't' shares the memory of 'h'. 's' moves to 'back' and becomes 'g';
// there 'layer1', after 'update', and 'inplace', which turns 'y' into 'z' where
// it is. Results 'w2' and 'z'.
inline proto::Plan SamplePlan() {
  PlanBuilder b("sample", /*steps_in_flight=*/2);
  uint32_t front = b.AddSlice("front", {{"x", 2}}, 0);
  uint32_t back = b.AddSlice("back", {{"x", 2}}, 1, /*base=*/1);
  layout::Layout rows{{4, 6}, {{"x"}, {}}, {}, layout::Reduction::kNone};
  layout::Layout cols{{4, 6}, {{}, {"x"}}, {}, layout::Reduction::kNone};
  layout::Layout sum{{2, 6}, {{}, {}}, {"x"}, layout::Reduction::kAdd};
  layout::Layout whole{{2, 6}, {{}, {}}, {}, layout::Reduction::kNone};
  layout::Layout moved{{2, 6}, {{"x"}, {}}, {}, layout::Reduction::kNone};
  uint32_t w = b.AddBuffer("w", front, rows, 2);
  uint32_t x = b.AddBuffer("x", front, rows, 2);
  uint32_t h = b.AddBuffer("h", front, sum, 1);
  uint32_t s = b.AddBuffer("s", front, whole, 2);
  uint32_t w2 = b.AddBuffer("w2", front, rows, 2);
  uint32_t t = b.AddBuffer("t", front, cols, 1);
  uint32_t g = b.AddBuffer("g", back, moved, 2);
  uint32_t y = b.AddBuffer("y", back, moved, 2);
  uint32_t z = b.AddBuffer("z", back, moved, 2);
  uint32_t w_feed = b.AddFeed("w", w);
  b.AddFeed("x", x, /*stepped=*/true);
  uint32_t layer0 = b.AddGang("layer0", front, {w, x}, {h}, 100);
  uint32_t reduce = b.AddGang("reduce", front, {h}, {s}, 10);
  uint32_t update = b.AddGang("update", front, {w, s}, {w2, t}, 50);
  b.AddMove("m", s, g);
  uint32_t layer1 = b.AddGang("layer1", back, {g}, {y});
  uint32_t inplace = b.AddGang("inplace", back, {y}, {z});
  uint32_t w2_fetch = b.AddFetch("w2", w2);
  uint32_t z_fetch = b.AddFetch("z", z);
  b.Carry(w_feed, w2_fetch);
  b.AddControl(update, layer1);
  b.ShareMemory({h, t});
  b.ShareMemory({y, z});
  b.AddAlias(inplace, y, z);
  b.AddEdge(z_fetch, layer1, 2, proto::REUSE, proto::SAME);

  proto::Kernel* kernel = b.plan().add_kernels();
  kernel->set_name("layer0");
  kernel->set_hash("00ff");
  kernel->set_coordinates(1);
  proto::KernelObject* object = kernel->add_objects();
  object->mutable_target()->set_triple("test-unknown-none");
  object->set_blob_offset(64);
  object->set_blob_bytes(100);
  auto add_segment = [&](const char* symbol, const std::vector<uint32_t>& read,
                         const std::vector<uint32_t>& written) {
    proto::Segment* segment = kernel->add_segments();
    segment->set_symbol(symbol);
    segment->set_scratch_bytes(256);
    for (bool writes : {false, true}) {
      for (uint32_t buffer : writes ? written : read) {
        proto::KernelOperand* operand = segment->add_operands();
        operand->set_element(proto::F32);
        operand->set_written(writes);
        // 'w', 'x' and 'w2' are cut in rows; 't' in columns; 'h' and 's' not.
        operand->add_shape(2);
        operand->add_shape(6);
        if (buffer == t) {
          operand->set_shape(0, 4);
          operand->set_shape(1, 3);
        }
      }
    }
  };
  auto add_run = [&](uint32_t gang, uint32_t segment,
                     const std::vector<uint32_t>& buffers) {
    auto* run = b.plan().mutable_actions(gang)->add_steps()->mutable_run();
    run->set_segment(segment);
    for (uint32_t buffer : buffers) run->add_buffers(buffer);
  };
  add_segment("layer0_0", {w, x}, {h});
  add_segment("update_0", {w, s}, {t});
  add_segment("update_1", {t}, {w2});
  add_run(layer0, 0, {w, x, h});
  add_run(update, 1, {w, s, t});
  add_run(update, 2, {t, w2});
  proto::Collective* collective =
      b.plan().mutable_actions(reduce)->add_steps()->mutable_collective();
  collective->set_kind(proto::ALL_REDUCE);
  collective->set_reduction(proto::ADD);
  collective->add_axes("x");
  collective->set_source(h);
  collective->set_result(s);
  return b.Finish();
}

}  // namespace pathways::testing

#endif  // UNITTESTS_RUNTIME_PLAN_SAMPLE_PLAN_H_
