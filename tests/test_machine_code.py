"""Machine code that needs no linker, made of what llvmlite makes, and called."""

from __future__ import annotations

import ctypes
import platform
import time

import llvmlite.binding as llvm
import pytest

from nonobot.bot.machine_code import laid_out, map_code

pytestmark = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="code of other machines is not laid out"
)

TABLE = """
@squares = private unnamed_addr constant [6 x i64] [i64 0, i64 1, i64 4, i64 9, i64 16, i64 25]
define i64 @square(i64 %at) {
  %place = getelementptr [6 x i64], ptr @squares, i64 0, i64 %at
  %value = load i64, ptr %place
  ret i64 %value
}
define internal i64 @next(i64 %at) noinline {
  %after = add i64 %at, 1
  %value = call i64 @square(i64 %after)
  ret i64 %value
}
define i64 @two(i64 %at) {
  %first = call i64 @next(i64 %at)
  %second = call i64 @next(i64 %first)
  ret i64 %second
}
"""

CLOCK = """
declare i32 @clock_gettime(i32, ptr)
define i64 @seconds(i64 %clock) {
  %now = alloca {i64, i64}
  %kind = trunc i64 %clock to i32
  %done = call i32 @clock_gettime(i32 %kind, ptr %now)
  %value = load i64, ptr %now
  ret i64 %value
}
"""

TOO_MUCH = {
    "another function outside": """
        declare i64 @getppid()
        define i64 @f(i64 %x) {
          %y = call i64 @getppid()
          ret i64 %y
        }""",
    "a number that changes": """
        @count = global i64 7
        define i64 @f(i64 %x) {
          %y = load i64, ptr @count
          ret i64 %y
        }""",
    "a number that is 0 at first": """
        @count = global i64 0
        define i64 @f(i64 %x) {
          %y = load i64, ptr @count
          ret i64 %y
        }""",
}


def object_code(text, model="large"):
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(codemodel=model)
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    return machine.emit_object(module)


def loaded(text, name):
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(map_code(laid_out(object_code(text), name)))


def test_functions_find_their_constants_and_each_other():
    square, two = loaded(TABLE, "square"), loaded(TABLE, "two")
    assert [square(at) for at in range(6)] == [0, 1, 4, 9, 16, 25]
    assert [two(at) for at in range(2)] == [4, 25]


def test_the_clock_outside_is_called():
    before = int(time.monotonic())
    assert before <= loaded(CLOCK, "seconds")(time.CLOCK_MONOTONIC) <= int(time.monotonic())


@pytest.mark.parametrize("text", TOO_MUCH.values(), ids=TOO_MUCH)
def test_code_that_needs_more_is_not_laid_out(text):
    assert laid_out(object_code(text), "f") is None


def test_nor_is_code_that_calls_places_by_their_distance_or_has_no_such_function():
    assert laid_out(object_code(TABLE, "small"), "square") is None
    assert laid_out(object_code(TABLE), "cube") is None
    assert laid_out(object_code(CLOCK), "clock_gettime") is None


@pytest.mark.parametrize("start", [b"", b"\xcf\xfa\xed\xfe", b"\x7fELF\x01\x01", b"\x7fELF\x02\x02"])
def test_nor_are_files_of_another_kind(start):
    assert laid_out(start + bytes(200), "f") is None


def test_nor_is_the_code_of_another_machine():
    code = bytearray(object_code(TABLE))
    code[18] = 183  # AArch64
    assert laid_out(bytes(code), "square") is None
