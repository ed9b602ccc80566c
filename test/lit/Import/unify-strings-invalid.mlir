// RUN: pw-opt %s --pw-unify-shardings -split-input-file -verify-diagnostics

// expected-error@+1 {{the frontend attribute 'xla.sdy.meshes' cannot be read: }}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22a\22=]>}"}} {
}

// -----

// expected-error@+1 {{the frontend attribute 'xla.sdy.meshes' has an entry "main", which is the name of something else [PW1303]}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{main = #sdy.mesh<[\22a\22=2]>}"}} {
  func.func public @main() { return }
}

// -----

// expected-error@+1 {{the frontend attribute 'xla.sdy.meshes' has an entry "a" that is no mesh [PW1303]}}
module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{a = 1}"}} {
}

// -----

// expected-error@+1 {{the frontend attribute 'xla.sdy.sharding' cannot be read: it has another kind [PW1303]}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "1"}}) { return }

// -----

// expected-error@+1 {{expected a mesh named @mesh}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{}]>"}}) { return }

// -----

sdy.mesh @mesh = <["a"=2]>
// expected-error@+1 {{expected a sharding of 1 dimensions for 'tensor<8xf32>', got #sdy.sharding<@mesh, [{"a"}, {}]>}}
func.func public @main(%arg0: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22a\22}, {}]>"}}) { return }

// -----

func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'stablehlo.custom_call' op expected the frontend attributes 'xla.sdy.in_shardings' and 'xla.sdy.manual_axes' [PW1303]}}
  %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%arg0) : (tensor<8xf32>) -> tensor<4xf32>
  return %arg0 : tensor<8xf32>
}
