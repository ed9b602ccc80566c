// One broken constraint a case; names say which.
// RUN: pw-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// slice, bind
//===----------------------------------------------------------------------===//

// expected-error@+1 {{'slice_c1' is apart_from @other, which is not declared by a 'pw.slice' [PW1102]}}
pw.slice @slice_c1 mesh <> apart_from [@other]
// -----
// expected-error@+1 {{'slice_c1_with' is with @f, which is not declared by a 'pw.slice' [PW1102]}}
pw.slice @slice_c1_with mesh <> with [@f]
func.func private @f()
// -----
// expected-error@+1 {{'slice_c2' is apart_from itself}}
pw.slice @slice_c2 mesh <> apart_from [@slice_c2]
// -----
pw.slice @other mesh <>
// expected-error@+1 {{'slice_c3' is both apart_from @other and with @other}}
pw.slice @slice_c3 mesh <> apart_from [@other] with [@other]
// -----
// expected-error@+1 {{binds @bind_c1, which is not declared by a 'pw.slice' [PW1102]}}
pw.bind @bind_c1 to island 0 devices base 0 strides []
// -----
// expected-note@+1 {{slice 'bind_c2' is declared here}}
pw.slice @bind_c2 mesh <"x" = 2, "y" = 2>
// expected-error@+1 {{has 1 strides for the 2 mesh axes of slice 'bind_c2'}}
pw.bind @bind_c2 to island 0 devices base 0 strides [1]
// -----
// expected-note@+1 {{slice 'bind_c2_list' is declared here}}
pw.slice @bind_c2_list mesh <"x" = 2, "y" = 2>
// expected-error@+1 {{lists 3 devices for the 4 shards of slice 'bind_c2_list'}}
pw.bind @bind_c2_list to island 0 devices [0, 1, 2]
// -----
pw.slice @bind_c2_both mesh <>
// expected-error@+1 {{expected either a list of devices, or a base and strides with an optional span}}
"pw.bind"() {slice = @bind_c2_both, island = 0 : i64, base = 0 : i64, strides = array<i64>, devices = array<i64: 0>} : () -> ()
// -----
pw.slice @bind_c2_half mesh <>
// expected-error@+1 {{expected either a list of devices, or a base and strides with an optional span}}
"pw.bind"() {slice = @bind_c2_half, island = 0 : i64, base = 0 : i64} : () -> ()
// -----
pw.slice @bind_c3 mesh <>
pw.slice @between mesh <>
// expected-note@+1 {{it is bound here}}
pw.bind @bind_c3 to island 0 devices base 0 strides []
pw.bind @between to island 0 devices base 1 strides []
// expected-error@+1 {{binds slice 'bind_c3' a second time}}
pw.bind @bind_c3 to island 0 devices base 2 strides []
// -----
pw.slice @bind_c4 mesh <>
// expected-error@+1 {{expected an island from 0 to 1048575, got -1}}
pw.bind @bind_c4 to island -1 devices base 0 strides []
// -----
pw.slice @bind_c4_base mesh <>
// expected-error@+1 {{expected a base from 0 to 1048575, got 9223372036854775807}}
pw.bind @bind_c4_base to island 0 devices base 9223372036854775807 strides []
// -----
pw.slice @bind_c4_stride mesh <"x" = 2>
// expected-error@+1 {{expected strides from 0 to 1048575, got -2}}
pw.bind @bind_c4_stride to island 0 devices base 4 strides [-2]
// -----
pw.slice @bind_c4_span mesh <"x" = 2>
// expected-error@+1 {{expected a span from 0 to 1048576, got -2}}
pw.bind @bind_c4_span to island 0 devices base 4 strides [1] span -2
// -----
pw.slice @bind_c4_list mesh <"x" = 2>
// expected-error@+1 {{expected devices from 0 to 1048575, got 1048576}}
pw.bind @bind_c4_list to island 0 devices [0, 1048576]
// -----
// expected-note@+1 {{slice 'bind_c4_reach' is declared here}}
pw.slice @bind_c4_reach mesh <"x" = 3>
// expected-error@+1 {{reaches device 2000000; device numbers are below 1048576}}
pw.bind @bind_c4_reach to island 0 devices base 0 strides [1000000]
// -----
pw.slice @bind_c4_more mesh <"x" = 2> spans 2 islands
// expected-error@+1 {{expected an island from 0 to 1048575, got -1}}
pw.bind @bind_c4_more to island 0 devices base 0 strides [1] span 1 also islands [-1] bases [0]
// -----
// expected-note@+1 {{slice 'bind_c4_more_reach' is declared here}}
pw.slice @bind_c4_more_reach mesh <"x" = 2> spans 2 islands
// expected-error@+1 {{reaches device 1048576; device numbers are below 1048576}}
pw.bind @bind_c4_more_reach to island 0 devices base 0 strides [1] also islands [1] bases [1048575]
// -----
// expected-note@+1 {{slice 'bind_c5' is declared here}}
pw.slice @bind_c5 mesh <"x" = 2> spans 2 islands
// expected-error@+1 {{is to 1 islands, slice 'bind_c5' spans 2}}
pw.bind @bind_c5 to island 0 devices base 0 strides [1]
// -----
pw.slice @bind_c5_bases mesh <"x" = 2> spans 2 islands
// expected-error@+1 {{expected 1 bases after 'also', got 0}}
pw.bind @bind_c5_bases to island 0 devices base 0 strides [1] also islands [1]
// -----
pw.slice @bind_c5_list mesh <"x" = 2> spans 2 islands
// expected-error@+1 {{expected 0 bases after 'also', got 1}}
pw.bind @bind_c5_list to island 0 devices [0, 0] also islands [1] bases [0]
// -----
// expected-error@+1 {{'slice_c4' spans 2 islands, over which its 3 shards cannot be cut evenly}}
pw.slice @slice_c4 mesh <"x" = 3> spans 2 islands
// -----
// expected-error@+1 {{'slice_c4_many' spans 16777216 islands, at most 1024 are accepted}}
pw.slice @slice_c4_many mesh <"x" = 16777216> spans 16777216 islands
// -----
// expected-error@+1 {{'slice_c4_none' spans 0 islands}}
pw.slice @slice_c4_none mesh <"x" = 3> spans 0 islands
// -----
// expected-note@+1 {{slice @one is declared here}}
pw.slice @one mesh <"x" = 4>
// expected-error@+1 {{'slice_c5' spans 2 islands, but is with @one, which spans 1}}
pw.slice @slice_c5 mesh <"x" = 4> spans 2 islands with [@one]
// -----

//===----------------------------------------------------------------------===//
// program, return
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expected argument 0 to be a '!pw.array', got 'tensor<f32>'}}
pw.program @program_c1(%x: tensor<f32>) {
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{argument 'x' has a constant value of type 'tensor<2xf64>', expected the elements of '!pw.array<2xf32, @s, [{}]>'}}
pw.program @program_c10(%x: !pw.array<2xf32, @s, [{}]> {pw.constant = dense<1.0> : tensor<2xf64>}) -> (!pw.array<2xf32, @s, [{}]>) {
  pw.return %x : !pw.array<2xf32, @s, [{}]>
}
// -----
pw.slice @s mesh <"x" = 2>
// expected-error@+1 {{argument 'x' has a constant value, but is partial}}
pw.program @program_c10_partial(%x: !pw.array<f32, @s, [] partial add {"x"}> {pw.constant = dense<1.0> : tensor<f32>}) -> (!pw.array<f32, @s, [] partial add {"x"}>) {
  pw.return %x : !pw.array<f32, @s, [] partial add {"x"}>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{argument 'x' has a constant value, but is stepped}}
pw.program @program_c10_stepped(%x: !pw.array<f32, @s, []> {pw.constant = dense<1.0> : tensor<f32>, pw.stepped}) -> (!pw.array<f32, @s, []>) {
  pw.return %x : !pw.array<f32, @s, []>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{argument 'x' has a constant value, but is carried}}
