# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of tracing, which name a place in the user's code."""

from __future__ import annotations

from pathways._errors import ProgramError
from pathways._stablehlo import Place


class TraceError(ProgramError):
    """A function that cannot be traced. The message begins with the user's place."""

    def __init__(self, message: str, place: Place | None = None, hint: str = "") -> None:
        where = f"{place[0]}:{place[1]}:{place[2]}: error: " if place else ""
        super().__init__(where + message + (f"; {hint}" if hint else ""))
