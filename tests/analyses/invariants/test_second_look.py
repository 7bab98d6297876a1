"""The second look at functions of whole programs: what it proves, and that runs agree with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants import CheckKind, InvariantsResult, Verdict
from kleene.analyses.invariants.compile import Code
from kleene.analyses.invariants.flat import Base
from kleene.analyses.invariants.judging import Judged, judge
from kleene.analyses.invariants.objects import Address
from kleene.analyses.invariants.plan import DOMAINS
from kleene.analyses.invariants.rooms import pointer_of_room
from kleene.analyses.invariants.whole import WholeRun, interpret
from kleene.analyses.invariants.whole.second_look import SecondLook, code_of
from kleene.analyses.invariants.whole.sites import KINDS
from kleene.ir import Program
from tests.seeds import IS_DEEP, seeds

from . import composed
from .generator import generated
from .interpreter import Execution, Frame, Pointer
from .programs import program_of
from .sanitized import write
from .truth import N_STEPS, Oracle, chooser

N_RUNS = 60 if IS_DEEP else 2
PROGRAMS = seeds(4, deep=400)
COMPOSED = seeds(3, deep=400)
FUNCTIONS = seeds(5, deep=300)
INFINITE = float("inf")


class FunctionOracle(Oracle):
    """Compares the states of one function, in each of its calls."""

    def context(self, frame: Frame | None) -> int:
        """Return the context of a frame: each call is looked at by itself."""
        return -1 if frame is None else 0

    def concrete(self, frame: Frame, context: int, key: object) -> int | None:
        """Return the value of a variable: rooms, too, of storage that is still there."""
        pointer = pointer_of_room(key)
        if pointer is None and isinstance(key, Base) and ~key.value in frame.values:
            return self.distance(frame, ~key.value)
        if pointer is None:
            return super().concrete(frame, context, key)
        value = frame.values.get(pointer.value)
        if not isinstance(value, Pointer) or value.object < 0 or self.execution.freed:
            return None
        return len(self.execution.objects[value.object]) - value.offset

    def distance(self, frame: Frame, value: int) -> int | None:
        """Return how far a pointer is from where offsets are counted; a number is what it is."""
        address = self.code.flat.expressions.get(Base(0, value))
        found = frame.values[value]
        if not isinstance(address, Address) or address.root is None:
            return super().concrete(frame, 0, Base(0, ~value))
        root = frame.values.get(address.root.value)
        if not isinstance(found, Pointer) or not isinstance(root, Pointer):
            return None
        return found.offset - root.offset if found.object == root.object >= 0 else None


class ProgramOracle:
    """Runs a program beside what was found again of all its functions."""

    def __init__(self, program: Program, run: WholeRun, domain: str = "predicates") -> None:
        self.program, self.run = program, run
        domains = DOMAINS[: DOMAINS.index(domain) + 1]
        self.functions: dict[int, FunctionOracle] = {}
        for row in range(len(program.function_table)):
            if program.functions[row].blocks:
                code = code_of(run, row)
                judged = judge(run.context.program, code, domains, lambda _: True, 0.0, INFINITE)
                if judged.runs:
                    self.functions[row] = oracle(program, row, code, judged)
        look = SecondLook(run, domains, 0.0)
        look.look(list(self.functions), lambda _: True)
        self.look = look
        self.verdicts: dict[tuple[str, int], list[Verdict]] = {}
        for check, answer in look.answers.items():
            key = (KINDS[run.checks.kind[check]].value, int(run.checks.row[check]))
            self.verdicts.setdefault(key, []).append(answer.verdict)
        self.failed: set[tuple[str, int]] = set()
        self.passes: set[int] = set()

    def execute(self, function: int, seed: int, **options: bool) -> None:
        """Run a function once, and compare every state of every call."""
        execution = Execution(
            self.program, chooser(seed), self.enter, self.fail, N_STEPS,
            ends_locals=True, strings_end=True, ends_unwritten=True, **options,
        )  # fmt: skip
        for one in self.functions.values():
            one.execution = execution
        execution.run(function)

    def enter(self, frame: Frame, block: int) -> None:
        """Compare the state where a block begins."""
        function = int(self.program.blocks.function[block])
        if function in self.functions:
            self.functions[function].enter(frame, block)

    def fail(self, kind: str, row: int) -> None:
        """A check that fails may be none that is safe."""
        self.failed.add((kind, row))
        said = self.verdicts.get((kind, row), [])
        is_open = [one in (Verdict.MAY_FAIL, Verdict.FAILS) for one in said]
        assert any(is_open) or not said, f"{kind} at {row} was called {said}"

    @property
    def n_entered(self) -> int:
        """How many states were compared."""
        return sum(one.n_entered for one in self.functions.values())


def oracle(program: Program, row: int, code: Code, judged: Judged) -> FunctionOracle:
    return FunctionOracle(program, row, code, judged.runs)


def watched(program: Program, n_runs: int, **options: bool) -> ProgramOracle:
    found = ProgramOracle(program, interpret(program, domain="octagon"))
    is_open = found.run.context.calls.is_open
    for function in found.functions:
        for seed in range(n_runs if is_open[function] else 0):
            found.execute(function, seed, **options)
    return found


def test_runs_of_the_checked_functions(program: Program) -> None:
    found = watched(program, N_RUNS)
    assert found.n_entered > 300
    assert len(found.failed) >= 10
    assert found.look.answers
    assert any("second look" in one.by for one in found.look.answers.values())


def test_runs_of_generated_functions(tmp_path: Path) -> None:
    file = tmp_path / "generated.c"
    file.write_text(generated(FUNCTIONS, seed=5))
    found = watched(load(file), N_RUNS)
    assert found.n_entered > 3 * len(FUNCTIONS)


@pytest.mark.parametrize("seed", PROGRAMS)
def test_runs_of_generated_programs(tmp_path: Path, seed: int) -> None:
    """Functions that call each other, with pointers in front of objects and behind them."""
    file = tmp_path / "program.c"
    file.write_text(program_of(seed))
    found = watched(load(file), 12)
    assert found.n_entered > 10


@pytest.mark.parametrize("seed", COMPOSED)
def test_runs_of_composed_programs(tmp_path: Path, seed: int) -> None:
    """Parts that share the heap, strings and tables of functions."""
    file = write(tmp_path, "composed", seed, 0, text=composed.program_of(seed))
    found = watched(load(file), 30 if IS_DEEP else 6, ends_outside=True)
    assert found.n_entered


def test_a_wrong_fact_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(program_of(PROGRAMS[0]))
    program = load(file)
    run = interpret(program)
    first, end = program.bases[2], program.bases[3]  # arguments
    run.context.facts.rows[first:end, :4] = 1 << 20
    found = ProgramOracle(program, run, "interval")

    def run_all() -> None:
        for function in found.functions:
            for seed in range(20):
                found.execute(function, seed)

    with pytest.raises(AssertionError):
        run_all()


# What it proves


def analysed(text: str, folder: Path, **options: object) -> InvariantsResult:
    file = folder / "program.c"
    file.write_text(text)
    return load(file).invariants(whole_program=True, **options)  # type: ignore[arg-type]


RELATED = """
int any(void);
static int table[8];
static int flagged(int size) {
  int i = 8, on = 0;
  if (any()) { i = any(); on = 1; }
  if (i < 0 || i > 9 || (on && i >= size)) return 0;
  return on ? table[i] : 0;
}
static int thirds(int n) {
  int k = any() & 1 ? 3 : 9;
  return 100 / (3 * n + 1 - k);
}
static int related(int n, int sum) {
  int a = any(), b = any();
  if (a < 0 || b < 0 || a > 100 || b > 100 || a + b > n) return 0;
  return table[n - a - b];
}
int main(int argc, char **argv) { return flagged(8) + thirds(argc & 7) + related(7, argc); }
"""


def test_each_domain_proves_what_octagons_leave_open(tmp_path: Path) -> None:
    first = analysed(RELATED, tmp_path)
    assert all(one.proved_by in ("", "interval", "octagon") for one in first.checks)
    again = analysed(RELATED, tmp_path, domain="predicates")
    pairs = zip(first.checks, again.checks, strict=True)
    proved = {
        (one.function, one.kind): two.proved_by
        for one, two in pairs
        if not one.is_proved and two.is_proved
    }
    assert proved == {
        ("flagged", CheckKind.BOUNDS): "partitioned, second look",
        ("thirds", CheckKind.DIVISION): "interval, second look",
        ("related", CheckKind.BOUNDS): "relational, second look",
    }
    assert not any("by themselves" in note for one in again.functions for note in one.notes)


def test_what_is_proved_at_first_stays_so(tmp_path: Path) -> None:
    first, again = (
        analysed(RELATED, tmp_path, domain=domain) for domain in ("octagon", "partitioned")
    )
    for one, two in zip(first.checks, again.checks, strict=True):
        assert (one.kind, one.span, one.message) == (two.kind, two.span, two.message)
        assert two.is_proved or not one.is_proved


def test_named_functions_are_looked_at_again(tmp_path: Path) -> None:
    result = analysed(RELATED, tmp_path, functions=["flagged"])
    assert {one.function for one in result.checks} == {"flagged"}
    assert all(one.is_proved for one in result.check_results(["bounds"]))
    plain = analysed(RELATED, tmp_path, functions=["flagged"], domain="octagon")
    assert not all(one.is_proved for one in plain.check_results(["bounds"]))


POINTERS = """
int any(void);
static char buffer[10];
static int behind(char *q) { return q[-50]; }
static int front(char *q) { int s = q[1]; s += q[0]; return s; }
static int inside(char *q) { int s = q[3]; s += q[2]; return s; }
static int step(char *q, int n) { int s = 0; for (int i = 0; i < n; i++) s += q[i] & 1; return s; }
int main(int argc, char **argv) {
  return behind(buffer + 100) + front(buffer - 1) + inside(buffer + 4) + step(buffer + 2, 8);
}
"""


def test_pointers_out_of_their_objects_are_not_supposed_inside(tmp_path: Path) -> None:
    found = analysed(POINTERS, tmp_path, domain="predicates", checks=["bounds"])
    verdicts: dict[str, set[Verdict]] = {}
    for one in found.checks:
        verdicts.setdefault(one.function, set()).add(one.verdict)
    assert Verdict.FAILS in verdicts["behind"]
    assert Verdict.FAILS in verdicts["front"]
    assert verdicts["inside"] == {Verdict.SAFE}
    assert verdicts["step"] == {Verdict.SAFE}


def test_what_stays_open_says_what_the_function_lost_and_where_that_came_from(
    tmp_path: Path,
) -> None:
    text = """
    int any(void);
    static int table[8];
    static int at(int i, int n) { if (i > n) return 0; return table[n - i]; }
    int main(int argc, char **argv) { int n = any(); return n < 0 || n > 9 ? 0 : at(argc & 1, n); }
    """
    result = analysed(text, tmp_path, domain="relational", checks=["bounds"])
    (check,) = [one for one in result.checks if not one.is_proved]
    assert "is lost at program.c:4" in check.lost or "where the function begins" in check.lost
    assert "program.c:5" in check.lost
    assert "n" in check.state
    assert check.lost in result.explain(check)


def test_time_that_is_over_is_noted(tmp_path: Path) -> None:
    result = analysed(RELATED, tmp_path, domain="predicates", time_s=1e-9)
    notes = [note for one in result.functions for note in one.notes]
    assert any("was given up after" in note for note in notes)
    assert result.counts()["safe"]


RECURSIVE = "int n;\nint main(void) { if (n++ < 1) return main(); return 1 / (n - 2); }\n"


@pytest.mark.parametrize("whole", [False, True])
def test_main_that_calls_itself_begins_with_other_globals(tmp_path: Path, whole: bool) -> None:
    file = tmp_path / "recursive.c"
    file.write_text(RECURSIVE)
    result = load(file).invariants(whole_program=whole, domain="predicates")
    (check,) = result.check_results(["division"])
    assert check.verdict is Verdict.MAY_FAIL
