"""clang's JSON tree: only the user's declarations are parsed, every place is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.base.errors import SourceError
from kleene.frontends.c.compiler import Options, find
from kleene.frontends.c.loops.ast import Node, children, declarations, place
from kleene.frontends.c.source import Source


def parsed(file: Path) -> list[Node]:
    return declarations(Source(str(file), "c"), find(), Options())


def all_nodes(node: Node) -> list[Node]:
    return [node, *(inner for one in children(node) if one for inner in all_nodes(one))]


def test_headers_of_the_system_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("static inline int twice(int x) { return 2 * x; }\n")
    file = tmp_path / "a.c"
    file.write_text(
        '#include <stdio.h>\n#include "own.h"\n#include <math.h>\nint f(int n) {\n  return n;\n}\n'
    )
    found = parsed(file)
    assert [node["name"] for node in found if node["kind"] == "FunctionDecl"] == ["twice", "f"]
    assert [Path(place(node).file).name for node in found] == ["own.h", "a.c"]
    assert [place(node).line for node in found] == [1, 4]


def test_every_place_has_its_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("#define TWO 2\nint f(int n) {\n  n = TWO;\n\n  return n + TWO;\n}\n")
    (function,) = parsed(file)
    places = {(one["kind"], place(one).line, place(one).column) for one in all_nodes(function)}
    assert ("BinaryOperator", 3, 3) in places
    assert ("IntegerLiteral", 3, 7) in places, "a macro's expansion is where it is used"
    assert ("ReturnStmt", 5, 3) in places
    assert ("IntegerLiteral", 5, 14) in places
    assert all(place(one).file == str(file) for one in all_nodes(function))


def test_omitted_parts_of_a_for_keep_their_position(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("void f(void) { for (;;) { } }\n")
    (function,) = parsed(file)
    (loop,) = (one for one in all_nodes(function) if one["kind"] == "ForStmt")
    assert [bool(one) for one in children(loop)] == [False, False, False, False, True]


def test_a_file_without_declarations(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("#include <stddef.h>\n")
    assert parsed(file) == []


def test_what_does_not_compile_is_an_error_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int f(void) {\n  return x;\n}\n")
    with pytest.raises(SourceError) as refused:
        parsed(file)
    assert refused.value.span is not None
    assert (refused.value.span.line, refused.value.span.column) == (2, 10)


def test_headers_are_the_compilers_also_where_it_lies_inside_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.c"
    file.write_text("#include <stdio.h>\nint f(void);\n")
    home = find().home
    assert home is not None
    monkeypatch.chdir(Path(home).parent)
    assert [node["name"] for node in parsed(file)] == ["f"]
