# Part of the Pathways project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values in and out: NumPy, buffers, DLPack, numbers."""

from __future__ import annotations

import array
import pickle
import unittest
from collections.abc import Callable
from typing import Any

from session_support import GOLDEN, add_text, np, pw

DTYPES = "f4 f8 f2 ? i1 i2 i4 i8 u1 u2 u4 u8".split()
SHAPES = ((), (0,), (3,), (2, 0, 3), (1,), (2, 3), (2, 1, 4))


def values_of(dtype: str, shape: tuple[int, ...]) -> Any:
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    return (numbers % 2 if dtype == "?" else numbers).astype(dtype)


class Values(unittest.TestCase):
    def setUp(self) -> None:
        self.session = pw.Session("1x1x1")
        self.addCleanup(self.session.close)

    def check_put(self, value: Any, expected: Any) -> None:
        expected = np.asarray(expected)
        got = self.session.put(value)
        self.assertEqual(got.shape, expected.shape)
        self.assertEqual(got.dtype, expected.dtype.newbyteorder("="))
        self.assertEqual(got.nbytes, expected.nbytes)
        np.testing.assert_array_equal(np.asarray(got), expected, strict=False)
        np.testing.assert_array_equal(got.view(), expected)

    def test_types_and_shapes(self) -> None:
        for dtype in DTYPES:
            for shape in SHAPES:
                with self.subTest(dtype=dtype, shape=shape):
                    self.check_put(values_of(dtype, shape), values_of(dtype, shape))

    def test_memory_orders(self) -> None:
        numbers = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
        kinds = {
            "transposed": numbers.T,
            "Fortran": np.asfortranarray(numbers),
            "strided": numbers[:, ::2, 1::2],
            "reversed": numbers[::-1, :, ::-1],
            "broadcast": np.broadcast_to(numbers[0], (5, 3, 4)),
            "big-endian": numbers.astype(">i4"),
            "big-endian f8": numbers.astype(">f8"),
            "unaligned": np.frombuffer(b"x" + numbers.tobytes(), np.int32, offset=1),
        }
        read_only = numbers.copy()
        read_only.setflags(write=False)
        kinds["read-only"] = read_only
        for name, value in kinds.items():
            with self.subTest(name):
                self.check_put(value, value)

    def test_numbers_and_lists(self) -> None:
        for value in (3, -2.5, True, [1, 2], [[1.5], [2.5]], [], (4, 5)):
            with self.subTest(value=value):
                self.check_put(value, np.asarray(value))

    def test_buffers(self) -> None:
        self.check_put(b"abc", np.frombuffer(b"abc", np.uint8))
        self.check_put(bytearray(b"abc"), np.frombuffer(b"abc", np.uint8))
        self.check_put(memoryview(b"abcd")[::2], np.frombuffer(b"ac", np.uint8))
        self.check_put(array.array("d", [1, 2]), np.array([1.0, 2.0]))
        self.check_put(np.float32(2), np.float32(2))

    def test_booleans_are_zero_or_one(self) -> None:
        odd = np.array([0, 2, 255], np.uint8).view(np.bool_)
        got = np.asarray(self.session.put(odd)).view(np.uint8)
        np.testing.assert_array_equal(got, [0, 1, 1])
        many = np.full(1 << 17, 7, np.uint8).view(np.bool_)
        self.assertEqual(np.asarray(self.session.put(many)).view(np.uint8).max(), 1)

    def test_values_that_are_none(self) -> None:
        wrong = {
            "complex128": np.array([1j]),
            "object": np.array([object()]),
            "<U1": np.array(["a"]),
            "float128": np.longdouble(1),
            "datetime64": np.array(["2020-01-01"], "M8[D]"),
            "[('a', '<i4')]": np.zeros(2, [("a", "i4")]),
            "str": "text",
            "NoneType": None,
            "dict": {},
            "list": [[1], [2, 3]],
            "object ": [1 << 70],
        }
        for name, value in wrong.items():
            with self.subTest(name):
                with self.assertRaises(pw.InvalidArgument) as raised:
                    self.session.put(value)
                self.assertIsInstance(raised.exception, ValueError)
                if name != "list":
                    self.assertIn(name.strip(), str(raised.exception))

    def test_masked_arrays(self) -> None:
        masked = np.ma.array([1.0, 2.0], mask=[False, True])
        with self.assertRaisesRegex(pw.InvalidArgument, r"masked array; array\.filled"):
            self.session.put(masked)
        self.check_put(masked.filled(0), [1.0, 0.0])

    def test_bf16(self) -> None:
        bits = np.array([0x3F80, 0x4000, 0xFFC1], np.uint16)
        got = self.session.put(pw.bf16(bits))
        self.assertEqual(got.element, "bf16")
        np.testing.assert_array_equal(np.asarray(got).view(np.uint16), bits)
        np.testing.assert_array_equal(got.view().view(np.uint16), bits)
        # An array that was read can be put again.
        again = self.session.put(np.asarray(got))
        self.assertEqual(again.element, "bf16")
        f = self.session.load(add_text("3x", "bf16"))
        np.testing.assert_array_equal(
            np.asarray(f(x=pw.bf16(bits[:3])).y).view(np.uint16)[:2], [0x4000, 0x4080]
        )
        with self.assertRaisesRegex(pw.InvalidArgument, "ui16.*bf16"):
            f(x=bits)
        with self.assertRaisesRegex(pw.InvalidArgument, "uint16"):
            pw.bf16(np.zeros(3, np.float32))

    def test_numbers_for_an_argument(self) -> None:
        f = self.session.load(add_text("2x", "i8"))
        np.testing.assert_array_equal(np.asarray(f(x=[1, 2]).y), [2, 4])
        np.testing.assert_array_equal(np.asarray(f(x=[True, 2]).y), [2, 4])
        with self.assertRaisesRegex(pw.InvalidArgument, "'x'.*i8 cannot hold"):
            f(x=[1, 300])
        with self.assertRaisesRegex(pw.InvalidArgument, "'x' has floats.*i8"):
            f(x=[1, 2.5])
        with self.assertRaisesRegex(pw.InvalidArgument, "'x'.*i64.*i8"):
            f(x=np.array([1, 2]))

    def test_every_type_computes(self) -> None:
        for dtype in DTYPES:
            value = values_of(dtype, (4,))
            with self.subTest(dtype):
                element = self.session.put(value).element
                f = self.session.load(add_text("4x", element))
                got = np.asarray(f(x=value).y)
                self.assertEqual(got.dtype, value.dtype)
                np.testing.assert_array_equal(got, value | value if dtype == "?" else value + value)

    def test_copies_belong_to_the_caller(self) -> None:
        array = self.session.put(np.arange(3))
        first, second = np.asarray(array), np.asarray(array)
        first[:] = 7
        np.testing.assert_array_equal(second, [0, 1, 2])
        np.testing.assert_array_equal(np.asarray(array), [0, 1, 2])
        self.assertEqual(np.asarray(array, np.float32).dtype, np.float32)

    def test_views_have_no_copy(self) -> None:
        numbers = np.arange(1 << 20, dtype=np.float32)
        array = self.session.put(numbers)
        view = array.view()
        self.assertTrue(np.shares_memory(view, numbers))
        self.assertFalse(view.flags.writeable)
        with self.assertRaises(ValueError):
            view.setflags(write=True)
        self.assertTrue(np.shares_memory(view, array.__array__(copy=False)))
        # A view stays when the array and the session are gone.
        array.delete()
        self.session.close()
        np.testing.assert_array_equal(view[:3], [0, 1, 2])

    def test_result_without_a_copy(self) -> None:
        f = self.session.load(add_text("100000x"))
        y = f(x=np.ones(100000, np.float32)).y
        first, second = y.view(), y.view()
        self.assertTrue(np.shares_memory(first, second))
        np.testing.assert_array_equal(first, 2)

    def test_view_of_a_cut_array_is_refused(self) -> None:
        with pw.Session("1x4x1") as session:
            text = (
                'sdy.mesh @mesh = <["d"=4]>\n'
                + add_text("8x", attributes='{sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}')
            )
            y = session.load(text)(x=np.ones(8, np.float32)).y
            with self.assertRaises(pw.Refused):
                y.view()
            with self.assertRaises(ValueError):
                y.__array__(copy=False)
            with self.assertRaises(BufferError):
                y.__dlpack__(max_version=(1, 0), copy=False)
            np.testing.assert_array_equal(np.from_dlpack(y), 2)


