"""How fast do flow sets come out of Scheme text, and what do contexts cost?

The Van Horn-Mairson family (31·m + 49 terms) under the semantics of the paper on EigenCFA, where
every call counts: from the text on, from the core on, and solving alone. The rival is the engine on
the same program stated as a problem of binary CPS, without Scheme; sets of all variables must be
equally large. Then a program made of the test programs over and over, from its text to the targets
of all calls, with contexts of 0, 1 and 2 references; and with those parts that use `eval`, which
may do anything with what global variables lead to.
"""

from __future__ import annotations

import re
import sys
from functools import partial

from harness import Table, measure
from scheme_reader import composed

from kleene.analyses.cfa import CFA, CFAResult
from kleene.frontends.scheme import parse
from kleene.ir.scheme import Core
from kleene.solvers.inclusion import cpu
from kleene.solvers.inclusion.generate import van_horn_mairson

SIZES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 7168)
PAPER_GPU_S = dict(
    zip(
        SIZES,
        (0.4e-3, 0.7e-3, 1.15e-3, 2.27e-3, 6.51e-3, 24e-3, 94.5e-3, 0.4, 2.49, 21.3, 173.0),
        strict=True,
    )
)


def van_horn_mairson_text(m: int) -> str:
    """Return the program of `van_horn_mairson` as Scheme.

    Calls with one argument meet procedures with two in it, which binary CPS lets pass: here they
    are given a 0, and procedures with one formal a second one, `_`.
    """
    start = "((lambda (halt _) ((lambda (ap _) ((lambda (id _) ((lambda (j0 _) "
    levels = "".join(
        f"((lambda (f{i} k{i}) (f{i} (lambda (t{i} _) (halt t{i} 0))"
        f" (lambda (r{i} q{i}) (f{i} (lambda (u{i} _) (halt u{i} 0)) k{i})))) (lambda (x{i} j{i}) "
        for i in range(1, m + 1)
    )
    chain = "".join(f"(z{i} x{i + 1} (lambda (z{i + 1} _) " for i in range(m))
    inner = f"((lambda (z0 kz) {chain}(kz x{m} 0){'))' * m}) (lambda (y ky) (ky y 0)) j{m})"
    closing = "".join(f") j{i})" for i in range(m - 1, -1, -1))
    end = ") (lambda (v0 _) (halt v0 0)) 0)) (lambda (a ka) (ka a 0)) 0))"
    end += " (lambda (b kb) (b b kb)) 0))"
    return f"{start}{levels}{inner}{closing}{end} (lambda (h _) (h h 0)) 0)"


def analysed(core: Core, **options: object) -> CFAResult:
    """Return the answer, with the targets of all calls found."""
    result = CFA(**options).run(core, device="cpu")  # type: ignore[arg-type]
    assert result.reach.targets
    return result


def family(table: Table) -> None:
    for m in SIZES:
        text, problem = van_horn_mairson_text(m), van_horn_mairson(m)
        repeat = 5 if m < 2048 else 3
        rival = measure(partial(cpu.solve, problem), repeat=repeat)
        n_lambdas = len(problem.function_object)
        expected = int(rival.result.rows.sizes()[rival.result.row_of[n_lambdas:]].sum())
        core = parse(text)
        statement = CFA(reachable_only=False).state(core)
        solved = measure(partial(cpu.solve, statement.problem), repeat=repeat)
        sizes = solved.result.rows.sizes()[solved.result.row_of[: core.n_variables]]
        name = "the engine on binary CPS"
        known = {"size": f"{31 * m + 49:,} terms", "paper_gpu_s": PAPER_GPU_S[m]}
        for input, ours in (
            ("Van Horn-Mairson, solving", solved),
            (
                "Van Horn-Mairson, core to targets",
                measure(partial(analysed, core, reachable_only=False), repeat=repeat),
            ),
            (
                "Van Horn-Mairson, text to targets",
                measure(lambda t=text: analysed(parse(t), reachable_only=False), repeat=repeat),
            ),
        ):
            same = int(sizes.sum()) == expected
            table.row(input=input, ours=ours, rival=name, theirs=rival, agree=same, **known)


def program(n_lines: int, with_eval: bool) -> bytes:
    """Return the composed program, with a call of each of its parts at the end."""
    parts = re.split(rb"(?m)^(?=\(define \(program-)", composed(n_lines))
    kept = [part for part in parts if with_eval or b"(eval " not in part]
    text = b"".join(kept)
    names = re.findall(rb"(?m)^\(define \((program-[0-9]+)\)", text)
    return text + b"".join(b"(%s)\n" % name for name in names)


def real_size(table: Table) -> None:
    for with_eval in (False, True):
        text = program(11_000, with_eval)
        known = {"size": f"{text.count(bytes([10])):,} lines, {len(text) / 1e6:.2f} MB"}
        core = parse(text)
        rival = measure(partial(analysed, core), repeat=3)
        for m in (0,) if with_eval else (0, 1, 2):
            ours = measure(partial(analysed, core, m=m), repeat=3)
            _add(table, f"core to targets, m = {m}", ours, with_eval, known)
            if m:
                print(f"m = {m} costs {ours.min_s / rival.min_s:.2f} x m = 0", file=sys.stderr)
        ours = measure(lambda t=text: analysed(parse(t)), repeat=3)
        _add(table, "text to targets, m = 0", ours, with_eval, known)


def _add(table: Table, what: str, ours: object, with_eval: bool, known: dict[str, str]) -> None:
    targets = ours.result.reach.targets  # type: ignore[attr-defined]
    mean = sum(map(len, targets.values())) / len(targets)
    name = "test programs, some with eval" if with_eval else "test programs"
    table.row(input=f"{name}, {what}", ours=ours, targets_per_call=round(mean, 2), **known)  # type: ignore[arg-type]


def main() -> None:
    table = Table("cfa", __doc__ or "")
    family(table)
    real_size(table)
    table.save()


if __name__ == "__main__":
    main()
