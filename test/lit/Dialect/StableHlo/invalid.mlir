// One broken constraint a case; names say which.
// RUN: pw-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

func.func @complex(%a: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{has complex elements, which are not supported: 'tensor<4xcomplex<f32>>'}}
  %0 = stablehlo.add %a, %a : tensor<4xcomplex<f32>>
  return
}
// -----
func.func @dynamic(%a: tensor<?xf32>) {
  // expected-error@+1 {{has a dynamic shape, which is not supported: 'tensor<?xf32>'}}
  %0 = stablehlo.exponential %a : tensor<?xf32>
  return
}
// -----
func.func @quantized(%a: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{has quantized elements, which are not supported}}
  %0 = stablehlo.add %a, %a : tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}
// -----
func.func @narrow(%a: tensor<4xi4>) {
  // expected-error@+1 {{expected element type i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32 or f64, got 'tensor<4xi4>'}}
  %0 = stablehlo.not %a : tensor<4xi4>
  return
}
// -----
func.func @f8(%a: tensor<4xf8E4M3FN>) {
  // expected-error@+1 {{expected element type i1, i8}}
  %0 = stablehlo.negate %a : tensor<4xf8E4M3FN>
  return
}
// -----
func.func @unranked(%a: tensor<*xf32>) {
  // expected-error@+1 {{operand #0 must be tensor of floats, but got 'tensor<*xf32>'}}
  %0 = stablehlo.floor %a : tensor<*xf32>
  return
}
// -----
func.func @kind(%a: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be tensor of floats, but got 'tensor<4xi32>'}}
  %0 = stablehlo.floor %a : tensor<4xi32>
  return
}
// -----
func.func @same_types(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error@+1 {{expected operands and results to have the same type, got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0 = stablehlo.add %a, %b : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}
// -----
func.func @same_shapes(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected operands and results to have the same shape, got 'tensor<4xf32>' and 'tensor<5xf16>'}}
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<5xf16>
  return
}
// -----
func.func @type_count(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected types of 2 operands and 1 result, got 1 and 1}}
  %0 = stablehlo.add %a, %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

func.func @compare_c1(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error@+1 {{expected operands to have the same type, got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0 = stablehlo.compare LT, %a, %b : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xi1>
  return
}
// -----
func.func @compare_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected operands and results to have the same shape, got 'tensor<4xf32>' and 'tensor<3xi1>'}}
  %0 = stablehlo.compare LT, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<3xi1>
  return
}
// -----
func.func @compare_c3(%a: tensor<4xf32>) {
  // expected-error@+1 {{cannot compare 'tensor<4xf32>' as UNSIGNED}}
  %0 = stablehlo.compare LT, %a, %a, UNSIGNED : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}
// -----
func.func @select_c1(%p: tensor<3xi1>, %a: tensor<4xf32>) {
  // expected-error@+1 {{expected the predicate to be a scalar or to have the shape of the result, got 'tensor<3xi1>' and 'tensor<4xf32>'}}
  %0 = stablehlo.select %p, %a, %a : tensor<3xi1>, tensor<4xf32>
  return
}
// -----
func.func @select_c2(%p: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error@+1 {{expected both values and the result to have the same type, got 'tensor<4xf64>' and 'tensor<4xf32>'}}
  %0 = stablehlo.select %p, %a, %b : (tensor<i1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}
// -----
func.func @clamp_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected operand and result to have the same type, got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0 = stablehlo.clamp %a, %a, %a : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf64>
  return
}
// -----
func.func @clamp_c2(%a: tensor<4xf32>, %b: tensor<1xf32>) {
  // expected-error@+1 {{expected bounds to be 'tensor<4xf32>' or 'tensor<f32>', got 'tensor<1xf32>'}}
  %0 = stablehlo.clamp %b, %a, %a : (tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @reduce_precision_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected at least 1 exponent bit, got 0}}
  %0 = stablehlo.reduce_precision %a, format = e0m1 : tensor<4xf32>
  return
}
// -----
func.func @reduce_precision_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected at least 0 mantissa bits, got -1}}
  %0 = "stablehlo.reduce_precision"(%a) <{exponent_bits = 1 : i32, mantissa_bits = -1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @reduce_precision_format(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected a format such as e5m10, got m5}}
  %0 = stablehlo.reduce_precision %a, format = m5 : tensor<4xf32>
  return
}
// -----
func.func @map_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected inputs and result to have the same shape, got 'tensor<4xf32>' and 'tensor<3xf32>'}}
  %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<3xf32>
  return
}
// -----
func.func @map_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected dimensions to be [0], got [1]}}
  %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @map_c3(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected region computation to take ('tensor<f32>'), got ('tensor<1xf32>')}}
  %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<1xf32>):
    stablehlo.return %x : tensor<1xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----

