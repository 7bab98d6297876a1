"""Every state that a run is seen in is one that is allowed, and nothing safe ever fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants.compile import compile_function
from kleene.analyses.invariants.gauges import gauges
from kleene.analyses.invariants.lower import lower
from kleene.analyses.invariants.plan import DOMAINS, plan_of
from kleene.analyses.invariants.solve import Run
from kleene.ir import Program
from tests.seeds import IS_DEEP, seeds

from .generator import generated
from .truth import Oracle

N_RUNS = 100 if IS_DEEP else 4
FUNCTIONS = seeds(5, deep=300)


def watched(program: Program, function: int, seeds: range) -> Oracle:
    """Run a function beside what all domains say; if not deep, the middle ones by turns."""
    code = compile_function(program, lower(program, function))
    first, *middle, last = DOMAINS
    domains = DOMAINS if IS_DEEP else (first, middle[function % len(middle)], last)
    forms = list(gauges(Run(code, plan_of(code, "octagon"))))
    oracle = Oracle(
        program, function, code, [Run(code, plan_of(code, domain, forms)) for domain in domains]
    )
    for seed in seeds:
        oracle.run(seed)
    return oracle


def defined(program: Program) -> list[int]:
    return [row for row in range(len(program.function_table)) if program.functions[row].blocks]


def test_runs_of_the_checked_functions(program: Program) -> None:
    n_entered = n_failed = 0
    for function in defined(program):
        oracle = watched(program, function, range(N_RUNS))
        n_entered += oracle.n_entered
        n_failed += len(oracle.failed)
    assert n_entered > 100
    assert n_failed >= 10  # the runs do find what may fail


def test_runs_of_generated_functions(tmp_path: Path) -> None:
    """Each assertion has a negated twin: only one of both can be safe where a run comes."""
    file = tmp_path / "generated.c"
    file.write_text(generated(FUNCTIONS, seed=1))
    program = load(file)
    n_entered = n_failed = 0
    for function in defined(program):
        oracle = watched(program, function, range(N_RUNS // 2))
        n_entered += oracle.n_entered
        n_failed += len(oracle.failed)
    assert n_entered > 10 * len(FUNCTIONS)
    assert n_failed


def test_a_wrong_state_is_noticed(program: Program) -> None:
    """The oracle can fail: of a state that holds too little, and of a verdict that is wrong."""
    row = next(one for one in defined(program) if program.functions[one].name == "follow_limit")
    code = compile_function(program, lower(program, row))
    run = Run(code, plan_of(code, "octagon"))
    for value in run.values:
        for numbers in value:
            for key in range(len(code.kinds)):
                numbers.restrict(key, 0, 3)
    oracle = Oracle(program, row, code, [run])

    def run_all() -> None:
        for seed in range(20):
            oracle.run(seed)

    with pytest.raises(AssertionError, match="is in none of"):
        run_all()
