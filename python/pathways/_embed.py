# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts of StableHLO as functions of another module.

The functions, and the aliases of locations and attributes, get names of their own. The
text is not understood beyond that: what is wrong in it, the compiler says.
"""

from __future__ import annotations

import re

from ._errors import InvalidArgument
from ._stablehlo import Module, Type

_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = r"//[^\n]*"
_SYMBOL = re.compile(rf"({_STRING})|{_COMMENT}|@([A-Za-z_][\w.$-]*|{_STRING})")
_ALIAS = re.compile(rf"({_STRING})|#([A-Za-z_][\w]*)(?![\w.<])")
_ALIAS_LINE = re.compile(r"^#[A-Za-z_]\w* = .*$", re.MULTILINE)
_MAIN = re.compile(r"func\.func\s+(?:public\s+)?@main\s*\(")
_FUNCTION = re.compile(r"func\.func\s+(?:public\s+|private\s+)?@([A-Za-z_][\w.$-]*)")
_TENSOR = re.compile(r"tensor<((?:\d+x)*)([a-z]+\d+)>")
_OPEN, _CLOSE = "([{<", ")]}>"


class Embedded:
    """A function that a text has, as an operand of Function.call, and the text."""

    is_public = False

    def __init__(
        self, name: str, arguments: list[Type], results: list[Type], text: str
    ) -> None:
        self.name, self.argument_types, self.result_types = name, arguments, results
        self._text = text

    def text(self) -> str:
        return self._text


def is_pw_dialect(text: str) -> bool:
    """True for a text in the `pw` dialect, which is a whole program."""
    return re.search(r"^\s*\"?pw\.program\b", _bare(text), re.MULTILINE) is not None


def _bare(text: str) -> str:
    return re.sub(rf"{_STRING}|{_COMMENT}", lambda m: '""' if m[0][0] == '"' else "", text)


def _closing(text: str, start: int) -> int:
    """Returns the position of the bracket that closes the one at `start`."""
    depth, i = 0, start
    while i < len(text):
        c = text[i]
        if c == '"':
            found = re.compile(_STRING).match(text, i)
            i = found.end() if found else len(text)
            continue
        if text.startswith("//", i):
            i = text.find("\n", i)
            if i < 0:
                break
        elif c == "-" and text.startswith("->", i):
            i += 1
        elif c in _OPEN:
            depth += 1
        elif c in _CLOSE:
            depth -= 1
            if depth == 0:
                return i
        i += 1
    raise InvalidArgument("the text has a bracket that nothing closes")


def _types(text: str, what: str) -> list[Type]:
    """Returns the types of a list of arguments or results, without what is in braces."""
    plain, i = "", 0
    bare = _bare(text)
    while i < len(bare):
        if bare[i] == "{":
            i = _closing(bare, i)
        elif bare.startswith("loc(", i):
            i = _closing(bare, i + 3)
        else:
            plain += bare[i]
        i += 1
    types, depth, parts = [], 0, [""]
    for c in plain:
        depth += (c in "<(") - (c in ">)")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    for part in parts:
        if not part.strip():
            continue
        found = _TENSOR.search(part)
        if found is None:
            raise InvalidArgument(
                f"{what} {part.strip()!r} of @main is not a tensor of fixed shape"
            )
        shape = tuple(int(n) for n in found[1].split("x") if n)
        types.append(Type(shape, found[2]))
    return types


def signature(text: str) -> tuple[list[Type], list[Type]]:
    """Returns the types of the arguments and results of @main."""
    found = _MAIN.search(text)
    if found is None:
        raise InvalidArgument("the text has no function 'func.func public @main'")
    start = found.end() - 1
    end = _closing(text, start)
    arguments = _types(text[start + 1 : end], "argument")
    rest = text[end + 1 :]
    arrow = re.match(r"\s*->\s*", rest)
    if arrow is None:
        return arguments, []
    rest = rest[arrow.end() :]
    if rest.startswith("("):
        return arguments, _types(rest[1 : _closing(rest, 0)], "result")
    one = _TENSOR.match(rest)
    if one is None:
        raise InvalidArgument("the result of @main is not a tensor of fixed shape")
    return arguments, _types(one[0], "result")


def embed(module: Module, text: str, name: str) -> Embedded:
    """Adds the functions of a text to a module, and returns the one that was @main."""
    if is_pw_dialect(text):
        raise InvalidArgument(
            f"'{name}' is a program in the pw dialect, and cannot be a part of another "
            "one: load it by itself, pw.compile(text)"
        )
    arguments, results = signature(text)
    if re.search(r"^\s*sdy\.mesh\b", _bare(text), re.MULTILINE):
        raise InvalidArgument(
            f"the text of '{name}' has a mesh of its own: that of a program is made of its "
            "slices, so leave it and its shardings out"
        )
    prefix = f"{name}_{sum(isinstance(f, Embedded) for f in module.functions)}"
    prefix = re.sub(r"\W", "_", prefix)
    body, aliases = _body(text)
    own = set(_FUNCTION.findall(body))

    def rename(match: re.Match[str]) -> str:
        symbol = match[2]
        if symbol is None or symbol not in own:
            return match[0]
        return f"@{prefix}" if symbol == "main" else f"@{prefix}.{symbol}"

    known = {line[1:].split(" ", 1)[0] for line in aliases}

    def rename_alias(match: re.Match[str]) -> str:
        return f"#{prefix}_{match[2]}" if match[2] in known else match[0]

    body = _ALIAS.sub(rename_alias, _SYMBOL.sub(rename, body))
    kind = rf"func\.func\s+(?:public\s+)?(?=@{re.escape(prefix)})"
    body = re.sub(kind, "func.func private ", body)
    for line in aliases:
        module.aliases.append(_ALIAS.sub(rename_alias, line))
    embedded = Embedded(prefix, arguments, results, body)
    module.functions.append(embedded)  # type: ignore[arg-type]
    return embedded


def _body(text: str) -> tuple[str, list[str]]:
    """Returns the functions of a text, and the lines that define aliases."""
    aliases = _ALIAS_LINE.findall(text)
    text = _ALIAS_LINE.sub("", text)
    found = re.search(r"(?:^|\n)\s*module\b", _bare_keeping_length(text))
    if found is None:
        return text, aliases
    brace = found.end()
    while True:
        brace = text.index("{", brace)
        end = _closing(text, brace)
        # The attributes of the module come before its body.
        if not re.search(r"attributes\s*$", text[:brace]):
            return text[brace + 1 : end].strip("\n"), aliases
        brace = end


def _bare_keeping_length(text: str) -> str:
    return re.sub(rf"{_STRING}|{_COMMENT}", lambda m: " " * len(m[0]), text)


