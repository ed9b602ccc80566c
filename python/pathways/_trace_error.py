# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of functions that are traced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._errors import ProgramError

if TYPE_CHECKING:
    from ._stablehlo import Place


class TraceError(ProgramError):
    """A function that cannot be traced.

    `place` is where in the user's code, if that is known, and `hint` what to write
    instead. Both are part of the message.
    """

    def __init__(self, message: str, place: Place | None = None, hint: str = "") -> None:
        where = f"{place[0]}:{place[1]}:{place[2]}: error: " if place else ""
        super().__init__(where + message + (f"; {hint}" if hint else ""))
        self._parts = (message, place, hint)

    @property
    def place(self) -> Place | None:
        return self._parts[1]

    @property
    def hint(self) -> str:
        return self._parts[2]

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._parts


TraceError.__module__ = "pathways"  # as tracebacks show it