pw.program @program_c10_carried(%x: !pw.array<f32, @s, []> {pw.constant = dense<1.0> : tensor<f32>, pw.carried = 0 : i64}) -> (!pw.array<f32, @s, []>) {
  pw.return %x : !pw.array<f32, @s, []>
}
// -----
// expected-error@+1 {{'pw.constant'}}
func.func @constant_no_elements(%x: tensor<f32> {pw.constant = 1 : i32}) { return }
// -----
pw.slice @s mesh <>
// expected-error@+1 {{argument 'x' is carried from result 1, but there are 1 results}}
pw.program @program_c2(%x: !pw.array<f32, @s, []> {pw.carried = 1 : i64}) -> (!pw.array<f32, @s, []>) {
  pw.return %x : !pw.array<f32, @s, []>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{argument 'x' is carried from result -1, but there are 1 results}}
pw.program @program_c2_negative(%x: !pw.array<f32, @s, []> {pw.carried = -1 : i64}) -> (!pw.array<f32, @s, []>) {
  pw.return %x : !pw.array<f32, @s, []>
}
// -----
pw.slice @s mesh <>
// expected-error@+2 {{argument 'x' of type '!pw.array<f32, @s, []>' is carried from result 0 of type '!pw.array<f64, @s, []>'}}
// expected-note@+1 {{the argument is here}}
pw.program @program_c2_type(%x: !pw.array<f32, @s, []> {pw.carried = 0 : i64}, %y: !pw.array<f64, @s, []>) -> (!pw.array<f64, @s, []>) {
  // expected-note@+1 {{the result is returned here}}
  pw.return %y : !pw.array<f64, @s, []>
}
// -----
// Contributions are carried to contributions of the same kind on the same axes.
pw.slice @s mesh <"x" = 2, "y" = 2>
// expected-error@+2 {{argument 'x' of type '!pw.array<f32, @s, [] partial add {"x"}>' is carried from result 0 of type '!pw.array<f32, @s, []>'}}
// expected-note@+1 {{the argument is here}}
pw.program @program_c2_partial(%x: !pw.array<f32, @s, [] partial add {"x"}> {pw.carried = 0 : i64}, %y: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []>) {
  // expected-note@+1 {{the result is returned here}}
  pw.return %y : !pw.array<f32, @s, []>
}
// -----
pw.slice @s mesh <"x" = 2, "y" = 2>
// expected-error@+2 {{is carried from result 0 of type '!pw.array<f32, @s, [] partial max {"x"}>'}}
// expected-note@+1 {{the argument is here}}
pw.program @program_c2_kind(%x: !pw.array<f32, @s, [] partial add {"x"}> {pw.carried = 0 : i64}, %y: !pw.array<f32, @s, [] partial max {"x"}>) -> (!pw.array<f32, @s, [] partial max {"x"}>) {
  // expected-note@+1 {{the result is returned here}}
  pw.return %y : !pw.array<f32, @s, [] partial max {"x"}>
}
// -----
pw.slice @s mesh <"x" = 2, "y" = 2>
// expected-error@+2 {{is carried from result 0 of type '!pw.array<f32, @s, [] partial add {"y"}>'}}
// expected-note@+1 {{the argument is here}}
pw.program @program_c2_axes(%x: !pw.array<f32, @s, [] partial add {"x"}> {pw.carried = 0 : i64}, %y: !pw.array<f32, @s, [] partial add {"y"}>) -> (!pw.array<f32, @s, [] partial add {"y"}>) {
  // expected-note@+1 {{the result is returned here}}
  pw.return %y : !pw.array<f32, @s, [] partial add {"y"}>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{argument 'x' is both carried and stepped}}
pw.program @program_c3(%x: !pw.array<f32, @s, []> {pw.carried = 0 : i64, pw.stepped}) -> (!pw.array<f32, @s, []>) {
  pw.return %x : !pw.array<f32, @s, []>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{result 0 is carried into both 'x' and 'y'}}
pw.program @program_c4(%x: !pw.array<f32, @s, []> {pw.carried = 0 : i64}, %y: !pw.array<f32, @s, []> {pw.carried = 0 : i64}) -> (!pw.array<f32, @s, []>) {
  pw.return %x : !pw.array<f32, @s, []>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{arguments 0 and 1 are both named 'arg1'}}
