// Serialized programs are refused by name.
// RUN: not pw-opt %s 2>&1 | FileCheck %s
// CHECK: vhlo.mlir: error: expected StableHLO text, got VHLO; print the program as StableHLO text, for example by as_text() of JAX

vhlo.func_v1 @main() -> () {
  "vhlo.return_v1"() : () -> ()
}
