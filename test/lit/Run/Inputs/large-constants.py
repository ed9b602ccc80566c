# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a module of StableHLO with three constants of 64 KiB or more."""

import struct

N = 128
matrix = struct.pack("<16384f", *(i // N + i % N for i in range(N * N))).hex()
mask = ", ".join("true" if i % 3 == 0 else "false" for i in range(80000))
print(f"""module {{
  func.func public @main(%arg0: tensor<128xf32> loc("x"))
      -> (tensor<128xf32> {{jax.result_info = "y"}}, tensor<80000xi1> {{jax.result_info = "z"}},
          tensor<2xi32> {{jax.result_info = "w"}}) {{
    %0 = stablehlo.constant dense<"0x{matrix}"> : tensor<128x128xf32>
    %1 = stablehlo.constant dense<[{mask}]> : tensor<80000xi1>
    %2 = stablehlo.constant dense<"0x{matrix}"> : tensor<16384xi32>
    %3 = stablehlo.dot_general %arg0, %0, contracting_dims = [0] x [1] : (tensor<128xf32>, tensor<128x128xf32>) -> tensor<128xf32>
    %4 = stablehlo.slice %2 [0:2] : (tensor<16384xi32>) -> tensor<2xi32>
    return %3, %1, %4 : tensor<128xf32>, tensor<80000xi1>, tensor<2xi32>
  }}
}}""")