//===----------------------------------------------------------------------===//
// Constants and random numbers
//===----------------------------------------------------------------------===//

func.func @iota_c1() {
  // expected-error@+1 {{expected iota_dimension to be at least 0 and less than 1, got 1}}
  %0 = stablehlo.iota dim = 1 : tensor<4xi32>
  return
}
// -----
func.func @rng_bit_generator_c1(%s: tensor<2xui64>) {
  // expected-error@+1 {{expected both states to have the same type, got 'tensor<2xui64>' and 'tensor<3xui64>'}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}
// -----
func.func @rng_bit_generator_c2(%s: tensor<3xui64>) {
  // expected-error@+1 {{expected the state of THREE_FRY to be a vector of ui64 of its size, got 'tensor<3xui64>'}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}
// -----
func.func @rng_c1(%a: tensor<f32>, %shape: tensor<1xi64>) {
  // expected-error@+1 {{expected both parameters to be 'tensor<f64>', got 'tensor<f32>'}}
  %0 = stablehlo.rng %a, %a, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf64>
  return
}
// -----
func.func @rng_c3(%a: tensor<f32>, %shape: tensor<2xi64>) {
  // expected-error@+1 {{expected the shape to have 1 elements, got 'tensor<2xi64>'}}
  %0 = stablehlo.rng %a, %a, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4xf32>
  return
}
// -----
func.func @rng_c4(%a: tensor<i32>, %shape: tensor<1xi64>) {
  // expected-error@+1 {{expected normal numbers to be floats, got 'tensor<4xi32>'}}
  %0 = stablehlo.rng %a, %a, %shape, distribution = NORMAL : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<4xi32>
  return
}
// -----

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

func.func @broadcast_in_dim_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected broadcast_dimensions to have 1 elements, got 2}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<4xf32>) -> tensor<4x4xf32>
  return
}
// -----
func.func @broadcast_in_dim_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected broadcast_dimensions to be at least 0 and less than 2, got 2}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [2] : (tensor<4xf32>) -> tensor<4x4xf32>
  return
}
// -----
func.func @broadcast_in_dim_c2_twice(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{expected dimensions in broadcast_dimensions to differ, got 1 twice}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
// -----
func.func @broadcast_in_dim_c3(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected size 1 or 5 of dimension 0 of the operand, got 4}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<4xf32>) -> tensor<5xf32>
  return
}
// -----
func.func @broadcast_in_dim_c4(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected operand and result to have the same element type, got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<4xf32>) -> tensor<4xf64>
  return
}
// -----
func.func @transpose_c1(%a: tensor<4x2xf32>) {
  // expected-error@+1 {{expected dimensions in permutation to differ, got 0 twice}}
  %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<4x2xf32>) -> tensor<4x4xf32>
  return
}
// -----
func.func @transpose_c2(%a: tensor<4x2xf32>) {
  // expected-error@+1 {{expected the result to be 'tensor<2x4xf32>', got 'tensor<4x2xf32>'}}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}
// -----
func.func @reverse_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected dimensions to be at least 0 and less than 1, got 1}}
  %0 = stablehlo.reverse %a, dims = [1] : tensor<4xf32>
  return
}
// -----
func.func @reshape_c1(%a: tensor<4x2xf32>) {
  // expected-error@+1 {{expected a result of 8 elements, got 'tensor<3x3xf32>' of 9}}
  %0 = stablehlo.reshape %a : (tensor<4x2xf32>) -> tensor<3x3xf32>
  return
}
// -----
func.func @reshape_c2(%a: tensor<4x2xf32>) {
  // expected-error@+1 {{expected operand and result to have the same element type}}
  %0 = stablehlo.reshape %a : (tensor<4x2xf32>) -> tensor<8xf64>
  return
}
// -----
func.func @bitcast_convert_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of shape [4], got 'tensor<3xi32>'}}
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<3xi32>
  return
}
// -----
func.func @bitcast_convert_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected a result of shape [4, 2], got 'tensor<4x4xi16>'}}
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4x4xi16>
  return
}
// -----
func.func @concatenate_c1() {
  // expected-error@+1 {{expected at least one input}}
  %0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<4xf32>
  return
}
// -----
func.func @concatenate_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected dimension to be at least 0 and less than 1, got 1}}
  %0 = stablehlo.concatenate %a, dim = 1 : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @concatenate_c3(%a: tensor<4x2xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{expected inputs to differ only in the size of dimension 0, got 'tensor<4x2xf32>' and 'tensor<4x3xf32>'}}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}
