# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads MLIR text in generic form, as pw-opt --mlir-print-op-generic prints it.

`normalize` brings modules to this form, and `parse` makes objects of it.
"""

import re
import subprocess

import numpy as np

import elements

SEPARATOR = "// -----"

SPACE = re.compile(r"(?:\s+|//[^\n]*)*")
NAME = re.compile(r"[A-Za-z_][\w.$-]*")
VALUE = re.compile(r"%[\w.$-]+(?:#\d+)?")
NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)")
TENSOR = re.compile(r"tensor<((?:\d+x)*)([a-z]\w*)>")
SYMBOL = re.compile(r'@(?:"((?:[^"\\]|\\.)*)"|([\w.$-]+))')


class Op:
    """An operation; `regions` are lists of blocks, which have one element each."""

    __slots__ = ("name", "operands", "attrs", "regions", "operand_types", "results",
                 "types")

    def __getitem__(self, name):
        return self.attrs.get(name)


class Block:
    """Arguments with their types, and operations."""

    __slots__ = ("arguments", "types", "ops")


class Type(tuple):
    """A tensor type: the shape and the name of the element type."""

    __slots__ = ()
    shape = property(lambda self: self[0])
    element = property(lambda self: self[1])


class Opaque(str):
    """The text of an attribute or type that is not read further."""


class ParseError(Exception):
    pass


def unescape(text):
    def replace(match):
        code = match.group(1)
        if len(code) == 2:
            return bytes([int(code, 16)])
        return {b"n": b"\n", b"t": b"\t"}.get(code, code)
    return ESCAPE.sub(replace, text.encode()).decode("latin-1")


class Parser:
    """Reads the text from the place `at` on."""

    def __init__(self, text, resources):
        self.text = text
        self.at = 0
        self.aliases = {}
        # Called with the name and type of a resource; returns its elements.
        self.resources = resources

    # Tokens.
    def skip(self):
        self.at = SPACE.match(self.text, self.at).end()

    def peek(self, sign):
        self.skip()
        return self.text.startswith(sign, self.at)

    def accept(self, sign):
        if not self.peek(sign):
            return False
        self.at += len(sign)
        return True

    def expect(self, sign):
        if not self.accept(sign):
            raise ParseError(f"expected {sign!r} at {self.text[self.at:self.at + 60]!r}")

    def match(self, pattern):
        self.skip()
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def need(self, pattern):
        found = self.match(pattern)
        if not found:
            raise ParseError(f"unexpected {self.text[self.at:self.at + 60]!r}")
        return found

    def items(self, close, read):
        """What `read` returns until `close`, separated by commas."""
        result = []
        while not self.accept(close):
            result.append(read())
            self.accept(",")
        return result

    def balanced(self):
        """The text from here to the bracket that closes the one at `at`."""
        start, depth = self.at, 0
        while True:
            sign = self.text[self.at]
            if sign == '"':
                self.at = STRING.match(self.text, self.at).end()
                continue
            if sign in "<([{":
                depth += 1
            elif sign in ">)]}" and self.text[self.at - 1] != "-":
                depth -= 1
            self.at += 1
            if depth == 0:
                return self.text[start:self.at]

    # Types.
    def type(self):
        found = self.match(TENSOR)
        if found:
            return Type((tuple(int(n) for n in found.group(1).split("x")[:-1]),
                         found.group(2)))
        if self.accept("("):
            inputs = self.items(")", self.type)
            self.expect("->")
            return (inputs, self.types())
        self.skip()
        start = self.at
        self.accept("!")
        self.need(NAME)
        if self.text[self.at:self.at + 1] == "<":
            self.balanced()
        return Opaque(self.text[start:self.at])

    def types(self):
        return self.items(")", self.type) if self.accept("(") else [self.type()]

    # Attributes.
    def dictionary(self, close):
        def entry():
            quoted = self.match(STRING)
            name = quoted.group(1) if quoted else self.need(NAME).group()
            return name, self.attribute() if self.accept("=") else True
        return dict(self.items(close, entry))

    def attribute(self):
        self.skip()
        sign = self.text[self.at]
        if sign == "[":
            self.at += 1
            return self.items("]", self.attribute)
        if sign == "{":
            self.at += 1
            return self.dictionary("}")
        if sign == '"':
            text = unescape(self.need(STRING).group(1))
            if self.accept(":"):
                self.type()
            return text
        if sign == "@":
            found = self.need(SYMBOL)
            while self.accept("::"):
                self.need(SYMBOL)
            return found.group(1) or found.group(2)
        if sign == "#":
            start = self.at
            self.at += 1
            name = self.need(NAME).group()
            if self.text[self.at:self.at + 1] == "<":
                self.balanced()
            elif name in self.aliases:
                return self.aliases[name]
            return Opaque(self.text[start:self.at])
        if sign in "-0123456789":
            return self.number()
        for word, value in (("true", True), ("false", False), ("unit", True)):
            if re.match(word + r"\b", self.text[self.at:self.at + 6]):
                self.at += len(word)
                return value
        if self.accept("dense_resource<"):
            name = self.need(re.compile(r'"?([^">]*)"?')).group(1)
            self.expect(">")
            self.expect(":")
            return self.resources(name, self.type())
        if self.accept("dense<"):
            return self.dense()
        if self.accept("array<"):
            element = self.need(NAME).group()
            if not self.accept(":"):
                self.expect(">")
                return []
            return self.items(">", self.attribute) if element else []
        return self.type()

    def number(self):
        text = self.need(NUMBER).group()
        element = self.type() if self.accept(":") else "i64"
        if element.startswith(("f", "bf")):
            return float(elements.from_text(text, element))
        return int(text, 0)

    def dense(self):
        """An array: the signs `dense<` were read."""
        raw = shape = None
        values = []
        if self.peek('"'):
            raw = self.need(STRING).group(1)
        elif not self.peek(">"):
            values, shape = self.literal()
        self.expect(">")
        self.expect(":")
        of = self.type()
        if raw is not None:
            return elements.from_bytes(bytes.fromhex(raw[2:]), of)
        array = np.array([elements.from_text(v, of.element) for v in values],
                         elements.DTYPES[of.element])
        if shape == ():
            return np.broadcast_to(array.reshape(()), of.shape).copy()
        return array.reshape(of.shape)

    def literal(self):
        """The texts of the elements, and the shape of the nested lists."""
        if not self.accept("["):
            word = self.match(re.compile("true|false"))
            return [(word or self.need(NUMBER)).group()], ()
        values, shape, count = [], (), 0
        while not self.accept("]"):
            inner, shape = self.literal()
            values += inner
            count += 1
            self.accept(",")
        return values, (count,) + shape

    # Operations.
    def op(self):
        op = Op()
        op.results, op.attrs, op.regions = [], {}, []
        if self.peek("%"):
            def result():
                name = self.need(VALUE).group()
                if self.accept(":"):
                    count = int(self.need(NUMBER).group())
                    return [f"{name}#{i}" for i in range(count)]
                return [name]
            op.results = sum(self.items("=", result), [])
        op.name = self.need(STRING).group(1)
        self.expect("(")
        op.operands = self.items(")", lambda: self.need(VALUE).group())
        if self.accept("<{"):
            op.attrs.update(self.dictionary("}"))
            self.expect(">")
        if self.accept("("):
            op.regions = self.items(")", self.region)
        if self.accept("{"):
            op.attrs.update(self.dictionary("}"))
        self.expect(":")
        op.operand_types, op.types = self.type()
        return op

    def region(self):
        self.expect("{")
        block = Block()
        block.arguments, block.types, block.ops = [], [], []
        if self.accept("^"):
            self.need(NAME)
            if self.accept("("):
                def argument():
                    block.arguments.append(self.need(VALUE).group())
                    self.expect(":")
                    block.types.append(self.type())
                self.items(")", argument)
            self.expect(":")
        while not self.accept("}"):
            block.ops.append(self.op())
        return block

    def module(self):
        while self.peek("#"):
            self.at += 1
            name = self.need(NAME).group()
            self.expect("=")
            self.aliases[name] = self.attribute()
        return self.op()


def blobs(text):
    """A function from the name and type of a resource to its elements."""
    def get(name, of):
        start = text.rfind("{-#")
        found = re.compile(r'"?' + re.escape(name) + r'"?: "0x').search(text, start)
        end = text.index('"', found.end())
        # The first four bytes are the alignment.
        return elements.from_bytes(bytes.fromhex(text[found.end() + 8:end]), of)
    return get


def parse(text):
    """The builtin.module of `text`, which is in generic form."""
    return Parser(text, blobs(text)).module()


def numbers_of(opaque, name):
    """The list of integers after `name =` in the text of an attribute, or []."""
    found = re.search(r"\b" + name + r" = \[([^\]]*)\]", opaque or "")
    return [int(n) for n in found.group(1).split(",") if n.strip()] if found else []


def number_of(opaque, name, default=0):
    found = re.search(r"\b" + name + r" = (-?\d+)", opaque or "")
    return int(found.group(1)) if found else default


def normalize(pw_opt, texts):
    """The generic forms of modules; raises ParseError with the first error."""
    joined = f"\n{SEPARATOR}\n".join(texts)
    done = subprocess.run([pw_opt, "-split-input-file", "-mlir-print-op-generic", "-"],
                          input=joined, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ParseError(done.stderr.strip()[:2000])
    return done.stdout.split(SEPARATOR + "\n")


def hex_of(array, element):
    """`array` as a dense attribute with its type, all bits kept."""
    data = elements.to_bytes(array, element)
    shape = "".join(f"{size}x" for size in array.shape)
    if array.size == 0:
        return f"dense<> : tensor<{shape}{element}>"
    if element == "i1":
        def nested(part):
            if part.ndim == 0:
                return "true" if part else "false"
            return "[" + ", ".join(nested(row) for row in part) + "]"
        return f"dense<{nested(np.asarray(array))}> : tensor<{shape}{element}>"
    return f'dense<"0x{data.hex().upper()}"> : tensor<{shape}{element}>'

