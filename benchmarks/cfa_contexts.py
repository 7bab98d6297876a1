"""What do contexts cost and gain on a program of real size, and what does `eval` cost?

The program is made of the test programs over and over; each call of a part is at its end. Times are
from the core, or from the text, to the targets of all calls. The rival is the analysis without
contexts in the same run: `rival / ours` is below 1 by what contexts cost. Its targets of each call
must be the same or more. Evaluated text may do anything with what global variables lead to.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from harness import Measurement, Table, measure
from scheme_reader import composed

from kleene.analyses.cfa import CFA, CFAResult
from kleene.frontends.scheme import parse
from kleene.ir.scheme import Core

OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {"polyvariant_let": True}, {"m": 1}, {"m": 2}, {"reachable_only": False},
)  # fmt: skip


def program(n_lines: int, with_eval: bool) -> bytes:
    """Return the composed program, with a call of each of its parts at the end."""
    parts = re.split(rb"(?m)^(?=\(define \(program-)", composed(n_lines))
    kept = [part for part in parts if with_eval or b"(eval " not in part]
    text = b"".join(kept)
    names = re.findall(rb"(?m)^\(define \((program-[0-9]+)\)", text)
    return text + b"".join(b"(%s)\n" % name for name in names)


def analysed(core: Core, **options: Any) -> CFAResult:
    """Return the answer, with the targets of all calls found."""
    result = CFA(**options).run(core, device="cpu")
    assert result.reach.targets
    return result


def is_finer(fine: CFAResult, coarse: CFAResult) -> bool:
    known = coarse.reach.targets
    return all(set(rows) <= set(known[site]) for site, rows in fine.reach.targets.items())


def add(table: Table, what: str, known: dict[str, Any], ours: Measurement, plain: Any) -> None:
    targets = ours.result.reach.targets
    mean = sum(map(len, targets.values())) / len(targets)
    pair = (ours.result, plain.result) if plain else None
    is_every = plain is not None and not ours.result.system.counts_reachable
    table.row(
        input=what,
        ours=ours,
        rival="no contexts" if plain else None,
        theirs=plain,
        agree=is_finer(*reversed(pair) if is_every else pair) if pair else None,
        targets_per_call=round(mean, 3),
        constraints=ours.result.system.problem.n_constraints,
        **known,
    )


def main() -> None:
    table = Table("cfa_contexts", __doc__ or "")
    for with_eval in (False, True):
        text = program(11_000, with_eval)
        name = "with eval, " if with_eval else ""
        known = {"size": f"{text.count(bytes([10])):,} lines, {len(text) / 1e6:.2f} MB"}
        core = parse(text)
        plain = measure(partial(analysed, core), repeat=5)
        for options in OPTIONS[: 1 if with_eval else None]:
            shown = ", ".join(f"{key} = {value}" for key, value in options.items())
            ours = measure(partial(analysed, core, **options), repeat=5) if options else plain
            what = f"{name}core to targets, {shown or 'm = 0'}"
            add(table, what, known, ours, plain if options else None)
        ours = measure(lambda t=text: analysed(parse(t)), repeat=5)
        add(table, f"{name}text to targets, m = 0", known, ours, None)
    table.save()


if __name__ == "__main__":
    main()
