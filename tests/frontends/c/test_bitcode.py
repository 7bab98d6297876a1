"""Bitcode is looked at before LLVM is: its kind, and which LLVM wrote it."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene
from kleene.base.errors import SourceError
from kleene.frontends.c import bitcode
from kleene.ir.store import dumps
from tests.frontends.c.conftest import X86, zig
from tests.frontends.c.pipeline import problem, text_of

MAGIC = b"BC\xc0\xde"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"


def six_bits_each(text: str) -> tuple[int, int]:
    """Return `text` as the bitstream's six-bit letters, and how many bits that is."""
    bits = sum(LETTERS.index(letter) << (6 * place) for place, letter in enumerate(text))
    return bits, 6 * len(text)


def renamed(raw: bytes, before: str, after: str) -> bytes:
    """Return the bitcode with another producer of the same length in its identification block."""
    head = int.from_bytes(raw[:128], "little")
    (old, width), (new, _) = six_bits_each(before), six_bits_each(after)
    mask = (1 << width) - 1
    (place,) = (at for at in range(8 * 128 - width) if (head >> at) & mask == old)
    head ^= (old ^ new) << place
    return head.to_bytes(128, "little") + raw[128:]


def wrapped(raw: bytes) -> bytes:
    """Return the bitcode in the wrapper that Apple's tools write."""
    head = (0x0B17C0DE, 0, 20, len(raw), 7)
    return b"".join(number.to_bytes(4, "little") for number in head) + raw


@pytest.fixture(scope="session")
def square(made: Path) -> bytes:
    return (made / "square.bc").read_bytes()


@pytest.fixture(scope="session")
def writer(square: bytes) -> str:
    name = bitcode.producer(square)
    assert name
    return name


def test_our_llvm_is_the_one_that_llvmlite_holds() -> None:
    assert llvm.llvm_version_info[0] == bitcode.LLVM_MAJOR


def test_the_producer_is_read(square: bytes, writer: str) -> None:
    assert re.fullmatch(r"LLVM22\.\d+\.\d+", writer)
    assert bitcode.producer(renamed(square, writer, "x" * len(writer))) == "x" * len(writer)
    assert bitcode.producer(wrapped(square)) == writer
    llvm_module = llvm.parse_assembly("define void @f() {\n  ret void\n}\n").as_bitcode()
    assert bitcode.producer(llvm_module) == "LLVM" + ".".join(map(str, llvm.llvm_version_info))


def test_wrapped_bitcode_loads(square: bytes, tmp_path: Path) -> None:
    (tmp_path / "w.bc").write_bytes(wrapped(square))
    assert "@square(" in text_of(tmp_path / "w.bc")


def test_an_object_of_an_lto_build_loads(made: Path) -> None:
    assert "@square(" in text_of(made / "lto.o")


def test_newer_bitcode_is_refused_by_its_producer(
    square: bytes, writer: str, tmp_path: Path
) -> None:
    (tmp_path / "new.bc").write_bytes(renamed(square, writer, writer.replace("22", "23", 1)))
    error = problem(tmp_path / "new.bc")
    assert error.id == "c/newer-bitcode"
    assert error.span is not None
    assert error.span.file == str(tmp_path / "new.bc")
    assert "LLVM23" in error.message


def test_older_bitcode_is_not(square: bytes, writer: str, tmp_path: Path) -> None:
    (tmp_path / "old.bc").write_bytes(renamed(square, writer, writer.replace("22", "14", 1)))
    assert "@square(" in text_of(tmp_path / "old.bc")


def test_machine_code_is_told_from_bitcode(made: Path, tmp_path: Path) -> None:
    error = problem(made / "native.o")
    assert error.id == "c/native-object"
    assert "-flto" in error.notes[0]
    (tmp_path / "lib.bc").write_bytes(b"!<arch>\n")
    assert problem(tmp_path / "lib.bc").id == "c/native-object"


@pytest.mark.parametrize("kept", [0, 3, 4, 8, 20, 100, 1000, -4, -1])
def test_truncated_bitcode(square: bytes, tmp_path: Path, kept: int) -> None:
    (tmp_path / "cut.bc").write_bytes(square[:kept])
    error = problem(tmp_path / "cut.bc")
    assert error.id in ("c/bad-bitcode", "c/reader-crashed")
    assert error.span is not None
    assert error.span.file == str(tmp_path / "cut.bc")


@pytest.mark.parametrize("raw", [b"int main;", MAGIC + bytes(64), MAGIC + b"\xff" * 99])
def test_random_bytes(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "noise.bc").write_bytes(raw)
    error = problem(tmp_path / "noise.bc")
    assert error.id in ("c/bad-bitcode", "c/bad-assembly", "c/reader-crashed")
    assert str(error.span) == str(tmp_path / "noise.bc")


@given(raw=st.binary(max_size=200))
def test_any_bytes_have_a_producer_or_none(raw: bytes) -> None:
    for start in (raw, MAGIC + raw, MAGIC + b"\x35\x14\x00\x00\x05\x00\x00\x00" + raw):
        name = bitcode.producer(start)
        assert name is None or isinstance(name, str)
        with suppress(SourceError):
            bitcode.check("x.bc", start)


def test_a_number_without_end_is_given_up() -> None:
    assert bitcode.producer(MAGIC + b"\xff" * 1_000_000) is None


def test_the_name_of_a_file_does_not_decide_its_form(square: bytes, tmp_path: Path) -> None:
    text = "; ModuleID = 'x'\nsource_filename = \"x.c\"\ndefine void @f() {\n  ret void\n}\n"
    for name in ("text.bc", "text.o", "text.ll"):
        (tmp_path / name).write_text(text)
        assert [f.name for f in kleene.load(tmp_path / name).functions] == ["f"]
    (tmp_path / "bits.ll").write_bytes(square)
    (tmp_path / "bits.bc").write_bytes(square)
    found = kleene.load(tmp_path / "bits.ll")
    assert dumps(found) == dumps(kleene.load(tmp_path / "bits.bc"))


def test_normalising_reaches_code_that_asks_not_to_be_optimised(made: Path) -> None:
    source, plain = made / "square.c", made / "optnone.bc"
    zig(source, plain, *X86, "-O0", "-g", "-emit-llvm")
    before, after = kleene.load(plain), kleene.load(plain, normalise=True)
    count = [sum(i.opcode.name == "ALLOCA" for f in p.functions for i in f.instructions)
             for p in (before, after)]  # fmt: skip
    assert count[0] > 0 == count[1]
    assert {f.name for f in after.functions} >= {"square"}
    assert after.functions["square"].span == before.functions["square"].span
