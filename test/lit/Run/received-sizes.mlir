// Received arrays of 8 and of 16 bytes take turns in one place. Only the larger one
// uses the second half, so the fetch of the last value there must come before the send
// that fills it in a later step; no edge of the smaller array says so.
// RUN: pw-run %s --topology=1x1x4 --steps=5 --input=x0=1,2,3,4 --input=x1=5,6,7,8 \
// RUN:   --expected=y0=1,2,3,4 --expected=y1=1,2,3,4 --expected=y2=5,6,7,8

pw.slice @s0 mesh <"a" = 1>
pw.slice @s1 mesh <"a" = 2>
func.func private @f0(%p0: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  %r = arith.negf %p0 : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @f3(%p0: tensor<4xf32>) -> tensor<4xf32> attributes {pw.local_view} {
  %r = arith.negf %p0 : tensor<4xf32>
  return %r : tensor<4xf32>
}
pw.program @p(%x0: !pw.array<4xf32, @s1, [{}]>, %x1: !pw.array<4xf32, @s0, [{"a"}]>) -> (!pw.array<4xf32, @s1, [{}]> {pw.name = "y0"}, !pw.array<4xf32, @s1, [{}]> {pw.name = "y1"}, !pw.array<4xf32, @s1, [{}]> {pw.name = "y2"}) {
  %v1 = pw.reshard %x1 : !pw.array<4xf32, @s0, [{"a"}]> -> !pw.array<4xf32, @s1, [{"a"}]>
  %v2 = pw.call @f0(%x0) : (!pw.array<4xf32, @s1, [{}]>) -> !pw.array<4xf32, @s1, [{}]>
  %v3 = pw.reshard %v1 : !pw.array<4xf32, @s1, [{"a"}]> -> !pw.array<4xf32, @s1, [{}]>
  %v6 = pw.call @f3(%v2) donate(%v2) : (!pw.array<4xf32, @s1, [{}]>) -> !pw.array<4xf32, @s1, [{}]>
  %v7 = pw.call @f0(%v2) : (!pw.array<4xf32, @s1, [{}]>) -> !pw.array<4xf32, @s1, [{}]>
  pw.return %v7, %v6, %v3 : !pw.array<4xf32, @s1, [{}]>, !pw.array<4xf32, @s1, [{}]>, !pw.array<4xf32, @s1, [{}]>
}
