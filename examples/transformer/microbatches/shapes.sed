# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes of the functions for 4 pieces of text those for one: 128 rows in place of 512.
s/tensor<512x/tensor<128x/g
s/tensor<3x512x/tensor<3x128x/g
s/4x128x4x64xf32/1x128x4x64xf32/g
s/4x4x128x128xf32/1x4x128x128xf32/g
s/4x4x128xf32/1x4x128xf32/g
s/<4x128x\(i8\|i32\|1xi32\|256xf32\)>/<1x128x\1>/g
s/\[3, 4, 128, 4, 64\]/[3, 1, 128, 4, 64]/g
s/\[1, 4, 128, 4, 64\]/[1, 1, 128, 4, 64]/g
s/\[4, 128, \(1\|256\)\]/[1, 128, \1]/g
s/\[4, 128, 4, 64\]/[1, 128, 4, 64]/g