class Numbers(unittest.TestCase):
    def test_numbers(self) -> None:
        half = add_text("", "bf16")
        minus_1_5 = pw.bf16(np.array(0xBFC0, np.uint16))
        with pw.Session("1x1x1") as session:
            array = session.put(np.float32(2.5))
            self.assertEqual((float(array), int(array), array.item()), (2.5, 2, 2.5))
            self.assertIs(bool(session.put([[0]])), False)
            self.assertEqual(session.put(np.ones((1, 1))).item(), 1)
            self.assertEqual(session.load(half)(minus_1_5).y.item(), -3)
            conversions: tuple[Any, ...] = (bool, int, float, pw.Array.item)
            for convert in conversions:
                with self.assertRaisesRegex(pw.InvalidArgument, r"\(2,\) is no number"):
                    convert(session.put([1, 2]))
                with self.assertRaisesRegex(pw.InvalidArgument, r"\(0,\) is no number"):
                    convert(session.put(np.zeros(0)))

    def test_formats(self) -> None:
        with pw.Session("1x1x1") as session:
            self.assertEqual(f"{session.put(1.25):.1f}", "1.2")
            self.assertEqual(f"{session.put([7]):04d}", "0007")
            array = session.put([1.0, 2.0])
            self.assertEqual(f"{array}", "<Array 2xf64>")
            with self.assertRaisesRegex(pw.InvalidArgument, r"\(2,\) is no number"):
                f"{array:.1f}"

    def test_public_names(self) -> None:
        for kind in (pw.Error, pw.NotFound, pw.RunError, pw.TraceError):
            self.assertEqual(kind.__module__, "pathways")
            error = kind("what")
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), str(again)), (kind, "what"))
        with self.assertRaisesRegex(TypeError, "not 4"):
            pw.Session(4)  # type: ignore[arg-type]

    def test_options_of_sessions(self) -> None:
        for options, message in (
            ({"costs_only": True}, "costs_only=True needs world='sim'"),
            ({"processes": -1}, "processes is -1, expected at least 0"),
            ({"quota_bytes": -1}, "quota_bytes is -1, expected at least 0"),
            ({"stall_timeout": -0.5}, "stall_timeout is -0.5, expected at least 0"),
            ({"spill_bytes": 1 << 80}, "spill_bytes is .*, expected less than 2\\*\\*63"),
        ):
            with self.assertRaisesRegex(pw.InvalidArgument, message):
                pw.Session("1x1x1", **options)  # type: ignore[arg-type]
        with self.assertRaisesRegex(pw.InvalidArgument, "kernel_cache_bytes is -1"):
            pw.compile(GOLDEN, "2x1x4", kernel_cache_bytes=-1)

    def test_repr_of_sessions(self) -> None:
        with pw.Session("8x16x8", world="sim") as session:
            self.assertGreater(len(session.topology), 1000)
            self.assertLess(len(repr(session)), 120)
            self.assertIn("textproto:", repr(session))
        self.assertEqual(repr(session), "<Session closed>")

    def test_save_takes_names(self) -> None:
        with pw.Session("1x1x1") as session:
            with self.assertRaisesRegex(pw.InvalidArgument, "from names.*not a list"):
                session.save([session.put(1)], "unused")  # type: ignore[arg-type]

    def test_weights(self) -> None:
        with pw.Session("1x1x1", weight=2) as session:
            calls: tuple[Callable[[], Any], ...] = (
                lambda: pw.Session("1x1x1", weight=0),
                lambda: session.another("other", weight=0),
                lambda: pw.connect("unix:@nowhere", weight=0),
            )
            for call in calls:
                with self.assertRaisesRegex(pw.InvalidArgument, "weight is 0, expected"):
                    call()


