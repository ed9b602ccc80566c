// RUN: pw-opt %s --pw-lower-chlo --pw-lower-stablehlo -verify-diagnostics

// There is one error for each kind of operation, and for each target of calls.
func.func @refused(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // expected-error@+1 {{custom call @lapack_sgetrf_ffi cannot be compiled (the first of 2): lower for a platform without LAPACK}}
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  %1:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%0#0) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  // expected-error@+1 {{custom call @xla_python_cpu_callback cannot be compiled: a program cannot call Python; return the values instead}}
  %2 = stablehlo.custom_call @xla_python_cpu_callback(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error@+1 {{custom call @my.kernel cannot be compiled}}
  %3 = stablehlo.custom_call @my.kernel(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1#0, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
