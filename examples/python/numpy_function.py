# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function over NumPy, cut over four devices, with the result of NumPy."""

from typing import Any

import numpy as np
import pathways as pw
from sessions import open_session


@pw.computation(on=pw.Slice("d", d=4), split={"x": "d", "w": (None, "d")})
def layer(x: Any, w: Any) -> Any:
    h = np.tanh(x @ w / 8)
    scale = np.sqrt(np.mean(h * h, axis=-1, keepdims=True))
    return {"h": h / scale, "best": np.argmax(h, axis=-1)}


rng = np.random.default_rng(0)
x = rng.normal(size=(32, 64)).astype(np.float32)
w = rng.normal(size=(64, 48)).astype(np.float32)

with open_session("1x2x2"):
    got, want = layer(x, w), layer.function(x, w)
    print(got["h"].shape, got["best"].dtype)
    print("same" if np.allclose(np.asarray(got["h"]), want["h"], atol=1e-5) else "differ")
    print("same" if np.array_equal(np.asarray(got["best"]), want["best"]) else "differ")