class Borrowed(unittest.TestCase):
    """Large arrays are read-only while a session reads them."""

    def setUp(self) -> None:
        self.session = pw.Session("1x1x1")
        self.addCleanup(self.session.close)
        self.numbers = np.ones(1 << 16, np.float32)

    def drain(self) -> None:
        self.session.put(0)

    def test_locked_until_done(self) -> None:
        first, second = self.session.put(self.numbers), self.session.put(self.numbers)
        self.assertFalse(self.numbers.flags.writeable)
        del first
        self.drain()
        self.assertFalse(self.numbers.flags.writeable)
        del second
        self.drain()
        self.assertTrue(self.numbers.flags.writeable)

    def test_unlocked_after_the_launch(self) -> None:
        f = self.session.load(add_text("65536x"))
        y = f(x=self.numbers).y
        np.testing.assert_array_equal(np.asarray(y), 2)
        self.drain()
        self.assertTrue(self.numbers.flags.writeable)
        self.numbers[:] = 3
        np.testing.assert_array_equal(np.asarray(y), 2)

    def test_read_only_stays_read_only(self) -> None:
        self.numbers.setflags(write=False)
        array = self.session.put(self.numbers)
        del array
        self.drain()
        self.assertFalse(self.numbers.flags.writeable)

    def test_small_ones_are_copied(self) -> None:
        small = np.ones(1 << 14, np.float32)
        array = self.session.put(small)
        small[:] = 2
        np.testing.assert_array_equal(np.asarray(array), 1)

    def test_memory_that_cannot_be_locked_is_copied(self) -> None:
        memory = bytearray(1 << 20)
        array = self.session.put(memory)
        memory[0] = 1
        self.assertEqual(np.asarray(array)[0], 0)

    def test_copy_says_which(self) -> None:
        array = self.session.put(self.numbers, copy=True)
        self.numbers[:] = 2
        np.testing.assert_array_equal(np.asarray(array), 1)
        small = np.ones(3, np.float32)
        array = self.session.put(small, copy=False)
        self.assertTrue(np.shares_memory(array.view(), small))
        for value in ([1, 2], small[::2], small.astype(">f4")):
            with self.assertRaisesRegex(pw.InvalidArgument, "cannot be borrowed"):
                self.session.put(value, copy=False)

    def test_unlocked_when_put_fails(self) -> None:
        self.session.close()
        with self.assertRaises(pw.InvalidArgument):
            self.session.put(self.numbers)
        self.assertTrue(self.numbers.flags.writeable)

    def test_unlocked_when_the_session_closes(self) -> None:
        array = self.session.put(self.numbers)
        self.session.close()
        self.assertTrue(self.numbers.flags.writeable)
        del array


