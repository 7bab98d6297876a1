"""Headers of C++ that are compiled before a file: its declarations stay the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.base import tidy
from kleene.base.errors import SourceError
from kleene.frontends.c.compiler import Compiler, Options, find
from kleene.frontends.c.loops import headers as module
from kleene.frontends.c.loops import read
from kleene.frontends.c.loops.ast import Node, declarations, place
from kleene.frontends.c.loops.headers import Headers
from kleene.frontends.c.source import Source

OWN = "#pragma once\n#include <stdint.h>\ninline int twice(int x) { return 2 * x; }\n"
CODE = """#include "own.h"
#include <stddef.h>
static size_t g(uint8_t x) { return x; }
int f(int n) { return twice(n) + g(n); }
"""


@pytest.fixture
def dumps(monkeypatch: pytest.MonkeyPatch) -> list[Path | None]:
    """The precompiled headers with which dumps are made; every header is worth it."""
    made: list[Path | None] = []
    original = Compiler.syntax_tree

    def noted(
        self: Compiler, source: Source, options: Options, scratch: Path, headers: Path | None = None
    ) -> bytes:
        made.append(headers)
        return original(self, source, options, scratch, headers)

    monkeypatch.setattr(Compiler, "syntax_tree", noted)
    monkeypatch.setattr(module, "SMALLEST", 1)
    return made


def parsed(file: Path, *, precompiled: bool = True) -> list[Node]:
    with tidy.scratch() as folder:
        headers = Headers(find(), Options(), folder) if precompiled else None
        return declarations(Source(str(file), "c++"), find(), Options(), headers)


def named(nodes: list[Node]) -> list[tuple[str, str, int]]:
    found = [(one.get("name", ""), place(one)) for one in nodes]
    return [(name, Path(at.file).name, at.line) for name, at in found if name]


def test_declarations_are_those_of_the_whole_dump(tmp_path: Path, dumps: list[Path | None]) -> None:
    (tmp_path / "own.h").write_text(OWN)
    file = tmp_path / "a.cpp"
    file.write_text(CODE)
    found = named(parsed(file))
    assert found == [("twice", "own.h", 3), ("g", "a.cpp", 3), ("f", "a.cpp", 4)]
    assert found == named(parsed(file, precompiled=False))
    assert [one is not None for one in dumps] == [True, False]


def test_headers_that_say_something_else_after_a_macro_are_not_compiled_before(
    tmp_path: Path, dumps: list[Path | None]
) -> None:
    file = tmp_path / "a.cpp"
    file.write_text(
        "#define __need_size_t\n#include <stddef.h>\nsize_t f(size_t n) { return n; }\n"
    )
    assert named(parsed(file)) == [("f", "a.cpp", 3)]
    assert dumps == [None]


def test_files_with_the_same_headers_share_them(tmp_path: Path, dumps: list[Path | None]) -> None:
    (tmp_path / "own.h").write_text(OWN)
    sources = []
    for name in ("a.cpp", "b.cpp"):
        (tmp_path / name).write_text(CODE)
        sources.append(Source(str(tmp_path / name), "c++"))
    units = read(sources)
    assert [one.name for unit in units for one in unit.functions] == ["twice", "g", "f"] * 2
    assert len({*dumps}) == 1
    assert None not in dumps


def test_a_file_that_does_not_compile_is_reported_as_without_headers(
    tmp_path: Path, dumps: list[Path | None]
) -> None:
    file = tmp_path / "a.cpp"
    file.write_text("#include <stddef.h>\nint f() { return wrong; }\n")
    with pytest.raises(SourceError, match="undeclared identifier 'wrong'") as caught:
        parsed(file)
    assert caught.value.span is not None
    assert caught.value.span.line == 2
    assert [one is not None for one in dumps] == [True, False]


def test_small_headers_and_c_do_without(
    tmp_path: Path, dumps: list[Path | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SMALLEST", 300_000)
    for name in ("a.cpp", "a.c"):
        (tmp_path / name).write_text("#include <stddef.h>\nint f(int n) { return n; }\n")
    read([Source(str(tmp_path / "a.cpp"), "c++"), Source(str(tmp_path / "a.c"), "c")])
    assert dumps == [None, None]
