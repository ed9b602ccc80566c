// One broken constraint a case; names say which.
// RUN: pw-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expected a mesh axis to have a name}}
sdy.mesh @mesh_c1 = <[""=2]>
// -----
// expected-error@+1 {{mesh axis "x" is named twice}}
sdy.mesh @mesh_c1_twice = <["x"=2, "x"=2]>
// -----
// expected-error@+1 {{expected a positive size of mesh axis "x", got 0}}
sdy.mesh @mesh_c2 = <["x"=0]>
// -----
// expected-error@+1 {{mesh has more than 16777216 devices}}
sdy.mesh @mesh_c2_large = <["x"=16777216, "y"=2]>
// -----
// expected-error@+1 {{expected a device number for each of 2 devices, got 1}}
sdy.mesh @mesh_c3 = <["x"=2], device_ids=[0]>
// -----
// expected-error@+1 {{device number 1 is given twice}}
sdy.mesh @mesh_c3_twice = <["x"=2], device_ids=[1, 1]>
// -----
// expected-error@+1 {{expected device numbers of at least 0 and less than the number of devices, got 2}}
sdy.mesh @mesh_c3_range = <["x"=2], device_ids=[0, 2]>
// -----
// expected-error@+1 {{expected device numbers of at least 0, got -1}}
sdy.mesh @mesh_c3_maximal = <[], device_ids=[-1]>
// -----

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expected an axis to have a name}}
func.func private @axis_ref_c1() attributes {test.a = #sdy.sharding<@mesh, [{""}]>}
// -----
// expected-error@+1 {{expected a positive size before a part of an axis, and a part of at least 2, got 1 and 1}}
func.func private @axis_ref_c2() attributes {test.a = #sdy.sharding<@mesh, [{"x":(1)1}]>}
// -----
// expected-error@+1 {{axis "x" is used twice in a sharding}}
func.func private @sharding_c1() attributes {test.a = #sdy.sharding<@mesh, [{"x"}, {"x"}]>}
// -----
// expected-error@+1 {{axis "x" is used twice in a sharding}}
func.func private @sharding_c1_parts() attributes {test.a = #sdy.sharding<@mesh, [{"x":(1)4}], replicated={"x":(2)4}>}
// -----
// expected-error@+1 {{expected part (1)3 to divide axis "x" of size 4}}
func.func private @sharding_c2() attributes {test.a = #sdy.sharding<mesh<["x"=4]>, [{"x":(1)3}]>}
// -----
// expected-error@+1 {{mesh #sdy.mesh<["x"=4]> has no axis "y"}}
func.func private @sharding_c2_axis() attributes {test.a = #sdy.sharding<mesh<["x"=4]>, [{"y"}]>}
// -----
// expected-error@+1 {{expected a priority such as p1, got q1}}
func.func private @priority() attributes {test.a = #sdy.sharding<@mesh, [{"x"}q1]>}
// -----
// expected-error@+1 {{expected } after ?}}
func.func private @open() attributes {test.a = #sdy.sharding<@mesh, [{?, "x"}]>}
// -----
// expected-error@+1 {{expected replicated or unreduced, got copied}}
func.func private @list() attributes {test.a = #sdy.sharding<@mesh, [{"x"}], copied={"y"}>}
// -----
// expected-error@+1 {{manual axis "x" is named twice}}
func.func private @manual_axes_c1() attributes {test.a = #sdy<manual_axes{"x", "x"}>}
// -----
// expected-error@+1 {{expected a mesh named @mesh}}
func.func private @argument(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
// -----
sdy.mesh @mesh = <["x"=2]>
// expected-error@+1 {{expected a sharding of 1 dimensions for 'tensor<8xf32>', got #sdy.sharding<@mesh, [{}, {}]>}}
func.func private @argument_rank(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
// -----
// expected-error@+1 {{expected sdy.sharding to be a sharding, got 1 : i64}}
func.func private @argument_kind(tensor<8xf32> {sdy.sharding = 1})
// -----
sdy.mesh @mesh = <["x"=2]>
// expected-error@+1 {{mesh #sdy.mesh<["x"=2]> has no axis "y"}}
func.func private @result() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})
// -----
sdy.mesh @mesh = <["x"=2]>
func.func @operation(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected a sharding for each of 1 results, got 2}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : tensor<8xf32>
  return
}
// -----
func.func @operation_kind(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected sdy.sharding to be shardings, got "x"}}
  %0 = stablehlo.add %a, %a {sdy.sharding = "x"} : tensor<8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
func.func @sharding_constraint_c1(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected a sharding of 1 dimensions for 'tensor<8xf32>'}}
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<8xf32>
  return
}
// -----
func.func @reshard_c1(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected a mesh named @mesh}}
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>
  return
}
// -----

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @manual_computation_c1(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected a sharding for each of 1 operands and 1 results, got 0 and 1}}
  %0 = sdy.manual_computation(%a) in_shardings=[] out_shardings=[<@mesh, [{}]>] manual_axes={} (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @manual_computation_c2(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected manual axis "z" to be an axis of #sdy.mesh<["x"=2, "y"=2]>}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"z"} (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @other = <["x"=2, "y"=2]>
func.func @manual_computation_c2_mesh(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected the same mesh in all shardings, got @mesh and @other}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[<@other, [{}]>] manual_axes={"x"} (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @manual_computation_c3(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected manual axes before others in a dimension, got #sdy.sharding<@mesh, [{"y", "x"}]>}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y", "x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @manual_computation_c4(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected the region to take ('tensor<4xf32>'), got ('tensor<8xf32>')}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @manual_computation_c4_uneven(%a: tensor<7xf32>) {
  // expected-error@+1 {{expected axis "x" of size 2 to divide dimension 0 of 'tensor<7xf32>'}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%b: tensor<7xf32>) {
    sdy.return %b : tensor<7xf32>
  } : (tensor<7xf32>) -> tensor<7xf32>
  return
}
// -----
func.func @named_computation_c1(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected the region to return ('tensor<8xf32>'), got ()}}
  %0 = sdy.named_computation<"f">(%a) (%b: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
sdy.mesh @mesh = <["x"=2]>
func.func @named_computation_c2(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected a sharding for each operand and result}}
  %0 = sdy.named_computation<"f">(%a) in_shardings=[] (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----

//===----------------------------------------------------------------------===//
// mpmd
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expected a topology to have at least one mesh}}
func.func private @topology_c1() attributes {topology = #mpmd.topology<>}
// -----
// expected-error@+1 {{mesh "m" is in the topology twice}}
func.func private @topology_c2() attributes {topology = #mpmd.topology<<"m": <["x"=2]>>, <"m": <["x"=2]>>>}
// -----
func.func @mpmd_named_computation_c1(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected the region to end with mpmd.return}}
  %0 = mpmd.named_computation<"f"> (%a) (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
func.func @call_c1(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected a function named missing}}
  %0 = mpmd.call @missing(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// -----
func.func @call_c1_types(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected the callee to have the types of operands and results}}
  %0 = mpmd.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// expected-note@+1 {{f is defined here}}
func.func private @f(tensor<4xf32>) -> tensor<8xf32>