class Dlpack(unittest.TestCase):
    def setUp(self) -> None:
        self.session = pw.Session("1x1x1")
        self.addCleanup(self.session.close)

    def test_to_numpy(self) -> None:
        for dtype in DTYPES:
            if dtype == "?":
                continue  # NumPy 1 takes none
            for shape in SHAPES:
                value = values_of(dtype, shape)
                with self.subTest(dtype=dtype, shape=shape):
                    got = np.from_dlpack(self.session.put(value))
                    self.assertEqual(got.dtype, value.dtype)
                    np.testing.assert_array_equal(got, value)

    def test_capsules(self) -> None:
        array = self.session.put(np.arange(6).reshape(2, 3))
        for version in (None, (0, 8), (1, 0), (1, 5)):
            for copy in (None, True):
                capsule = array.__dlpack__(max_version=version, copy=copy)
                versioned = version is not None and version[0] >= 1
                self.assertIn('"dltensor_versioned"' if versioned else '"dltensor"', repr(capsule))
                view = pw._pathways._from_dlpack(capsule)
                np.testing.assert_array_equal(np.asarray(view), np.arange(6).reshape(2, 3))
                # Only the copies may be written.
                self.assertEqual(memoryview(view).readonly, versioned and copy is None)
                with self.assertRaisesRegex(pw.InvalidArgument, "not used yet"):
                    pw._pathways._from_dlpack(capsule)
        with self.assertRaises(BufferError):
            array.__dlpack__(copy=False)
        with self.assertRaises(BufferError):
            array.__dlpack__(dl_device=(2, 0))
        with self.assertRaises(BufferError):
            array.__dlpack__(stream=1)
        self.assertEqual(array.__dlpack_device__(), (1, 0))
        with self.assertRaises(pw.InvalidArgument):
            pw._pathways._from_dlpack(object())

    def test_capsules_outlive_the_session(self) -> None:
        array = self.session.put(np.arange(6))
        old, new = array.__dlpack__(), array.__dlpack__(max_version=(1, 0))
        del array
        self.session.close()
        for capsule in (old, new):
            view = np.asarray(pw._pathways._from_dlpack(capsule))
            np.testing.assert_array_equal(view, np.arange(6))

    def test_between_sessions(self) -> None:
        class Other:
            """A tensor of a library that has nothing but version 1 of DLPack."""

            def __init__(self, array: pw.Array) -> None:
                self.array = array

            def __dlpack__(self, **options: Any) -> Any:
                return self.array.__dlpack__(**options)

        with pw.Session("1x1x1") as second:
            array = self.session.put(np.arange(4))
            np.testing.assert_array_equal(np.asarray(second.put(Other(array))), np.arange(4))

    def test_torch(self) -> None:
        try:
            import torch
        except ImportError:
            self.skipTest("PyTorch is not installed")
        tensors = [
            torch.arange(4.0),
            torch.tensor(5),
            torch.zeros(0, 2),
            torch.arange(6).reshape(2, 3).T,
            torch.arange(8)[::2],
            torch.ones(2, dtype=torch.float16),
            torch.ones(3, dtype=torch.bfloat16),
            torch.ones(2, dtype=torch.uint8),
            torch.ones(70000, dtype=torch.float64),
        ]
        for tensor in tensors:
            with self.subTest(str(tensor.dtype)):
                array = self.session.put(tensor)
                self.assertEqual(tuple(tensor.shape), array.shape)
                back = torch.from_dlpack(array)
                self.assertEqual(back.dtype, tensor.dtype)
                self.assertTrue(torch.equal(back, tensor))
        booleans = np.asarray(self.session.put(torch.tensor([True, False])))
        self.assertEqual(booleans.dtype, np.bool_)
        np.testing.assert_array_equal(booleans, [True, False])
        # A tensor cannot be locked: changes do not show.
        array = self.session.put(tensors[-1])
        tensors[-1][:] = 2
        np.testing.assert_array_equal(np.asarray(array), 1)
        f = self.session.load(add_text("3x", "bf16"))
        doubled = torch.from_dlpack(f(x=torch.ones(3, dtype=torch.bfloat16)).y)
        self.assertTrue(torch.equal(doubled, torch.full((3,), 2, dtype=torch.bfloat16)))
        with self.assertRaisesRegex(pw.InvalidArgument, "detach"):
            self.session.put(torch.ones(2, requires_grad=True))
        with self.assertRaises(pw.InvalidArgument):
            self.session.put(torch.ones(2, dtype=torch.complex64))


if __name__ == "__main__":
    unittest.main()
