# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a layer costs on 4,096 devices, in a simulation without kernels and memory."""

import pathways as pw

LAYER = """
sdy.mesh @mesh = <["data"=512, "model"=8]>
func.func public @main(
    %arg0: tensor<65536x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %arg1: tensor<1024x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("w"))
    -> (tensor<65536x4096xf32> {jax.result_info = "y"}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<65536x1024xf32>, tensor<1024x4096xf32>) -> tensor<65536x4096xf32>
  return %0 : tensor<65536x4096xf32>
}
"""

with pw.Session("16x32x8", world="sim", costs_only=True) as s:
    plan = pw.compile(LAYER, topology=s.topology, slices="all:0-15")
    print(f"{len(plan.memory)} devices, {plan.costs().peak_bytes / 2**20:.0f} MiB on each")
    f = s.load(plan)
    run = f.launch(x=pw.f32[65536, 1024], w=pw.f32[1024, 4096], steps=3)
    out = run.wait()
    print(out.y.shape, f"{s.statistics()['steps_done']} steps")
