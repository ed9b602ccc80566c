// Each mistake in `carry` and `stepped` is an error that has both sides.
// RUN: not pw-opt %s --pw-import-program="carry=0" 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: carry: expected ARGUMENTS:RESULTS, or 'none' alone, got '0' [PW1311]
// RUN: not pw-opt %s --pw-import-program="carry=0:0,none" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: carry: expected ARGUMENTS:RESULTS, or 'none' alone, got 'none' [PW1311]
// RUN: not pw-opt %s --pw-import-program="carry=:0" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: got ':0' [PW1311]

// RUN: not pw-opt %s --pw-import-program="carry=0-1:0-2" 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: carry: '0-1' stands for 2 arguments, but '0-2' for 3 results [PW1311]
// RUN: not pw-opt %s --pw-import-program="carry=state:[0]" 2>&1 | FileCheck %s --check-prefix=NAMES
// NAMES: error: carry: 'state' stands for 2 arguments, but '[0]' for 1 result; no result belongs to 'state['b']' [PW1311]
// RUN: not pw-opt %s --pw-import-program="carry=state['w']:result" 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: carry: 'state['w']' stands for 1 argument, but 'result' for 3 results; no

// RUN: not pw-opt %s --pw-import-program="carry=stat:[0]" 2>&1 | FileCheck %s --check-prefix=NEAR
// NEAR: error: carry: no argument is named 'stat'; did you mean 'state'? [PW1311]
// RUN: not pw-opt %s --pw-import-program="carry=x:lss" 2>&1 | FileCheck %s --check-prefix=NEAR-RESULT
// NEAR-RESULT: error: carry: no result is named 'lss'; did you mean 'loss'? [PW1311]
// RUN: not pw-opt %s --pw-import-program="carry=elephant:[0]" 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: error: carry: no argument is named 'elephant'; there are state['b'], state['w'], x [PW1311]
// RUN: not pw-opt %s --pw-import-program="stepped=y" 2>&1 | FileCheck %s --check-prefix=STEPPED
// STEPPED: error: stepped: no argument is named 'y'

// RUN: not pw-opt %s --pw-import-program="carry=1-3:0-2" 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: carry: there is no argument 3, as '1-3' says; there are 3 arguments [PW1311]
// RUN: not pw-opt %s --pw-import-program="carry=0:99999999999999999999" 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: carry: there is no result 99999999999999999999, as '99999999999999999999' says; there are 3 results [PW1311]
// RUN: not pw-opt %s --pw-import-program="carry=2-0:0-2" 2>&1 | FileCheck %s --check-prefix=BACKWARD
// BACKWARD: error: carry: the range '2-0' ends before it begins [PW1311]

// RUN: not pw-opt %s --pw-import-program="carry=0:0,0:1" 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: error: carry: argument 'state['b']' is named twice, for results 'result[0]['w']' and 'loss' [PW1311]
// RUN: not pw-opt %s --pw-import-program="carry=0-1:0-1,1-2:1-2" 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: error: carry: argument 'state['w']' is named twice, for results 'loss' and 'loss' [PW1311]
// RUN: not pw-opt %s --pw-import-program="carry=0:0,1:0" 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: error: carry: result 'result[0]['w']' is named twice, for arguments 'state['b']' and 'state['w']' [PW1311]

// RUN: not pw-opt %s --pw-import-program="carry=2:2" 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: carry: argument 'x' has type 'tensor<2xf32>', but result 'n', which it takes in the next step, has type 'tensor<2xui32>' [PW1311]
// RUN: not pw-opt %s --pw-import-program="carry=0:0 stepped=x,state" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: stepped: argument 'state['b']' is carried from result 'result[0]['w']', so it has no value for each step [PW1311]
// RUN: not pw-opt %s --pw-import-program="stepped=x,2" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: stepped: 'x' is named twice [PW1311]

func.func public @main(%arg0: tensor<4xf32> loc("state['b']"), %arg1: tensor<4xf32> loc("state['w']"),
                       %arg2: tensor<2xf32> loc("x"))
    -> (tensor<4xf32> {jax.result_info = "result[0]['w']"},
        tensor<4xf32> {jax.result_info = "loss"},
        tensor<2xui32> {jax.result_info = "n"}) {
  %0 = stablehlo.constant dense<1> : tensor<2xui32>
  return %arg0, %arg1, %0 : tensor<4xf32>, tensor<4xf32>, tensor<2xui32>
}
