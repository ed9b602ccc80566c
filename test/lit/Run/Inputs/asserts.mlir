// Fails on the shards whose element is not positive.
pw.slice @s mesh <"d" = 2>
func.func private @check(%x: tensor<1xi32>) -> tensor<1xi32>
    attributes {pw.local_view} {
  %i = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %v = tensor.extract %x[%i] : tensor<1xi32>
  %ok = arith.cmpi sgt, %v, %zero : i32
  cf.assert %ok, "x is positive"
  return %x : tensor<1xi32>
}
pw.program @p(%x: !pw.array<2xi32, @s, [{"d"}]>)
    -> (!pw.array<2xi32, @s, [{"d"}]> {pw.name = "y"}) {
  %0 = pw.call @check(%x)
      : (!pw.array<2xi32, @s, [{"d"}]>) -> !pw.array<2xi32, @s, [{"d"}]>
  pw.return %0 : !pw.array<2xi32, @s, [{"d"}]>
}
