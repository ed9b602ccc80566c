// Topologies whose devices this machine is not. Compiling for them works as far as
// there is a code generator; running is refused before any kernel runs, and
// each message names the device, what it wants and what this machine is.
// DEFINE: %{exits} = %python %S/Inputs/exits.py

// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/Inputs/target.py foreign > %t/foreign.textproto
// RUN: pw-run %s --topology=%t/foreign.textproto --dry-run | FileCheck %s --check-prefix=DRY
// DRY: devices peak bytes
// RUN: pw-run %s --topology=@%t/foreign.textproto --compile-only --emit-plan=%t/foreign.plan \
// RUN:   --explain-kernels | FileCheck %s --check-prefix=CODE
// CODE: kernel calls segments targets object bytes code
// CODE: twice 1 1 2 {{[0-9]+}} compiled
// RUN: %{exits} 4 pw-run %s --topology=%t/foreign.textproto --input=v=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FOREIGN
// RUN: %{exits} 4 pw-run %t/foreign.plan --topology=%t/foreign.textproto --input=v=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FOREIGN
// RUN: %{exits} 4 pw-run %s --topology=%t/foreign.textproto --input=v=1 --world=sim 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FOREIGN
// FOREIGN-NOT: SUCCESS
// FOREIGN: pw-run: error: device left/rack/device1: code for '{{aarch64|x86_64}}-unknown-linux-gnu generic' does not run on this machine, '{{.+}}'

// RUN: %python %S/Inputs/target.py lacking > %t/lacking.textproto
// RUN: pw-run %s --topology=%t/lacking.textproto --dry-run | FileCheck %s --check-prefix=DRY
// RUN: %{exits} 4 pw-run %s --topology=@%t/lacking.textproto --input=v=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LACKING
// LACKING: pw-run: error: device left/rack/device1: code for '{{.+}} [[F:[+][a-z0-9]+]]' does not run on this machine, '{{.+}}', which lacks {{.*}}[[F]]

// What no code can be made for is an error of compiling, once for each device.
// RUN: %python %S/Inputs/target.py 'cpu: "abacus"' > %t/cpu.textproto
// RUN: %{exits} 3 pw-run %s --topology=%t/cpu.textproto --dry-run 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CPU
// CPU:      targets.mlir:[[#]]:1: error: device left/rack/device1: target '{{.+}}' has no CPU called 'abacus'
// CPU-NOT:  error
// RUN: %python %S/Inputs/target.py 'features: "+warp"' > %t/feature.textproto
// RUN: %{exits} 3 pw-run %s --topology=%t/feature.textproto --dry-run 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FEATURE
// FEATURE: error: device left/rack/device1: target '{{.+}}' has no feature '+warp', expected '+' or '-' and a name that it knows
// RUN: %python %S/Inputs/target.py 'triple: "z80-none"' > %t/triple.textproto
// RUN: %{exits} 3 pw-run %s --topology=%t/triple.textproto --dry-run 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TRIPLE
// TRIPLE: error: device left/rack/device1: cannot generate code for target 'z80-none': {{.+}}
// RUN: %python %S/Inputs/target.py 'triple: "nvptx64-nvidia-cuda"' > %t/text.textproto
// RUN: %{exits} 3 pw-run %s --topology=%t/text.textproto --dry-run 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TEXT
// TEXT: error: device left/rack/device1: cannot generate code for target 'nvptx64-nvidia-cuda': it has no format for object files

// What LLVM ends a process for is an error of the body.
// RUN: %python %S/Inputs/target.py 'triple: "amdgcn-amd-amdhsa"' > %t/select.textproto
// RUN: %{exits} 3 pw-run %s --topology=%t/select.textproto --dry-run 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SELECT
// SELECT: targets.mlir:[[#]]:1: error: code generation failed: Cannot select: (node): {{.+}} (Running pass '{{.+}}' on function '{{.+}}')

pw.slice @s mesh <"x" = 2>

func.func private @twice(%v: tensor<4xi32>) -> tensor<4xi32>
    attributes {pw.local_view} {
  %0 = arith.addi %v, %v : tensor<4xi32>
  return %0 : tensor<4xi32>
}

func.func private @half(%v: tensor<4xi32>) -> tensor<4xi32>
    attributes {pw.local_view} {
  %c = arith.constant dense<2> : tensor<4xi32>
  %0 = arith.divsi %v, %c : tensor<4xi32>
  return %0 : tensor<4xi32>
}

pw.program @main(%v: !pw.array<8xi32, @s, [{"x"}]>) -> (!pw.array<8xi32, @s, [{"x"}]>) {
  %0 = pw.call @twice(%v) : (!pw.array<8xi32, @s, [{"x"}]>) -> !pw.array<8xi32, @s, [{"x"}]>
  %1 = pw.call @half(%0) : (!pw.array<8xi32, @s, [{"x"}]>) -> !pw.array<8xi32, @s, [{"x"}]>
  pw.return %1 : !pw.array<8xi32, @s, [{"x"}]>
}
