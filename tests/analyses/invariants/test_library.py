"""Models of library functions are true of the C library, and give the verdicts of `library.c`."""

from __future__ import annotations

import ctypes
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kleene import load
from kleene.analyses.invariants import Verdict
from kleene.analyses.invariants.formats import with_format
from kleene.analyses.invariants.library import CHARACTER_TABLES, models
from kleene.analyses.invariants.models import Bound, Model
from kleene.ir import Program

from .test_checks import wrong_verdicts
from .test_truth import N_RUNS, defined, watched

LIBRARY = Path(__file__).with_name("library.c")
SIZE, EDGE, MARK = 32, 64, 0xA5


@pytest.fixture(scope="module")
def program() -> Program:
    return load(LIBRARY)


def test_verdicts_are_as_expected(program: Program) -> None:
    assert not wrong_verdicts(program.invariants(), LIBRARY)


@pytest.mark.parametrize("whole_program", [False, True])
def test_storage_of_the_library_is_known(*, whole_program: bool) -> None:
    file = LIBRARY.with_name("places.c")
    assert not wrong_verdicts(load(file).invariants(whole_program=whole_program), file)


@pytest.mark.skipif(sys.platform != "linux", reason="calls the C library by ctypes")
@pytest.mark.parametrize(("name", "kind"), [("__ctype_b_loc", ctypes.c_ushort),
                                            ("__ctype_tolower_loc", ctypes.c_int),
                                            ("__ctype_toupper_loc", ctypes.c_int)])  # fmt: skip