// -----
func.func @concatenate_c4(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected the result to be 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<7xf32>
  return
}
// -----
func.func @pad_c1(%a: tensor<4xf32>, %b: tensor<1xf32>) {
  // expected-error@+1 {{expected the padding value to be 'tensor<f32>', got 'tensor<1xf32>'}}
  %0 = stablehlo.pad %a, %b, low = [0], high = [0], interior = [0] : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @pad_c2(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error@+1 {{expected high padding to have 1 elements, got 0}}
  %0 = stablehlo.pad %a, %b, low = [0], high = [], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
// -----
func.func @pad_c3(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error@+1 {{expected interior padding of at least 0, got -1}}
  %0 = stablehlo.pad %a, %b, low = [0], high = [0], interior = [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
// -----
func.func @pad_c4(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error@+1 {{expected the result to be 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %0 = stablehlo.pad %a, %b, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return
}
// -----
func.func @pad_c4_negative(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error@+1 {{expected sizes of at least 0 for the result}}
  %0 = stablehlo.pad %a, %b, low = [-5], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return
}
// -----
func.func @slice_c1(%a: tensor<4x2xf32>) {
  // expected-error@+1 {{expected start_indices to have 2 elements, got 1}}
  %0 = stablehlo.slice %a [0:1] : (tensor<4x2xf32>) -> tensor<1x2xf32>
  return
}
// -----
func.func @slice_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected a range within 0:4 of dimension 0, got 1:5}}
  %0 = stablehlo.slice %a [1:5] : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @slice_c3(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected strides of at least 1, got 0}}
  %0 = stablehlo.slice %a [1:4:0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @slice_c4(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected the result to be 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %0 = stablehlo.slice %a [1:4:2] : (tensor<4xf32>) -> tensor<3xf32>
  return
}
// -----
func.func @slice_c5(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected the result to be 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %0 = stablehlo.slice %a [1:4:2] : (tensor<4xf32>) -> tensor<2xf64>
  return
}
// -----
func.func @dynamic_slice_c1(%a: tensor<4x2xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected start_indices to have 2 elements, got 1}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [1, 1] : (tensor<4x2xf32>, tensor<i32>) -> tensor<1x1xf32>
  return
}
// -----
func.func @dynamic_slice_c2(%a: tensor<4x2xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error@+1 {{expected indices to have the same type, got 'tensor<i32>' and 'tensor<i64>'}}
  %0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [1, 1] : (tensor<4x2xf32>, tensor<i32>, tensor<i64>) -> tensor<1x1xf32>
  return
}
// -----
func.func @dynamic_slice_c2_scalar(%a: tensor<4xf32>, %i: tensor<1xi32>) {
  // expected-error@+1 {{expected indices to be a scalar, got 'tensor<1xi32>'}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [1] : (tensor<4xf32>, tensor<1xi32>) -> tensor<1xf32>
  return
}
// -----
func.func @dynamic_slice_c3(%a: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected a slice size of at most 4 of dimension 0, got 5}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}
// -----
func.func @dynamic_slice_c4(%a: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected the result to be 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf64>
  return
}
// -----
func.func @dynamic_update_slice_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected start_indices to have 1 elements, got 0}}
  %0 = stablehlo.dynamic_update_slice %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @dynamic_update_slice_c2(%a: tensor<4xf32>, %i: tensor<1xi32>) {
  // expected-error@+1 {{expected indices to be a scalar, got 'tensor<1xi32>'}}
  %0 = stablehlo.dynamic_update_slice %a, %a, %i : (tensor<4xf32>, tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return
}
// -----
func.func @dynamic_update_slice_c3(%a: tensor<4xf32>, %b: tensor<5xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected an update of at most the size of the operand, got 'tensor<5xf32>' and 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_update_slice %a, %b, %i : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  return
}
// -----
func.func @dynamic_update_slice_c4(%a: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected the result to be 'tensor<4xf32>', got 'tensor<3xf32>'}}
  %0 = stablehlo.dynamic_update_slice %a, %a, %i : (tensor<4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<3xf32>
  return
}
// -----

//===----------------------------------------------------------------------===//
// Indexed access
//===----------------------------------------------------------------------===//

