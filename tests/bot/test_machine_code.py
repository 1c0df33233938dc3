"""Machine code that needs no linker, made of what llvmlite makes, and called."""

import ctypes
import platform
import time

import llvmlite.binding as llvm
import pytest
from llvmlite import ir

from nonobot.bot.kernels.machine_code import laid_out, map_code

pytestmark = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="code of other machines is not laid out"
)

LONG, INT = ir.IntType(64), ir.IntType(32)


def function(module, name):
    """Return a function of one number, and what fills it."""
    made = ir.Function(module, ir.FunctionType(LONG, [LONG]), name)
    return made, ir.IRBuilder(made.append_basic_block())


def table():
    """Return a module with squares: `square` looks one up, `two` does so twice, through another function."""
    module = ir.Module()
    kind = ir.ArrayType(LONG, 6)
    squares = ir.GlobalVariable(module, kind, "squares")
    squares.initializer, squares.global_constant = ir.Constant(kind, [0, 1, 4, 9, 16, 25]), True
    square, build = function(module, "square")
    build.ret(build.load(build.gep(squares, [LONG(0), square.args[0]])))
    after, build = function(module, "after")
    after.linkage = "internal"
    build.ret(build.call(square, [build.add(after.args[0], LONG(1))]))
    two, build = function(module, "two")
    build.ret(build.call(after, [build.call(after, two.args)]))
    return module


def clock():
    """Return a module with `seconds`, which asks the C library for the time of a clock."""
    module = ir.Module()
    seconds, build = function(module, "seconds")
    now = build.alloca(ir.ArrayType(LONG, 2))
    outside = ir.Function(module, ir.FunctionType(INT, [INT, now.type]), "clock_gettime")
    build.call(outside, [build.trunc(seconds.args[0], INT), now])
    build.ret(build.load(build.gep(now, [LONG(0), LONG(0)])))
    return module


def calls_another():
    module = ir.Module()
    _, build = function(module, "f")
    build.ret(build.call(ir.Function(module, ir.FunctionType(LONG, []), "getppid"), []))
    return module


def has_a_variable(value):
    module = ir.Module()
    variable = ir.GlobalVariable(module, LONG, "variable")
    variable.initializer = LONG(value)
    _, build = function(module, "f")
    build.ret(build.load(variable))
    return module


def object_code(module, model="large"):
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(codemodel=model)
    module.triple = llvm.get_process_triple()
    return machine.emit_object(llvm.parse_assembly(str(module)))


def loaded(module, name):
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(map_code(laid_out(object_code(module), name)))


def test_loaded_functions_reach_constants_each_other_and_the_system_clock():
    square, two = loaded(table(), "square"), loaded(table(), "two")
    assert [square(number) for number in range(6)] == [0, 1, 4, 9, 16, 25]
    assert [two(number) for number in range(2)] == [4, 25]
    before = int(time.monotonic())
    assert before <= loaded(clock(), "seconds")(time.CLOCK_MONOTONIC) <= int(time.monotonic())


@pytest.mark.parametrize("module", [calls_another(), has_a_variable(7), has_a_variable(0)])
def test_code_that_needs_more_is_not_laid_out(module):
    assert laid_out(object_code(module), "f") is None


def test_code_that_calls_by_distance_or_is_for_another_machine_is_not_laid_out():
    assert laid_out(object_code(table(), "small"), "square") is None
    assert laid_out(object_code(table()), "cube") is None
    assert laid_out(object_code(clock()), "clock_gettime") is None
    code = object_code(table())
    assert laid_out(code, "square")
    assert laid_out(b"", "square") is None
    for_aarch64 = code[:18] + bytes([183])
    for start in (b"\xcf\xfa\xed\xfe", b"\x7fELF\x01\x01", b"\x7fELF\x02\x02", for_aarch64):
        assert laid_out(start + code[len(start) :], "square") is None
