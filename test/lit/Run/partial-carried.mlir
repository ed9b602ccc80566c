// Arrays that are carried as contributions: what a launch begins with is counted
// once, each step adds to what a shard has, and who reads the array combines that.

// DEFINE: %{sums} = --program=sums --steps=3 --input=x=ramp --input=dy=ramp --input=more=ramp --input=acc=ramp --rtol=0 --atol=0
// RUN: pw-run %s %{sums} --mesh=s:data=1,model=1 --topology=1x1x1 --output=acc=@%t.acc.npy --output=trail=@%t.trail.npy
// DEFINE: %{same} = --expected=acc=@%t.acc.npy --expected=trail=@%t.trail.npy
// RUN: pw-run %s %{sums} --topology=1x1x4 %{same}
// RUN: pw-run %s %{sums} --topology=1x2x2 --world=sim %{same}
// RUN: pw-run %s %{sums} --topology=1x2x2 --processes %{same}
// RUN: pw-run %s %{sums} --mesh=s:data=3,model=1 --topology=1x3x1 %{same}
// RUN: pw-run %s %{sums} --mesh=s:data=4,model=2 --topology=1x2x4 %{same}

// DEFINE: %{kinds} = --program=kinds --steps=2 --input=x=ramp --input=n=ramp --input=h=ramp --input=b=zeros --input=max=-100,3,40 --input=min=3,-1,50 --input=mul=1,-2,3 --input=add=1,2,3 --input=any=1,0,0
// DEFINE: %{combined} = --expected=max=21,22,40 --expected=min=0,-1,2 --expected=mul=4,-8,12 --expected=add=169,186,203 --expected=any=1,0,0 --rtol=0 --atol=0
// RUN: pw-run %s %{kinds} --mesh=s:data=1,model=1 --topology=1x1x1 %{combined}
// RUN: pw-run %s %{kinds} --topology=1x1x4 %{combined}
// RUN: pw-run %s %{kinds} --mesh=s:data=4,model=1 --topology=1x2x2 %{combined}

// What is fed and fetched as it is keeps its bits: whoever has nothing to
// contribute changes nothing.
// RUN: pw-run %s --program=pass --topology=1x1x4 --input=x=-0.0,inf,-inf,0.0,1e-40 --input=y=-128,127,0 --output=x=- --output=y=- | FileCheck %s --check-prefix=PASS
// PASS: x: 5xf32 = [-0, inf, -inf, 0, 1e-40]
// PASS: y: 3xi8 = [-128, 127, 0]

// No step communicates.
// RUN: pw-run %s --program=sums --mesh=s:data=4,model=1 --topology=1x1x4 --compile-only --emit-plan-text=- | FileCheck %s --check-prefix=PLAN
// RUN: pw-run %s --program=kinds --topology=1x1x4 --compile-only --emit-plan-text=- | FileCheck %s --check-prefix=PLAN
// PLAN: partial
// PLAN-NOT: plan.collective
// A program that gives the sum has one all-reduce.
// RUN: pw-run %s --program=whole --topology=1x1x4 --compile-only --emit-plan-text=- | FileCheck %s --check-prefix=WHOLE
// WHOLE-COUNT-1: plan.collective
// WHOLE-NOT: plan.collective
// RUN: pw-run %s --program=whole --topology=1x1x4 --input=acc=1,2,3 --expected=sum=1,2,3 --rtol=0 --atol=0

// Nothing at all, a scalar, each step's own, and what a loop adds to.
// DEFINE: %{odd} = --program=odd --steps=2 --input=none=zeros --input=scalar=2 --input=half=ramp --input=sum=1,2,3 --input=w=10,20,30 --expected=none=zeros --expected=scalar=18 --expected=half=ramp --expected=sum=7,8,9 --expected=rest=6,15,24 --rtol=0 --atol=0
// RUN: pw-run %s %{odd} --topology=1x1x4
// RUN: pw-run %s %{odd} --topology=1x2x2 --processes

