# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two layers on two islands, and 20 steps that carry the weights from one to the next."""

from typing import Any

import numpy as np
import pathways as pw
from sessions import open_session

front = pw.Slice("front", d=4)
back = pw.Slice("back", d=4, apart_from="front")


@pw.program(on=front, carry=("w", "v"), stepped=("x", "loss"), split={"x": "d"})
def step(w: Any, v: Any, x: Any) -> Any:
    h = np.maximum(x @ w, 0)
    error = h.to(back) @ v - 1  # on the other island
    v_slope = h.to(back).T @ error
    h_slope = (error @ v.to(back).T).to(front) * (h > 0)
    return {"w": w - 0.01 * (x.T @ h_slope), "v": v - 0.01 * v_slope, "loss": np.mean(error**2)}


rng = np.random.default_rng(0)
w, v = rng.normal(size=(8, 16)) / 4, rng.normal(size=(16, 1)) / 4
x = rng.normal(size=(20, 12, 8))

with open_session("2x1x4") as session:
    plan = step.compile(w, v, pw.f64[12, 8], topology=session.topology)
    out = session.load(plan)(w=w, v=v, x=x)
    losses = np.asarray(out.loss)
    print(f"20 steps, loss {losses[0]:.3f} to {losses[-1]:.3f}")
    expected = []
    for batch in x:
        h = np.maximum(batch @ w, 0)
        error = h @ v - 1
        expected.append(np.mean(error**2))
        w, v = w - 0.01 * (batch.T @ (error @ v.T * (h > 0))), v - 0.01 * (h.T @ error)
    print("as NumPy" if np.allclose(losses, expected, rtol=1e-9) else "not as NumPy")