func.func @gather_c1(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>) {
  // expected-error@+1 {{expected offset_dims to be at least 0 and less than 2, got 2}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return
}
// -----
func.func @gather_c1_sorted(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>) {
  // expected-error@+1 {{expected offset_dims to be sorted, got 1 after 2}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x1x8xf32>
  return
}
// -----
func.func @gather_c1_count(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>) {
  // expected-error@+1 {{expected offset_dims, collapsed_slice_dims and operand_batching_dims to have 2 dimensions together, got 1}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return
}
// -----
func.func @gather_c1_disjoint(%a: tensor<16x8xf32>, %i: tensor<16x1xi32>) {
  // expected-error@+1 {{expected collapsed_slice_dims and operand_batching_dims to differ, got 0 in both}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<16x1xi32>) -> tensor<16xf32>
  return
}
// -----
func.func @gather_c1_index_vector(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>) {
  // expected-error@+1 {{expected index_vector_dim to be at least 0 and less than 3, got 3}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return
}
// -----
func.func @gather_c1_map(%a: tensor<16x8xf32>, %i: tensor<4x2xi32>) {
  // expected-error@+1 {{expected start_index_map to have 2 elements, got 1}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4x2xi32>) -> tensor<4x8xf32>
  return
}
// -----
func.func @gather_c2(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>) {
  // expected-error@+1 {{expected a slice size of at most 8 of dimension 1, got 9}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 9>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x9xf32>
  return
}
// -----
func.func @gather_c3(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>) {
  // expected-error@+1 {{expected a slice size of at most 1 of dimension 0, got 2}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 8>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return
}
// -----
func.func @gather_c4(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>) {
  // expected-error@+1 {{expected batching dimensions of the same size, got 16 and 4}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return
}
// -----
func.func @gather_c5(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>) {
  // expected-error@+1 {{expected the result to be 'tensor<4x8xf32>', got 'tensor<8x4xf32>'}}
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<8x4xf32>
  return
}
// -----
func.func @gather_field(%a: tensor<16x8xf32>) attributes {
  // expected-error@+1 {{expected one of offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map, index_vector_dim, got slices}}
  test.a = #stablehlo.gather<slices = [1]>} {
  return
}
// -----
func.func @scatter_c1(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x8xf64>) {
  // expected-error@+1 {{expected input and update to have the same element type, got 'tensor<16x8xf32>' and 'tensor<4x8xf64>'}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<4x1xi32>, tensor<4x8xf64>) -> tensor<16x8xf32>
  return
}
// -----
func.func @scatter_c1_count(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x8xf32>) {
  // expected-error@+1 {{expected inputs, indices and as many updates and results as inputs, got 4 operands and 1 results}}
  %0 = "stablehlo.scatter"(%a, %i, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
func.func @scatter_c2(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x8xf32>) {
  // expected-error@+1 {{expected inserted_window_dims to be at least 0 and less than 2, got 2}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
func.func @scatter_c3(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x8xf32>) {
  // expected-error@+1 {{expected batching dimensions of the same size, got 16 and 4}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return
}
// -----
func.func @scatter_c4(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x9xf32>) {
  // expected-error@+1 {{expected dimension 1 of updates to have size 8 at most, got 9}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<4x1xi32>, tensor<4x9xf32>) -> tensor<16x8xf32>
  return
}
// -----
func.func @scatter_c5(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x8xf32>) {
  // expected-error@+1 {{expected input and result to have the same shape, got 'tensor<16x8xf32>' and 'tensor<8x8xf32>'}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}
// -----
func.func @scatter_c6(%a: tensor<16x8xf32>, %i: tensor<4x1xi32>, %u: tensor<4x8xf32>) {
  // expected-error@+1 {{expected region update_computation to take ('tensor<f32>', 'tensor<f32>'), got ('tensor<f32>')}}
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<16x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return
}
// -----

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

func.func @dot_general_c1(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected equally many contracting dimensions of both operands, got 1 and 0}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @dot_general_c1_twice(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected dimensions in dimensions of lhs to differ, got 1 twice}}
  %0 = stablehlo.dot_general %a, %a, batching_dims = [1] x [1], contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}
// -----
func.func @dot_general_c2(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected contracting dimensions 1 and 0 to have the same size, got 8 and 4}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
// -----
func.func @dot_general_c3(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a precision for each of 2 operands, got 1}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0], precision = [HIGH] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}
// -----
func.func @dot_general_c4(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected the result to be 'tensor<8x8xf32>', got 'tensor<4x8xf32>'}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
// -----
func.func @dot_general_elements(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error@+1 {{expected operands to have the same element type, got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<4xf32>, tensor<4xf64>) -> tensor<f64>
  return
}
// -----
func.func @dot_general_precision(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected DEFAULT, HIGH or HIGHEST, got LOW}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0], precision = [LOW, LOW] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}
// -----
func.func @convolution_c1(%x: tensor<1x8x4xf32>, %k: tensor<3x4x16xf32>) {
  // expected-error@+1 {{expected dimensions of the input to have 3 elements, got 4}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x16xf32>
  return
}
// -----
func.func @convolution_c1_twice(%x: tensor<1x8x4xf32>, %k: tensor<3x4x16xf32>) {
  // expected-error@+1 {{expected each spatial number from 0 to 1 once, got 0}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x16xf32>
  return
}
// -----
func.func @convolution_c1_letter(%x: tensor<1x8x4xf32>, %k: tensor<3x4x16xf32>) {
  // expected-error@+1 {{expected a number, i or o, got f}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, f]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x16xf32>
  return
}
// -----
func.func @convolution_c2(%x: tensor<1x8x4xf32>, %k: tensor<3x4x16xf32>) {
  // expected-error@+1 {{expected window_strides of at least 1, got 0}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x16xf32>
  return
}
// -----
func.func @convolution_c2_padding(%x: tensor<1x8x4xf32>, %k: tensor<3x4x16xf32>) {
  // expected-error@+1 {{expected padding to have 2 numbers for each of 1 dimensions, got 'tensor<2x2xi64>'}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x16xf32>
  return
}
// -----
func.func @convolution_window(%x: tensor<1x8x4xf32>, %k: tensor<3x4x16xf32>) {
  // expected-error@+1 {{stride is given twice}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x16xf32>
  return
}
// -----
func.func @convolution_c3(%x: tensor<1x8x4xf32>, %k: tensor<3x4x16xf32>) {
  // expected-error@+1 {{expected positive group counts, one of them 1, got 2 of features and 2 of the batch}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x16xf32>
  return
}
// -----
func.func @convolution_c4(%x: tensor<1x8x4xf32>, %k: tensor<3x4x16xf32>) {
  // expected-error@+1 {{expected 2 groups of features and 1 of the batch to divide input and kernel}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x16xf32>
  return
}
// -----
func.func @convolution_c5(%x: tensor<1x8x4xf32>, %k: tensor<3x4x16xf32>) {
  // expected-error@+1 {{expected the result to be 'tensor<1x6x16xf32>', got 'tensor<1x7x16xf32>'}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x7x16xf32>
  return
}
// -----
func.func @convolution_c6(%x: tensor<1x8x4xf32>, %k: tensor<3x4x16xf32>) {
  // expected-error@+1 {{expected a precision for each of 2 operands, got 1}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>]} : (tensor<1x8x4xf32>, tensor<3x4x16xf32>) -> tensor<1x6x16xf32>
  return
}
// -----
func.func @cholesky_c1(%a: tensor<3x4xf32>) {
  // expected-error@+1 {{expected square matrices, got 'tensor<3x4xf32>'}}
  %0 = stablehlo.cholesky %a : tensor<3x4xf32>
  return
}
// -----
func.func @triangular_solve_c1(%a: tensor<3x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{expected matrices of the same element type and number of dimensions, got 'tensor<3x3xf32>' and 'tensor<3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}
// -----
func.func @triangular_solve_c2(%a: tensor<2x3x3xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error@+1 {{expected the same batching dimensions, got 'tensor<2x3x3xf32>' and 'tensor<4x3x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
  return
}
// -----
func.func @triangular_solve_c3(%a: tensor<3x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{expected matrices of 4 rows and columns, got 'tensor<3x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
func.func @triangular_solve_c4(%a: tensor<3x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{expected the result to be 'tensor<3x4xf32>', got 'tensor<3x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>
  return
}
// -----
func.func @triangular_solve_c5(%a: tensor<3x3xf32>) {
  // expected-error@+1 {{expected transpose_a to be NO_TRANSPOSE, TRANSPOSE or ADJOINT}}
  %0 = "stablehlo.triangular_solve"(%a, %a) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}
// -----
func.func @batch_norm_c1(%f: tensor<4x6xf32>, %v: tensor<6xf32>) {
  // expected-error@+1 {{expected feature_index to be at least 0 and less than 2, got 2}}
  %0 = "stablehlo.batch_norm_inference"(%f, %v, %v, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}
// -----
func.func @batch_norm_c2(%f: tensor<4x6xf32>, %v: tensor<6xf32>) {
  // expected-error@+1 {{expected a vector to be 'tensor<4xf32>', got 'tensor<6xf32>'}}
  %0 = "stablehlo.batch_norm_inference"(%f, %v, %v, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}
// -----
func.func @batch_norm_c4(%f: tensor<4x6xf32>, %v: tensor<6xf32>) {
  // expected-error@+1 {{expected a result to be 'tensor<4x6xf32>', got 'tensor<6x4xf32>'}}
  %0:3 = "stablehlo.batch_norm_training"(%f, %v, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<6x4xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}
// -----

//===----------------------------------------------------------------------===//
// Reductions, windows and sorting
//===----------------------------------------------------------------------===//

func.func @reduce_c1(%a: tensor<4x6xf32>, %s: tensor<f64>) {
  // expected-error@+1 {{expected the init value to be 'tensor<f32>', got 'tensor<f64>'}}
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f64>) -> tensor<4xf32>
  return
}
// -----
func.func @reduce_c1_count(%a: tensor<4x6xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected inputs and as many init values and results, got 2 operands and 2 results}}
  %0:2 = stablehlo.reduce(%a init: %s) across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
    reducer(%x: tensor<f32>, %y: tensor<f32>) {
    stablehlo.return %x, %y : tensor<f32>, tensor<f32>
  }
  return
}
// -----
func.func @reduce_c2(%a: tensor<4x6xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected dimensions to be at least 0 and less than 2, got 2}}
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [2] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
// -----
func.func @reduce_c3(%a: tensor<4x6xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected the result to be 'tensor<4xf32>', got 'tensor<6xf32>'}}
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  return
}
// -----
func.func @reduce_c4(%a: tensor<4x6xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected region body to return ('tensor<f32>'), got ('tensor<f32>', 'tensor<f32>')}}
  %0 = stablehlo.reduce(%a init: %s) across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    reducer(%x: tensor<f32>, %y: tensor<f32>) {
    stablehlo.return %x, %y : tensor<f32>, tensor<f32>
  }
  return
}
// -----
func.func @reduce_c4_narrow(%a: tensor<4x6xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected element type 'f32' to be 'f16', or a narrower one}}
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf16>
  return
}
// -----
func.func @reduce_end(%a: tensor<4x6xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected region body to end with stablehlo.return}}
  %0 = stablehlo.reduce(%a init: %s) across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    reducer(%x: tensor<f32>, %y: tensor<f32>) {
    func.return %x : tensor<f32>
  }
  return
}
// -----
func.func @reduce_applies(%a: tensor<4x6xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{operation stablehlo.plus is not known}}
  %0 = stablehlo.reduce(%a init: %s) applies stablehlo.plus across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
