"""Compiled inputs, made once for all tests of the C front end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontends.c.pipeline import zig

SQUARE = """\
int square(int x) {
  int result = x * x;
  return result;
}
"""
X86 = ("-target", "x86_64-linux-gnu", "-fno-sanitize=undefined")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `square` as source, optimised and plain bitcode, ARM bitcode, and objects."""
    folder = tmp_path_factory.mktemp("made")
    source = folder / "square.c"
    source.write_text(SQUARE)
    zig(source, folder / "square.bc", *X86, "-O1", "-g", "-emit-llvm")
    zig(source, folder / "lto.o", *X86, "-O1", "-g", "-flto")
    zig(source, folder / "native.o", *X86, "-O1")
    zig(source, folder / "arm.bc", "-target", "aarch64-linux-gnu", "-O1", "-emit-llvm")
    plain = ("-O0", "-Xclang", "-disable-O0-optnone", "-emit-llvm")
    zig(source, folder / "plain.bc", *X86, *plain)
    return folder
