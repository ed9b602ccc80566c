# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors, a class for each code of the C API."""

from __future__ import annotations

import re


class Error(Exception):
    """A failure that Pathways reports.

    `code` is its kind ("invalid argument"), `id` the entry of docs/errors.md that
    describes it ("PW3101", or "" if there is none).
    """

    code = "internal"

    def __init__(self, message: str = "", *, id: str = "") -> None:
        super().__init__(message)
        self.id = id

    @property
    def message(self) -> str:
        return str(self.args[0]) if self.args else ""

    @property
    def hint(self) -> str:
        """The command that explains the error; "" if it has no id."""
        return f"pw-run --explain={self.id}" if self.id else ""

    def __reduce__(self) -> tuple[object, ...]:
        return _remake, (type(self), self.message, self.id)


def _remake(kind: type[Error], message: str, id: str) -> Error:
    return kind(message, id=id)


class ProgramError(Error):
    """A program that does not compile. The message has a line for each diagnostic."""

    code = "invalid program"

    @property
    def place(self) -> tuple[str, int, int] | None:
        """File, line and column of the first error; None if it has no place."""
        found = _PLACE.search(self.message)
        return (found[1], int(found[2]), int(found[3])) if found else None

    @property
    def file(self) -> str | None:
        """File of the first error. For a traced program it is the user's own."""
        return self.place[0] if self.place else None

    @property
    def line(self) -> int | None:
        """Line of the first error, from 1."""
        return self.place[1] if self.place else None

    @property
    def column(self) -> int | None:
        """Column of the first error, from 1."""
        return self.place[2] if self.place else None


class InvalidArgument(Error, ValueError):
    """An argument that is wrong and always will be."""

    code = "invalid argument"


class NotFound(Error, FileNotFoundError):
    """A file, or a library, that does not exist."""

    code = "not found"


class Unwritable(Error, OSError):
    """A file or folder that cannot be written."""

    code = "unwritable"


class Damaged(Error):
    """A file whose contents are not what was written."""

    code = "damaged"


class Refused(Error):
    """A plan or a launch that does not fit these machines as they are now."""

    code = "refused"


class AlreadyExists(Error, FileExistsError):
    """A name, or a folder, that is taken."""

    code = "already exists"


class RunError(Error):
    """A run that failed. The message is the first cause."""

    code = "run failed"


class InternalError(Error):
    """A bug in Pathways."""

    code = "internal"


class TimedOut(Error, TimeoutError):
    """A wait whose time limit has passed. What it waited for goes on."""

    code = "timed out"


_PLACE = re.compile(r"^(.+?):(\d+):(\d+): error: ", re.MULTILINE)
# The order of pw_code, from 1.
_CLASSES = (
    ProgramError,
    InvalidArgument,
    NotFound,
    Unwritable,
    Damaged,
    Refused,
    AlreadyExists,
    RunError,
    InternalError,
    TimedOut,
)

# Tracebacks show the public names.
for _kind in (Error, *_CLASSES):
    _kind.__module__ = "pathways"


def make_error(code: int, id: str, message: str) -> Error:
    """Returns the exception for an error of the C API."""
    kind = _CLASSES[code - 1] if 1 <= code <= len(_CLASSES) else InternalError
    return kind(message, id=id)


def check_numbers(bits: int = 63, **numbers: float | None) -> None:
    """Raises InvalidArgument for an argument that is a number below 0, or an integer of
    more bits than this."""
    for name, number in numbers.items():
        if not isinstance(number, (int, float)):
            continue
        if number < 0:
            raise InvalidArgument(f"{name} is {number}, expected at least 0")
        if isinstance(number, int) and number.bit_length() > bits:
            raise InvalidArgument(f"{name} is {number}, expected less than 2**{bits}")
