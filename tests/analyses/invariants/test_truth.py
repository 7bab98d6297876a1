"""Every state that a run is seen in is one that is allowed, and nothing safe ever fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants.compile import compile_function
from kleene.analyses.invariants.lower import lower
from kleene.analyses.invariants.plan import DOMAINS, plan_of
from kleene.analyses.invariants.solve import Run
from kleene.ir import Program

from .generator import generated
from .truth import Oracle

DEEP = os.environ.get("KLEENE_DEEP") == "1"
N_RUNS = 200 if DEEP else 4
N_FUNCTIONS = 300 if DEEP else 5


def watched(program: Program, function: int, seeds: range) -> Oracle:
    code = compile_function(program, lower(program, function))
    oracle = Oracle(
        program, function, code, [Run(code, plan_of(code, domain)) for domain in DOMAINS]
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
    file.write_text(generated(N_FUNCTIONS, seed=1))
    program = load(file)
    n_entered = n_failed = 0
    for function in defined(program):
        oracle = watched(program, function, range(N_RUNS // 2))
        n_entered += oracle.n_entered
        n_failed += len(oracle.failed)
    assert n_entered > 10 * N_FUNCTIONS
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
