# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time limits."""

from __future__ import annotations

from ._errors import InvalidArgument


def nanoseconds(seconds: float | None) -> int:
    """Returns a time limit in nanoseconds, -1 for None. NaN is an error."""
    if seconds is None:
        return -1
    if not hasattr(seconds, "__float__"):
        raise TypeError(f"a time limit is a number of seconds, not {seconds!r}")
    if seconds != seconds:
        raise InvalidArgument("a time limit is not a number: NaN")
    # 292 years is the longest time that fits.
    return int(max(0.0, min(float(seconds), 9e9)) * 1e9)
