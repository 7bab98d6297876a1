"""C as trees of statements: side effects in order, conversions kept, refusals with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.base.errors import Span
from kleene.frontends.c.compiler import Options, find
from kleene.frontends.c.loops import read
from kleene.frontends.c.loops.ast import Node, children, declarations, place
from kleene.frontends.c.loops.lower import lower
from kleene.frontends.c.loops.types import Types
from kleene.frontends.c.source import Language, Source
from kleene.ir.loops import tree
from kleene.ir.loops.text import text
from tests.offload.kernels.interpreter import Interpreter


def lowered(tmp_path: Path, code: str, language: Language = "c") -> dict[str, tree.Function]:
    file = tmp_path / ("a.c" if language == "c" else "a.cpp")
    file.write_text(code)
    (unit,) = read([Source(str(file), language)])
    return {one.name: one for one in unit.functions}


def shown(block: tree.Block) -> list[str]:
    """Return assignments as text; of other statements their names."""
    return [
        f"{text(one.target)} = {text(one.value)}"
        if isinstance(one, tree.Assign)
        else type(one).__name__
        for one in block
    ]


def body(tmp_path: Path, statements: str) -> list[str]:
    code = f"void f(int i, int j, int n, int *a, int *b, double x) {{ {statements} }}"
    return shown(lowered(tmp_path, code)["f"].body)


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("a[i++] = b[--j];", ["j = j - 1", "a[i] = b[j]", "i = i + 1"]),
        ("*a++ = *b++;", ["a[0] = b[0]", "b = b + 1", "a = a + 1"]),
        ("a[i] += 2;", ["a[i] = a[i] + 2"]),
        ("a[i]++;", ["a[i] = a[i] + 1"]),
        ("i = j = 0;", ["j = 0", "i = j"]),
        ("i = 1, j = 2;", ["i = 1", "j = 2"]),
        ("n = sizeof(int) * 2;", ["n = 4 * 2"]),
    ],
)
def test_side_effects_are_statements(tmp_path: Path, statement: str, wanted: list[str]) -> None:
    assert body(tmp_path, statement) == wanted


@pytest.mark.parametrize(
    "statement",
    ["if (n && i++) j = 0;", "j = n ? i++ : 0;", "i = i++ + 1;", "a[i++] = i++;"],
)
def test_effects_whose_order_matters_are_refused(tmp_path: Path, statement: str) -> None:
    assert "Refuse" in body(tmp_path, statement)


def test_a_loop_keeps_the_effects_of_its_test(tmp_path: Path) -> None:
    code = "void f(int n, int *a) { while (n-- > 0) a[n] = 1; }"
    (loop,) = lowered(tmp_path, code)["f"].body
    assert isinstance(loop, tree.Loop)
    assert shown(loop.after) == ["n = n - 1"]
    assert loop.test is not None
    assert text(loop.test) == "n > 0"


REFUSALS = {
    "volatile int v; void f(int n) { for (int i = 0; i < n; i++) v = i; }": "VOLATILE",
    '#include <stdio.h>\nvoid f(int n) { for (int i = 0; i < n; i++) printf(""); }': "IO",
    "void f(int n) { for (int i = 0; i < n; i++) { if (n) goto out; } out:; }": "GOTO",
    "void f(int n, void (*g)(void)) { for (int i = 0; i < n; i++) g(); }": "FUNCTION_POINTER",
    'void f(int n) { for (int i = 0; i < n; i++) __asm__("nop"); }': "INLINE_ASSEMBLY",
    "#include <setjmp.h>\njmp_buf b; void f(int n) { while (n--) longjmp(b, 1); }": "SETJMP",
    "void f(int n) { while (n--) switch (n) { case 1: n--; case 2: n++; } }": "IRREGULAR_CONTROL",
    "void f(int n) { while (n--) n = ({ n--; n; }); }": "UNSUPPORTED",
}


@pytest.mark.parametrize(("code", "reason"), REFUSALS.items(), ids=REFUSALS.values())
def test_what_is_not_understood_has_a_reason_and_a_place(
    tmp_path: Path, code: str, reason: str
) -> None:
    parts = tree.walk(lowered(tmp_path, code)["f"].body)
    found = [one for one in parts if isinstance(one, tree.Refuse) and one.reason == reason]
    assert found
    assert found[0].place.line == code.count("\n") + 1
    assert found[0].place.column > 1


@pytest.mark.parametrize(
    ("code", "exposed"),
    [
        ("int x = n; a[0] = x;", False),
        ("int x = n; a = &x;", True),
        ("int x[3]; x[0] = n; a[0] = x[1];", False),
        ("int x[3]; a = x;", True),
        ("int x[3][4]; a = x[1];", True),
        ("int x[3][4]; x[1][2] = n; x[0][0]++;", False),
        ("struct { int v; } x; x.v = n;", False),
        ("struct { int v; } x; a = &x.v;", True),
    ],
)
def test_variables_whose_address_is_known(tmp_path: Path, code: str, exposed: bool) -> None:
    function = lowered(tmp_path, f"void f(int n, int *a) {{ {code} }}")["f"]
    (declared,) = (one for one in function.body if isinstance(one, tree.Declare))
    assert declared.symbol.is_exposed == exposed


PROGRAMS = Path(__file__).parents[3] / "programs"
READ = ["loops/basic.c", "loops/traps.c", "polybench/nussinov.c", "c/hash_table.c", "c/sorting.c"]
READ += ["c/nested_arrays.c", "c/growing_array.c", "c/by_value.c", "c/pointer_arithmetic.c"]


@pytest.mark.parametrize("name", READ)
def test_no_read_is_lost(name: str) -> None:
    """Of functions that are understood, every value that clang reads is read in the tree."""
    source = Source(str(PROGRAMS / name), "c")
    nodes = {node.get("name"): node for node in declarations(source, find(), Options())}
    n_read = 0
    for function in lower(name, nodes.values()).functions:
        parts = list(tree.walk(function.body))
        if any(isinstance(one, tree.Refuse) for one in parts):
            continue
        places = {(one.place.line, one.place.column) for one in parts if isinstance(one, tree.Read)}
        wanted = {(one.line, one.column) for one in reads(nodes[function.name])}
        assert wanted <= places, (function.name, wanted - places)
        n_read += len(wanted)
    assert n_read > 5


def reads(node: Node) -> list[Span]:
    """Return where clang reads a variable or element."""
    if node.get("kind") == "UnaryExprOrTypeTraitExpr":
        return []
    own = [place(node)] if node.get("castKind") == "LValueToRValue" else []
    return own + [one for child in children(node) for one in reads(child)]


def test_references_of_cpp_are_pointers(tmp_path: Path) -> None:
    code = "void f(int &n, int *a) { for (int i = 0; i < n; i++) a[i] = n; }"
    function = lowered(tmp_path, code, "c++")["f"]
    assert function.parameters[0].type.kind == "pointer"
    (_, loop) = function.body
    assert isinstance(loop, tree.Loop)
    assert shown(loop.body) == ["a[i] = n[0]"]


def test_loops_that_are_not_lowered_are_refused_one_by_one(tmp_path: Path) -> None:
    code = (
        "template <class T> void t(T *a, int n) { for (int i = 0; i < n; i++) a[i] = 0; }\n"
        "int s(const int (&a)[9]) { int s = 0; for (int x : a) while (s < x) s += x; return s; }\n"
        "void g(int *p) { auto f = [&](int n) { while (n--) p[n] = 0; }; f(3); t(p, 3); }\n"
    )
    functions = lowered(tmp_path, code, "c++")
    for name, n_loops in {"t": 1, "s": 2, "g": 1}.items():
        loops = [one for one in tree.walk(functions[name].body) if isinstance(one, tree.Loop)]
        assert len(loops) == n_loops
        assert all(isinstance(loop.body[0], tree.Refuse) for loop in loops)


def test_types_as_clang_prints_them() -> None:
    types = Types()
    types.define("real", "double")
    assert types.parse("real *restrict").restrict
    assert types.parse("const unsigned char").range == (0, 255)
    row = types.parse("real (*)[5]")
    assert row.kind == "pointer"
    assert row.target is not None
    assert (row.target.kind, row.target.extent) == ("array", 5)
    table = types.parse("int[4][6]")
    assert table.extent == 4
    assert table.target is not None
    assert table.target.extent == 6
    assert types.parse("void (*)(int)").kind == "pointer"
    assert types.parse("volatile int").volatile
    assert not types.parse("volatile int *").volatile
    assert types.parse("struct node *").target == types.parse("struct node")


SWITCHES = {
    "case 1: x = 1; break; case 2: case 3: x = 2; break; default: x = 3;": "x=3 1:1 2:2 3:2",
    "case 1: { x = 1; break; } case 2: x = 2;": "x=0 1:1 2:2",
    "default: x = 3; break; case 1: x = 1;": "x=3 1:1",
    "case A: x = 1; break; case -2: x = 2; break; case 'b': return 4;": "x=0 7:1 -2:2 98:4",
    "case 1: for (;;) { break; } x = 1; break;": "x=0 1:1",
}
"""The arms of a switch, then the result without a case, and for some values."""


@pytest.mark.parametrize("arms", SWITCHES)
def test_a_switch_without_fall_through_is_a_chain(tmp_path: Path, arms: str) -> None:
    code = f"enum {{ A = 7 }}; int f(int n) {{ int x = 0; switch (n) {{ {arms} }} return x; }}"
    function = lowered(tmp_path, code)["f"]
    assert not any(
        isinstance(one, tree.Refuse | tree.Irregular) for one in tree.walk(function.body)
    )
    default, *cases = SWITCHES[arms].split()
    assert Interpreter({"f": function}).call("f", [1000]) == int(default.removeprefix("x="))
    for case in cases:
        given, _, result = case.partition(":")
        assert Interpreter({"f": function}).call("f", [int(given)]) == int(result), case


@pytest.mark.parametrize(
    "arms",
    [
        "case 1: x = 1; case 2: x = 2;",  # falls through
        "case 1: if (n) break; x = 1;",
        "case 1: if (n) { case 2: x = 2; }",
        "case 1 ... 5: x = 1;",
        "int y; case 1: y = 2; x = y;",
    ],
)
def test_other_switches_are_refused(tmp_path: Path, arms: str) -> None:
    code = f"int f(int n) {{ int x = 0; switch (n) {{ {arms} }} return x; }}"
    function = lowered(tmp_path, code)["f"]
    assert any(isinstance(one, tree.Irregular) for one in tree.walk(function.body))


@pytest.mark.parametrize(
    ("statement", "is_loop"),
    [
        ("do { n++; } while (0);", False),
        ("do { for (;;) break; } while ((0));", False),
        ("do { if (n) break; n++; } while (0);", True),
        ("do { if (n) continue; n++; } while (0);", True),
        ("do { switch (n) { case 1: continue; } n++; } while (0);", True),
        ("do { n++; } while (n);", True),
        ("do { n++; } while (1);", True),
    ],
)
def test_what_macros_do_once_is_no_loop(tmp_path: Path, statement: str, is_loop: bool) -> None:
    body = lowered(tmp_path, f"void f(int n) {{ {statement} }}")["f"].body
    assert any(isinstance(one, tree.Loop) and one.kind == "do" for one in body) == is_loop


def test_sizes_of_arrays_may_be_elements_and_what_pointers_point_to(tmp_path):
    code = """
    int f(int n, const int *m, int i) {
      int a[m[i] + 1], b[2][m[m[0]]], c[(*m) + 1];
      a[0] = n; b[1][0] = a[0]; c[0] = b[1][0];
      return c[0];
    }"""
    found = lowered(tmp_path, code)["f"]
    kinds = {
        one.symbol.name: one.symbol.type for one in found.body if isinstance(one, tree.Declare)
    }
    assert [kinds[name].kind for name in "abc"] == ["array"] * 3
    assert (kinds["b"].extent, kinds["b"].target.kind) == (2, "array")
    assert kinds["a"].extent is None  # not told by variables