pw.program @program_c5(%x: !pw.array<f32, @s, []> {pw.name = "arg1"}, %0: !pw.array<f32, @s, []>) {
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{argument 0 has an empty name}}
pw.program @program_c5_empty(%x: !pw.array<f32, @s, []> {pw.name = ""}) {
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{results 0 and 1 are both named 'result1'}}
pw.program @program_c5_results(%x: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []> {pw.name = "result1"}, !pw.array<f32, @s, []>) {
  pw.return %x, %x : !pw.array<f32, @s, []>, !pw.array<f32, @s, []>
}
// -----
// expected-error@+1 {{'program_c6' has no body}}
"pw.program"() ({}) {sym_name = "program_c6", function_type = () -> ()} : () -> ()
// -----
// expected-error@+1 {{type '!pw.array<f32, @nowhere, []>' names slice @nowhere, which is not declared by a 'pw.slice' [PW1102]}}
pw.program @program_c7(%x: !pw.array<f32, @nowhere, []>) {
  pw.return
}
// -----
// expected-note@+1 {{slice 's' is declared here}}
pw.slice @s mesh <"x" = 2>
// expected-error@+1 {{names axis "y", but slice 's' has mesh #pw.mesh<"x" = 2>}}
pw.program @program_c7_axis(%x: !pw.array<4xf32, @s, [{"y"}]>) {
  pw.return
}
// -----
// expected-note@+1 {{program 'program_c8' is defined here}}
pw.program @program_c8() {
  // expected-error@+1 {{is not allowed in the body of 'pw.program'; compute in a function and call it with 'pw.call' [PW1103]}}
  %0 = arith.constant 1 : i32
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-note@+1 {{program 'return_c1' is defined here}}
pw.program @return_c1(%x: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []>) {
  // expected-error@+1 {{expected 1 results, got 0}}
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-note@+1 {{program 'return_c1_type' is defined here}}
pw.program @return_c1_type(%x: !pw.array<f32, @s, []>) -> (!pw.array<f64, @s, []>) {
  // expected-error@+1 {{expected result 0 of type '!pw.array<f64, @s, []>', got '!pw.array<f32, @s, []>'}}
  pw.return %x : !pw.array<f32, @s, []>
}
// -----

//===----------------------------------------------------------------------===//
// call
//===----------------------------------------------------------------------===//

pw.slice @s mesh <>
pw.program @call_c1(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{calls 'nothing', which is not defined}}
  %0 = pw.call @nothing(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
// expected-note@+1 {{'s' is defined here}}
pw.slice @s mesh <>
pw.program @call_c1_kind(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{calls 's', which is a 'pw.slice', not a 'func.func'}}
  %0 = pw.call @s(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-note@+1 {{'f' is defined here}}
func.func private @f(tensor<f32>) -> tensor<f32>
pw.program @call_c1_external(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{calls 'f', which has no body}}
  %0 = pw.call @f(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-note@+1 {{'f' is defined here}}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<f32>
}
pw.program @call_c1_blocks(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{calls 'f', whose body is not one block ending in 'func.return'}}
  %0 = pw.call @f(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-note@+1 {{function 'f' is defined here}}
func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
pw.program @call_c2(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{of 'f' has 2 operands, but the function has 1 arguments}}
  %0 = pw.call @f(%x, %x) : (!pw.array<f32, @s, []>, !pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-note@+1 {{function 'f' is defined here}}
func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
pw.program @call_c2_results(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{of 'f' has 2 results, but the function has 1}}
  %0:2 = pw.call @f(%x) : (!pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []>, !pw.array<f32, @s, []>)
  pw.return
}
// -----
pw.slice @s mesh <>
func.func private @f(%x: tensor<f32>) { return }
pw.program @call_c2_none(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{of 'f' has no result, expected at least one, by which other operations can wait for the call}}
  pw.call @f(%x) : (!pw.array<f32, @s, []>) -> ()
  pw.return
}
// -----
pw.slice @a mesh <>
pw.slice @b mesh <>
func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
// expected-note@+1 {{the operand is defined here}}
pw.program @call_c3(%x: !pw.array<f32, @a, []>) {
  // expected-error@+1 {{of 'f' has result 0 on slice @b, but operand 0 on slice @a; bring it there with 'pw.reshard'}}
  %0 = pw.call @f(%x) : (!pw.array<f32, @a, []>) -> !pw.array<f32, @b, []>
  pw.return
}
// -----
pw.slice @a mesh <>
pw.slice @b mesh <>
func.func private @f() -> (tensor<f32>, tensor<f32>) {
  %0 = arith.constant dense<0.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
pw.program @call_c3_results() {
  // expected-error@+1 {{of 'f' has result 0 on slice @a, but result 1 on slice @b}}
  %0:2 = pw.call @f() : () -> (!pw.array<f32, @a, []>, !pw.array<f32, @b, []>)
  pw.return
}
// -----
pw.slice @s mesh <"x" = 2>
// expected-note@+1 {{function 'f' is defined here}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} { return %x : tensor<4xf32> }
pw.program @call_c4(%x: !pw.array<4xf32, @s, [{"x"}]>) {
  // expected-error@+1 {{has operand 0 of type '!pw.array<4xf32, @s, [{"x"}]>', whose shards are 'tensor<2xf32>', but the function has 'tensor<4xf32>'}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<4xf32, @s, [{"x"}]>
  pw.return
}
// -----
pw.slice @s mesh <"x" = 2>
// expected-note@+1 {{function 'f' is defined here}}
func.func private @f(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}
pw.program @call_c4_global(%x: !pw.array<4xf32, @s, [{"x"}]>) {
  // expected-error@+1 {{has result 0 of type '!pw.array<4xf32, @s, [{"x"}]>', whose global view is 'tensor<4xf32>', but the function has 'tensor<2xf32>'}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<4xf32, @s, [{"x"}]>
  pw.return
}
// -----
pw.slice @s mesh <"x" = 2>
// expected-note@+1 {{function 'f' is defined here}}
func.func private @f(%x: tensor<3xf32>) -> tensor<3xf32> attributes {pw.local_view} { return %x : tensor<3xf32> }
pw.program @call_c5(%x: !pw.array<5xf32, @s, [{"x"}]>) {
  // expected-error@+1 {{has operand 0 of type '!pw.array<5xf32, @s, [{"x"}]>', some shards of which have padding; the function must use 'pw.valid_extent' of that argument or be marked 'pw.pointwise'}}
  %0 = pw.call @f(%x) : (!pw.array<5xf32, @s, [{"x"}]>) -> !pw.array<5xf32, @s, [{"x"}]>
  pw.return
}
// -----
pw.slice @s mesh <"x" = 2>
// expected-note@+1 {{function 'f' is defined here}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} { return %x : tensor<4xf32> }
pw.program @call_c6(%x: !pw.array<4xf32, @s, [{}] partial add {"x"}>) {
  // expected-error@+1 {{of 'f' has partial operand 0, but the function does not mark the argument 'pw.accepts_partial'}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{}] partial add {"x"}>) -> !pw.array<4xf32, @s, [{}]>
  pw.return
}
// -----
// expected-note@+1 {{slice 's' is declared here}}
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  // expected-note@+1 {{it is here}}
  %0 = pw.all_reduce %x add over ["y"] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @call_c7(%x: !pw.array<4xf32, @s, [{}]>) {
  // expected-error@+1 {{of 'f' on slice 's' communicates over axis "y", which the mesh lacks}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return
}
// -----
// expected-note@+1 {{slice 's' is declared here}}
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  // expected-note@+1 {{it is here}}
  %0 = pw.shard_index "y" : index
  return %x : tensor<4xf32>
}
pw.program @call_c7_index(%x: !pw.array<4xf32, @s, [{}]>) {
  // expected-error@+1 {{of 'f' on slice 's' asks the index on axis "y", which the mesh lacks}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return
}
// -----
// expected-note@+1 {{slice 's' is declared here}}
pw.slice @s mesh <"x" = 4>
func.func private @f(%x: tensor<4xf32>) -> tensor<8xf32> attributes {pw.local_view} {
  // expected-note@+1 {{it is here}}
  %0 = pw.all_gather %x dim 0 over ["x"] : tensor<4xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
pw.program @call_c7_size(%x: !pw.array<4xf32, @s, [{}]>) {
  // expected-error@+1 {{communicates in groups of 4, for which 'pw.all_gather' gives 'tensor<16xf32>', not 'tensor<8xf32>'}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<8xf32, @s, [{}]>
  pw.return
}
// -----
pw.slice @s mesh <"x" = 3>
func.func private @f(%x: tensor<4xf32>) -> tensor<2xf32> attributes {pw.local_view} {
  // expected-note@+1 {{it is here}}
  %0 = pw.reduce_scatter %x add dim 0 over ["x"] : tensor<4xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
pw.program @call_c7_cut(%x: !pw.array<4xf32, @s, [{}]>) {
  // expected-error@+1 {{of 'f' on slice 's': dimension 0 of 4 elements cannot be cut into 3 equal blocks}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<2xf32, @s, [{}]>
  pw.return
}
// -----
// A collective in a function that is called under control flow.
pw.slice @s mesh <"x" = 2>
func.func private @reduce(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  // expected-note@+1 {{it is here}}
  %0 = pw.all_reduce %x add over ["x"] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> attributes {pw.local_view} {
  %b = tensor.extract %c[] : tensor<i1>
  // expected-note@+1 {{its call is inside this, whose condition is not a constant}}
  %0 = scf.if %b -> tensor<4xf32> {
    %1 = func.call @reduce(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
pw.program @call_c7_nested(%x: !pw.array<4xf32, @s, [{}]>, %c: !pw.array<i1, @s, []>) {
  // expected-error@+1 {{reaches 'pw.all_reduce' under control flow, where shards that do not reach it would block the other shards}}
  %0 = pw.call @f(%x, %c) : (!pw.array<4xf32, @s, [{}]>, !pw.array<i1, @s, []>) -> !pw.array<4xf32, @s, [{}]>
  pw.return
}
// -----
// expected-note@+1 {{slice 's' is declared here}}
pw.slice @s mesh <>
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  // expected-note@+1 {{it is here}}
  %0 = pw.valid_extent %x, 0 : tensor<4xf32>
  return %x : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  %0 = func.call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @call_c7_extent(%x: !pw.array<4xf32, @s, [{}]>) {
  // expected-error@+1 {{reaches 'pw.valid_extent' in function 'helper', whose arguments are not operands of the call}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return
}
// -----
// expected-note@+1 {{slice 's' is declared here}}
pw.slice @s mesh <>
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  // expected-note@+1 {{it is here}}
  %0 = pw.shard_index "x" : index
  return %x : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @call_c7_global(%x: !pw.array<4xf32, @s, [{}]>) {
  // expected-error@+1 {{is in global view, but reaches 'pw.shard_index'}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{}]>) -> !pw.array<4xf32, @s, [{}]>
  pw.return
}
// -----
pw.slice @s mesh <>
func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
pw.program @call_c12(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{of 'f' has an empty label; expected a name}}
  %0 = pw.call @f(%x) label "" : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
pw.program @call_c12_cell(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{of 'f' has an empty cell; expected a label}}
  %0 = pw.call @f(%x) cell "" : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
!x = !pw.array<f32, @s, []>
func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
pw.program @call_c13_label(%x: !x) {
  %0 = pw.for 2 (%a = %x carried : !x) -> (!x carried) {
    // expected-error@+1 {{of 'f' has 'recompute', but no label by which other calls could differ from it}}
    %1 = pw.call @f(%a) recompute : (!x) -> !x
    pw.yield %1 : !x
  }
  pw.return
}
// -----
pw.slice @s mesh <>
func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
pw.program @call_c13_loop(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{of 'f' with label '0F' has 'recompute', but is not in a 'pw.for'}}
  %0 = pw.call @f(%x) label "0F" recompute : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
func.func private @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
pw.program @call_c8(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{expected donated operands in increasing order, each from 0 to 0, got array<i64: 1>}}
  %0 = "pw.call"(%x) {callee = @f, donated = array<i64: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>} : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
pw.program @call_donate_other(%x: !pw.array<f32, @s, []>, %y: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{'%y' is donated, but is not an operand}}
  %0 = pw.call @f(%x) donate(%y) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
pw.slice @s mesh <>
pw.program @call_donate_twice(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{'%x' is donated twice}}
  %0 = pw.call @f(%x) donate(%x, %x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----

//===----------------------------------------------------------------------===//
// reshard, transfer, copy
//===----------------------------------------------------------------------===//

pw.slice @s mesh <>
pw.program @reshard_c1(%x: !pw.array<4xf32, @s, [{}]>) {
  // expected-error@+1 {{expected source and result to have the same global shape and element type, got '!pw.array<4xf32, @s, [{}]>' and '!pw.array<5xf32, @s, [{}]>'}}
  %0 = pw.reshard %x : !pw.array<4xf32, @s, [{}]> -> !pw.array<5xf32, @s, [{}]>
  pw.return
}
// -----
pw.slice @s mesh <>
pw.program @transfer_c1(%x: !pw.array<4xf32, @s, [{}]>) {
  // expected-error@+1 {{expected source and result to have the same global shape and element type}}
  %0 = pw.transfer %x : !pw.array<4xf32, @s, [{}]> -> !pw.array<4xf64, @s, [{}]>
  pw.return
}
// -----
pw.slice @s mesh <"x" = 2>
pw.program @transfer_c2(%x: !pw.array<4xf32, @s, [{}]>) {
  // expected-error@+1 {{moves contributions unreduced: '!pw.array<4xf32, @s, [{}] partial add {"x"}>' is partial; reduce it first}}
  %0 = pw.transfer %x : !pw.array<4xf32, @s, [{}]> -> !pw.array<4xf32, @s, [{}] partial add {"x"}>
  pw.return
}
// -----
pw.slice @s mesh <>
pw.program @reshard_undeclared(%x: !pw.array<4xf32, @s, [{}]>) {
  // expected-error@+1 {{names slice @t, which is not declared by a 'pw.slice' [PW1102]}}
  %0 = pw.reshard %x : !pw.array<4xf32, @s, [{}]> -> !pw.array<4xf32, @t, [{}]>
  pw.return
}
// -----

//===----------------------------------------------------------------------===//
// Local view
//===----------------------------------------------------------------------===//

// expected-note@+1 {{function 'collective_c1' has a global view}}
func.func @collective_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{is only allowed in a 'func.func' with 'pw.local_view'}}
  %0 = pw.all_reduce %x add over ["x"] : tensor<4xf32>
  return
}
// -----
func.func @collective_c1_nested(%x: tensor<4xf32>, %b: i1) attributes {pw.local_view} {
  // expected-note@+1 {{it is inside this, whose condition is not a constant}}
  scf.if %b {
    // expected-error@+1 {{is under control flow, where shards that do not reach it would block the other shards; move it to the top level of the function}}
    %0 = pw.all_reduce %x add over ["x"] : tensor<4xf32>
  }
  return
}
// -----
func.func @collective_c2(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{names no axis to communicate over}}
  %0 = pw.all_reduce %x add over [] : tensor<4xf32>
  return
}
// -----
func.func @collective_c2_twice(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{names axis "x" twice}}
  %0 = pw.permute %x shift 1 over ["x", "x"] : tensor<4xf32>
  return
}
// -----
func.func @collective_c2_name(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{names an axis without a name}}
  %0 = pw.all_reduce %x add over [""] : tensor<4xf32>
  return
}
// -----
func.func @collective_c3(%x: tensor<?xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{expected static shapes, got 'tensor<?xf32>'}}
  %0 = pw.all_reduce %x add over ["x"] : tensor<?xf32>
  return
}
// -----
func.func @collective_c3_bool(%x: tensor<4xi1>) attributes {pw.local_view} {
  // expected-error@+1 {{expected i1 to be combined by max, min, umax, umin, and, or or xor, got add}}
  %0 = pw.all_reduce %x add over ["x"] : tensor<4xi1>
  return
}
// -----
func.func @collective_c3_float(%x: tensor<4xf16>) attributes {pw.local_view} {
  // expected-error@+1 {{expected integers, got and of f16}}
  %0 = pw.all_reduce %x and over ["x"] : tensor<4xf16>
  return
}
// -----
func.func @collective_c3_scatter(%x: tensor<4xf64>) attributes {pw.local_view} {
  // expected-error@+1 {{expected integers, got umax of f64}}
  %0 = pw.reduce_scatter %x umax dim 0 over ["x"] : tensor<4xf64> -> tensor<2xf64>
  return
}
// -----
// The tensors of bodies are signless.
pw.slice @s mesh <>
// expected-note@+1 {{function 'f' is defined here}}
func.func private @f(%x: tensor<4xui32>) -> tensor<4xui32> {
  return %x : tensor<4xui32>
}
pw.program @call_c4_sign(%x: !pw.array<4xui32, @s, [{}]>) -> !pw.array<4xui32, @s, [{}]> {
  // expected-error@+1 {{of 'f' has operand 0 of type '!pw.array<4xui32, @s, [{}]>', whose global view is 'tensor<4xi32>', but the function has 'tensor<4xui32>'}}
  %0 = pw.call @f(%x) : (!pw.array<4xui32, @s, [{}]>) -> !pw.array<4xui32, @s, [{}]>
  pw.return %0 : !pw.array<4xui32, @s, [{}]>
}
// -----
pw.slice @s mesh <>
// expected-note@+1 {{function 'f' is defined here}}
func.func private @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  return %x : tensor<4xi32>
}
pw.program @call_c4_width(%x: !pw.array<4xui16, @s, [{}]>) -> !pw.array<4xi32, @s, [{}]> {
  // expected-error@+1 {{whose global view is 'tensor<4xi16>', but the function has 'tensor<4xi32>'}}
  %0 = pw.call @f(%x) : (!pw.array<4xui16, @s, [{}]>) -> !pw.array<4xi32, @s, [{}]>
  pw.return %0 : !pw.array<4xi32, @s, [{}]>
}
// -----
pw.slice @s mesh <>
pw.program @reshard_c1_sign(%x: !pw.array<4xui32, @s, [{}]>) -> !pw.array<4xi32, @s, [{}]> {
  // expected-error@+1 {{expected source and result to have the same global shape and element type}}
  %0 = pw.reshard %x : !pw.array<4xui32, @s, [{}]> -> !pw.array<4xi32, @s, [{}]>
  pw.return %0 : !pw.array<4xi32, @s, [{}]>
}
// -----
func.func @all_gather_c4(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{expected 'dim' to be a dimension of 'tensor<4xf32>', got 1}}
  %0 = pw.all_gather %x dim 1 over ["x"] : tensor<4xf32> -> tensor<8xf32>
  return
}
// -----
func.func @all_gather_c5(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{cannot turn 'tensor<4xf32>' into 'tensor<6xf32>' for any size of the group; a group of 2 gives 'tensor<8xf32>'}}
  %0 = pw.all_gather %x dim 0 over ["x"] : tensor<4xf32> -> tensor<6xf32>
  return
}
// -----
func.func @all_gather_element(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{expected source and result to have the same rank and element type, got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0 = pw.all_gather %x dim 0 over ["x"] : tensor<4xf32> -> tensor<4xf64>
  return
}
// -----
func.func @reduce_scatter_c4(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{expected 'dim' to be a dimension of 'tensor<4xf32>', got -1}}
  %0 = pw.reduce_scatter %x add dim -1 over ["x"] : tensor<4xf32> -> tensor<2xf32>
  return
}
// -----
func.func @reduce_scatter_c5(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{cannot turn 'tensor<4xf32>' into 'tensor<3xf32>' for any size of the group; a group of 2 gives 'tensor<2xf32>'}}
  %0 = pw.reduce_scatter %x add dim 0 over ["x"] : tensor<4xf32> -> tensor<3xf32>
  return
}
// -----
func.func @reduce_scatter_c5_cut(%x: tensor<5xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{dimension 0 of 5 elements cannot be cut into 2 equal blocks}}
  %0 = pw.reduce_scatter %x add dim 0 over ["x"] : tensor<5xf32> -> tensor<3xf32>
  return
}
// -----
func.func @all_to_all_c4(%x: tensor<4x4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{expected 'concat' to be a dimension of 'tensor<4x4xf32>', got 2}}
  %0 = pw.all_to_all %x split 0 concat 2 over ["x"] : tensor<4x4xf32> -> tensor<2x8xf32>
  return
}
// -----
func.func @all_to_all_c5(%x: tensor<4x4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{cannot turn 'tensor<4x4xf32>' into 'tensor<2x4xf32>' for any size of the group; a group of 2 gives 'tensor<2x8xf32>'}}
  %0 = pw.all_to_all %x split 0 concat 1 over ["x"] : tensor<4x4xf32> -> tensor<2x4xf32>
  return
}
// -----
// expected-note@+1 {{function 'shard_index_c1' has a global view}}
func.func @shard_index_c1() {
  // expected-error@+1 {{is only allowed in a 'func.func' with 'pw.local_view'}}
  %0 = pw.shard_index "x" : index
  return
}
// -----
func.func @shard_index_c2() attributes {pw.local_view} {
  // expected-error@+1 {{names an axis without a name}}
  %0 = pw.shard_index "" : index
  return
}
// -----
func.func @valid_extent_c2() attributes {pw.local_view} {
  %x = tensor.empty() : tensor<4xf32>
  // expected-error@+1 {{expected an argument of function 'valid_extent_c2', got another value}}
  %0 = pw.valid_extent %x, 0 : tensor<4xf32>
  return
}
// -----
func.func @valid_extent_c3(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{expected 'dim' to be a dimension of 'tensor<4xf32>', got 9223372036854775807}}
  %0 = pw.valid_extent %x, 9223372036854775807 : tensor<4xf32>
  return
}
// -----

