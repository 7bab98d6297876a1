"""How do verdicts on loops grow with the depth of a nest, and with the statements in it?"""

from __future__ import annotations

import os
import tempfile
from functools import partial
from pathlib import Path

from harness import Table, measure

from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source
from kleene.ir.loops.tables import LoopTable
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict, verdicts_of
from kleene.transforms.loops import tables

DEPTHS = (1, 2, 3, 4, 5, 6)
STATEMENTS = (1, 2, 4, 8, 16, 32)


def table_of(folder: Path, code: str) -> LoopTable:
    """Return the loops of one function."""
    file = folder / "a.c"
    file.write_text(code)
    (unit,) = read([Source(str(file), "c")])
    (table,) = tables(unit)
    return table


def nest(depth: int) -> str:
    """Return a stencil between two arrays in so many dimensions: every loop is parallel."""
    names = [f"i{k}" for k in range(depth)]
    here = "".join(f"[{name}]" for name in names)
    near = [
        "".join(f"[{name} {sign} 1]" if name == moved else f"[{name}]" for name in names)
        for moved in names
        for sign in "-+"
    ]
    loops = "".join(f"for (int {name} = 1; {name} < n - 1; {name}++) " for name in names)
    sizes = "[100]" * depth
    total = " + ".join(f"a{one}" for one in (here, *near))
    return f"double a{sizes}, b{sizes}; void f(int n) {{ {loops} b{here} = {total}; }}"


def body(statements: int) -> str:
    """Return a loop in which each statement uses what the one before wrote: all are parallel."""
    arrays = ", ".join(f"a{k}[999]" for k in range(statements + 1))
    lines = " ".join(f"a{k + 1}[i] = a{k}[i] + a{k + 1}[i] * {k};" for k in range(statements))
    return f"double {arrays}; void f(int n) {{ for (int i = 1; i < n; i++) {{ {lines} }} }}"


def recurrences(statements: int) -> str:
    """Return a loop with so many statements on one array: all pairs of accesses are compared."""
    lines = " ".join(
        f"a[{statements} * i + {k}] = a[{statements} * i - {k}];" for k in range(statements)
    )
    return f"double a[9999]; void f(int n) {{ for (int i = 1; i < n; i++) {{ {lines} }} }}"


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    table = Table("kernels_growth", __doc__.splitlines()[0])
    shapes = [
        *[("stencil of so many dimensions", depth, nest(depth), True) for depth in DEPTHS],
        *[("statements, an array each", n, body(n), True) for n in STATEMENTS],
        *[("statements on one array", n, recurrences(n), n == 1) for n in STATEMENTS],
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, size, code, is_parallel in shapes:
            made = table_of(Path(folder), code)
            ours = measure(partial(verdicts_of, made), repeat=3)
            loops: list[LoopVerdict] = ours.result
            found = {one.verdict for one in loops}
            table.row(
                input=name,
                size=size,
                ours=ours,
                agree=(found == {Verdict.PAR}) == is_parallel,
                accesses=len(made.accesses),
                loops=len(loops),
                verdict=", ".join(sorted(found)),
            )
    table.save()


if __name__ == "__main__":
    main()
