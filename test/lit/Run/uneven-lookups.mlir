// A body that looks up an element by three or by four indices: the values are the
// same on one device and where blocks of rows have padding, of which nothing is
// looked up.

// DEFINE: %{in} = --input=x=ramp --input=y=ramp --input=i=0,1,1,0,1
// DEFINE: %{same} = --expected=o=0,7,11,12,19 --expected=u=0,15,23,24,39
// RUN: pw-run %s --topology=1x1x1 --mesh=s:d=1 %{in} %{same}
// RUN: pw-run %s --topology=1x1x2 %{in} %{same}
// RUN: pw-run %s --topology=1x1x3 --mesh=s:d=3 %{in} %{same}
// RUN: pw-run %s --topology=1x1x4 --mesh=s:d=4 %{in} %{same}

pw.slice @s mesh <"d" = 2>
func.func private @look_up(%x: tensor<5x2x2xf32>, %y: tensor<5x2x2x2xf32>, %i: tensor<5xi32>)
    -> (tensor<5xf32>, tensor<5xf32>) {
  %e = tensor.empty() : tensor<5xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%i : tensor<5xi32>) outs(%e, %e : tensor<5xf32>, tensor<5xf32>) {
  ^bb0(%k: i32, %o: f32, %p: f32):
    %a = linalg.index 0 : index
    %b = arith.index_cast %k : i32 to index
    %v = tensor.extract %x[%a, %b, %b] : tensor<5x2x2xf32>
    %w = tensor.extract %y[%a, %b, %b, %b] : tensor<5x2x2x2xf32>
    linalg.yield %v, %w : f32, f32
  } -> (tensor<5xf32>, tensor<5xf32>)
  return %r#0, %r#1 : tensor<5xf32>, tensor<5xf32>
}
!x = !pw.array<5x2x2xf32, @s, [{"d"}, {}, {}]>
!y = !pw.array<5x2x2x2xf32, @s, [{"d"}, {}, {}, {}]>
!i = !pw.array<5xi32, @s, [{"d"}]>
!o = !pw.array<5xf32, @s, [{"d"}]>
pw.program @p(%x: !x, %y: !y, %i: !i) -> (!o {pw.name = "o"}, !o {pw.name = "u"}) {
  %0:2 = pw.call @look_up(%x, %y, %i) : (!x, !y, !i) -> (!o, !o)
  pw.return %0#0, %0#1 : !o, !o
}
