# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches from an event loop: many runs in flight, and none of them blocks the loop."""

import asyncio
from pathlib import Path

import numpy as np
import pathways as pw
from sessions import open_session

PROGRAM = Path(__file__).parents[1] / "golden" / "program.mlir"


async def answer(f: pw.Executable, v: float) -> float:
    """Serves one request."""
    out = await f.launch(v=np.array([v, 0], np.float32))
    return float(np.asarray(out.y)[0])


async def main(s: pw.Session) -> None:
    f = s.load(PROGRAM)
    print(await asyncio.gather(*[answer(f, v) for v in range(8)]))
    endless = f.launch(v=[1, 2], steps=10**9)
    if s.is_simulation:  # whose runs go on only in calls that wait
        return
    try:
        await asyncio.wait_for(endless, timeout=0.01)
    except TimeoutError:
        endless.cancel()
        print("cancelled")


with open_session("2x1x4") as session:
    asyncio.run(main(session))