//===----------------------------------------------------------------------===//
// Attributes of functions
//===----------------------------------------------------------------------===//

// expected-error@+1 {{has attribute 'pw.local' that pw does not define}}
func.func private @attribute_unknown() attributes {pw.local}
// -----
// expected-error@+1 {{has attribute 'pw.local_view', which belongs on a 'func.func'}}
module attributes {pw.local_view} {}
// -----
// expected-error@+1 {{expected 'pw.pointwise' to be a unit attribute, got true}}
func.func private @attribute_value() attributes {pw.pointwise = true}
// -----
// expected-error@+1 {{has 'pw.accepts_partial' on argument 0, which belongs on a function with 'pw.local_view'}}
func.func private @accepts_partial(tensor<f32> {pw.accepts_partial})
// -----
// expected-error@+1 {{has attribute 'pw.stepped' on argument 0, which belongs on a 'pw.program'}}
func.func private @stepped(tensor<f32> {pw.stepped})
// -----
pw.slice @s mesh <>
// expected-error@+1 {{expected 'pw.carried' to be a 64-bit integer, got 0 : i32}}
pw.program @carried(%x: !pw.array<f32, @s, []> {pw.carried = 0 : i32}) {
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{has attribute 'pw.step' on argument 0 that pw does not define}}
pw.program @argument_unknown(%x: !pw.array<f32, @s, []> {pw.step}) {
  pw.return
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{expected 'pw.expect' to be a '#pw.expect', got 1 : i64}}
pw.program @result_expect(%x: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []> {pw.expect = 1 : i64}) {
  pw.return %x : !pw.array<f32, @s, []>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{result 'result0' expects result 1, but there are 1 results}}
