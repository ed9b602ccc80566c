// Part of the Pathways project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A training whose step has loops, a branch and a loop that ends early. Six layers,
// tanh(x w), are in two stages on two slices:
//
// 1. A loop over four micro-batches adds up gradients, with the schedule "1f1b". In it,
//    a scan over the three layers of each stage goes forward, and another one back.
// 2. A branch shortens a gradient that is too long.
// 3. A loop looks for the length of the step: it halves the rate until the weights that
//    the rate leads to have a smaller loss, at most six times.

pw.slice @front mesh <"data" = 2>
pw.slice @back mesh <"data" = 2>

// Rows are cut over the devices of a slice; each device has all weights.
!batches = !pw.array<4x8x16xf32, @front, [{}, {"data"}, {}]>
!act_f = !pw.array<8x16xf32, @front, [{"data"}, {}]>
!acts_f = !pw.array<3x8x16xf32, @front, [{}, {"data"}, {}]>
!weight_f = !pw.array<16x16xf32, @front, [{}, {}]>
!weights_f = !pw.array<3x16x16xf32, @front, [{}, {}, {}]>
!number_f = !pw.array<f32, @front, []>

!targets = !pw.array<4x8x16xf32, @back, [{}, {"data"}, {}]>
!act_b = !pw.array<8x16xf32, @back, [{"data"}, {}]>
!acts_b = !pw.array<3x8x16xf32, @back, [{}, {"data"}, {}]>
!weight_b = !pw.array<16x16xf32, @back, [{}, {}]>
!weights_b = !pw.array<3x16x16xf32, @back, [{}, {}, {}]>
!number_b = !pw.array<f32, @back, []>
!flag = !pw.array<i1, @back, []>

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

func.func private @layer(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>)
    -> tensor<8x16xf32> {
  %zeros = arith.constant dense<0.0> : tensor<8x16xf32>
  %z = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>)
      outs(%zeros : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = math.tanh %z : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// Gradients of the input and of the weights, where `d` is that of `y`.
func.func private @layer_backward(%d: tensor<8x16xf32>, %x: tensor<8x16xf32>,
                                  %y: tensor<8x16xf32>, %w: tensor<16x16xf32>)
    -> (tensor<8x16xf32>, tensor<16x16xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<8x16xf32>
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %ones = arith.constant dense<1.0> : tensor<8x16xf32>
  %y2 = arith.mulf %y, %y : tensor<8x16xf32>
  %slope = arith.subf %ones, %y2 : tensor<8x16xf32>
  %dz = arith.mulf %d, %slope : tensor<8x16xf32>
  %dx = linalg.matmul
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                       affine_map<(i, j, k) -> (i, j)>]
      ins(%dz, %w : tensor<8x16xf32>, tensor<16x16xf32>)
      outs(%zeros : tensor<8x16xf32>) -> tensor<8x16xf32>
  %dw = linalg.matmul
      indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>,
                       affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %dz : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%none : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %dx, %dw : tensor<8x16xf32>, tensor<16x16xf32>
}

// Half of the squared difference, and the difference, which is its gradient.
func.func private @loss(%y: tensor<8x16xf32>, %target: tensor<8x16xf32>)
    -> (tensor<8x16xf32>, tensor<f32>) {
  %half = arith.constant dense<0.5> : tensor<8x16xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = arith.subf %y, %target : tensor<8x16xf32>
  %squares = arith.mulf %d, %d : tensor<8x16xf32>
  %halves = arith.mulf %squares, %half : tensor<8x16xf32>
  %loss = linalg.reduce { arith.addf } ins(%halves : tensor<8x16xf32>)
      outs(%zero : tensor<f32>) dimensions = [0, 1]
  return %d, %loss : tensor<8x16xf32>, tensor<f32>
}

//===----------------------------------------------------------------------===//
// Sums, lengths and steps
//===----------------------------------------------------------------------===//

