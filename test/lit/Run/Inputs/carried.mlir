// Two arguments that are carried, the first in place.

pw.slice @s mesh <"d" = 2>
func.func private @update(%a: tensor<8xf32>) -> tensor<8xf32> attributes {pw.local_view} {
  %0 = arith.addf %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @difference(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32>
    attributes {pw.local_view} {
  %0 = arith.subf %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}
!array = !pw.array<16xf32, @s, [{"d"}]>
pw.program @steps(%a: !array {pw.carried = 0 : i64}, %b: !array {pw.carried = 1 : i64})
    -> (!array, !array, !array) {
  %0 = pw.call @update(%a) donate(%a) : (!array) -> !array
  %1 = pw.call @update(%b) : (!array) -> !array
  %2 = pw.call @difference(%b, %1) : (!array, !array) -> !array
  pw.return %0, %1, %2 : !array, !array, !array
}
