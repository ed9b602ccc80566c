// A convolution with bias and activation, and pooling behind it: the same bits on
// one device, with images cut over devices, in a simulation and in processes.

// DEFINE: %{in} = --input=x=random:1 --input=w=random:2 --input=b=random:3
// RUN: pw-run %s --topology=1x1x1 --mesh=s:data=1 %{in} --output=y=@%t.y.npy
// DEFINE: %{same} = --expected=y=@%t.y.npy --rtol=0 --atol=0
// RUN: pw-run %s --topology=1x2x2 %{in} %{same}
// RUN: pw-run %s --topology=1x2x2 --mesh=s:data=2 %{in} %{same}
// RUN: pw-run %s --topology=1x2x2 --world=sim --seed=5 %{in} %{same}
// RUN: pw-run %s --topology=1x2x2 --processes %{in} %{same}

pw.slice @s mesh <"data" = 4>

func.func private @layer(%x: tensor<4x9x11x16xf32>, %w: tensor<3x3x16x24xf32>, %b: tensor<24xf32>) -> tensor<4x4x5x24xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<4x9x11x16xf32> to tensor<4x11x13x16xf32>
  %e = tensor.empty() : tensor<4x9x11x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x9x11x24xf32>) -> tensor<4x9x11x24xf32>
  %c = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<4x11x13x16xf32>, tensor<3x3x16x24xf32>) outs(%f : tensor<4x9x11x24xf32>) -> tensor<4x9x11x24xf32>
  %bias = linalg.broadcast ins(%b : tensor<24xf32>) outs(%e : tensor<4x9x11x24xf32>) dimensions = [0, 1, 2]
  %sum = arith.addf %c, %bias : tensor<4x9x11x24xf32>
  %zeros = arith.constant dense<0.0> : tensor<4x9x11x24xf32>
  %relu = arith.maximumf %sum, %zeros : tensor<4x9x11x24xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %lowest = arith.constant dense<0xFF800000> : tensor<4x4x5x24xf32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%relu, %window : tensor<4x9x11x24xf32>, tensor<2x2xf32>) outs(%lowest : tensor<4x4x5x24xf32>) -> tensor<4x4x5x24xf32>
  return %r : tensor<4x4x5x24xf32>
}

pw.program @p(%x: !pw.array<4x9x11x16xf32, @s, [{"data"}, {}, {}, {}]>, %w: !pw.array<3x3x16x24xf32, @s, [{}, {}, {}, {}]>,
              %b: !pw.array<24xf32, @s, [{}]>)
    -> (!pw.array<4x4x5x24xf32, @s, [{"data"}, {}, {}, {}]> {pw.name = "y"}) {
  %y = pw.call @layer(%x, %w, %b)
      : (!pw.array<4x9x11x16xf32, @s, [{"data"}, {}, {}, {}]>, !pw.array<3x3x16x24xf32, @s, [{}, {}, {}, {}]>, !pw.array<24xf32, @s, [{}]>)
      -> !pw.array<4x4x5x24xf32, @s, [{"data"}, {}, {}, {}]>
  pw.return %y : !pw.array<4x4x5x24xf32, @s, [{"data"}, {}, {}, {}]>
}
