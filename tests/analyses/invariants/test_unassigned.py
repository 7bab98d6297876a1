"""Locals that may have no value: examples, and random functions that were run."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import kleene
from kleene.ir.codes import ConstantKind, Opcode
from tests.analyses.invariants.unassigned import program
from tests.seeds import seeds

EXAMPLES = """
int f(int); int c(void); int d(void); void use(int); void take(int *);
struct s { int a, b; }; struct s made(void); void given(struct s);
int branch(int c) { int u; if (c) u = 2; return f(u); } /* OPEN */
int same_test(int c) { int u; if (c) u = 2; if (c) return f(u); return 0; } /* SAFE */
int member(int c) { struct s s; if (c) s.a = 2; return f(s.a); } /* OPEN */
int rounds(int n) { int r; for (int i = 0; i < n; i++) r = 7; return r; } /* OPEN */
void again(void) { while (c()) { int u; if (d()) u = 1; use(u); } } /* OPEN */
void kept(void) { while (c()) { int u[2]; if (d()) u[0] = 1; use(u[0]); } } /* OPEN */
int over(int c) { if (c) goto end; int u; u = 3; end: return u; } /* OPEN */
int cases(int c) { switch (c) { int u; case 1: u = 3; case 2: return u; } return 0; } /* OPEN */
_Bool truth(int c) { _Bool b; if (c) b = 1; return b; } /* OPEN */
unsigned char small(int c) { unsigned char b; if (c) b = 1; return b + 1; } /* OPEN */
double real(int c) { double x; if (c) x = 1; return x; } /* OPEN */
long double longer(int c) { long double x; if (c) x = 1; return x; } /* OPEN */
int read(int c, int *q) { int *p; if (c) p = q; return *p; } /* OPEN */
void stored(int c, int *q) { int u; if (c) u = 1; *q = u; } /* OPEN */
int called(int c, int (*g)(void)) { int (*p)(void); if (c) p = g; return p(); } /* OPEN */
int ends(int c) { if (c) return 1; } /* OPEN */
struct s copied(int c) { struct s s; s.a = 1; struct s t = s; return t; } /* NONE */
void passed(int c) { struct s s; s.a = 1; given(s); } /* NONE */
struct bits { unsigned a : 3, b : 4; };
int bits(int n) { struct bits x; x.a = n; x.b = 7; return x.a + x.b; } /* NONE */
int set(int c) { int u; if (c) u = 2; else u = 3; return f(u); } /* NONE */
int length(int n) { int a[n]; a[0] = 1; return n; } /* NONE */
"""


def _marked(mark: str) -> set[int]:
    return {n for n, line in enumerate(EXAMPLES.splitlines(), 1) if f"/* {mark} */" in line}


@pytest.mark.parametrize("whole", [False, True])
def test_examples(whole: bool, tmp_path: Path) -> None:
    file = tmp_path / "examples.c"
    file.write_text(EXAMPLES)
    result = kleene.load(file).invariants(whole_program=whole)
    open_lines, safe_lines = set(), set()
    for check in result.check_results(["uninitialised"]):
        assert check.span is not None
        lines = safe_lines if check.is_proved else open_lines
        lines.add(check.span.line)
    by_flags = set() if whole else _marked("SAFE")  # flags are not followed in whole programs
    assert open_lines == _marked("OPEN") | (_marked("SAFE") - by_flags)
    assert by_flags <= safe_lines


CXX = """
struct Guard { int kept; ~Guard(); };
int may_throw(int);
int tidied(int k) { Guard g; if (int *p = k > 3 ? &k : nullptr) return may_throw(*p); return 0; }
int open(int c) { struct { int a; char b; double d; } x; if (c) x.d = 1; return x.d > 0; } // OPEN
int copied(int c) { int u; if (c > 3) u = 2; auto g = [u] { return u; }; return c > 3 ? g() : 0; }
int result(int c) { int u; if (c) u = 2; Guard g; if (c > 7) return 1; return u; } // OPEN 4
"""


@pytest.mark.parametrize("whole", [False, True])
def test_what_cxx_tidies_up_is_no_read(whole: bool, tmp_path: Path) -> None:
    file = tmp_path / "program.cpp"
    file.write_text(CXX)
    result = kleene.load(file).invariants(whole_program=whole)
    checks = result.check_results(["uninitialised"])
    found = {check.span.line for check in checks if check.span and not check.is_proved}
    assert 4 not in found
    assert {5, 7} <= found


def test_nothing_stays_of_what_marks_locals(tmp_path: Path) -> None:
    file = tmp_path / "examples.c"
    file.write_text(EXAMPLES)
    loaded = kleene.load(file)
    names = [loaded.strings[int(symbol)] for symbol in loaded.globals.name]
    assert not [name for name in names if "kleene" in name or name.startswith("__const.")]
    table, constants = loaded.instructions, loaded.constants
    assert not (constants.payload[constants.kind == ConstantKind.POISON] != 0).any()
    assert (constants.kind == ConstantKind.UNDEF).any()
    calls = [loaded.instruction_view(row).operands[0] for row in range(len(table))
             if table.opcode[row] == Opcode.CALL]  # fmt: skip
    assert "llvm.memcpy" not in "".join(getattr(one, "name", "") for one in calls)


@pytest.mark.parametrize("seed", seeds(3, 40))
@pytest.mark.parametrize("whole", [False, True])
def test_no_read_that_is_called_safe_was_of_nothing(seed: int, whole: bool, tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="the package ziglang compiles and links")
    file, binary = tmp_path / "program.c", tmp_path / "program"
    file.write_text(program(seed, n_functions=20 if whole else 4))
    words = [sys.executable, "-m", "ziglang", "cc", "-w", "-O0", "-fno-sanitize=undefined"]
    subprocess.run([*words, "-DSHADOW", str(file), "-o", str(binary)], check=True)
    told = subprocess.run([str(binary)], capture_output=True, text=True, check=True).stdout
    reads = [tuple(map(int, line.split())) for line in told.splitlines()]
    assert len({line for line, _ in reads if line > 0}) > 5
    domain = "octagon" if whole else "relational"
    result = kleene.load(file).invariants(whole_program=whole, domain=domain)
    proved: dict[int, list[bool]] = defaultdict(list)
    for check in result.check_results(["uninitialised"]):
        assert check.span is not None
        proved[check.span.line].append(check.is_proved)
    missed, is_over = set(), False
    for line, end in reads:  # a run is over where a check fails: a copy may be one, a use must
        if line == 0:
            is_over = False
        elif not is_over:
            is_over = not all(proved[abs(line)]) or not all(proved[end])
            missed |= {line} if line > 0 and not is_over else set()
    assert missed == set()
