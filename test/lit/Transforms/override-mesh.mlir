// RUN: pw-opt %s -pw-override-mesh="mesh=s:data=4,model=1,t:x=3" | FileCheck %s
// RUN: pw-opt %s -pw-override-mesh | FileCheck %s --check-prefix=SAME

// CHECK: pw.slice @s mesh <"data" = 4, "model" = 1>
// CHECK: pw.slice @t mesh <"x" = 3, "y" = 5>
// CHECK: pw.slice @u mesh <"x" = 2>
// SAME: pw.slice @s mesh <"data" = 1, "model" = 2>
pw.slice @s mesh <"data" = 1, "model" = 2>
pw.slice @t mesh <"x" = 1, "y" = 5>
pw.slice @u mesh <"x" = 2>
