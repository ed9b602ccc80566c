// Values of many arguments and results in one file, as numpy.savez writes it.
// REQUIRES: pw-run
// RUN: rm -rf %t && mkdir %t
// RUN: pw-run %s --topology=1x1x1 --input=x=1,2,3 --input=y=ramp --output=@%t/out.npz | FileCheck %s --check-prefix=QUIET
// QUIET-NOT: sum
// QUIET: [SUCCESS] 1 step
// RUN: pw-run %s --topology=1x1x1 --input=x=1,2,3 --input=y=ramp --output=@%t/again.npz --output=sum=@%t/sum.npy
// RUN: cmp %t/out.npz %t/again.npz
// RUN: %python -c "import zipfile, sys; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print([(i.filename, i.date_time, i.compress_type) for i in z.infolist()]); assert z.read('sum.npy') == open(sys.argv[2], 'rb').read()" %t/out.npz %t/sum.npy | FileCheck %s --check-prefix=ZIP
// ZIP: [('sum.npy', (1980, 1, 1, 0, 0, 0), 0), ('twice.npy', (1980, 1, 1, 0, 0, 0), 0)]

// Deflated members, with names and positions as keys.
// RUN: %python -c "import zipfile, sys; z = zipfile.ZipFile(sys.argv[1]); o = zipfile.ZipFile(sys.argv[2], 'w', zipfile.ZIP_DEFLATED); o.writestr('arr_0.npy', z.read('sum.npy')); o.writestr('y.npy', z.read('twice.npy'))" %t/out.npz %t/in.npz
// RUN: pw-run %s --topology=1x1x1 --input=@%t/in.npz | FileCheck %s --check-prefix=DEFLATED
// DEFLATED: sum: 3xf32 = [3, 7, 11]
// DEFLATED: twice: 3xf32 = [2, 6, 10]
// RUN: pw-run %s --topology=1x1x1 --input=@%t/in.npz --input=y=1 | FileCheck %s --check-prefix=REPLACED
// REPLACED: sum: 3xf32 = [2, 4, 6]

// RUN: pw-run %s --topology=1x1x1 --input=x=1,2,3 --input=y=ramp --expected=@%t/out.npz | FileCheck %s --check-prefix=EXPECTED
// EXPECTED: [SUCCESS] 1 step, 2 results as expected
// RUN: not pw-run %s --topology=1x1x1 --input=x=1,2,3 --input=y=1 --expected=@%t/out.npz | FileCheck %s --check-prefix=FAILED
// FAILED: [FAILED] sum[0]: got 2, expected 1

// RUN: not pw-run %s --topology=1x1x1 --input=@%t/out.npz 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: pw-run: error: {{.*}}out.npz: the program has no input 'sum'{{.*}} [PW5111]
// RUN: cp %t/out.npz %t/bad.npz && %python -c "import sys; f = open(sys.argv[1], 'r+b'); f.seek(166); f.write(b'!')" %t/bad.npz
// RUN: not pw-run %s --topology=1x1x1 --input=x=1 --input=y=1 --expected=@%t/bad.npz 2>&1 | FileCheck %s --check-prefix=CRC
// CRC: pw-run: error: expected value of result 'sum': {{.*}}bad.npz: 'sum': the archive is damaged: its CRC-32 is {{[0-9]+}}, expected {{[0-9]+}} [PW5111]
// RUN: not pw-run %s --topology=1x1x1 --input=@%t/in.npz --output=@%t/in.npz 2>&1 | FileCheck %s --check-prefix=CLAIM
// CLAIM: would be written by --output=@{{.*}}, but is read as --input=@
// RUN: not pw-run %s --topology=1x1x1 --input=x=1 --output=@%t/none/out.npz 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: cannot write '{{.*}}none/out.npz'

func.func public @main(%arg0: tensor<3xf32> loc("x"), %arg1: tensor<3xf32> loc("y"))
    -> (tensor<3xf32> {jax.result_info = "sum"}, tensor<3xf32> {jax.result_info = "twice"}) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<3xf32>
  %1 = stablehlo.add %arg0, %arg0 : tensor<3xf32>
  %2 = stablehlo.constant dense<3.0> : tensor<3xf32>
  check.expect_almost_eq_const %2, dense<3.0> : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
