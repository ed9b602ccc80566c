# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with loops, branches and pipelines, for random_loops.py.

A program prints itself in two forms: with these, and unrolled, where only the calls of
the branches and iterations that run are left, in the order of the text.
"""

import copy
import random

# The slice of a type, and how it is cut.
KINDS = {"a": '@s, [{"d"}]', "w": "@s, [{}]", "t": "@t, [{}]", "u": '@u, [{"e"}]'}
SLICES = {"a": "s", "w": "s", "t": "t", "u": "u"}  # in the order of the text
# Parts of arrays of the larger sizes are aligned on each shard.
SIZES = [6, 64, 64, 64, 128, 128]


class Value:
    """An array of the program. `trips` is the leading dimension, or 0 without one."""

    def __init__(self, kind, trips=0):
        self.kind, self.trips = kind, trips


class Printer:
    """The lines of one of the two forms, with the names of values in it."""

    def __init__(self, size, functions, folder):
        self.size, self.functions, self.folder = size, functions, folder
        self.lines, self.names, self.count = [], {}, 0

    def inner(self):
        """A printer for a region, whose names go on."""
        inner = Printer(self.size, self.functions, self.folder)
        inner.names, inner.count = self.names, self.count
        return inner

    def type(self, value):
        if not value.trips:
            return f"!{value.kind}"
        where, cut = KINDS[value.kind].split(", ", 1)
        return f"!pw.array<{value.trips}x{self.size}xf32, {where}, [{{}}, {cut[1:]}>"

    def name(self, value):
        self.count += 1
        self.names[value] = f"%v{self.count}"
        return self.names[value]

    def call(self, function, operands, results, words=""):
        """Adds a call. Operands are names with types, results are values."""
        names = ", ".join(self.name(value) for value in results)
        arguments = ", ".join(name for name, _ in operands)
        types = ", ".join(type_ for _, type_ in operands)
        outs = ", ".join(self.type(value) for value in results)
        self.lines.append(
            f"{names} = pw.call @{function}({arguments}){words} : ({types}) -> ({outs})"
        )

    def of(self, value):
        return self.names[value], self.type(value)

    def region(self, nodes, values):
        """The lines of a region that yields `values`."""
        inner = self.inner()
        for node in nodes:
            node.rolled(inner)
        self.count = inner.count
        return ["  " + line for line in inner.lines] + ["  " + self.yields(values)]

    def yields(self, values):
        pairs = [self.of(value) for value in values]
        return (f"pw.yield {', '.join(n for n, _ in pairs)} : "
                f"{', '.join(t for _, t in pairs)}")


class Call:
    """Elementwise arithmetic. With `counts`, it adds the number of the iteration; with
    `sums`, the sum of all elements. `twice`: there is a second result. `cell` is the
    label of the call, which the text may omit."""

    def __init__(self, operands, factor, counts=False, sums=False, twice=False):
        self.operands, self.factor = operands, factor
        self.counts, self.sums = counts, sums
        self.results = [Value(operands[0].kind) for _ in range(1 + twice)]
        self.label = self.cell = ""
        self.donated, self.recompute = None, False

    @property
    def result(self):
        return self.results[0]

    def function(self, out, number):
        """The name of the function; `number` is the iteration, or None for the op."""
        what = "" if not self.counts else "_n" if number is None else f"_{number}"
        what += ("_sum" if self.sums else "") + ("_twice" if len(self.results) > 1 else "")
        name = f"f{self.factor % 16}_{len(self.operands)}{what}"
        t = f"tensor<{out.size}xf32>"
        lines = [f"%c = arith.constant dense<{self.factor / 4}> : {t}",
                 f"%m = arith.mulf %p0, %c : {t}"]
        last = "%m"
        if len(self.operands) == 2:
            lines.append(f"%d = arith.subf %p1, %m : {t}")
            last = "%d"
        if self.counts:
            lines += [
                "%n = pw.iteration_index : index" if number is None
                else f"%n = arith.constant {number} : index",
                "%i = arith.index_cast %n : index to i32",
                "%f = arith.sitofp %i : i32 to f32",
                f"%s = tensor.splat %f : {t}",
                f"%e = arith.addf {last}, %s : {t}",
            ]
            last = "%e"
        if self.sums:
            lines += [
                "%zero = arith.constant dense<0.0> : tensor<f32>",
                f"%all = linalg.reduce ins({last} : {t}) outs(%zero : tensor<f32>) "
                "dimensions = [0] (%x: f32, %y: f32) {",
                "  %z = arith.addf %x, %y : f32",
                "  linalg.yield %z : f32",
                "}",
                f"%empty = tensor.empty() : {t}",
                f"%same = linalg.broadcast ins(%all : tensor<f32>) outs(%empty : {t}) "
                "dimensions = [0]",
                f"%q = arith.constant dense<{1 / 128}> : {t}",
                f"%r = arith.mulf %same, %q : {t}",
                f"%g = arith.addf {last}, %r : {t}",
            ]
            last = "%g"
        outs = [last]
        if len(self.results) > 1:
            lines.append(f"%o = arith.negf {last} : {t}")
            outs.append("%o")
        types = ", ".join([t] * len(outs))
        parameters = ", ".join(f"%p{i}: {t}" for i in range(len(self.operands)))
        out.functions[name] = (
            f"func.func private @{name}({parameters}) -> ({types}) {{\n  "
            + "\n  ".join(lines) + f"\n  return {', '.join(outs)} : {types}\n}}")
        return name

    def rolled(self, out):
        label = f' label "{self.label}"' if self.label else ""
        self.emit(out, None, label + (" recompute" if self.recompute else ""))

    def unrolled(self, out, number):
        self.emit(out, number, "")

    def emit(self, out, number, words):
        operands = [out.of(value) for value in self.operands]
        if self.donated:
            words = f" donate({out.names[self.donated]})" + words
        out.call(self.function(out, number), operands, self.results, words)


class Move:
    def __init__(self, source, kind):
        self.operands, self.results = [source], [Value(kind)]

    @property
    def result(self):
        return self.results[0]

    def rolled(self, out):
        name, type_ = out.of(self.operands[0])
        out.lines.append(f"{out.name(self.result)} = pw.reshard {name} : {type_} -> "
                         f"{out.type(self.result)}")

    def unrolled(self, out, _):
        self.rolled(out)


class For:
    """A loop. `carried` and `stepped` are pairs of an operand and its argument; a
    stepped one has its direction as well. `yields` are the carried ones, then the
    stacked ones."""

    def __init__(self, trips, carried, stepped, stack_reversed, label=""):
        self.trips, self.carried, self.stepped = trips, carried, stepped
        self.stack_reversed, self.label, self.cell = stack_reversed, label, label
        self.schedule = ""
        self.order = None  # of a file: rows of cells
        self.body, self.yields, self.results = [], [], []

    @property
    def operands(self):
        """All arrays of outside that the loop reads."""
        inside = {argument for _, argument, *_ in self.carried + self.stepped}
        read = [operand for operand, *_ in self.carried + self.stepped]
        for node in self.body:
            read += [value for value in node.operands if value not in inside]
            inside.update(node.results)
        return read

    def finish(self, yields, stacks):
        self.yields = yields + stacks
        self.results = [Value(v.kind) for v in yields]
        self.results += [Value(v.kind, self.trips) for v in stacks]

    def schedule_text(self, out):
        if self.order is None:
            return f' schedule "{self.schedule}"' if self.schedule else ""
        path = out.folder / "order.csv"
        path.write_text("".join(
            ",".join(f"{label}{number}" for label, number in row) + "\n"
            for row in self.order))
        return f' schedule "@{path}"'

    def rolled(self, out):
        uses = []
        for operand, argument in self.carried:
            name, type_ = out.of(operand)
            uses.append(f"{out.name(argument)} = {name} carried : {type_}")
        for operand, argument, is_reversed in self.stepped:
            name, type_ = out.of(operand)
            word = " reversed" if is_reversed else ""
            uses.append(f"{out.name(argument)} = {name} stepped{word} : {type_} -> "
                        f"{out.type(argument)}")
        region = out.region(self.body, self.yields)
        words = ["carried"] * len(self.carried)
        word = " reversed" if self.stack_reversed else ""
        words += [f"stepped{word}"] * (len(self.yields) - len(words))
        types = ", ".join(f"{out.type(v)} {w}" for v, w in zip(self.results, words))
        names = ", ".join(out.name(value) for value in self.results)
        label = f' label "{self.label}"' if self.label else ""
        out.lines += [
            f"{names} = pw.for {self.trips}{self.schedule_text(out)}{label} "
            f"({', '.join(uses)}) -> ({types}) {{",
            *region,
            "}",
        ]

    def unrolled(self, out, _):
        now = [out.names[operand] for operand, _ in self.carried]
        stacks = [[] for _ in self.yields[len(now):]]
        for number in range(self.trips):
            for (_, argument), name in zip(self.carried, now):
                out.names[argument] = name
            for operand, argument, is_reversed in self.stepped:
                at = self.trips - 1 - number if is_reversed else number
                out.call(take(out, self.trips, at), [out.of(operand)], [argument])
            for node in self.body:
                node.unrolled(out, number)
            now = [out.names[value] for value in self.yields[:len(now)]]
            for names, value in zip(stacks, self.yields[len(now):]):
                names.append(out.names[value])
        for value, name in zip(self.results, now):
            out.names[value] = name
        for value, names in zip(self.results[len(now):], stacks):
            if self.stack_reversed:
                names.reverse()
            out.call(stack(out, self.trips), [(name, f"!{value.kind}") for name in names],
                     [value])


class While:
    """A loop that runs while a counter is below `limit`, at most `bound` times."""

    def __init__(self, bound, limit, carried):
        self.bound, self.limit, self.carried = bound, limit, carried
        self.body, self.yields, self.results = [], [], []

    def finish(self, yields):
        self.yields = yields
        self.results = [Value(v.kind) for v in yields]

    def rolled(self, out):
        less = f"less_{self.limit}"
        out.functions[less] = f"""func.func private @{less}(%n: tensor<i64>) -> tensor<i1> {{
  %c = arith.constant dense<{self.limit}> : tensor<i64>
  %r = arith.cmpi slt, %n, %c : tensor<i64>
  return %r : tensor<i1>
}}"""
        out.count += 1
        k = out.count
        uses = [f"%go{k} = %first{k} carried : !flag", f"%n{k} = %zero{k} carried : !n"]
        for operand, argument in self.carried:
            name, type_ = out.of(operand)
            uses.append(f"{out.name(argument)} = {name} carried : {type_}")
        region = out.region(self.body, self.yields)[:-1]
        yielded = [(f"%again{k}", "!flag"), (f"%next{k}", "!n")]
        yielded += [out.of(value) for value in self.yields]
        names = ", ".join([f"%last{k}", f"%end{k}"]
                          + [out.name(value) for value in self.results])
        types = ", ".join(f"{t} carried" for _, t in yielded)
        out.lines += [
            f"%zero{k} = pw.call @zero() : () -> !n",
            f"%first{k} = pw.call @{less}(%zero{k}) : (!n) -> !flag",
            f"{names} = pw.for {self.bound} while ({', '.join(uses)}) -> ({types}) {{",
            *region,
            f"  %next{k} = pw.call @next(%n{k}) : (!n) -> !n",
            f"  %again{k} = pw.call @{less}(%next{k}) : (!n) -> !flag",
            f"  pw.yield {', '.join(n for n, _ in yielded)} : "
            f"{', '.join(t for _, t in yielded)}",
            "}",
        ]

    def unrolled(self, out, _):
        now = [out.names[operand] for operand, _ in self.carried]
        for number in range(min(self.bound, self.limit)):
            for (_, argument), name in zip(self.carried, now):
                out.names[argument] = name
            for node in self.body:
                node.unrolled(out, number)
            now = [out.names[value] for value in self.yields]
        for value, name in zip(self.results, now):
            out.names[value] = name


class If:
    def __init__(self, is_true, results):
        self.is_true, self.results = is_true, results
        self.bodies, self.yields = ([], []), [None, None]

    def rolled(self, out):
        blocks = [out.region(body, yields) for body, yields in zip(self.bodies, self.yields)]
        names = ", ".join(out.name(value) for value in self.results)
        types = ", ".join(out.type(value) for value in self.results)
        out.lines += [f"{names} = pw.if %{str(self.is_true).lower()} : !flag -> ({types}) {{",
                      *blocks[0], "} else {", *blocks[1], "}"]

    def unrolled(self, out, number):
        side = 0 if self.is_true else 1
        for node in self.bodies[side]:
            node.unrolled(out, number)
        for value, source in zip(self.results, self.yields[side]):
            out.names[value] = out.names[source]


def take(out, trips, at):
    name = f"take_{trips}_{at}"
    whole, part = f"tensor<{trips}x{out.size}xf32>", f"tensor<{out.size}xf32>"
    out.functions[name] = f"""func.func private @{name}(%x: {whole}) -> {part} {{
  %r = tensor.extract_slice %x[{at}, 0] [1, {out.size}] [1, 1] : {whole} to {part}
  return %r : {part}
}}"""
    return name


def stack(out, trips):
    name = f"stack_{trips}"
    whole, part = f"tensor<{trips}x{out.size}xf32>", f"tensor<{out.size}xf32>"
    lines = [f"  %r0 = tensor.empty() : {whole}"]
    for i in range(trips):
        lines.append(f"  %r{i + 1} = tensor.insert_slice %x{i} into %r{i}[{i}, 0] "
                     f"[1, {out.size}] [1, 1] : {part} into {whole}")
    parameters = ", ".join(f"%x{i}: {part}" for i in range(trips))
    out.functions[name] = (f"func.func private @{name}({parameters}) -> {whole} {{\n"
                           + "\n".join(lines) + f"\n  return %r{trips} : {whole}\n}}")
    return name


def reads_elsewhere(reader, call):
    """Whether `reader` is a call of the slice of `call` in another cell, and reads it."""
    return (isinstance(reader, Call) and reader.cell != call.cell
            and SLICES[reader.result.kind] == SLICES[call.result.kind]
            and any(v in call.results for v in reader.operands))


class Cells:
    """The cells of a pipeline, and what they wait for in all iterations."""

    def __init__(self, loop):
        self.trips = loop.trips
        self.slices = {}  # by label
        made = {}  # by value: what a move copies, or a label
        waits = []  # a label, the values that its nodes read
        for node in self.with_second_calls(loop.body):
            if isinstance(node, Move):
                made[node.result] = node.operands
                continue
            made.update((value, node.cell) for value in node.results)
            self.slices[node.cell] = SLICES[node.results[0].kind]
            waits.append((node.cell, node.operands))
        arguments = {argument: value
                     for (_, argument), value in zip(loop.carried, loop.yields)}
        self.waits = {}  # by label: labels and lags
        for label, values in waits:
            for value in values:
                lag = 0
                while True:
                    if value in arguments:
                        value, lag = arguments[value], lag + 1
                    elif isinstance(made.get(value), list):
                        value = made[value][0]
                    else:
                        break
                if value in made and (made[value], lag) != (label, 0):
                    self.waits.setdefault(label, set()).add((made[value], lag))

    @staticmethod
    def with_second_calls(body):
        """The nodes, with those that run again twice."""
        nodes = [copy.copy(node) for node in body]
        for node in [n for n in reversed(nodes) if getattr(n, "recompute", False)]:
            readers = [n for n in nodes if reads_elsewhere(n, node)]
            if not readers:
                continue
            again = copy.copy(node)
            again.cell = readers[0].cell
            again.results = [Value(v.kind) for v in node.results]
            new = dict(zip(node.results, again.results))
            for reader in readers:
                reader.operands = [new.get(v, v) for v in reader.operands]
            nodes.insert(nodes.index(readers[0]), again)
        return nodes

    def before(self, cell):
        label, number = cell
        return [(other, number - lag) for other, lag in self.waits.get(label, ())
                if number >= lag]

    def all(self):
        return [(label, i) for label in self.slices for i in range(self.trips)]

    def sort(self, rows, choose):
        """The cells so that each comes after those that it waits for, and in the order
        of the rows; some are missing if these wait for each other."""
        waits = {cell: set(self.before(cell)) for cell in self.all()}
        for row in rows:
            for one, two in zip(row, row[1:]):
                waits[two].add(one)
        ready = [cell for cell, others in waits.items() if not others]
        done = []
        while ready:
            cell = choose(ready)
            ready.remove(cell)
            done.append(cell)
            for other, others in waits.items():
                if cell in others:
                    others.remove(cell)
                    if not others:
                        ready.append(other)
        return done

    def is_live(self, rows):
        return len(self.sort(rows, lambda ready: ready[0])) == len(self.all())

    def draw(self, rng):
        """Rows that can run, in the order in which the module declares the slices."""
        kinds = rng.sample("FBIW", 4)
        lucky = rng.random()

        def choose(ready):
            if rng.random() < lucky:
                return rng.choice(ready)
            return min(ready, key=lambda cell: (kinds.index(cell[0][-1]), cell[1]))

        order = self.sort([], choose)
        slices = [s for s in dict.fromkeys(SLICES.values()) if s in self.slices.values()]
        return [[cell for cell in order if self.slices[cell[0]] == s] for s in slices]


class Program:
    """A program of one of several kinds; each has some of the constructs only."""

    def __init__(self, rng):
        self.rng = rng
        self.size = rng.choice(SIZES)
        self.steps = rng.choice([1, 2, 3])
        # Loops with these are written out.
        self.has_counts, self.has_branches = rng.random() < 0.2, rng.random() < 0.3
        self.order_is_live = None  # no loop has a file
        self.needed = []  # a result of the loop that has one
        self.arguments = [Value("a"), Value("w"), Value("t"), Value("u")]
        for _ in range(2):
            trips = rng.choice([1, 2, 3, 4, 4, 5, 6, 7, 8])
            self.arguments.append(Value(rng.choice("awtu"), trips))
        self.nodes = []
        values = list(self.arguments)
        for _ in range(rng.randint(1, 3)):
            self.add_node(self.nodes, values, depth=0, in_loop=False)
        made = values[len(self.arguments):]
        self.results = rng.sample(made, min(4, len(made)))
        self.results += [v for v in self.needed if v not in self.results]
        self.carried = {}
        for index, value in enumerate(self.arguments):
            same = [i for i, r in enumerate(self.results)
                    if (r.kind, r.trips) == (value.kind, value.trips)
                    and i not in self.carried.values()]
            if same and rng.random() < 0.5:
                self.carried[index] = rng.choice(same)

    def pick(self, values, kind=None):
        plain = [v for v in values if not v.trips and kind in (None, v.kind)]
        return self.rng.choice(plain[-5:] if self.rng.random() < 0.7 else plain)

    def add_call(self, nodes, values, in_loop, kind=None, first=None, second=None):
        rng = self.rng
        operands = [first or self.pick(values, kind)]
        if second:
            operands.append(second)
        elif rng.random() < 0.5:
            operands.append(self.pick(values, operands[0].kind))
        call = Call(operands, rng.randint(-5, 5), sums=rng.random() < 0.2,
                    counts=self.has_counts and in_loop and rng.random() < 0.3,
                    twice=rng.random() < 0.2)
        if rng.random() < 0.3:
            call.donated = rng.choice(operands)
        nodes.append(call)
        values += call.results
        return call

    def add_move(self, nodes, values, source=None, kind=None):
        source = source or self.pick(values)
        kind = kind or self.rng.choice([k for k in KINDS if k != source.kind])
        nodes.append(Move(source, kind))
        values.append(nodes[-1].result)
        return nodes[-1].result

    def add_node(self, nodes, values, depth, in_loop):
        branches = ["while", "if"] if self.has_branches else []
        if depth == 0:
            kinds = ["for", "for", "pipeline", "pipeline"] + branches
        else:
            kinds = ["call", "call", "move"]
            if depth < 3:
                kinds += ["for"] + branches
        kind = self.rng.choice(kinds)
        if kind == "call":
            self.add_call(nodes, values, in_loop)
        elif kind == "move":
            self.add_move(nodes, values)
        else:
            getattr(self, f"add_{kind}")(nodes, values, depth, in_loop)

    def fill(self, body, values, depth, in_loop):
        for _ in range(self.rng.randint(1, 3)):
            self.add_node(body, values, depth + 1, in_loop)

    def add_for(self, nodes, values, depth, in_loop, label="", kind=None):
        rng = self.rng
        trips = rng.randint(1, 6) if depth == 0 else rng.randint(1, 3)
        carried = []
        for _ in range(rng.randint(1, 2)):
            operand = self.pick(values, kind)
            carried.append((operand, Value(operand.kind)))
        stepped = []
        stacks = [v for v in values if v.trips and kind in (None, v.kind)]
        if stacks and not label:
            trips = rng.choice(stacks).trips
            same = [v for v in stacks if v.trips == trips]
            for operand in rng.sample(same, min(len(same), rng.randint(1, 2))):
                stepped.append((operand, Value(operand.kind), rng.random() < 0.5))
        loop = For(trips, carried, stepped, rng.random() < 0.5, label)
        # An array that is read whole is not cut in place.
        wholes = [operand for operand, *_ in stepped if rng.random() < 0.9]
        inside = [v for v in values if v not in wholes]
        inside += [argument for _, argument, *_ in carried + stepped]
        if kind:
            for _ in range(rng.randint(1, 2)):
                self.add_call(loop.body, inside, True, kind)
        else:
            self.fill(loop.body, inside, depth, True)
        yields = [self.made(loop.body, inside, argument, always=bool(kind))
                  for _, argument in carried]
        stacked_ones = []
        for _ in range(rng.randint(0, 2)):
            if rng.random() < 0.7:
                stacked_ones.append(self.add_call(loop.body, inside, True, kind).result)
            else:
                stacked_ones.append(self.pick(inside, kind))
        loop.finish(yields, stacked_ones)
        nodes.append(loop)
        values += loop.results
        return loop

    def made(self, body, values, argument, always=False):
        """What follows a carried argument: often, or always, a call on it."""
        if always or self.rng.random() < 0.8:
            return self.add_call(body, values, True, first=argument).result
        return self.pick(values, argument.kind)

    def add_while(self, nodes, values, depth, in_loop):
        carried = []
        for _ in range(self.rng.randint(1, 2)):
            operand = self.pick(values)
            carried.append((operand, Value(operand.kind)))
        loop = While(self.rng.randint(1, 4), self.rng.randint(0, 5), carried)
        inside = values + [argument for _, argument in carried]
        self.fill(loop.body, inside, depth, True)
        loop.finish([self.made(loop.body, inside, argument) for _, argument in carried])
        nodes.append(loop)
        values += loop.results

    def add_if(self, nodes, values, depth, in_loop):
        kinds = [self.rng.choice(list(KINDS)) for _ in range(self.rng.randint(1, 2))]
        branch = If(self.rng.random() < 0.5, [Value(kind) for kind in kinds])
        for side, body in enumerate(branch.bodies):
            inside = list(values)
            self.fill(body, inside, depth, in_loop)
            branch.yields[side] = [self.pick(inside, kind) for kind in kinds]
        nodes.append(branch)
        values += branch.results

    # Pipelines

    def add_pipeline(self, nodes, values, depth, in_loop):
        """Forward and backward calls of stages, with sums that are carried."""
        rng = self.rng
        batches = rng.choice([v for v in values if v.trips])
        slices = [rng.choice("aw"), "t", "u"]
        rng.shuffle(slices)
        slices = slices[:rng.randint(2, 3)]
        layout = rng.choice(["line", "line", "line", "loop", "vee"])
        stages = {"line": slices, "loop": slices * 2, "vee": slices + slices[::-1]}[layout]
        halves = layout == "vee" or (layout == "line" and rng.random() < 0.3)
        x = Value(batches.kind)
        loop = For(batches.trips, [], [(batches, x, rng.random() < 0.3)],
                   rng.random() < 0.3)
        self.fill_pipeline(loop, values, stages, halves, x)
        nodes.append(loop)
        values += loop.results
        names = ["", *self.schedules(layout, halves, len(slices), loop.trips)]
        if self.order_is_live is None and rng.random() < 0.4:
            cells = Cells(loop)
            loop.order = cells.draw(rng)
            for _ in range(rng.choice([0, 0, 1, 2, 3])):
                row = rng.choice(loop.order)
                one = rng.randrange(len(row))
                two = min(one + rng.choice([1, 1, 2, 5]), len(row) - 1)
                row[one], row[two] = row[two], row[one]
            self.order_is_live = cells.is_live(loop.order)
            self.needed = [rng.choice(loop.results)]
        else:
            loop.schedule = rng.choice(names)

    def schedules(self, layout, halves, slices, trips):
        if layout == "line":
            return ["zb-h1", "zb-h2"] if halves else ["gpipe", "1f1b", "eager-1f1b"]
        if layout == "loop":
            return ["interleaved"] if trips % slices == 0 else []
        names = ["zbv"] if trips >= 2 * slices - 1 else []
        return names + (["dualpipe-v"] if trips >= 2 * slices else [])

    def fill_pipeline(self, loop, values, stages, halves, x):
        rng, body = self.rng, loop.body
        ins, outs, stacks, yields = [], [], [], []
        for number, kind in enumerate(stages):
            x = x if x.kind == kind else self.add_move(body, [], x, kind)
            ins.append(x)
            x = self.add_part(body, values, f"{number}F", x)
            outs.append(x)
        d = x
        for number in reversed(range(len(stages))):
            kind = stages[number]
            d = d if d.kind == kind else self.add_move(body, [], d, kind)
            kept = rng.choice([ins[number], outs[number]])
            given = d
            if number > 0 or not halves:  # nothing flows out of the first stage
                d = self.add_part(body, [], f"{number}{'I' if halves else 'B'}", d, kept)
            last = self.add_call(body, [], True, first=given if halves else d, second=kept)
            last.label = last.cell = f"{number}{'W' if halves else 'B'}"
            last.donated = None
            if rng.random() < 0.3:
                stacks.append(last.result)
                continue
            total = Value(kind)
            loop.carried.append((self.pick(values, kind), total))
            last.operands[1] = total
            last.donated = total if rng.random() < 0.5 else None
            yields.append(last.result)
        if rng.random() < 0.5:
            stacks.append(x)
        loop.finish(yields, stacks)
        for node in body:
            if (isinstance(node, Call) and node.label.endswith("F") and rng.random() < 0.3
                    and any(reads_elsewhere(other, node) for other in body)
                    and not any(isinstance(other, For) and node.result in other.operands
                                for other in body)):
                node.recompute = True

    def add_part(self, body, values, label, first, kept=None):
        """The calls of a cell, or a loop with its label."""
        if kept is None and self.rng.random() < 0.3:
            loop = self.add_for(body, [first], 1, True, label, first.kind)
            return loop.results[0]
        weights = [v for v in values if v.kind == first.kind and not v.trips]
        for number in range(self.rng.randint(1, 2)):
            second = kept if number == 0 else None
            if not second and weights and self.rng.random() < 0.5:
                second = self.rng.choice(weights)
            call = self.add_call(body, [first], True, first=first, second=second)
            call.cell = label
            call.label = label if number == 0 or self.rng.random() < 0.5 else ""
            first = call.result
        return first

    def text(self, is_rolled, folder):
        """The text of a form; files that it names are written to `folder`."""
        functions = {}
        out = Printer(self.size, functions, folder)
        arguments = []
        for index, value in enumerate(self.arguments):
            number = self.carried.get(index)
            carried = "" if number is None else f" {{pw.carried = {number} : i64}}"
            out.names[value] = f"%x{index}"
            arguments.append(f"%x{index}: {out.type(value)}{carried}")
        for node in self.nodes:
            if is_rolled:
                node.rolled(out)
            else:
                node.unrolled(out, 0)
        types = ", ".join(f'{out.type(v)} {{pw.name = "y{i}"}}'
                          for i, v in enumerate(self.results))
        pairs = [out.of(value) for value in self.results]
        return "\n".join([
            'pw.slice @s mesh <"d" = 2>', "pw.slice @t mesh <>", 'pw.slice @u mesh <"e" = 2>',
            *(f"!{kind} = !pw.array<{self.size}xf32, {rest}>"
              for kind, rest in KINDS.items()),
            "!n = !pw.array<i64, @t, []>", "!flag = !pw.array<i1, @t, []>",
            CONSTANTS, *functions.values(),
            f"pw.program @p({', '.join(arguments)}, %true: !flag, %false: !flag) "
            f"-> ({types}) {{",
            *("  " + line for line in out.lines),
            f"  pw.return {', '.join(n for n, _ in pairs)} : "
            f"{', '.join(t for _, t in pairs)}",
            "}",
        ]) + "\n"

    @staticmethod
    def draw(seed, number):
        return Program(random.Random(f"{seed}/{number}"))


CONSTANTS = """func.func private @zero() -> tensor<i64> {
  %c = arith.constant dense<0> : tensor<i64>
  return %c : tensor<i64>
}
func.func private @next(%n: tensor<i64>) -> tensor<i64> {
  %c = arith.constant dense<1> : tensor<i64>
  %r = arith.addi %n, %c : tensor<i64>
  return %r : tensor<i64>
}"""