// -----
func.func @reduce_applies_two(%a: tensor<4x6xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected one input with applies, got 2}}
  %0 = stablehlo.reduce(%a init: %s), (%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
// -----
func.func @reduce_window_c1(%a: tensor<4xf32>, %b: tensor<5xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected inputs to have the same shape, got 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0:2 = "stablehlo.reduce_window"(%a, %b, %s, %s) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
    stablehlo.return %x, %y : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}
// -----
func.func @reduce_window_c2(%a: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected window_dimensions to have 1 elements, got 2}}
  %0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
func.func @reduce_window_c3(%a: tensor<9xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected the result to be 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<5xf32>
  return
}
// -----
func.func @reduce_window_c4(%a: tensor<9xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected region body to take ('tensor<f32>', 'tensor<f32>'), got ('tensor<f32>')}}
  %0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 3>}> ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<7xf32>
  return
}
// -----
func.func @select_and_scatter_c1(%a: tensor<8xf32>, %b: tensor<4xf64>, %s: tensor<f32>) {
  // expected-error@+1 {{expected source and a scalar init value to have the element type of 'tensor<8xf32>', got 'tensor<4xf64>' and 'tensor<f32>'}}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8xf32>, tensor<4xf64>, tensor<f32>) -> tensor<8xf32>
  return
}
// -----
func.func @select_and_scatter_c2(%a: tensor<8xf32>, %b: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected window_dimensions of at least 1, got 0}}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) <{window_dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  return
}
// -----
func.func @select_and_scatter_c3(%a: tensor<8xf32>, %b: tensor<5xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected the source to be 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8xf32>, tensor<5xf32>, tensor<f32>) -> tensor<8xf32>
  return
}
// -----
func.func @select_and_scatter_c4(%a: tensor<8xf32>, %b: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected the result to be 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
// -----
func.func @select_and_scatter_c5(%a: tensor<8xf32>, %b: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected region select to return ('tensor<i1>'), got ('tensor<f32>')}}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %s) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  return
}
// -----
func.func @sort_c1() {
  // expected-error@+1 {{expected at least one input}}
  "stablehlo.sort"() <{dimension = 0 : i64}> ({
    stablehlo.return
  }) : () -> ()
  return
}
// -----
func.func @sort_c2(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected dimension to be at least -1 and less than 1, got 1}}
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
func.func @sort_c3(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected results to have the types of inputs, got ('tensor<7xf32>') and ('tensor<8xf32>')}}
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<7xf32>
  return
}
// -----
func.func @sort_c4(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected region comparator to return ('tensor<i1>'), got ('tensor<f32>')}}
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----

