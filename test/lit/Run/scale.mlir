// One node per sharded computation: tables do not grow with the shards.
// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/Inputs/scale.py pw-run %t | FileCheck %s
// CHECK: scale: same tables