pw.program @program_c9(%x: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []> {pw.expect = #pw.expect<eq, result 1>}) {
  pw.return %x : !pw.array<f32, @s, []>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{result 'result0' expects result 0, which is checked itself}}
pw.program @program_c9_itself(%x: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []> {pw.expect = #pw.expect<eq, result 0>}) {
  pw.return %x : !pw.array<f32, @s, []>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{result 'result0' expects result 1, which has another shape or element type}}
pw.program @program_c9_type(%x: !pw.array<f32, @s, []>, %y: !pw.array<1xf32, @s, [{}]>) -> (!pw.array<f32, @s, []> {pw.expect = #pw.expect<eq, result 1>}, !pw.array<1xf32, @s, [{}]>) {
  pw.return %x, %y : !pw.array<f32, @s, []>, !pw.array<1xf32, @s, [{}]>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{result 'result0' expects result 1, but only one of the two is stepped}}
pw.program @program_c9_stepped(%x: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []> {pw.expect = #pw.expect<eq, result 1>}, !pw.array<f32, @s, []> {pw.stepped}) {
  pw.return %x, %x : !pw.array<f32, @s, []>, !pw.array<f32, @s, []>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{result 'result0' expects result 1 by 'close', which is for floats}}
pw.program @program_c9_kind(%x: !pw.array<i32, @s, []>) -> (!pw.array<i32, @s, []> {pw.expect = #pw.expect<close, result 1, max_ulp 1>}, !pw.array<i32, @s, []>) {
  pw.return %x, %x : !pw.array<i32, @s, []>, !pw.array<i32, @s, []>
}
// -----
pw.slice @s mesh <>
// expected-error@+1 {{has attribute 'pw.carried' on result 0; results of a 'pw.program' may have 'pw.name', 'pw.stepped' and 'pw.expect'}}
pw.program @result_unknown(%x: !pw.array<f32, @s, []>) -> (!pw.array<f32, @s, []> {pw.carried = 0 : i64}) {
  pw.return %x : !pw.array<f32, @s, []>
}
// -----
pw.slice @s mesh <"x" = 16>
func.func private @f(%x: tensor<f32>) -> tensor<f32> attributes {pw.local_view} {
  %0 = tensor.empty() : tensor<1152921504606846976xi8>
  // expected-note@+1 {{it is here}}
  %1 = pw.all_gather %0 dim 0 over ["x"] : tensor<1152921504606846976xi8> -> tensor<1152921504606846976xi8>
  return %x : tensor<f32>
}
pw.program @all_gather_overflow(%x: !pw.array<f32, @s, []>) {
  // expected-error@+1 {{of 'f' on slice 's': dimension 0 is too large to gather}}
  %0 = pw.call @f(%x) : (!pw.array<f32, @s, []>) -> !pw.array<f32, @s, []>
  pw.return
}
// -----
//===----------------------------------------------------------------------===//
// constrain
//===----------------------------------------------------------------------===//
// expected-note@+1 {{function 'constrain_c1' has 'pw.local_view'}}
func.func private @constrain_c1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  // expected-error@+1 {{'pw.constrain' op is only allowed in functions in global view; in local view each value is already a shard}}
  %0 = pw.constrain %x [{"d"}] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func private @constrain_c2(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has axes for 2 dimensions, but 'tensor<4xf32>' has 1}}
  %0 = pw.constrain %x [{"d"}, {}] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func private @constrain_c3(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has a partial sharding, which a constraint may not have; the partitioner decides where to keep contributions}}
  %0 = pw.constrain %x [{}] partial add {"d"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func private @constrain_c4(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-note@+1 {{it is constrained here}}
  %0 = pw.constrain %x [{"d"}, {?}] : tensor<4x4xf32>
  // expected-error@+1 {{cuts dimension 0 over ["m"], but the same value is cut over ["d"] by an earlier constraint; constrain the result of that constraint instead}}
  %1 = pw.constrain %x [{"m"}, {}] : tensor<4x4xf32>
  %2 = arith.addf %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
// -----
// expected-note@+1 {{slice 's' is declared here}}
pw.slice @s mesh <"d" = 2>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{it is here}}
  %0 = pw.constrain %x [{"m"}] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
pw.program @call_c10(%x: !pw.array<4xf32, @s, [{"d"}]>) -> !pw.array<4xf32, @s, [{"d"}]> {
  // expected-error@+1 {{of 'f' on slice 's' constrains a value over axis "m", which the mesh lacks}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{"d"}]>) -> !pw.array<4xf32, @s, [{"d"}]>
  pw.return %0 : !pw.array<4xf32, @s, [{"d"}]>
}
// -----
pw.slice @s mesh <"d" = 2>
// expected-note@+1 {{function 'f' is defined here}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} { return %x : tensor<4xf32> }
pw.program @call_c9(%x: !pw.array<4xf32, @s>) -> !pw.array<4xf32, @s> {
  // expected-error@+1 {{of 'f' has operand 0 of type '!pw.array<4xf32, @s>' with an open dimension, but the function is written for one shard, so its size must be known}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s>) -> !pw.array<4xf32, @s>
  pw.return %0 : !pw.array<4xf32, @s>
}

// -----

// Where nothing runs there are no steps.
// expected-error@+1 {{'pw.step_index' op is only allowed in a 'func.func'}}
%step_index_c1 = pw.step_index : index

// -----

// How often shards come here is not known to be the same.
func.func @collective_c1_loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> attributes {pw.local_view} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{it is inside this, whose upper bound is not a constant}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<4xf32> {
    // expected-error@+1 {{is under control flow, where shards that do not reach it would block the other shards; move it to the top level of the function}}
    %0 = pw.all_reduce %v add over ["x"] : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Shards have different numbers, so their bounds differ.
func.func @collective_c1_index(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = pw.shard_index "x" : index
  %m = arith.addi %n, %c1 : index
  // expected-note@+1 {{it is inside this, whose lower bound is not a constant}}
  %r = scf.for %i = %n to %m step %c1 iter_args(%v = %x) -> tensor<4xf32> {
    // expected-error@+1 {{is under control flow}}
    %0 = pw.all_reduce %v add over ["x"] : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Loops of other kinds end where a value says so.
func.func @collective_c1_while(%x: tensor<4xf32>, %b: i1) -> tensor<4xf32> attributes {pw.local_view} {
  // expected-note@+1 {{it is inside this}}
  %r = scf.while (%v = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%b) %v : tensor<4xf32>
  } do {
  ^bb0(%v: tensor<4xf32>):
    // expected-error@+1 {{is under control flow}}
    %0 = pw.all_reduce %v add over ["x"] : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @broadcast_c4(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{broadcasts from rank -1, but groups have 1}}
  %0 = pw.broadcast %x from -1 over ["x"] : tensor<4xf32>
  return
}

// -----

// The size of a group is known where the function is called.
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> attributes {pw.local_view} {
  // expected-note@+1 {{it is here}}
  %0 = pw.broadcast %x from 2 over ["x"] : tensor<2xf32>
  return %0 : tensor<2xf32>
}
pw.program @broadcast_c4_call(%x: !pw.array<4xf32, @s, [{"x"}]>) {
  // expected-error@+1 {{of 'f' on slice 's': broadcasts from rank 2, but groups have 2}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<4xf32, @s, [{"x"}]>
  pw.return
}

// -----

func.func @permute_c4_both(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{expected either 'shift' or 'pairs'}}
  %0 = "pw.permute"(%x) <{axes = ["x"], shift = 1 : i64, pairs = array<i64: 0, 1>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @permute_c4_wrap(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{expected no 'wrap' with 'pairs'}}
  %0 = pw.permute %x pairs [[0, 1]] over ["x"] wrap : tensor<4xf32>
  return
}

// -----

func.func @permute_c4_empty(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{expected pairs of ranks, got 0 ranks}}
  %0 = pw.permute %x pairs [] over ["x"] : tensor<4xf32>
  return
}

// -----

func.func @permute_c4_odd(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{expected pairs of ranks, got 3 ranks}}
  %0 = "pw.permute"(%x) <{axes = ["x"], pairs = array<i64: 0, 1, 2>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @permute_c5_twice(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{sends to rank 1 from rank 0 and from rank 2}}
  %0 = pw.permute %x pairs [[0, 1], [2, 1]] over ["x"] : tensor<4xf32>
  return
}

// -----

func.func @permute_c5_negative(%x: tensor<4xf32>) attributes {pw.local_view} {
  // expected-error@+1 {{expected ranks of at least 0, got the pair [0, -1]}}
  %0 = pw.permute %x pairs [[0, -1]] over ["x"] : tensor<4xf32>
  return
}

// -----

pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> attributes {pw.local_view} {
  // expected-note@+1 {{it is here}}
  %0 = pw.permute %x pairs [[0, 1], [2, 0]] over ["x"] : tensor<2xf32>
  return %0 : tensor<2xf32>
}
pw.program @permute_c5_call(%x: !pw.array<4xf32, @s, [{"x"}]>) {
  // expected-error@+1 {{of 'f' on slice 's': permutes rank 2, but groups have 2}}
  %0 = pw.call @f(%x) : (!pw.array<4xf32, @s, [{"x"}]>) -> !pw.array<4xf32, @s, [{"x"}]>
  pw.return
}

// -----

//===----------------------------------------------------------------------===//
// manual
//===----------------------------------------------------------------------===//

// expected-note@+1 {{function 'manual_c1' has 'pw.local_view'}}
func.func private @manual_c1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  // expected-error@+1 {{'pw.manual' op is only allowed in functions in global view}}
  %0 = pw.manual(%x) over ["x"] in [[{}]] out [[{}]] (%a: tensor<4xf32>) {
    pw.yield %a : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @manual_c2_none(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{names no manual axis}}
  %0 = pw.manual(%x) over [] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c2_empty(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{names an axis without a name}}
  %0 = pw.manual(%x) over [""] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c2_twice(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{names axis "x" twice}}
  %0 = pw.manual(%x) over ["x", "x"] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c2_nested(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    // expected-error@+1 {{names axis "x", which is manual in a 'pw.manual' around it}}
    %1 = pw.manual(%a) over ["x"] in [[{}, {}]] out [[{}, {}]] (%b: tensor<4x8xf32>) {
      pw.yield %b : tensor<4x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c3(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{expected a sharding for each of 1 operands and 1 results, got 0 and 1}}
  %0 = pw.manual(%x) over ["x"] in [] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c3_rank(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{has axes for 1 dimensions of operand 0, but 'tensor<8x8xf32>' has 2}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c4(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{expected manual axes before others in dimension 0 of operand 0, got ["y", "x"]}}
  %0 = pw.manual(%x) over ["x"] in [[{"y", "x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c4_nested(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    // expected-error@+1 {{names axis "x" in the sharding of operand 0, which is manual in a 'pw.manual' around it}}
    %1 = pw.manual(%a) over ["y"] in [[{"x"}, {}]] out [[{}, {}]] (%b: tensor<4x8xf32>) {
      pw.yield %b : tensor<4x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c5(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{has a partial sharding of operand 0; its region takes the sum}}
  %0 = pw.manual(%x) over ["x"] in [[{}, {}] partial add {"x"}] out [[{}, {}]] (%a: tensor<8x8xf32>) {
    pw.yield %a : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c5_axis(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{has contributions over axis "y" as result 0; expected manual axes, ["x"]}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{"x"}, {}] partial add {"y"}] (%a: tensor<4x8xf32>) {
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c6_type(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{has operand 0 of type 'tensor<8x8xf32>', but 'tensor<4x8xf64>' in the region; expected the same element type and rank}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf64>) {
    pw.yield %a : tensor<4x8xf64>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c6_blocks(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{has operand 0 of type 'tensor<8x8xf32>', but 'tensor<3x8xf32>' in the region: equal blocks do not make up dimension 0}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<3x8xf32>) {
    pw.yield %a : tensor<3x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c6_whole(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{has operand 0 of type 'tensor<8x8xf32>', but 'tensor<4x4xf32>' in the region: no manual axis cuts dimension 1}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x4xf32>) {
    pw.yield %a : tensor<4x4xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c6_result(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{has result 0 of type 'tensor<8x8xf32>', but 'tensor<4x8xf32>' in the region: no manual axis cuts dimension 0}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{}, {}]] (%a: tensor<4x8xf32>) {
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c6_count(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{has 1 operands and 1 results, but its region takes 1 and returns 2}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    pw.yield %a, %a : tensor<4x8xf32>, tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c6_end(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{expected a region that ends with 'pw.yield'}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    ub.unreachable
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c7_collective(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note@+1 {{the axes ["x"] are manual in this}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    // expected-error@+1 {{'pw.all_reduce' op names axis "y", which is not manual here}}
    %1 = pw.all_reduce %a add over ["y"] : tensor<4x8xf32>
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c7_index(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-note@+1 {{the axes ["x"] are manual in this}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    // expected-error@+1 {{'pw.shard_index' op names axis "y", which is not manual here}}
    %1 = pw.shard_index "y" : index
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @manual_c7_constrain(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = pw.manual(%x) over ["x"] in [[{"x"}, {}]] out [[{"x"}, {}]] (%a: tensor<4x8xf32>) {
    // expected-error@+1 {{'pw.constrain' op names axis "x", which is manual here; each shard along it has a value of its own}}
    %1 = pw.constrain %a [{"x"}, {}] : tensor<4x8xf32>
    pw.yield %a : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @yield(%x: tensor<4xf32>) {
  // expected-error@+1 {{'pw.yield' op expects parent op to be one of 'pw.manual, pw.for, pw.if'}}
  pw.yield %x : tensor<4xf32>
}

// -----

// expected-note@+1 {{slice 's' is declared here}}
pw.slice @s mesh <"y" = 2>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{it is here}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}]] out [[{"x"}]] (%a: tensor<4xf32>) {
    pw.yield %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
pw.program @manual_call_c10(%x: !pw.array<8xf32, @s, [{}]>) -> !pw.array<8xf32, @s, [{}]> {
  // expected-error@+1 {{of 'f' on slice 's' has a 'pw.manual' that names axis "x", which the mesh lacks}}
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{}]>) -> !pw.array<8xf32, @s, [{}]>
  pw.return %0 : !pw.array<8xf32, @s, [{}]>
}

// -----

// expected-note@+1 {{slice 's' is declared here}}
pw.slice @s mesh <"x" = 2>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{it is here}}
  %0 = pw.manual(%x) over ["x"] in [[{"x", "z"}]] out [[{"x"}]] (%a: tensor<4xf32>) {
    pw.yield %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
pw.program @manual_call_c10_others(%x: !pw.array<8xf32, @s, [{}]>) -> !pw.array<8xf32, @s, [{}]> {
  // expected-error@+1 {{of 'f' on slice 's' has a 'pw.manual' that names axis "z", which the mesh lacks}}
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{}]>) -> !pw.array<8xf32, @s, [{}]>
  pw.return %0 : !pw.array<8xf32, @s, [{}]>
}

// -----

// expected-note@+1 {{slice 's' is declared here}}
pw.slice @s mesh <"x" = 4>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{it is here}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}]] out [[{"x"}]] (%a: tensor<4xf32>) {
    pw.yield %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
pw.program @manual_call_c11(%x: !pw.array<8xf32, @s, [{}]>) -> !pw.array<8xf32, @s, [{}]> {
  // expected-error@+1 {{of 'f' on slice 's' has a 'pw.manual' with operand 0 of type 'tensor<8xf32>', but 'tensor<4xf32>' in its region: 4 shards along its axes cut dimension 0 of 8 elements into blocks of 2}}
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{}]>) -> !pw.array<8xf32, @s, [{}]>
  pw.return %0 : !pw.array<8xf32, @s, [{}]>
}

// -----

// expected-note@+1 {{slice 's' is declared here}}
pw.slice @s mesh <"x" = 3>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note@+1 {{it is here}}
  %0 = pw.manual(%x) over ["x"] in [[{"x"}]] out [[{"x"}]] (%a: tensor<4xf32>) {
    pw.yield %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
pw.program @manual_call_c11_uneven(%x: !pw.array<8xf32, @s, [{}]>) -> !pw.array<8xf32, @s, [{}]> {
  // expected-error@+1 {{of 'f' on slice 's' has a 'pw.manual' with operand 0 of type 'tensor<8xf32>', but 'tensor<4xf32>' in its region: 3 shards along its axes cut dimension 0 of 8 elements, which they do not divide}}
  %0 = pw.call @f(%x) : (!pw.array<8xf32, @s, [{}]>) -> !pw.array<8xf32, @s, [{}]>
  pw.return %0 : !pw.array<8xf32, @s, [{}]>
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
pw.program @for_c1(%z: !x) -> !x {
  // expected-error@+1 {{runs 0 times, expected a number from 1 to 16777216}}
  %s = pw.for 0 (%a = %z carried : !x) -> (!x carried) { pw.yield %a : !x }
  pw.return %s : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
pw.program @for_c1_large(%z: !x) -> !x {
  // expected-error@+1 {{runs 1099511627776 times, expected a number from 1 to 16777216}}
  %s = pw.for 1099511627776 (%a = %z carried : !x) -> (!x carried) { pw.yield %a : !x }
  pw.return %s : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
pw.program @for_too_large(%z: !x) -> !x {
  // expected-error@+1 {{integer value too large}}
  %s = pw.for 1180591620717411303424 (%a = %z carried : !x) -> (!x carried) { pw.yield %a : !x }
  pw.return %s : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
pw.program @for_c2(%z: !x) -> !x {
  // expected-error@+1 {{has no result, expected at least one}}
  pw.for 4 { pw.yield }
  pw.return %z : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
pw.program @for_c3(%z: !x) -> !x {
  // expected-error@+1 {{has 1 results, but its region yields 0 values}}
  %s = pw.for 4 (%a = %z carried : !x) -> (!x carried) { pw.yield }
  pw.return %s : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
!y = !pw.array<8xf32, @s, [{} ]>
pw.program @for_c4_result(%z: !x) -> !y {
  // expected-error@+1 {{carries operand 0 of type '!pw.array<8xf32, @s, [{"d"}]>', but its result 0 has type '!pw.array<8xf32, @s, [{}]>'}}
  %s = pw.for 4 (%a = %z carried : !x) -> (!y carried) { pw.yield %a : !x }
  pw.return %s : !y
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
!y = !pw.array<8xf32, @s, [{} ]>
pw.program @for_c4_yield(%z: !x, %y: !y) -> !x {
  // expected-error@+1 {{has carried result 0 of type '!pw.array<8xf32, @s, [{"d"}]>', but its region yields '!pw.array<8xf32, @s, [{}]>'}}
  %s = pw.for 4 (%a = %z carried : !x) -> (!x carried) { pw.yield %y : !y }
  pw.return %s : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
!xs = !pw.array<4x8xf32, @s, [{}, {"d"} ]>
pw.program @for_c4_count(%xs: !xs) -> !x {
  // expected-error@+1 {{has 0 carried operands, but 1 carried results}}
  %s = pw.for 4 (%a = %xs stepped : !xs -> !x) -> (!x carried) { pw.yield %a : !x }
  pw.return %s : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
!xs = !pw.array<4x8xf32, @s, [{}, {"d"} ]>
pw.program @for_c5_length(%xs: !xs) -> !xs {
  // expected-error@+1 {{has operand 0 of type '!pw.array<4x8xf32, @s, [{}, {"d"}]>', which has 4 indices, but the loop runs 3 times}}
  %s = pw.for 3 (%a = %xs stepped : !xs -> !x) -> (!xs stepped) { pw.yield %a : !x }
  pw.return %s : !xs
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{} ]>
!xs = !pw.array<4x8xf32, @s, [{"d"}, {} ]>
pw.program @for_c5_cut(%xs: !xs) -> !xs {
  // expected-error@+1 {{has operand 0 of type '!pw.array<4x8xf32, @s, [{"d"}, {}]>', whose leading dimension is stepped and must not be cut}}
  %s = pw.for 4 (%a = %xs stepped : !xs -> !x) -> (!xs stepped) { pw.yield %a : !x }
  pw.return %s : !xs
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<f32, @s, []>
pw.program @for_c5_scalar(%z: !x) -> !x {
  // expected-error@+1 {{has operand 0 of type '!pw.array<f32, @s, []>', which is stepped, but has no dimension}}
  %s = pw.for 4 (%a = %z stepped : !x -> !x) -> (!x stepped) { pw.yield %a : !x }
  pw.return %s : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
!y = !pw.array<8xf32, @s, [{} ]>
!xs = !pw.array<4x8xf32, @s, [{}, {"d"} ]>
pw.program @for_c5_result(%y: !y) -> !xs {
  // expected-error@+1 {{has result 0 of type '!pw.array<4x8xf32, @s, [{}, {"d"}]>', so an iteration has '!pw.array<8xf32, @s, [{"d"}]>', got '!pw.array<8xf32, @s, [{}]>'}}
  %s = pw.for 4 -> (!xs stepped) { pw.yield %y : !y }
  pw.return %s : !xs
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
pw.program @for_c6(%z: !x) -> !x {
  // expected-error@+1 {{has an empty label; expected a name}}
  %s = pw.for 4 label "" (%a = %z carried : !x) -> (!x carried) { pw.yield %a : !x }
  pw.return %s : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
pw.program @for_c6(%z: !x) -> !x {
  // expected-error@+1 {{has an empty schedule; expected a name, or @ and a file}}
  %s = pw.for 4 schedule "" (%a = %z carried : !x) -> (!x carried) { pw.yield %a : !x }
  pw.return %s : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
pw.program @for_word(%z: !x) -> !x {
  // expected-error@+1 {{expected 'stepped' or 'carried'}}
  %s = pw.for 4 (%a = %z kept : !x) -> (!x carried) { pw.yield %a : !x }
  pw.return %s : !x
}

// -----

pw.slice @s mesh <"d" = 2>
!x = !pw.array<8xf32, @s, [{"d"} ]>
pw.program @for_body(%z: !x) -> !x { // expected-note {{program 'for_body' is defined here}}
  %s = pw.for 4 (%a = %z carried : !x) -> (!x carried) {
    // expected-error@+1 {{is not allowed in the body of 'pw.program'}}
    %c = arith.constant 1 : i32
    pw.yield %a : !x
  }
  pw.return %s : !x
}

// -----

// expected-error@+1 {{is only allowed in a 'func.func'}}
%i = pw.iteration_index : index

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @if_c1_shape(%x: !x, %p: !pw.array<1xi1, @s, [{}]>) -> !x {
  // expected-error@+1 {{has a condition of type '!pw.array<1xi1, @s, [{}]>', expected one i1 that is not partial}}
  %0 = pw.if %p : !pw.array<1xi1, @s, [{}]> -> (!x) {
    pw.yield %x : !x
  } else {
    pw.yield %x : !x
  }
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @if_c2(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{has no result, expected at least one}}
  pw.if %p : !p {
    pw.yield
  } else {
    pw.yield
  }
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @if_c3_arguments(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{has a region 'then' with 1 arguments, expected none}}
  %0 = "pw.if"(%p) ({
  ^bb0(%a: !x):
    pw.yield %a : !x
  }, {
    pw.yield %x : !x
  }) : (!p) -> !x
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @if_c3_end(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{expected its region 'then' to end with 'pw.yield'}}
  %0 = "pw.if"(%p) ({
    "ub.unreachable"() : () -> ()
  }, {
    pw.yield %x : !x
  }) : (!p) -> !x
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @if_c3_count(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{has 1 results, but its region 'else' yields 2 values}}
  %0 = pw.if %p : !p -> (!x) {
    pw.yield %x : !x
  } else {
    pw.yield %x, %x : !x, !x
  }
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @if_c3_type(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{has result 0 of type '!pw.array<8xf32, @s, [{}]>', but its region 'else' yields '!pw.array<i1, @s, []>'}}
  %0 = pw.if %p : !p -> (!x) {
    pw.yield %x : !x
  } else {
    pw.yield %p : !p
  }
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @call_c14_type(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{of 'f' has a guard of type '!pw.array<8xf32, @s, [{}]>', expected one i1 that is not partial}}
  %0 = pw.call @f(%x) if(%x : !x) : (!x) -> !x
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @call_c14_slice(%x: !x, %q: !q) -> !x {
  // expected-error@+1 {{of 'f' is on slice @s, but its guard is on slice @t}}
  %0 = pw.call @f(%x) if(%q : !q) : (!x) -> !x
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @call_c15_order(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{expected results after 'into' in increasing order, each from 0 to 1, got array<i64: 1, 0>}}
  %0:2 = pw.call @f2(%x) if(%p : !p) into(1 = %x, 0 = %x) : (!x) -> (!x, !x)
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @call_c15_index(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{expected the index of a result, which is below 1, got 1}}
  %0 = pw.call @f(%x) if(%p : !p) into(1 = %x) : (!x) -> !x
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @call_c15_count(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{of 'f' writes 0 results into 1 arrays}}
  %0 = "pw.call"(%x, %p, %x) {callee = @f, operandSegmentSizes = array<i32: 1, 0, 1, 1>} : (!x, !p, !x) -> !x
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @call_c15_type(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{writes result 0 of type '!pw.array<8xf32, @s, [{}]>' into an array of type '!pw.array<i1, @s, []>'}}
  %0 = "pw.call"(%x, %p, %p) {callee = @f, into_results = array<i64: 0>, operandSegmentSizes = array<i32: 1, 0, 1, 1>} : (!x, !p, !p) -> !x
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
!q = !pw.array<i1, @t, []>
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @f2(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
pw.program @call_c16(%x: !x) -> !x {
  // expected-error@+1 {{of 'f' has 'into', but no guard}}
  %0 = pw.call @f(%x) into(0 = %x) : (!x) -> !x
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
pw.program @for_c7_none(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{has 'while', but its first operand is not carried; expected the condition}}
  %0 = pw.for 8 while (%a = %x stepped : !x -> !pw.array<f32, @s, []>, %b = %p carried : !p) -> (!p carried) {
    pw.yield %b : !p
  }
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
pw.program @for_c7_type(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{has 'while', but its first operand has type '!pw.array<8xf32, @s, [{}]>', expected one i1 that is not partial}}
  %0 = pw.for 8 while (%a = %x carried : !x) -> (!x carried) {
    pw.yield %a : !x
  }
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
pw.program @for_c7_stepped(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{has 'while' and stepped result 1, of which iterations that do not run would have no part}}
  %0, %1 = pw.for 8 while (%a = %p carried : !p) -> (!p carried, !pw.array<8xi1, @s, [{}]> stepped) {
    pw.yield %a, %a : !p, !p
  }
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!p = !pw.array<i1, @s, []>
pw.program @for_c7_schedule(%x: !x, %p: !p) -> !x {
  // expected-error@+1 {{has 'while' and schedule '1f1b', but each iteration waits for the condition that the one before yields}}
  %0 = pw.for 8 schedule "1f1b" while (%a = %p carried : !p) -> (!p carried) {
    pw.yield %a : !p
  }
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!y = !pw.array<8xf32, @t, [{}]>
!q = !pw.array<i1, @t, []>
pw.program @transfer_c3_none(%x: !x, %q: !q) -> !x {
  // expected-error@+1 {{has 'unless', but no guard}}
  %0 = "pw.transfer"(%x) {unless} : (!x) -> !y
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!y = !pw.array<8xf32, @t, [{}]>
!q = !pw.array<i1, @t, []>
pw.program @transfer_c3_type(%x: !x, %q: !q) -> !x {
  // expected-error@+1 {{has a guard of type '!pw.array<8xf32, @s, [{}]>', expected one i1 that is not partial}}
  %0 = pw.transfer %x if(%x : !x) : !x -> !y
  pw.return %x : !x
}

// -----

pw.slice @s mesh <>
pw.slice @t mesh <>
!x = !pw.array<8xf32, @s, [{}]>
!y = !pw.array<8xf32, @t, [{}]>
!q = !pw.array<i1, @t, []>
pw.program @transfer_c3_slice(%x: !x, %q: !q) -> !x {
  // expected-error@+1 {{moves an array of slice @s, but its guard is on slice @t}}
  %0 = pw.transfer %x if(%q : !q) : !x -> !y
  pw.return %x : !x
}
