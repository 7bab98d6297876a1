"""What does the pipeline of the paper on EigenCFA cost beside the direct one, and with its solver?

Programs in the paper's language (those of its tests, over and over, each copy in a procedure of its
own): from the core to flow sets by the direct pipeline, and by CPS, binary CPS and abstract
encodings, both solved by the engine. Then the problem of the EigenCFA pipeline alone: the engine
beside the paper's sparse algorithm on one thread. Every call counts; targets of all calls and all
sets must be equal.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from harness import Table, measure

from kleene.analyses.cfa import CFA, CFAResult
from kleene.analyses.cfa.eigencfa import problem_of
from kleene.frontends.scheme import parse
from kleene.ir.scheme import Core
from kleene.solvers.inclusion import cpu, difference
from kleene.solvers.inclusion.paper import eigencfa
from kleene.transforms.scheme import terms_of

PROGRAMS = Path(__file__).resolve().parents[1] / "tests" / "transforms" / "scheme" / "programs"


def program(n_copies: int) -> str:
    """Return the programs, so many times."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(PROGRAMS.glob("*.scm")))
    return "\n".join(f"(define (program-{i})\n{text}\n1)" for i in range(n_copies))


def answered(core: Core, pipeline: str) -> CFAResult:
    return CFA(reachable_only=False, pipeline=pipeline).run(core, device="cpu")


def main() -> None:
    table = Table("cfa_eigencfa", __doc__ or "")
    for n_copies in (1, 4, 16, 64):
        text = program(n_copies)
        core, repeat = parse(text), 5 if n_copies < 64 else 3
        terms = terms_of(core)
        known = {
            "size": f"{1 + text.count(chr(10)):,} lines",
            "core_rows": core.n_rows,
            "terms": terms.n_terms,
        }
        ours = measure(partial(answered, core, "direct"), repeat=repeat)
        theirs = measure(partial(answered, core, "eigencfa"), repeat=repeat)
        same = ours.result.reach.targets == theirs.result.reach.targets
        name = "the EigenCFA pipeline"
        table.row(input="core to sets", ours=ours, rival=name, theirs=theirs, agree=same, **known)
        problem = problem_of(terms)
        ours = measure(partial(cpu.solve, problem), repeat=repeat)
        theirs = measure(partial(eigencfa.solve, problem), repeat=1 if n_copies > 16 else 3)
        same = difference(ours.result, theirs.result) is None
        name = "EigenCFA's sparse algorithm"
        table.row(
            input="solving binary CPS", ours=ours, rival=name, theirs=theirs, agree=same, **known
        )
    table.save()


if __name__ == "__main__":
    main()