pw.slice @s mesh <"data" = 2, "model" = 2>

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A gradient is added to what there is, and a product starts from it.
func.func private @gradient(%acc: tensor<5x3xf32>, %x: tensor<12x5xf32>, %dy: tensor<12x3xf32>, %more: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %zero = arith.constant dense<0.0> : tensor<5x3xf32>
  %half = arith.constant dense<0.5> : tensor<5x3xf32>
  %g = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%x, %dy : tensor<12x5xf32>, tensor<12x3xf32>) outs(%zero : tensor<5x3xf32>) -> tensor<5x3xf32>
  %scaled = arith.mulf %g, %half : tensor<5x3xf32>
  %a = arith.addf %acc, %scaled : tensor<5x3xf32>
  %b = linalg.matmul indexing_maps = [#km, #kn, #mn]
      ins(%x, %dy : tensor<12x5xf32>, tensor<12x3xf32>) outs(%a : tensor<5x3xf32>) -> tensor<5x3xf32>
  // Not a contribution, but whole: it counts once.
  %c = arith.addf %b, %more : tensor<5x3xf32>
  %d = arith.addf %c, %half : tensor<5x3xf32>
  return %d : tensor<5x3xf32>
}
!acc = !pw.array<5x3xf32, @s, [{"model"}, {}] partial add {"data"}>
!x = !pw.array<12x5xf32, @s, [{"data"}, {"model"}]>
!dy = !pw.array<12x3xf32, @s, [{"data"}, {}]>
!more = !pw.array<5x3xf32, @s, [{"model"}, {}]>
pw.program @sums(%x: !x {pw.stepped}, %dy: !dy {pw.stepped}, %more: !more, %acc: !acc {pw.carried = 0 : i64})
    -> (!acc {pw.name = "acc"}, !acc {pw.name = "trail", pw.stepped}) {
  %0 = pw.call @gradient(%acc, %x, %dy, %more) donate(%acc) : (!acc, !x, !dy, !more) -> !acc
  pw.return %0, %0 : !acc, !acc
}

func.func private @combine(%x: tensor<8x3xf32>, %n: tensor<8x3xi32>, %h: tensor<8x3xf16>, %b: tensor<8x3xi1>,
                         %max: tensor<3xf32>, %min: tensor<3xi32>, %mul: tensor<3xi64>, %add: tensor<3xf16>, %any: tensor<3xi1>)
    -> (tensor<3xf32>, tensor<3xi32>, tensor<3xi64>, tensor<3xf16>, tensor<3xi1>) {
  %low = arith.constant dense<0xFF800000> : tensor<3xf32>
  %most = linalg.reduce { arith.maximumf } ins(%x : tensor<8x3xf32>) outs(%low : tensor<3xf32>) dimensions = [0]
  %max1 = arith.maximumf %max, %most : tensor<3xf32>
  %min1 = linalg.reduce { arith.minsi } ins(%n : tensor<8x3xi32>) outs(%min : tensor<3xi32>) dimensions = [0]
  %two = arith.constant dense<2> : tensor<3xi64>
  %mul1 = arith.muli %mul, %two : tensor<3xi64>
  %zero = arith.constant dense<0.0> : tensor<3xf16>
  %sum = linalg.reduce { arith.addf } ins(%h : tensor<8x3xf16>) outs(%zero : tensor<3xf16>) dimensions = [0]
  %add1 = arith.addf %add, %sum : tensor<3xf16>
  %false = arith.constant dense<false> : tensor<3xi1>
  %or = linalg.reduce { arith.ori } ins(%b : tensor<8x3xi1>) outs(%false : tensor<3xi1>) dimensions = [0]
  %any1 = arith.ori %any, %or : tensor<3xi1>
  return %max1, %min1, %mul1, %add1, %any1 : tensor<3xf32>, tensor<3xi32>, tensor<3xi64>, tensor<3xf16>, tensor<3xi1>
}
!max = !pw.array<3xf32, @s, [{}] partial max {"data"}>
!min = !pw.array<3xi32, @s, [{}] partial min {"data"}>
!mul = !pw.array<3xi64, @s, [{}] partial mul {"data", "model"}>
!add = !pw.array<3xf16, @s, [{}] partial add {"data"}>
!any = !pw.array<3xi1, @s, [{}] partial max {"data"}>
!xs = !pw.array<8x3xf32, @s, [{"data"}, {}]>
!ns = !pw.array<8x3xi32, @s, [{"data"}, {}]>
!hs = !pw.array<8x3xf16, @s, [{"data"}, {}]>
!bs = !pw.array<8x3xi1, @s, [{"data"}, {}]>
pw.program @kinds(%x: !xs, %n: !ns, %h: !hs, %b: !bs,
                  %max: !max {pw.carried = 0 : i64}, %min: !min {pw.carried = 1 : i64}, %mul: !mul {pw.carried = 2 : i64},
                  %add: !add {pw.carried = 3 : i64}, %any: !any {pw.carried = 4 : i64})
    -> (!max {pw.name = "max"}, !min {pw.name = "min"}, !mul {pw.name = "mul"}, !add {pw.name = "add"}, !any {pw.name = "any"}) {
  %0:5 = pw.call @combine(%x, %n, %h, %b, %max, %min, %mul, %add, %any) donate(%max, %min, %mul, %add, %any)
      : (!xs, !ns, !hs, !bs, !max, !min, !mul, !add, !any) -> (!max, !min, !mul, !add, !any)
  pw.return %0#0, %0#1, %0#2, %0#3, %0#4 : !max, !min, !mul, !add, !any
}

