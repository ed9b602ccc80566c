#!/usr/bin/env python3
# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the reference of the Python package, and writes it.

Usage: python_api.py [--self-test | --fix] [TREE]

docs/python-api.md has the public names of `pathways` and `pathways.torch` with their
signatures and docstrings. Each public class and function has a docstring. Prints one line
per violation and exits with 1 if there is one. With --fix, writes the page. Nothing is
imported: neither the package nor what it needs has to be there.
"""

import ast
import inspect
import pathlib
import sys

PACKAGE = "python/pathways"
PAGE = "docs/python-api.md"
STUBS = "_pathways.pyi"
MODULES = {"pathways": "__init__.py", "pathways.torch": "torch/__init__.py"}
HEAD = """<!-- Written by `ninja python-doc` from the docstrings of python/pathways. -->
# Python API

These are the public names with their docstrings. [Pathways from Python](python.md) and
[for PyTorch users](for-pytorch-users.md) show how they are used. The types of arguments
are in the package, for mypy and editors.
"""


def exported(tree):
    """Returns pairs of a module's path and the name there, as `from .x import A as A`."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.asname and not alias.asname.startswith("_"):
                    yield node.level, node.module or "", alias.name


def signature(node):
    """Returns the parameters without annotations and without self."""
    arguments = ast.parse(ast.unparse(node)).body[0].args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs,
                 arguments.vararg, arguments.kwarg):
        if each is not None:
            each.annotation = None
    for some in (arguments.posonlyargs, arguments.args):
        if some and some[0].arg in ("self", "cls"):
            del some[0]
    return f"({ast.unparse(arguments)})"


def decorators(node):
    return {ast.unparse(each) for each in node.decorator_list}


def doc_of(node):
    text = ast.get_docstring(node, clean=False) or ""
    # What is indented in the docstring of a module is code.
    return text.strip() if isinstance(node, ast.Module) else inspect.cleandoc(text)


def inherited(node, stubs):
    """Returns the public members that a class has from the extension module."""
    bases = {ast.unparse(base) for base in node.bases}
    for each in ast.parse(stubs).body:
        if isinstance(each, ast.ClassDef) and f"_pathways.{each.name}" in bases:
            for member in each.body:
                if isinstance(member, ast.AnnAssign):
                    title = ast.unparse(member.target)
                elif isinstance(member, ast.FunctionDef):
                    property_ = "property" in decorators(member)
                    title = member.name + ("" if property_ else signature(member))
                else:
                    continue
                if not title.startswith("_"):
                    yield f"`{title}`"


def members(node):
    """Yields titles and docstrings of the public members of a class, in their order."""
    for each in node.body:
        if not isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if each.name.startswith("_") or "overload" in decorators(each):
            continue
        kind = decorators(each)
        if kind & {"property", "cached_property"}:
            title = each.name
        elif any(each_kind.endswith(".setter") for each_kind in kind):
            continue
        else:
            wait = "await " if isinstance(each, ast.AsyncFunctionDef) else ""
            title = f"{wait}{each.name}{signature(each)}"
        yield title, doc_of(each)


def constructor(node):
    """Returns the signature of a class, or that of a named tuple."""
    bases = [ast.unparse(base) for base in node.bases]
    if "NamedTuple" in bases:
        fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
        return "(" + ", ".join(
            each.target.id + (f"={ast.unparse(each.value)}" if each.value else "")
            for each in fields) + ")"
    for name in ("__new__", "__init__"):
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name == name:
                return signature(each)
    return ""


