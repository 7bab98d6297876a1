"""The interpreter of loop trees computes what compiled C computes."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import pytest

from kleene.ir.loops import tree
from tests.frontends.c.pipeline import printed, raw_of
from tests.offload.kernels.interpreter import Interpreter, Object, TooLongError, UndefinedError
from tests.offload.kernels.loop_programs import unit
from tests.offload.kernels.random_loops import SIZE, program

NUMBERS = {"n": 5, "m": 4, "u": 6}
GLOBALS = {
    "A": (ctypes.c_int * SIZE),
    "B": (ctypes.c_int * SIZE),
    "M": ((ctypes.c_int * SIZE) * SIZE),
    "idx": (ctypes.c_int * SIZE),
    "D": (ctypes.c_double * SIZE),
}
GIVEN = 4 * SIZE


def interpreted(functions: dict[str, tree.Function], name: str) -> tuple[Interpreter, int] | None:
    """Return a run and its result; None if the program does something undefined."""
    run = Interpreter(functions)
    values = [run.given("p", None), run.given("q", None)]
    try:
        numbers = [NUMBERS["n"], NUMBERS["m"], NUMBERS["u"]]
        return run, run.call(name, [*numbers, *values])
    except (UndefinedError, TooLongError):
        return None


def is_inside(root: Object, path: tuple[Any, ...]) -> bool:
    """Return whether C may be asked about an address too."""
    numbers = [one for one in path if isinstance(one, int)]
    if root.name in ("p[]", "q[]"):
        return all(-GIVEN // 2 <= one < GIVEN // 2 for one in numbers)
    limit = 10 if root.name == "w" else SIZE
    return all(0 <= one < limit for one in numbers)


def is_defined(run: Interpreter) -> bool:
    known = {*GLOBALS, "S", "p[]", "q[]"}
    return all(is_inside(*address) for address in run.memory) and all(
        root.name in known for root, _ in run.first_reads
    )


def written_cell(array: Any, path: tuple[Any, ...]) -> tuple[Any, int]:
    """Return the innermost array of a cell, and its subscript there."""
    for one in path[:-1]:
        array = array[one]
    return array, path[-1]


@pytest.mark.parametrize("seed", range(3))
def test_random_functions_agree_with_compiled_ones(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(program(seed, 14).replace("static int twice", "int twice"))
    functions = {one.name: one for one in unit(file).functions}
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(printed(raw_of(file)), llvm.create_context())
    machine = llvm.Target.from_default_triple().create_target_machine()
    n_compared = 0
    with llvm.create_mcjit_compiler(module, machine) as engine:
        engine.finalize_object()
        for name in functions:
            if not name.startswith("f"):
                continue
            found = interpreted(functions, name)
            if found is None or not is_defined(found[0]):
                continue
            compare(engine, name, *found)
            n_compared += 1
    assert n_compared >= 3


def compare(engine: Any, name: str, run: Interpreter, result: int) -> None:
    storage = {
        one: kind.from_address(engine.get_global_value_address(one))
        for one, kind in GLOBALS.items()
    }
    given = {one: (ctypes.c_int * GIVEN)() for one in ("p[]", "q[]")}
    pairs = ((ctypes.c_int * 2) * SIZE).from_address(engine.get_global_value_address("S"))

    def cell(root: Object, path: tuple[Any, ...]) -> tuple[Any, int]:
        if root.name in given:
            return given[root.name], path[-1] + GIVEN // 2
        if root.name == "S":
            return pairs[path[0]], "xy".index(path[1])
        return written_cell(storage[root.name], path)

    for (root, path), value in run.first_reads.items():
        array, at = cell(root, path)
        array[at] = value
    function = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p
    )(engine.get_function_address(name))
    middles = [ctypes.addressof(one) + GIVEN // 2 * 4 for one in given.values()]
    assert function(*NUMBERS.values(), *middles) == result, name
    for (root, path), value in run.memory.items():
        if root.name in storage or root.name in given or root.name == "S":
            array, at = cell(root, path)
            assert array[at] == value, f"{name}: {root.name}{path}"