!px = !pw.array<5xf32, @s, [{"model"}] partial add {"data"}>
!py = !pw.array<3xi8, @s, [{}] partial min {"model", "data"}>
pw.program @pass(%x: !px {pw.carried = 0 : i64}, %y: !py) -> (!px {pw.name = "x"}, !py {pw.name = "y"}) {
  pw.return %x, %y : !px, !py
}

!sum = !pw.array<3xf32, @s, [{}] partial add {"data", "model"}>
pw.program @whole(%acc: !sum) -> (!pw.array<3xf32, @s, [{}]> {pw.name = "sum"}) {
  %0 = pw.reshard %acc : !sum -> !pw.array<3xf32, @s, [{}]>
  pw.return %0 : !pw.array<3xf32, @s, [{}]>
}

func.func private @triple(%x: tensor<f64>) -> tensor<f64> {
  %three = arith.constant dense<3.0> : tensor<f64>
  %y = arith.mulf %x, %three : tensor<f64>
  return %y : tensor<f64>
}
func.func private @loop(%a: tensor<3xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %ones = arith.constant dense<1.0> : tensor<3xf32>
  %r = scf.for %i = %zero to %three step %one iter_args(%t = %a) -> tensor<3xf32> {
    %next = arith.addf %t, %ones : tensor<3xf32>
    scf.yield %next : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
func.func private @rest(%a: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %r = arith.subf %w, %a : tensor<3xf32>
  return %r : tensor<3xf32>
}
!none = !pw.array<0x3xf32, @s, [{"model"}, {}] partial add {"data"}>
!scalar = !pw.array<f64, @s, [] partial mul {"data", "model"}>
!half = !pw.array<3xbf16, @s, [{}] partial min {"data"}>
!w = !pw.array<3xf32, @s, [{}]>
pw.program @odd(%none: !none {pw.carried = 0 : i64}, %scalar: !scalar {pw.carried = 1 : i64}, %half: !half {pw.stepped},
                %sum: !sum {pw.carried = 3 : i64}, %w: !w)
    -> (!none {pw.name = "none"}, !scalar {pw.name = "scalar"}, !half {pw.name = "half", pw.stepped}, !sum {pw.name = "sum"}, !sum {pw.name = "rest"}) {
  %0 = pw.call @triple(%scalar) donate(%scalar) : (!scalar) -> !scalar
  %1 = pw.call @loop(%sum) : (!sum) -> !sum
  %2 = pw.call @rest(%sum, %w) : (!sum, !w) -> !sum
  pw.return %none, %0, %half, %1, %2 : !none, !scalar, !half, !sum, !sum
}
