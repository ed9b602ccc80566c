# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program in MLIR on values of NumPy, and reads where its results are."""

from pathlib import Path

import numpy as np
import pathways as pw
from sessions import open_session

PROGRAM = Path(__file__).parents[1] / "golden" / "program.mlir"

with open_session("2x1x4") as s:
    plan = pw.compile(PROGRAM, topology=s.topology)
    print(plan)
    f = s.load(plan)
    out = f(v=np.array([1, 2], np.float32))  # returns at once
    print(out.y.shape, out.y.dtype)  # known before the run has ended
    print(np.asarray(out.y), np.asarray(out.z))  # waits
    for shard in out.y.shards:
        print(shard.offset, shard.data)
