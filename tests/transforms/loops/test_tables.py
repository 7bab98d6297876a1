"""Loops as tables: counters, induction variables, addresses, guards and what has to be proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source
from kleene.ir.loops.symbols import Choice, loops_of
from kleene.ir.loops.tables import Access, Both, Compare, LoopTable
from kleene.transforms.loops import tables


def table(tmp_path: Path, code: str, name: str = "f") -> LoopTable:
    file = tmp_path / "a.c"
    file.write_text(code)
    (unit,) = read([Source(str(file), "c")])
    return next(one for one in tables(unit) if one.function == name)


def of(found: LoopTable, root: str, *, write: bool = True) -> list[Access]:
    return [one for one in found.accesses if one.root.name == root and one.is_write == write]


def path(access: Access) -> list[str] | None:
    return None if access.path is None else [str(step) for step in access.path]


HEAD = "void f(int n, int m, double *a, double *b, int *idx, unsigned u)"


@pytest.mark.parametrize(
    ("loop", "subscript"),
    [
        ("for (int i = 0; i < n; i++) a[i] = 0;", "#1"),
        ("for (int i = 3; i <= n; i += 2) a[i] = 0;", "2*#1 + 3"),
        ("for (int i = n; i > 0; i--) a[i] = 0;", "n - #1"),
        ("int i = 0; while (i < n) { a[2 * i] = 0; i++; }", "2*#1"),
        ("int i = 0; while (i < n) { i++; a[i] = 0; }", "#1 + 1"),
        ("int i = 0; do { a[i] = 0; i += 3; } while (i < n);", "3*#1"),
        ("while (n-- > 0) a[n] = 0;", "n - #1 - 1"),
        ("for (double *p = a + 5; p < a + n; p++) *p = 0;", "#1 + 5"),
        ("int k = 7; for (int i = 0; i < n; i++) { a[k] = 0; k += m; }", "#1*m + 7"),
        ("int k; for (int i = 0; i < n; i++) { k = i * 3; a[k + 1] = 0; }", "3*#1 + 1"),
        ("for (int i = 0; i < n; i++) { double *p = a + i; p[2] = 0; }", "#1 + 2"),
        ("for (int i = 0; i < n; i++) { if (i == m) continue; a[i] = 0; }", "#1"),
    ],
)
def test_subscripts_are_written_with_counters(tmp_path: Path, loop: str, subscript: str) -> None:
    found = table(tmp_path, f"{HEAD} {{ {loop} }}")
    (access,) = of(found, "a")
    assert path(access) == [subscript]
    assert found.loops[0].is_counted
    assert not found.loops[0].refusals


def test_induction_variables_are_in_the_order_of_their_declarations(tmp_path: Path) -> None:
    names = ["zoe", "amy", "kim", "bob", "ina", "eve", "max", "uli"]
    steps = " ".join(f"{name} += 2;" for name in reversed(names))
    declared = "int " + ", ".join(f"{name} = 0" for name in names)
    found = table(tmp_path, f"{HEAD} {{ {declared}; while (zoe < n) {{ a[zoe] = 0; {steps} }} }}")
    assert [one.name for one in found.loops[0].inductions] == names


@pytest.mark.parametrize(
    "body",
    [
        "if (a[i] > 0) k++; a[k] = 0;",
        "k = k * 2; a[k] = 0;",
        "if (i == m) continue; k++; a[k] = 0;",
        "for (int j = 0; j < idx[i]; j++) k++; a[k] = 0;",
    ],
)
def test_what_does_not_change_evenly_is_no_induction_variable(tmp_path: Path, body: str) -> None:
    code = f"{HEAD} {{ int k = 1; for (int i = 0; i < n; i++) {{ {body} }} }}"
    found = table(tmp_path, code)
    assert [one.name for one in found.loops[0].inductions] == ["i"]
    (access,) = of(found, "a")
    assert access.path is not None
    assert "#1" not in str(access.path[0])
    assert found.loops[0].number in loops_of(access.path[0])  # type: ignore[arg-type]


def test_loads_from_what_the_loop_writes_change_in_it(tmp_path: Path) -> None:
    loop = "for (int i = 0; i < n; i++) { a[idx[0]] = 1; %s }"
    kept = table(tmp_path, f"{HEAD} {{ {loop % 'b[i] = 0;'} }}")
    changed = table(tmp_path, f"{HEAD} {{ {loop % 'idx[i] = 0;'} }}")
    for found, loops in ((kept, set()), (changed, {changed.loops[0].number})):
        (access,) = of(found, "a")
        assert access.path is not None
        assert loops_of(access.path[0]) == loops  # type: ignore[arg-type]


def test_unsigned_arithmetic_has_to_be_proved_not_to_wrap(tmp_path: Path) -> None:
    code = f"{HEAD} {{ for (unsigned i = 0; i < u; i++) a[i - 1] = 0; }}"
    (access,) = of(table(tmp_path, code), "a")
    (obligation,) = access.obligations
    assert (str(obligation.value), obligation.low, obligation.high) == ("#1 - 1", 0, 2**32 - 1)


def test_guards_are_conditions(tmp_path: Path) -> None:
    code = f"{HEAD} {{ for (int i = 0; i < n; i++) if (2 * i > m) a[i] = 0; else b[i] = 0; }}"
    found = table(tmp_path, code)
    (then,), (otherwise,) = of(found, "a"), of(found, "b")
    assert str(then.context[-1].value) == "2*#1 - m - 1"  # type: ignore[union-attr]
    assert str(otherwise.context[-1].value) == "m - 2*#1"  # type: ignore[union-attr]
    assert all(isinstance(one, Compare) for one in then.context)


def test_calls_are_executed_in_place(tmp_path: Path) -> None:
    code = (
        "static int at(int x) { return 2 * x + 4; }\n"
        "static void put(double *p, int i) { p[at(i)] = 0; }\n"
        f"{HEAD} {{ for (int i = 0; i < n; i++) put(a + 1, i); }}"
    )
    (access,) = of(table(tmp_path, code), "a")
    assert path(access) == ["2*#3 + 5"]
    assert (access.place.line, access.place.column) == (2, 37)


def test_fields_and_arrays_in_arrays(tmp_path: Path) -> None:
    code = (
        "struct s { double v[4][5]; union { int i; float f; } u; } *p;\n"
        "void f(int n) { for (int i = 0; i < n; i++) { p[i].v[1][i] = 0; p[i].u.i = 1; } }"
    )
    found = table(tmp_path, code)
    first, second = (one for one in found.accesses if one.is_write and one.root.name == "p")
    assert path(first) == ["#2", "v", "1", "#2"]
    assert path(second) == ["#2", "u", "?"]


@pytest.mark.parametrize(
    ("loop", "reason"),
    [
        ("for (int i = 0; i < n; i++) if (a[i] > 0) break;", "EARLY_EXIT"),
        ("for (int i = 0; i < n; i++) if (a[i] > 0) return;", "EARLY_EXIT"),
        ("for (int i = 0; a[i] > 0; i++) b[i] = 0;", "NOT_NORMALIZABLE"),
        ("for (int i = 1; i < n; i *= 2) b[i] = 0;", "NOT_NORMALIZABLE"),
        ("for (int i = 0; i < n; i++) if (a[i] > 0) n--;", "NOT_NORMALIZABLE"),
        ("for (int i = 0; i < n; i++) unknown(i);", "CALL_NOT_ALLOWED"),
        ("for (int i = 0; i < n; i++) f(n, m, a, b, idx, u);", "RECURSION"),
        ("for (int i = 0; i < n; i++) counter();", "STATIC_IN_CALLEE"),
    ],
)
def test_loops_are_refused_with_a_reason(tmp_path: Path, loop: str, reason: str) -> None:
    code = (
        "void unknown(int); static int counter(void) { static int c; return c++; }\n"
        f"{HEAD} {{ {loop} }}"
    )
    found = table(tmp_path, code)
    refusals = [one for one in found.loops[0].refusals if one.reason == reason]
    assert refusals
    assert refusals[0].place.line in (1, 2)


def test_a_loop_after_a_refused_one_is_analysed(tmp_path: Path) -> None:
    code = (
        f"{HEAD} {{ for (int i = 0; i < n; i++) if (a[i] > 0) goto out;\n"
        "out: for (int i = 0; i < n; i++) a[i] = 0; }"
    )
    found = table(tmp_path, code)
    assert [bool(row.refusals) for row in found.loops] == [True, False]


def test_what_jumps_may_skip_is_not_believed(tmp_path: Path) -> None:
    code = f"{HEAD} {{ m = 3; if (n > 5) goto out; m = 4; out: for (;n > 0; n--) a[m] = 0; }}"
    (access,) = of(table(tmp_path, code), "a")
    assert path(access) == ["m"]


@pytest.mark.parametrize(
    "hidden",
    ["({ m = 0; });", '__asm__("" : "=r"(m));', "if (n && m++) n = n;", "b[0] = n ? m-- : 1;"],
)
def test_what_is_not_lowered_may_change_any_variable(tmp_path: Path, hidden: str) -> None:
    before = f"{HEAD} {{ m = 1; {hidden} for (int i = 0; i < n; i++) a[i * m] = 0; }}"
    (access,) = of(table(tmp_path, before), "a")
    assert path(access) != ["#1"]
    after = (
        f"{HEAD} {{ m = 1; while (n--) {{ for (int i = 0; i < 9; i++) a[i * m] = 0; {hidden} }} }}"
    )
    (access,) = of(table(tmp_path, after), "a")
    assert path(access) != ["#1"]


def test_deep_nests_stay_within_their_limit(tmp_path: Path) -> None:
    depth = 12
    heads = "".join(f"for (int i{d} = 0; i{d} < n; i{d}++) " for d in range(depth))
    found = table(tmp_path, f"{HEAD} {{ {heads} a[i0] = b[i{depth - 1}]; }}")
    assert len(found.loops) == depth


@pytest.mark.parametrize(
    ("declared", "loop", "offset"),
    [
        ("int *r", "for (int i = 0; i < n; i++) r[i + 1] = 0;", "4*#1 + 4"),
        ("double r[9][7]", "for (int i = 0; i < n; i++) r[i][2] = 0;", "56*#1 + 16"),
        ("int n_, double r[][n_]", "for (int i = 0; i < n; i++) r[i][3] = 0;", "8*#1*n_ + 24"),
        ("int r[9]", "for (int i = 0; i < n; i++) ((char *)r)[i] = 0;", "#1"),
        ("char *r", "for (int i = 0; i < n; i++) ((int *)(r + i))[2] = 0;", "#1 + 8"),
        ("struct pair *r", "for (int i = 0; i < n; i++) r[i].y = 0;", "16*#1 + 8"),
        ("union word *r", "for (int i = 0; i < n; i++) r[i].bytes[i] = 0;", "9*#1"),
        ("int *r", "for (int *p = r + n; p > r; p--) *p = 0;", "4*n - 4*#1"),
        ("struct bits *r", "for (int i = 0; i < n; i++) r[i].b = 0;", "None"),
        ("int *r", "for (int i = 0; i < n; i++) r[n / m] = 0;", "4*(n / m)"),
    ],
)
def test_offsets_are_bytes(tmp_path: Path, declared: str, loop: str, offset: str) -> None:
    records = (
        "struct pair { char x; double y; }; union word { int whole; char bytes[8]; };"
        "struct bits { int a : 3; int b; };"
    )
    code = f"{records} void f(int n, int m, {declared}) {{ {loop} }}"
    (access,) = of(table(tmp_path, code), "r")
    assert str(access.offset) == offset


def test_a_loaded_pointer_knows_where_it_was_loaded_from(tmp_path: Path) -> None:
    code = "struct m { int *data; }; void f(struct m *c, int n) { while (n--) c->data[n] = 1; }"
    (access,) = of(table(tmp_path, code), "c->data")
    assert access.root.source is not None
    assert access.root.source.name == "c"


def test_a_choice_is_one_of_two_values(tmp_path: Path) -> None:
    code = f"""{HEAD} {{ for (int i = 0; i < n; i++) {{
      int at = i < m ? i + 1 : n; int off = i < 3 || i > m; if (i == m) at = 5;
      if (!off) a[at] = 0; }} }}"""
    (access,) = of(table(tmp_path, code), "a")
    assert access.path is not None
    (subscript,) = access.path
    assert not isinstance(subscript, str)
    outer = subscript.atom
    assert isinstance(outer, Choice)
    assert (str(outer.then), loops_of(subscript)) == ("5", {0})
    inner = outer.otherwise.atom
    assert isinstance(inner, Choice)
    assert (str(inner.then), str(inner.otherwise)) == ("#1 + 1", "n")
    guard = access.context[-1]  # what `off` was computed from
    assert isinstance(guard, Both)
    assert [isinstance(one, Compare) for one in guard.parts] == [True, True]


def test_a_choice_of_values_that_may_wrap_is_not_followed(tmp_path: Path) -> None:
    code = (
        f"{HEAD} {{ for (int i = 0; i < n; i++) {{ unsigned k = i < m ? u + 1u : u; a[k] = 0; }} }}"
    )
    (access,) = of(table(tmp_path, code), "a")
    assert access.path is not None
    assert not any(isinstance(one, Choice) for one in access.path[0].symbols())  # type: ignore[union-attr]