//===----------------------------------------------------------------------===//
// Control flow and calls
//===----------------------------------------------------------------------===//

func.func @while_c1(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected results to have the types of the operands, got ('tensor<i1>') and ('tensor<f32>')}}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<f32>) -> tensor<i1>
  return
}
// -----
func.func @while_c2(%a: tensor<f32>) {
  // expected-error@+1 {{expected region cond to return ('tensor<i1>'), got ('tensor<f32>')}}
  %0 = stablehlo.while(%x = %a) : tensor<f32>
   cond {
    stablehlo.return %x : tensor<f32>
  } do {
    stablehlo.return %x : tensor<f32>
  }
  return
}
// -----
func.func @while_c3(%a: tensor<f32>, %p: tensor<i1>) {
  // expected-error@+1 {{expected region body to return ('tensor<f32>'), got ()}}
  %0 = stablehlo.while(%x = %a) : tensor<f32>
   cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return
  }
  return
}
// -----
func.func @if_c1(%p: tensor<1xi1>) {
  // expected-error@+1 {{expected the predicate to be a scalar, got 'tensor<1xi1>'}}
  "stablehlo.if"(%p) ({
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<1xi1>) -> ()
  return
}
// -----
func.func @if_c2(%p: tensor<i1>) {
  // expected-error@+1 {{expected region false_branch to return ('tensor<i1>'), got ()}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %p : tensor<i1>
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> tensor<i1>
  return
}
// -----
func.func @case_c1(%i: tensor<i64>) {
  // expected-error@+1 {{expected the index to be 'tensor<i32>', got 'tensor<i64>'}}
  "stablehlo.case"(%i) ({
    stablehlo.return
  }) : (tensor<i64>) -> ()
  return
}
// -----
func.func @case_c2(%i: tensor<i32>) {
  // expected-error@+1 {{expected at least one region}}
  "stablehlo.case"(%i) : (tensor<i32>) -> ()
  return
}
// -----
func.func @case_c2_types(%i: tensor<i32>) {
  // expected-error@+1 {{expected region branches to return ('tensor<i32>'), got ()}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return
  }) : (tensor<i32>) -> tensor<i32>
  return
}
// -----
func.func @composite_c1(%a: tensor<f32>) {
  // expected-error@+1 {{expected a function named missing}}
  %0 = stablehlo.composite "my.op" %a {decomposition = @missing} : (tensor<f32>) -> tensor<f32>
  return
}
// -----
func.func @composite_c1_types(%a: tensor<f32>) {
  // expected-error@+1 {{expected the decomposition to have the types of operands and results}}
  %0 = stablehlo.composite "my.op" %a {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}
// expected-note@+1 {{f is defined here}}
func.func private @f(tensor<f64>) -> tensor<f32>
// -----
func.func @optimization_barrier_c1(%a: tensor<f32>) {
  // expected-error@+1 {{expected results to have the types of the operands, got () and ('tensor<f32>')}}
  "stablehlo.optimization_barrier"(%a) : (tensor<f32>) -> ()
  return
}
// -----
func.func @tuple(%a: tensor<f32>) {
  // expected-error@+1 {{expected a tuple type, got 'tensor<f32>'}}
  %0 = stablehlo.tuple %a : tensor<f32>
  return
}
// -----
func.func @get_tuple_element(%a: tuple<tensor<f32>>) {
  // expected-error@+1 {{expected index to be at least 0 and less than 1, got 1}}
  %0 = stablehlo.get_tuple_element %a[1] : (tuple<tensor<f32>>) -> tensor<f32>
  return
}
// -----
func.func @unknown(%a: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'stablehlo.dynamic_reshape' is unknown}}
  %0 = stablehlo.dynamic_reshape %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