def test_character_tables_have_384_elements(name: str, kind: type[Any]) -> None:
    function = getattr(ctypes.CDLL(None), name)
    function.restype = ctypes.POINTER(ctypes.POINTER(kind))
    table = function().contents
    behind, size = CHARACTER_TABLES[name]
    each = ctypes.sizeof(kind)
    found = [table[place] for place in range(-behind // each, (size - behind) // each)]
    assert len(found) == 384
    letters = [int(found[128 + code]) for code in (ord("a"), ord("A"))]
    if kind is ctypes.c_int:  # of -128 to 127, but for -1, both halves are the same
        assert found[0:127] == found[256:383]
        assert letters == [ord("A")] * 2 if "upper" in name else letters == [ord("a")] * 2
    else:
        assert letters[0] & letters[1] & 1 << 10  # isalpha


def test_what_copies_strings_is_checked_in_whole_programs_too(program: Program) -> None:
    """No call that is not proved for a function alone is left out: verdicts may be less precise."""
    exact = {
        (one.instruction, one.kind): one.verdict
        for one in program.invariants(whole_program=False).check_results(["bounds"])
        if "writes" in one.message  # strings that are read are assumed to end in whole programs
    }
    whole = {
        one.instruction: one.verdict
        for one in program.invariants(whole_program=True).check_results(["bounds"])
    }
    missing = [row for row, _ in exact if row not in whole]
    assert not missing
    assert sum(one is Verdict.SAFE for one in whole.values()) > 5


def test_strings_are_assumed_to_end(program: Program) -> None:
    assert any("strings" in one for one in program.invariants().assumed)


def test_what_fails_is_assumed_to_end_a_run(tmp_path: Path) -> None:
    """The sum is safe because the access in front of it, which may fail, was inside."""
    file = tmp_path / "ends.c"
    file.write_text("int f(int x) { int a[4]; a[x] = 1; return x + 1; }")
    result = load(file).invariants()
    assert {one.kind.value for one in result.check_results() if not one.is_proved} == {"bounds"}
    for one in (result, load(file).invariants(whole_program=True, wraps=True)):
        assert any("a run ends where an access" in text for text in one.assumed)


def test_runs_of_library_functions(program: Program) -> None:
    failed = 0
    for function in defined(program):
        failed += len(watched(program, function, range(2 * N_RUNS)).failed)
    assert failed >= 5


class Buffer:
    """Bytes with others around them that nobody may change."""

    def __init__(self, content: bytes, offset: int = 0) -> None:
        self.offset = offset
        self.bytes = (ctypes.c_ubyte * (SIZE + 2 * EDGE))(*[MARK] * (SIZE + 2 * EDGE))
        self.bytes[EDGE : EDGE + len(content)] = list(content)
        self.before = bytes(self.bytes)

    @property
    def address(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(ctypes.addressof(self.bytes) + EDGE + self.offset)

    def changed(self) -> tuple[int, int] | None:
        """Return the first and behind the last byte that is other than before, from its place."""
        pairs = zip(self.before, bytes(self.bytes), strict=True)
        found = [place for place, (old, new) in enumerate(pairs) if old != new]
        start = EDGE + self.offset
        return (found[0] - start, found[-1] + 1 - start) if found else None


def text(source: random.Random) -> Buffer:
    letters = bytes(source.choice(b"ab1 -") for _ in range(source.randrange(SIZE - 1)))
    return Buffer(letters + b"\0")


def number(source: random.Random) -> int:
    return source.randrange(0, SIZE + 1)


def byte(source: random.Random) -> int:
    return source.randrange(-1, 256)


def pipe(source: random.Random) -> int:
    """Return a file with a few bytes to read, or one that cannot be read."""
    reading, writing = os.pipe()
    os.write(writing, bytes(source.randrange(1, 40)))
    os.close(writing)
    FILES.append(reading)
    return source.choice((reading, reading, -1))


FILES: list[int] = []
CALLS: dict[str, tuple[Callable[[random.Random], Any], ...]] = {
    "memcpy": (text, text, number), "memmove": (text, text, number), "memset": (text, byte, number),
    "memchr": (text, byte, number), "strlen": (text,), "strnlen": (text, number),
    "strchr": (text, byte), "strrchr": (text, byte), "strstr": (text, text),
    "strpbrk": (text, text), "strspn": (text, text), "strcspn": (text, text),
    "strncpy": (text, text, number), "atoi": (text,), "toupper": (byte,), "tolower": (byte,),
    "isalpha": (byte,), "rand": (), "random": (), "read": (pipe, text, number), "memcmp":
    (text, text, number), "strcmp": (text, text), "strncmp": (text, text, number),
    "strtol": (text, lambda source: Buffer(bytes(8)), lambda source: 10), "clock": (),
    "time": (lambda source: Buffer(bytes(8)),),
}  # fmt: skip
POINTERS = {"memcpy", "memmove", "memset", "memchr", "strchr", "strrchr", "strstr", "strpbrk",
            "strncpy"}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="calls the C library by ctypes")
@pytest.mark.parametrize("name", CALLS)
def test_models_are_true(name: str) -> None:
    model = models()[name]
    function = getattr(ctypes.CDLL(None), name)
    function.restype = ctypes.c_void_p if name in POINTERS else ctypes.c_long
    if name in ("atoi", "toupper", "tolower", "isalpha", "rand", "memcmp", "strcmp", "strncmp"):
        function.restype = ctypes.c_int
    for seed in range(150):
        source = random.Random(seed)
        given = [make(source) for make in CALLS[name]]
        passed = [one.address if isinstance(one, Buffer) else one for one in given]
        result = function(*passed)
        problem = judged(model, given, result)
        assert not problem, f"{name}, seed {seed}: {problem}"
        while FILES:
            os.close(FILES.pop())


def judged(model: Model, given: list[Any], result: int | None) -> str:
    """Return what a call did that its model does not say; empty if nothing."""
    for place, one in enumerate(given):
        if isinstance(one, Buffer) and (changed := one.changed()) is not None:
            touches = [t for t in model.touches if t.argument == place and t.is_write]
            if not touches:
                return f"argument {place} was written"
            size = touches[0].size
            if size is not None and not 0 <= changed[0] <= changed[1] <= valued(size, given):
                return f"bytes {changed} of argument {place} were written"
    if model.result is not None:
        assert result is not None
        low, high = (valued(one, given) for one in model.result)
        if not low <= result <= high:
            return f"{result} was returned"
    if model.returns is not None:
        start = given[model.returns].address.value
        if model.is_copy and result != start:
            return "it does not return its argument"
        if model.is_inside and result is not None and not start <= result < start + SIZE:
            return f"{result} is not inside"
    return ""


def valued(bound: Bound, given: list[Any]) -> int:
    if bound.room is not None:
        return SIZE - int(given[bound.room].offset) + bound.constant
    value = 1 if bound.arguments else 0
    for one in bound.arguments:
        value *= int(given[one])
    return value + bound.constant


FORMATS = {
    "%d": [(-(1 << 31),), (5,)], "%5d|": [(123456,), (1,)], "%u": [((1 << 32) - 1,)],
    "%x %o": [((1 << 32) - 1, (1 << 32) - 1)], "%#x": [((1 << 32) - 1,)],
    "%c%%": [(65,)], "%hhd": [(-128,)], "%.3s": [(b"abcdef",)], "%.12d": [(-5,)], "text": [()],
    "%s": [(b"abcdef",), (b"",)], "%9s-%d%s": [(b"a", 1, b"bc"), (b"abcdefghijk", -5, b"")],
    "%ld": [(ctypes.c_long(-(1 << 63)),)], "%+i": [(2147483647,)], "%p": [(ctypes.c_void_p(-1),)],
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="calls the C library by ctypes")
def test_formats_print_no_more_than_their_model_says() -> None:
    function = ctypes.CDLL(None).sprintf
    for form, arguments in FORMATS.items():
        model = with_format(models()["sprintf"], form)
        touch = model.touches[-1]
        assert touch.size is not None, form
        for given in arguments:
            buffer = ctypes.create_string_buffer(400)
            n = function(buffer, form.encode(), *given)
            lengths = sum(len(given[one - 2]) for one in touch.size.lengths)
            assert n + 1 <= touch.size.constant + lengths, (form, given, buffer.value)
            if not lengths:
                assert model.result is not None
                assert model.result[0].constant <= n <= model.result[1].constant
    for form in ("%ls", "%*d", "%f", "%n", "%'d", "%.*s"):
        model = with_format(models()["sprintf"], form)
        assert model.is_unknown or model.touches[-1].size is None, form


SCANS = {
    "%d": (b"12", [4]), "%9s": (b"abcdefghijkl", [10]), "%hd %c": (b"12 x", [2, 1]),
    "%3c": (b"abcdef", [3]), "%*d %lf": (b"1 2.5", [8]), "%4[a-z]%n": (b"abcdef", [5, 4]),
    "%ld%%": (b"7%", [8]), "%f": (b"1.5", [4]), "%hhx": (b"ff", [1]),
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="calls the C library by ctypes")
def test_formats_scan_no_more_than_their_model_says() -> None:
    function = ctypes.CDLL(None).sscanf
    for form, (line, sizes) in SCANS.items():
        model = with_format(models()["sscanf"], form)
        assert [one.size and one.size.constant for one in model.touches] == sizes, form
        given = [Buffer(b"") for _ in sizes]
        n = function(line, form.encode(), *(one.address for one in given))
        assert model.result is not None
        assert model.result[0].constant <= n <= model.result[1].constant
        for one, size in zip(given, sizes, strict=True):
            changed = one.changed()
            assert changed is None or 0 <= changed[0] <= changed[1] <= size, form
    assert with_format(models()["sscanf"], "%s").touches[0].size is None
    assert with_format(models()["sscanf"], None).is_unknown


@pytest.mark.parametrize("gives", ['fmemopen(b, 1, "w")', "setvbuf(f, b, _IOFBF, 1) ? 0 : f"])
def test_streams_write_to_the_memory_they_were_given(tmp_path: Path, gives: str) -> None:
    file = tmp_path / "stream.c"
    file.write_text(
        "#include <stdio.h>\nint f(FILE *f, int n) { char b[1]; FILE *g = " + gives + ";"
        " if (!g) return 0; b[0] = 1; fputc(0, g); return n / b[0]; }"
    )
    (found,) = load(file).invariants(whole_program=False).check_results(["division"])
    assert found.verdict is Verdict.MAY_FAIL