func.func private @no_weights() -> tensor<3x16x16xf32> {
  %zeros = arith.constant dense<0.0> : tensor<3x16x16xf32>
  return %zeros : tensor<3x16x16xf32>
}
func.func private @no_loss() -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  return %zero : tensor<f32>
}
func.func private @add_weights(%a: tensor<3x16x16xf32>, %b: tensor<3x16x16xf32>)
    -> tensor<3x16x16xf32> {
  %0 = arith.addf %a, %b : tensor<3x16x16xf32>
  return %0 : tensor<3x16x16xf32>
}
func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = arith.addf %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @squares(%g: tensor<3x16x16xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %g2 = arith.mulf %g, %g : tensor<3x16x16xf32>
  %sum = linalg.reduce { arith.addf } ins(%g2 : tensor<3x16x16xf32>)
      outs(%zero : tensor<f32>) dimensions = [0, 1, 2]
  return %sum : tensor<f32>
}
func.func private @length(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %sum = arith.addf %a, %b : tensor<f32>
  %0 = math.sqrt %sum : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @is_long(%length: tensor<f32>) -> tensor<i1> {
  %limit = arith.constant dense<125.0> : tensor<f32>
  %0 = arith.cmpf ogt, %length, %limit : tensor<f32>
  return %0 : tensor<i1>
}
// The factor that makes the length 125.
func.func private @shrinkage(%length: tensor<f32>) -> tensor<f32> {
  %limit = arith.constant dense<125.0> : tensor<f32>
  %0 = arith.divf %limit, %length : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @scale(%g: tensor<3x16x16xf32>, %by: tensor<f32>)
    -> tensor<3x16x16xf32> {
  %empty = tensor.empty() : tensor<3x16x16xf32>
  %factors = linalg.broadcast ins(%by : tensor<f32>)
      outs(%empty : tensor<3x16x16xf32>) dimensions = [0, 1, 2]
  %0 = arith.mulf %g, %factors : tensor<3x16x16xf32>
  return %0 : tensor<3x16x16xf32>
}
func.func private @move(%w: tensor<3x16x16xf32>, %g: tensor<3x16x16xf32>,
                        %rate: tensor<f32>) -> tensor<3x16x16xf32> {
  %by = func.call @scale(%g, %rate)
      : (tensor<3x16x16xf32>, tensor<f32>) -> tensor<3x16x16xf32>
  %0 = arith.subf %w, %by : tensor<3x16x16xf32>
  return %0 : tensor<3x16x16xf32>
}
func.func private @first_rate() -> (tensor<i1>, tensor<f32>) {
  %yes = arith.constant dense<true> : tensor<i1>
  %rate = arith.constant dense<0.25> : tensor<f32>
  return %yes, %rate : tensor<i1>, tensor<f32>
}
func.func private @halve(%rate: tensor<f32>) -> tensor<f32> {
  %half = arith.constant dense<0.5> : tensor<f32>
  %0 = arith.mulf %rate, %half : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @is_no_less(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = arith.cmpf uge, %a, %b : tensor<f32>
  return %0 : tensor<i1>
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

pw.program @train(%x: !batches {pw.stepped}, %target: !targets {pw.stepped},
                  %front: !weights_f {pw.carried = 0 : i64},
                  %back: !weights_b {pw.carried = 1 : i64})
    -> (!weights_f {pw.name = "front"}, !weights_b {pw.name = "back"},
        !number_b {pw.name = "loss", pw.stepped},
        !number_b {pw.name = "length", pw.stepped},
        !number_b {pw.name = "rate", pw.stepped},
        !number_b {pw.name = "after", pw.stepped}) {
  // The loss of the batch and its gradients.
  %none_f = pw.call @no_weights() : () -> !weights_f
  %none_b = pw.call @no_weights() : () -> !weights_b
  %none = pw.call @no_loss() : () -> !number_b
  %sum_f, %sum_b, %loss = pw.for 4 schedule "1f1b"
      (%x0 = %x stepped : !batches -> !act_f, %t = %target stepped : !targets -> !act_b,
       %a_f = %none_f carried : !weights_f, %a_b = %none_b carried : !weights_b,
       %l0 = %none carried : !number_b)
      -> (!weights_f carried, !weights_b carried, !number_b carried) {
    %h, %xs_f, %ys_f = pw.for 3 label "0F"
        (%a = %x0 carried : !act_f, %w = %front stepped : !weights_f -> !weight_f)
        -> (!act_f carried, !acts_f stepped, !acts_f stepped) {
      %b = pw.call @layer(%a, %w) : (!act_f, !weight_f) -> !act_f
      pw.yield %b, %a, %b : !act_f, !act_f, !act_f
    }
    %r = pw.reshard %h : !act_f -> !act_b
    %y, %xs_b, %ys_b = pw.for 3 label "1F"
        (%a = %r carried : !act_b, %w = %back stepped : !weights_b -> !weight_b)
        -> (!act_b carried, !acts_b stepped, !acts_b stepped) {
      %b = pw.call @layer(%a, %w) : (!act_b, !weight_b) -> !act_b
      pw.yield %b, %a, %b : !act_b, !act_b, !act_b
    }
    %d, %l = pw.call @loss(%y, %t) label "1F" : (!act_b, !act_b) -> (!act_b, !number_b)
    %l1 = pw.call @add(%l0, %l) label "1F" : (!number_b, !number_b) -> !number_b
    %d_b, %g_b = pw.for 3 label "1B"
        (%e = %d carried : !act_b, %a = %xs_b stepped reversed : !acts_b -> !act_b,
         %b = %ys_b stepped reversed : !acts_b -> !act_b,
         %w = %back stepped reversed : !weights_b -> !weight_b)
        -> (!act_b carried, !weights_b stepped reversed) {
      %f, %g = pw.call @layer_backward(%e, %a, %b, %w)
          : (!act_b, !act_b, !act_b, !weight_b) -> (!act_b, !weight_b)
      pw.yield %f, %g : !act_b, !weight_b
    }
    %s_b = pw.call @add_weights(%a_b, %g_b) donate(%a_b) label "1B"
        : (!weights_b, !weights_b) -> !weights_b
    %d_f = pw.reshard %d_b : !act_b -> !act_f
    %d_x, %g_f = pw.for 3 label "0B"
        (%e = %d_f carried : !act_f, %a = %xs_f stepped reversed : !acts_f -> !act_f,
         %b = %ys_f stepped reversed : !acts_f -> !act_f,
         %w = %front stepped reversed : !weights_f -> !weight_f)
        -> (!act_f carried, !weights_f stepped reversed) {
      %f, %g = pw.call @layer_backward(%e, %a, %b, %w)
          : (!act_f, !act_f, !act_f, !weight_f) -> (!act_f, !weight_f)
      pw.yield %f, %g : !act_f, !weight_f
    }
    %s_f = pw.call @add_weights(%a_f, %g_f) donate(%a_f) label "0B"
        : (!weights_f, !weights_f) -> !weights_f
    pw.yield %s_f, %s_b, %l1 : !weights_f, !weights_b, !number_b
  }

  // A gradient longer than 125 is made that short, on both slices.
  %squares_f = pw.call @squares(%sum_f) : (!weights_f) -> !number_f
  %squares_b = pw.call @squares(%sum_b) : (!weights_b) -> !number_b
  %squares = pw.reshard %squares_f : !number_f -> !number_b
  %length = pw.call @length(%squares, %squares_b) : (!number_b, !number_b) -> !number_b
  %long = pw.call @is_long(%length) : (!number_b) -> !flag
  %g_f, %g_b = pw.if %long : !flag -> (!weights_f, !weights_b) {
    %by = pw.call @shrinkage(%length) : (!number_b) -> !number_b
    %by_f = pw.reshard %by : !number_b -> !number_f
    %short_f = pw.call @scale(%sum_f, %by_f) : (!weights_f, !number_f) -> !weights_f
    %short_b = pw.call @scale(%sum_b, %by) : (!weights_b, !number_b) -> !weights_b
    pw.yield %short_f, %short_b : !weights_f, !weights_b
  } else {
    pw.yield %sum_f, %sum_b : !weights_f, !weights_b
  }

  // The rate is halved until the loss of the batch gets smaller.
  %yes, %one = pw.call @first_rate() : () -> (!flag, !number_b)
  %last, %rate, %after = pw.for 6 while
      (%go = %yes carried : !flag, %r0 = %one carried : !number_b,
       %old = %loss carried : !number_b)
      -> (!flag carried, !number_b carried, !number_b carried) {
    %r1 = pw.call @halve(%r0) : (!number_b) -> !number_b
    %r1_f = pw.reshard %r1 : !number_b -> !number_f
    %v_f = pw.call @move(%front, %g_f, %r1_f)
        : (!weights_f, !weights_f, !number_f) -> !weights_f
    %v_b = pw.call @move(%back, %g_b, %r1)
        : (!weights_b, !weights_b, !number_b) -> !weights_b
    %l = pw.for 4
        (%x0 = %x stepped : !batches -> !act_f,
         %t = %target stepped : !targets -> !act_b, %l0 = %none carried : !number_b)
        -> (!number_b carried) {
      %h = pw.for 3
          (%a = %x0 carried : !act_f, %w = %v_f stepped : !weights_f -> !weight_f)
          -> (!act_f carried) {
        %b = pw.call @layer(%a, %w) : (!act_f, !weight_f) -> !act_f
        pw.yield %b : !act_f
      }
      %r = pw.reshard %h : !act_f -> !act_b
      %y = pw.for 3
          (%a = %r carried : !act_b, %w = %v_b stepped : !weights_b -> !weight_b)
          -> (!act_b carried) {
        %b = pw.call @layer(%a, %w) : (!act_b, !weight_b) -> !act_b
        pw.yield %b : !act_b
      }
      %d, %l1 = pw.call @loss(%y, %t) : (!act_b, !act_b) -> (!act_b, !number_b)
      %l2 = pw.call @add(%l0, %l1) : (!number_b, !number_b) -> !number_b
      pw.yield %l2 : !number_b
    }
    %again = pw.call @is_no_less(%l, %loss) : (!number_b, !number_b) -> !flag
    pw.yield %again, %r1, %l : !flag, !number_b, !number_b
  }
  %rate_f = pw.reshard %rate : !number_b -> !number_f
  %next_f = pw.call @move(%front, %g_f, %rate_f) donate(%front)
      : (!weights_f, !weights_f, !number_f) -> !weights_f
  %next_b = pw.call @move(%back, %g_b, %rate) donate(%back)
      : (!weights_b, !weights_b, !number_b) -> !weights_b
  pw.return %next_f, %next_b, %loss, %length, %rate, %after
      : !weights_f, !weights_b, !number_b, !number_b, !number_b, !number_b
}
