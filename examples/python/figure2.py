# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figure 2 of the Pathways paper: three computations, each on a slice of two devices."""

from typing import Any

import numpy as np
import pathways as pw
from sessions import open_session

a = pw.computation(lambda v: v * 2.0, on=pw.Slice("sa", x=2))
b = pw.computation(lambda v: v + 1.0, on=pw.Slice("sb", x=2))
c = pw.computation(lambda v: v / 2.0, on=pw.Slice("sc", x=2))


@pw.program
def f(v: Any) -> Any:
    x = a(v)
    y = b(x)
    z = a(c(x))
    return y, z


with open_session("2x1x4"):
    # Traced, compiled and loaded at the first call.
    y, z = f(np.array([1.0, 2.0], np.float32))
    print(np.asarray(y).tolist(), np.asarray(z).tolist())
