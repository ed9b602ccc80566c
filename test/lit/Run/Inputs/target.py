# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# target.py KIND: prints a cluster of two devices. The first is this machine, the
# second has another processor ("foreign"), a feature that no processor of today
# has ("lacking"), or is described by the text KIND.

import platform
import sys

is_x86 = platform.machine() == "x86_64"
kinds = {
    "foreign": 'triple: "%s-unknown-linux-gnu"' % ("aarch64" if is_x86 else "x86_64"),
    "lacking": 'features: "%s"' % ("+xop" if is_x86 else "+sme2p1"),
}
print('islands { name: "left" hosts { name: "rack" devices {} devices {')
print("  target { %s }" % kinds.get(sys.argv[1], sys.argv[1]))
print("} } }")
