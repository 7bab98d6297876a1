"""Jumps into loops and out of them: what a run comes to is never excluded."""

from __future__ import annotations

import random
from pathlib import Path

from kleene import load
from kleene.analyses.invariants import Verdict
from tests.seeds import seeds

VARIABLES = ("s", "n", "x")
COMPARE = {
    "<": int.__lt__, ">": int.__gt__, "<=": int.__le__, "==": int.__eq__, "!=": int.__ne__,
}  # fmt: skip
MOST_BLOCKS = 40  # that a run goes through; longer ones are left out

FUNCTIONS = seeds(50, deep=2000)

Statement = tuple[str, str | int, int]  # s = n + 3, s = 0 + 3
Jump = tuple[str, str, int, int]  # if (s < 3) goto L1
Block = tuple[list[Statement], list[Jump]]


def blocks(rng: random.Random) -> list[Block]:
    """Make blocks of statements, each with up to two jumps to any block or to the end."""
    n_blocks = rng.randint(2, 6)
    return [
        (
            [
                (
                    rng.choice(VARIABLES),
                    rng.choice((0, 0, *VARIABLES, *VARIABLES)),
                    rng.randint(-3, 4),
                )
                for _ in range(rng.randint(1, 2))
            ],
            [
                (
                    rng.choice(VARIABLES),
                    rng.choice(list(COMPARE)),
                    rng.randint(-2, 9),
                    rng.randint(0, n_blocks),
                )
                for _ in range(rng.randint(0, 2))
            ],
        )
        for _ in range(n_blocks)
    ]


def last_values(code: list[Block], at: int, values: dict[str, int]) -> dict[str, int] | None:
    """Run blocks from one of them on; None if the run is long."""
    for _ in range(MOST_BLOCKS):
        if at == len(code):
            return values
        for target, source, constant in code[at][0]:
            values[target] = (values[source] if isinstance(source, str) else 0) + constant
        at = next(
            (to for name, compare, k, to in code[at][1] if COMPARE[compare](values[name], k)),
            at + 1,
        )
    return None


def function(seed: int) -> str | None:
    """Return a function whose assertion fails in one run."""
    rng = random.Random(seed)
    code = blocks(rng)
    first = {name: rng.randint(-2, 6) for name in VARIABLES}
    into = [rng.randrange(len(code)) for _ in range(3)]
    last = last_values(code, into[0], dict(first))
    if last is None:
        return None
    lines = [f"int f{seed}(void) {{"]
    for name, value in first.items():
        low, high = value - rng.randint(0, 3), value + rng.randint(0, 2)
        lines.append(f"  int {name} = any(); if ({name} < {low} || {name} > {high}) return 0;")
    chosen = rng.choice(("any()", *VARIABLES))
    lines.append(
        f"  switch ({chosen}) {{ case {first.get(chosen, 0)}: goto L{into[0]};"
        f" case 10: goto L{into[1]}; default: goto L{into[2]}; }}"
    )
    for number, (statements, jumps) in enumerate(code):
        lines.append(f"L{number}:")
        lines += [f"  {target} = {source} + {k};" for target, source, k in statements]
        lines += [f"  if ({name} {compare} {k}) goto L{to};" for name, compare, k, to in jumps]
    lines.append(f"L{len(code)}:")
    asked = rng.choice(VARIABLES)
    lines += [f"  if ({name} != {last[name]}) return 1;" for name in VARIABLES if name != asked]
    lines += [f"  assert({asked} != {last[asked]});", "  return 0;", "}"]
    return "\n".join(lines)


def test_an_assertion_that_a_run_fails_is_not_excluded(tmp_path: Path) -> None:
    made = [text for seed in FUNCTIONS if (text := function(seed)) is not None]
    file = tmp_path / "jumps.c"
    file.write_text("\n".join(["#include <assert.h>", "extern int any(void);", *made]))
    program = load(file)
    for domain, is_whole in (("interval", False), ("predicates", False), ("octagon", True)):
        result = program.invariants(domain=domain, checks=("assert",), whole_program=is_whole)
        found = result.check_results()
        assert len(found) == len(made) > len(FUNCTIONS) // 2
        assert [one for one in found if one.verdict in (Verdict.SAFE, Verdict.UNREACHABLE)] == []