func.func @partition_id_c1() {
  // expected-error@+1 {{expected the result to be 'tensor<ui32>', got 'tensor<i32>'}}
  %0 = stablehlo.partition_id : tensor<i32>
  return
}
// -----
func.func @replica_id_c1() {
  // expected-error@+1 {{expected the result to be 'tensor<ui32>', got 'tensor<1xui32>'}}
  %0 = stablehlo.replica_id : tensor<1xui32>
  return
}
// -----
func.func @all_gather_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected all_gather_dim to be at least 0 and less than 1, got 1}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}
// -----
func.func @all_gather_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected process numbers to differ, got 1 twice}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[1, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}
// -----
func.func @all_gather_c2_matrix(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected replica_groups to be a matrix of i64, got dense<[0, 1]> : tensor<2xi64>}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}
// -----
func.func @all_gather_c3(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected the result to be 'tensor<8xf32>', got 'tensor<12xf32>'}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<12xf32>
  return
}
// -----
func.func @all_gather_c4(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected a positive channel handle with use_global_device_ids}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}
// -----
func.func @all_reduce_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected process numbers of at least 0, or -1, got -2}}
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @all_reduce_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected the result to be 'tensor<4xf32>', got 'tensor<3xf32>'}}
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<3xf32>
  return
}
// -----
func.func @all_reduce_c3(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected region computation to take ('tensor<f32>', 'tensor<f32>'), got ('tensor<f32>')}}
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @reduce_scatter_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected scatter_dimension to be at least 0 and less than 1, got 1}}
  %0 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @reduce_scatter_c3(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected the size of a group to divide 4, got 3}}
  %0 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @all_to_all_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected concat_dimension to be at least 0 and less than 1, got 1}}
  %0 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @all_to_all_c2(%a: tensor<5xf32>) {
  // expected-error@+1 {{expected split_count to divide 5, got 2}}
  %0 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<5xf32>) -> tensor<5xf32>
  return
}
// -----
func.func @all_to_all_c3(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected groups of split_count processes, got 1 and 2}}
  %0 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @all_to_all_c4(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{expected the result to be 'tensor<8x4xf32>', got 'tensor<4x8xf32>'}}
  %0 = "stablehlo.all_to_all"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
