"""How does the cost of invariants grow with the size of a program, and with its variables?

*functions*: generated functions that call each other, with loops over arrays; the whole program at
once, with packed octagons. *variables*: one function with a loop that changes so many variables,
each related to the next; by itself, with octagons. The plot has seconds over sizes; `steps` is the
exponent between two sizes, 1 where twice as much takes twice as long.
"""

from __future__ import annotations

import tempfile
from functools import partial
from math import log
from pathlib import Path

from harness import RESULTS, Measurement, Table, measure

import kleene

FUNCTIONS = (100, 300, 1000, 3000)
VARIABLES = (4, 8, 16, 32, 64)


def functions(n: int) -> str:
    """Return a program of n functions; each calls two of those before it."""
    parts = ["static int table[64];\nextern int input(void);\n"]
    for k in range(n):
        calls = f"f{k * 7 // 8}(n - 1) + f{k // 2}(n / 2)" if k else "n"
        parts.append(
            f"int f{k}(int n) {{\n  int s = 0, a[{8 + k % 24}];\n"
            f"  for (int i = 0; i < {8 + k % 24}; i++) a[i] = i + n % 5;\n"
            f"  for (int i = 0, j = n; i < j && i < 64; i++) s = (s + table[i] * {k % 9}) % 1000;\n"
            f"  if (n > {k % 50} && n < 64) table[n] = s;\n"
            f"  return n < 1 ? a[{k % 8}] : ({calls}) % 100 + s;\n}}\n"
        )
    return "".join(parts) + f"int main(void) {{ return f{n - 1}(input()); }}\n"


def variables(n: int) -> str:
    """Return a function with a loop that changes n variables."""
    names = [f"x{k}" for k in range(n)]
    head = "extern int input(void);\nint f(int n) {\n  int " + ", ".join(f"{x} = 0" for x in names)
    body = "".join(f"    if (x{k} < x{k - 1}) x{k}++;\n" for k in range(1, n))
    return f"{head};\n  while (x0 < n) {{\n    x0++;\n{body}  }}\n  return x{n - 1} - x0;\n}}\n"


def loaded(text: str, folder: Path) -> kleene.Program:
    """Return a program from its text."""
    file = folder / "program.c"
    file.write_text(text)
    return kleene.load(file)


def main() -> None:
    """Measure all sizes and draw them."""
    table = Table("invariants_growth", __doc__.partition("\n")[0])
    curves: dict[str, list[tuple[int, Measurement]]] = {"functions": [], "variables": []}
    with tempfile.TemporaryDirectory() as name:
        for kind, sizes, write in (
            ("functions", FUNCTIONS, functions),
            ("variables", VARIABLES, variables),
        ):
            for size in sizes:
                program = loaded(write(size), Path(name))
                run = partial(
                    program.invariants,
                    domain="octagon",
                    whole_program=kind == "functions",
                    device="cpu",
                )
                found = measure(run, repeat=3)
                before = curves[kind][-1:] or [(size, found)]
                curves[kind].append((size, found))
                (old, then), ratio = before[0], size / before[0][0]
                step = log(found.median_s / then.median_s) / log(ratio) if size > old else 0.0
                result = found.result
                table.row(
                    input=kind,
                    size=f"{size}: {len(program.instructions)} instructions",
                    ours=found,
                    steps=step,
                    checks=len(result.checks),
                    proved=sum(one.is_proved for one in result.checks),
                )
    table.save()
    draw(curves)


def draw(curves: dict[str, list[tuple[int, Measurement]]]) -> None:
    """Draw seconds over sizes, in place of bars."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for plot, (kind, points) in zip(axes, curves.items(), strict=True):
        sizes, times = [one[0] for one in points], [one[1].median_s for one in points]
        plot.loglog(sizes, times, "o-", label="measured")
        plot.loglog(sizes, [times[0] * n / sizes[0] for n in sizes], ":", label="linear")
        plot.set(xlabel=kind, ylabel="seconds")
        plot.legend()
    figure.savefig(RESULTS / "invariants_growth.png", dpi=100)


if __name__ == "__main__":
    main()
