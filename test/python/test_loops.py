# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops of programs."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

from session_support import np, pw

RNG = np.random.default_rng(7)
FRONT, BACK = pw.Slice("front"), pw.Slice("back")


def random(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


def values(results: Any) -> dict[str, Any]:
    return {name: np.asarray(value) for name, value in results.items()}


@pw.computation(on=FRONT)
def forward0(x: Any, w: Any) -> Any:
    return np.tanh(x @ w)


@pw.computation(on=BACK)
def forward1(h: Any, w: Any, t: Any) -> Any:
    error = h @ w - t
    return error, np.mean(error * error)


@pw.computation(on=BACK)
def backward1(error: Any, h: Any, w: Any, total: Any) -> Any:
    return error @ w.T, total + h.T @ error


@pw.computation(on=FRONT)
def backward0(d: Any, h: Any, x: Any, total: Any) -> Any:
    return total + x.T @ (d * (1 - h * h))


def pipeline(schedule: str | None, recompute: bool = False) -> pw.Program:
    """Two stages over micro-batches."""

    @pw.program
    def step(xs: Any, ts: Any, w0: Any, w1: Any) -> Any:
        def micro_batch(x: Any, t: Any, g0: Any, g1: Any) -> Any:
            with pw.label("0F", recompute=recompute):
                h = forward0(x, w0)
            with pw.label("1F"):
                error, loss = forward1(h, w1, t)
            with pw.label("1B"):
                d, g1 = backward1(error, h, w1, g1)
            with pw.label("0B"):
                g0 = backward0(d, h, x, g0)
            return {"loss": loss, "g0": g0, "g1": g1}

        return pw.loop(
            micro_batch,
            stepped={"x": xs, "t": ts},
            carried={"g0": np.zeros_like(w0), "g1": np.zeros_like(w1)},
            schedule=schedule,
        )

    return step


class Pipelines(unittest.TestCase):
    def setUp(self) -> None:
        self.arguments = random(6, 5, 3), random(6, 5, 2), random(3, 4), random(4, 2)

    def expected(self) -> dict[str, Any]:
        xs, ts, w0, w1 = self.arguments
        g0, g1, losses = np.zeros_like(w0), np.zeros_like(w1), []
        for x, t in zip(xs, ts):
            h = np.tanh(x @ w0)
            error = h @ w1 - t
            losses.append(np.mean(error * error))
            g1 = g1 + h.T @ error
            g0 = g0 + x.T @ ((error @ w1.T) * (1 - h * h))
        return {"loss": np.array(losses), "g0": g0, "g1": g1}

    def test_schedules_give_the_same_bits(self) -> None:
        plain = None
        orders = set()
        with pw.Session("1x1x2") as session:
            for schedule in (None, "gpipe", "1f1b", "eager-1f1b", "zb-h1"):
                step = pipeline(schedule)
                plan = step.compile(*self.arguments, topology=session.topology)
                orders.add(plan.order)
                got = values(step(*self.arguments))
                for name, value in self.expected().items():
                    np.testing.assert_allclose(got[name], value, rtol=1e-4, atol=1e-5)
                plain = plain or got
                for name, value in got.items():
                    np.testing.assert_array_equal(value, plain[name], f"{schedule} {name}")
        self.assertEqual(len(orders), 5)
        self.assertIn("", orders)

    def test_order_of_a_file(self) -> None:
        rows = [f"{s}F{i},{s}B{i}" for s in range(2) for i in range(6)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "order.csv"
            path.write_text(f"{','.join(rows[:6])}\n{','.join(rows[6:])}\n", encoding="utf-8")
            with pw.Session("1x1x2"):
                got = values(pipeline(f"@{path}")(*self.arguments))
                plain = values(pipeline(None)(*self.arguments))
            self.assertEqual(
                pipeline(None).compile(
                    *self.arguments, topology="1x1x2", schedule=f"@{path}"
                ).order,
                path.read_text(encoding="utf-8"),
            )
        for name, value in plain.items():
            np.testing.assert_array_equal(got[name], value)

    def test_recomputed_calls(self) -> None:
        plan = pipeline("gpipe", recompute=True).compile(*self.arguments, topology="1x1x2")
        self.assertTrue(any("'0F' runs again before '0B'" in r for r in plan.remarks),
                        plan.remarks)
        with pw.Session("1x1x2"):
            got = values(pipeline("gpipe", recompute=True)(*self.arguments))
            plain = values(pipeline("gpipe")(*self.arguments))
        for name, value in plain.items():
            np.testing.assert_array_equal(got[name], value)

    def test_a_schedule_that_does_not_fit(self) -> None:
        with self.assertRaisesRegex(pw.ProgramError, "schedule 'interleaved'"):
            pipeline("interleaved").compile(
                *(a[:5] if a.shape[0] == 6 else a for a in self.arguments),
                topology="1x1x2",
            )


class Loops(unittest.TestCase):
    def test_one_device_and_trees(self) -> None:
        scale = np.float32(3)

        @pw.program
        def scan(xs: Any, state: Any) -> Any:
            def body(x: Any, state: Any) -> Any:
                low, high = state["low"], state["high"]
                return {
                    "state": {"low": low + x["a"], "high": high * x["b"] + scale},
                    "seen": (low, high @ high),
                }

            return pw.loop(body, stepped={"x": xs}, carried={"state": state})

        xs = {"a": random(4, 3), "b": random(4, 2)}
        low, high = random(3), random(2)
        with pw.Session("1x1x1"):
            got = scan(xs, {"low": low, "high": high})
            seen = [np.asarray(value) for value in got["seen"]]
            state = values(got["state"])
        for i in range(4):
            np.testing.assert_array_equal(seen[0][i], low)
            np.testing.assert_allclose(seen[1][i], high @ high, 1e-5)
            low, high = low + xs["a"][i], high * xs["b"][i] + scale
        np.testing.assert_array_equal(state["low"], low)
        np.testing.assert_allclose(state["high"], high, 1e-5)

    def test_reversed_values(self) -> None:
        @pw.program
        def backward(xs: Any, ys: Any) -> Any:
            def body(x: Any, y: Any, total: Any) -> Any:
                total = total * x + y
                return {"total": total, "partial": total, "late": total}

            return pw.loop(
                body,
                stepped={"x": xs, "y": ys},
                carried={"total": np.float32(0)},
                reversed=["x", "partial"],
            )

        xs, ys = random(5), random(5)
        with pw.Session("1x1x1"):
            got = values(backward(xs, ys))
        total, seen = np.float32(0), []
        for x, y in zip(xs[::-1], ys):
            total = total * x + y
            seen.append(total)
        np.testing.assert_allclose(got["total"], total, 1e-5)
        np.testing.assert_allclose(got["late"], seen, 1e-5)
        np.testing.assert_array_equal(got["partial"], got["late"][::-1])

    def test_nested_loops_and_trips(self) -> None:
        @pw.program
        def powers(x: Any, w: Any) -> Any:
            def inner(v: Any) -> Any:
                return {"v": v * w}

            def outer(x: Any) -> Any:
                return {"x": pw.loop(inner, carried={"v": x}, trips=3)["v"] + x}

            return pw.loop(outer, carried={"x": x}, trips=2)

        x, w = random(4), random(4)
        with pw.Session("1x1x1"):
            got = values(powers(x, w))["x"]
        for _ in range(2):
            x = x * w * w * w + x
        np.testing.assert_allclose(got, x, 1e-5)

    def test_slices_with_axes(self) -> None:
        wide = pw.Slice("wide", d=2)

        @pw.program(on=wide, split={"xs": (None, "d"), "w": (None, "d")})
        def layers(xs: Any, w: Any) -> Any:
            def body(x: Any, y: Any) -> Any:
                return {"y": np.maximum(y @ w, 0) + x, "sum": y.sum()}

            return pw.loop(body, stepped={"x": xs}, carried={"y": np.ones_like(xs[0])})

        xs, w = random(3, 4, 6), random(6, 6)
        with pw.Session("1x1x2"):
            got = values(layers(xs, w))
        y, sums = np.ones_like(xs[0]), []
        for x in xs:
            sums.append(y.sum())
            y = np.maximum(y @ w, 0) + x
        np.testing.assert_allclose(got["y"], y, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(got["sum"], sums, rtol=1e-4, atol=1e-4)


class Errors(unittest.TestCase):
    def refuse(self, message: str, use: Any, *types: Any) -> None:
        with self.subTest(message), self.assertRaisesRegex(pw.ProgramError, message):
            pw.program(use).trace(*(types or (pw.f32[4, 2],)))

    def test_lengths(self) -> None:
        def body(x: Any, y: Any = None) -> Any:
            return {"z": x}

        self.refuse(
            "'y' of body has 3 indices to step through, but 'x' of body has 4",
            lambda x, y: pw.loop(body, stepped={"x": x, "y": y}),
            pw.f32[4, 2], pw.f32[3],
        )
        self.refuse("has 4 indices to step through, but trips= of body is 5",
                    lambda x: pw.loop(body, stepped={"x": x}, trips=5))
        self.refuse("number of iterations is not known; state it: trips=",
                    lambda x: pw.loop(body, carried={"x": x}))
        self.refuse("body runs 0 times, expected a number from 1 to 16777216",
                    lambda x: pw.loop(body, carried={"x": x}, trips=0))
        self.refuse("'x' of body is stepped: it needs a value for each iteration",
                    lambda x: pw.loop(body, stepped={"x": x}), pw.f32)
        self.refuse("trips= of body is 'many', expected an integer",
                    lambda x: pw.loop(body, carried={"x": x}, trips="many"))

    def test_carried_values(self) -> None:
        def loop(body: Any, **options: Any) -> Any:
            return lambda x: pw.loop(body, carried={"c": x}, trips=2, **options)

        self.refuse(
            r"carries 'c', which begins as pw.f32\[4, 2\], but returns pw.f32\[2, 4\]",
            loop(lambda c: {"c": c.T}),
        )
        self.refuse("carries 'c', which begins as .*f32.*returns pw.i1",
                    loop(lambda c: {"c": c > 0}))
        self.refuse("carries 'c' to the next iteration, but returns 'd'",
                    loop(lambda c: {"d": c}))
        self.refuse("returns 'c.0', but carries no such value|carries 'c' to the next",
                    loop(lambda c: {"c": (c,)}))
        self.refuse("returns a value of Traced, expected a dictionary", loop(lambda c: c))
        self.refuse("missing a required argument: 'd'", loop(lambda c, d: {"c": c}))
        self.refuse("reversed= names 'e', but .* stepped arguments and results none",
                    loop(lambda c: {"c": c}, reversed="e"))
        self.refuse("'c' of .* is both stepped and carried",
                    lambda x: pw.loop(lambda c: {"c": c}, stepped={"c": x}, carried={"c": x}))
        self.refuse("returns nothing, and a loop has a result",
                    lambda x: pw.loop(lambda x: {}, stepped={"x": x}))
        self.refuse("'x' of body is 'text', expected an array",
                    lambda x: pw.loop(self.body, stepped={"x": "text"}))
        self.refuse("the body of a loop is a function, not 3",
                    lambda x: pw.loop(3, stepped={"x": x}))  # type: ignore[arg-type]

    @staticmethod
    def body(x: Any) -> Any:
        return {"y": x}

    def test_labels(self) -> None:
        def labelled(name: Any) -> Any:
            def body(x: Any) -> Any:
                with pw.label(name):
                    return {"y": x + 1}

            return body

        self.refuse("body has the schedule '1f1b', but no calls with labels; call",
                    lambda x: pw.loop(self.body, stepped={"x": x}, schedule="1f1b"))
        self.refuse("schedule= of body is '', expected a name",
                    lambda x: pw.loop(self.body, stepped={"x": x}, schedule=""))
        for name in ("", "a b", 3):
            self.refuse(f"the label is {name!r}, expected 1 to 64 letters",
                        lambda x, name=name: pw.loop(labelled(name), stepped={"x": x}))

        def outside(x: Any) -> Any:
            with pw.label("0F"):
                return x + 1

        self.refuse("the label '0F' is outside of a loop", outside)

        def twice(x: Any) -> Any:
            with pw.label("0F"):
                return labelled("0B")(x)

        self.refuse("the label '0B' is inside of the label '0F'",
                    lambda x: pw.loop(twice, stepped={"x": x}))

    def test_values_that_leave_the_body(self) -> None:
        def leak(x: Any) -> Any:
            kept = []

            def body(x: Any) -> Any:
                kept.append(x + 1)
                return {"y": x}

            pw.loop(body, stepped={"x": x})
            return kept[0] * 2

        self.refuse("that the body of a loop computes is used outside of the body; return",
                    leak)

    def test_outside_of_programs(self) -> None:
        with self.assertRaisesRegex(pw.InvalidArgument, "pw.loop is part of a pw.program"):
            pw.loop(self.body, stepped={"x": np.ones(3)})
        with self.assertRaisesRegex(pw.InvalidArgument, "pw.label is part of a pw.program"):
            with pw.label("0F"):
                pass


if __name__ == "__main__":
    unittest.main()