// -----
func.func @collective_broadcast_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected process numbers to differ, got 0 twice}}
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @collective_permute_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected source_target_pairs to be a matrix with 2 columns, got 'tensor<1x3xi64>'}}
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @collective_permute_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected targets to differ, got 1 twice}}
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----

//===----------------------------------------------------------------------===//
// chlo, check
//===----------------------------------------------------------------------===//

func.func @top_k_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected at least 5 elements in the last dimension, got 'tensor<4xf32>'}}
  %0:2 = chlo.top_k(%a, k = 5) : tensor<4xf32> -> (tensor<5xf32>, tensor<5xi32>)
  return
}
// -----
func.func @top_k_c2(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected indices to be 'tensor<2xi32>', got 'tensor<2xi64>'}}
  %0:2 = chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi64>)
  return
}
// -----
func.func @erf(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected operands and results to have the same type, got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0 = chlo.erf %a : tensor<4xf32> -> tensor<4xf64>
  return
}
// -----
func.func @expect_eq(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error@+1 {{expected operands and results to have the same type, got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  check.expect_eq %a, %b : tensor<4xf32>, tensor<4xf64>
  return
}
// -----
func.func @expect_almost_eq_const(%a: tensor<4xf32>) {
  // expected-error@+1 {{expected a ranked tensor type, got 'f32'}}
  check.expect_almost_eq_const %a, dense<1.0> : f32
  return
}
// -----
func.func @expect_almost_eq_const_elements(%a: tensor<4xi1>) {
  // expected-error@+1 {{expected elements of type 'tensor<4xi1>': expected integer elements, but parsed floating-point}}
  check.expect_almost_eq_const %a, dense<1.5> : tensor<4xi1>
  return
}
// -----
func.func @collective_permute_largest(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected sources to differ, got 9223372036854775807 twice}}
  %0 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[9223372036854775807, 1], [9223372036854775807, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @all_gather_largest(%a: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected process numbers to differ, got 9223372036854775807 twice}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<9223372036854775807> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
