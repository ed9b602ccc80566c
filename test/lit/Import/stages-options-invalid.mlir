// Options for stages that do not fit the module.
// RUN: not pw-opt %s --pw-import-program="assign=layr=s0" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: the option 'assign' names 'layr', but no function that is called, named computation or named tensor has this name; the nearest is 'layer' [PW1321]
// RUN: not pw-opt %s --pw-import-program="assign=layer" 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: expected NAME=SLICE or NAME=SLICE:LABEL in the option 'assign', got 'layer' [PW1321]
// RUN: not pw-opt %s --pw-import-program="assign=layer=s0:" 2>&1 | FileCheck %s --check-prefix=NOLABEL
// NOLABEL: error: expected NAME=SLICE or NAME=SLICE:LABEL in the option 'assign', got 'layer=s0:' [PW1321]
// RUN: not pw-opt %s --pw-import-program="assign=layer=s0,layer=s1:B" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: the option 'assign' has 'layer' twice, for slice 's0' and slice 's1' with label 'B' [PW1321]
// RUN: not pw-opt %s --pw-import-program="assign=layer=s2 slices=s0,s1" 2>&1 | FileCheck %s --check-prefix=UNDECLARED
// UNDECLARED: error: slice 's2' is not declared; the nearest is 's0' [PW1321]
// RUN: not pw-opt %s --pw-import-program="slices=s0,s0:1" 2>&1 | FileCheck %s --check-prefix=DECLARED
// DECLARED: error: slice 's0' is declared twice [PW1321]
// RUN: not pw-opt %s --pw-import-program="slices=s0:x" 2>&1 | FileCheck %s --check-prefix=ISLAND
// ISLAND: error: expected slice 's0' in the option 'slices' to have the number of an island, or FIRST-LAST, got 'x' [PW1321]
// RUN: not pw-opt %s --pw-import-program="slices=s0," 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: expected a slice in the option 'slices' to have 1 to 64 letters, digits, '_', '-' or '.', got '' [PW1321]

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @layer(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @layer(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
