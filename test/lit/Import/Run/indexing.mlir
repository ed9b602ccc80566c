// Scatter, gather and sort, with indices that are out of range.
// RUN: pw-run %s --topology=1x1x1 | FileCheck %s
// CHECK: [SUCCESS] 1 step, 10 checks

module @m {
  func.func public @main() {
    %t = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
    %i = stablehlo.constant dense<[[2], [-1], [0], [2], [3]]> : tensor<5x1xi32>
    %u = stablehlo.constant dense<[[10, 20], [30, 40], [50, 60], [70, 80], [90, 100]]> : tensor<5x2xi32>
    // Rows -1 and 3 are skipped, and row 2 is written twice.
    %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %z = stablehlo.add %x, %y : tensor<i32>
      stablehlo.return %z : tensor<i32>
    }) : (tensor<3x2xi32>, tensor<5x1xi32>, tensor<5x2xi32>) -> tensor<3x2xi32>
    check.expect_eq_const %0, dense<[[51, 62], [3, 4], [85, 106]]> : tensor<3x2xi32>
    // Only the last column of the window is in range.
    %start = stablehlo.constant dense<-1> : tensor<1xi8>
    %w = stablehlo.constant dense<[[7, 8], [9, 0]]> : tensor<2x2xi32>
    %1 = "stablehlo.scatter"(%t, %start, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [1], index_vector_dim = 0>}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      stablehlo.return %y : tensor<i32>
    }) : (tensor<3x2xi32>, tensor<1xi8>, tensor<2x2xi32>) -> tensor<3x2xi32>
    check.expect_eq_const %1, dense<[[8, 2], [0, 4], [5, 6]]> : tensor<3x2xi32>
    %2 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x2xi32>, tensor<5x1xi32>) -> tensor<5x2xi32>
    check.expect_eq_const %2, dense<[[5, 6], [1, 2], [1, 2], [5, 6], [5, 6]]> : tensor<5x2xi32>
    // Equal keys keep their order.
    %keys = stablehlo.constant dense<[2, 1, 2, 0, 1]> : tensor<5xi32>
    %places = stablehlo.iota dim = 0 : tensor<5xi32>
    %3:2 = "stablehlo.sort"(%keys, %places) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
      %p = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<5xi32>, tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>)
    check.expect_eq_const %3#0, dense<[2, 2, 1, 1, 0]> : tensor<5xi32>
    check.expect_eq_const %3#1, dense<[0, 2, 1, 4, 3]> : tensor<5xi32>
    // Nothing is copied for each element: a million takes less than a second.
    %ordered = stablehlo.iota dim = 0 : tensor<1000000xi32>
    %reversed = stablehlo.reverse %ordered, dims = [0] : tensor<1000000xi32>
    %4 = "stablehlo.sort"(%reversed) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %p = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<1000000xi32>) -> tensor<1000000xi32>
    stablehlo.custom_call @check.expect_eq(%4, %ordered) {has_side_effect = true} : (tensor<1000000xi32>, tensor<1000000xi32>) -> ()
    // Dimensions of size 1 that are left out are not the first ones.
    %c = stablehlo.iota dim = 2 : tensor<1x3x6x4xi32>
    %at = stablehlo.constant dense<[7, 6, 3]> : tensor<3xui8>
    %5 = "stablehlo.gather"(%c, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2], collapsed_slice_dims = [3], start_index_map = [1, 2, 0]>, slice_sizes = array<i64: 1, 2, 1, 1>}> : (tensor<1x3x6x4xi32>, tensor<3xui8>) -> tensor<1x2x1xi32>
    check.expect_eq_const %5, dense<5> : tensor<1x2x1xi32>
    // Rows have another dimension of size 1 that the result leaves out, or the one
    // that indices move.
    %r = stablehlo.constant dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi32>
    %k = stablehlo.constant dense<[[1], [0], [5]]> : tensor<3x1xi32>
    %6 = "stablehlo.gather"(%r, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<2x1x2xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    check.expect_eq_const %6, dense<[[3, 4], [1, 2], [3, 4]]> : tensor<3x2xi32>
    %7 = "stablehlo.gather"(%r, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2, 3], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<2x1x2xi32>, tensor<3x1xi32>) -> tensor<3x1x1x2xi32>
    check.expect_eq_const %7, dense<[[[[3, 4]]], [[[1, 2]]], [[[3, 4]]]]> : tensor<3x1x1x2xi32>
    %8 = "stablehlo.gather"(%r, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x1x2xi32>, tensor<3x1xi32>) -> tensor<3x1xi32>
    check.expect_eq_const %8, dense<[[3], [1], [3]]> : tensor<3x1xi32>
    return
  }
}