def entry(node, found, where, stubs):
    """Yields the Markdown of a name."""
    doc = doc_of(node)
    if not doc:
        found.append(f"{where}: {node.name} has no docstring")
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases
                          if not ast.unparse(base).startswith("_"))
        base = f", a {bases}" if bases and "NamedTuple" not in bases else ""
        yield f"### class {node.name}\n\n`{node.name}{constructor(node)}`{base}\n\n{doc}\n"
        for title, text in members(node):
            yield f"**`{title}`**\n\n{text}\n" if text else f"**`{title}`**\n"
        more = list(inherited(node, stubs))
        if more:
            yield f"Also {', '.join(more)}.\n"
    else:
        yield f"### {node.name}\n\n`{node.name}{signature(node)}`\n\n{doc}\n"


def page_of(read):
    """Returns the page, and violations. `read` returns the text of a file of the package."""
    found, parts = [], [HEAD]
    for module, path in MODULES.items():
        tree = ast.parse(read(path))
        parts.append(f"## {module}\n\n{doc_of(tree)}\n")
        values = []
        for level, source, name in exported(tree):
            folder = pathlib.PurePath(path).parent if level else pathlib.PurePath()
            inside = source if level else source.removeprefix("pathways.")
            where = (folder / inside.replace(".", "/")).as_posix() + ".py"
            nodes = [node for node in ast.parse(read(where)).body
                     if getattr(node, "name", None) == name and "overload" not in decorators(node)]
            if nodes:
                parts += entry(nodes[-1], found, where, read(STUBS))
            else:
                values.append(f"`{name}`")
        if values:
            parts.append(f"### Values\n\n{', '.join(values)}\n")
    return "\n".join(parts), found


def check(read, page):
    expected, found = page_of(read)
    yield from found
    if page != expected:
        yield f"{PAGE} is not what the docstrings say; `ninja python-doc` writes it"


def self_test():
    files = {
        "__init__.py": '"""P."""\nfrom ._a import A as A\nfrom ._a import f as f\n'
                       "from ._a import k as k\nfrom ._a import _g\n",
        STUBS: "class A:\n    s: int\n    def c(self) -> None: ...\n    def _d(self): ...\n",
        "_a.py": 'class A(_pathways.A, ValueError):\n    """An A."""\n'
                 "    def __init__(self, x: int = 1) -> None: ...\n"
                 '    def m(self, *, y: int = 2) -> int:\n        """M."""\n'
                 '    @property\n    def p(self) -> int:\n        """P."""\n'
                 "    def _q(self): ...\n"
                 'def f(a: int, b: str = "c") -> None:\n    """F."""\nk = 1\n',
        "torch/__init__.py": '"""T."""\nfrom pathways.torch._t import N as N\n',
        "torch/_t.py": 'class N(NamedTuple):\n    """An N."""\n    u: int\n    v: int = 3\n',
    }
    page, found = page_of(files.__getitem__)
    wanted = ("`A(x=1)`, a ValueError", "**`m(*, y=2)`**\n\nM.", "**`p`**", "`f(a, b='c')`",
              "### Values\n\n`k`", "`N(u, v=3)`\n\nAn N.",
              "Also `s`, `c()`.")
    failures = [f"missing: {text!r}" for text in wanted if text not in page]
    failures += [f"present: {text}" for text in ("_q", "_g", "_d") if text in page]
    failures += found + list(check(files.__getitem__, page))
    bare = {**files, "_a.py": files["_a.py"].replace('"""F."""', "...")}
    if len(list(check(bare.__getitem__, page))) != 2:
        failures.append("a missing docstring and another page are not found")
    for failure in failures:
        print(failure)
    print(f"{len(failures)} failures")
    return bool(failures)


def main(arguments):
    if arguments[:1] == ["--self-test"]:
        return self_test()
    fixing = arguments[:1] == ["--fix"]
    tree = pathlib.Path(arguments[fixing] if len(arguments) > fixing else ".")

    def read(name):
        return (tree / PACKAGE / name).read_text("utf-8")

    path = tree / PAGE
    if fixing:
        path.write_text(page_of(read)[0], "utf-8")
    found = list(check(read, path.read_text("utf-8") if path.exists() else ""))
    for line in found:
        print(line)
    print(f"{len(found)} violations")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
