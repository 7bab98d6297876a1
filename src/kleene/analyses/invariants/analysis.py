"""`Invariants`: which functions are analysed, with which domains, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from time import perf_counter

import numpy as np

from kleene.analyses.invariants.checks import CheckKind, CheckResult, Verdict
from kleene.analyses.invariants.compile import compile_function
from kleene.analyses.invariants.flat import Site
from kleene.analyses.invariants.instructions import PLAIN, SUPPOSED
from kleene.analyses.invariants.judging import OPEN, Answer, Judged, judge, lost_of
from kleene.analyses.invariants.library import calls_by_model, has_others, model_of
from kleene.analyses.invariants.lower import lower
from kleene.analyses.invariants.plan import DOMAINS
from kleene.analyses.invariants.result import FunctionResult, InvariantsResult, by_place
from kleene.analyses.invariants.solve import worst
from kleene.base import progress
from kleene.base.device import Device
from kleene.base.errors import SourceError, did_you_mean
from kleene.base.paths import paths_of
from kleene.ir import Program
from kleene.ir.codes import (
    CALLS,
    ArgumentFlag,
    Binding,
    GlobalFlag,
    Linkage,
    Opcode,
    TypeKind,
    ValueKind,
)

_ENDS = "a run ends where an access, division or shift fails its check"
_NO_OVERFLOW = "a signed operation does not overflow once its check is answered"
_FLOATS = "floating-point numbers have the precision of their types, and none is flushed to 0"
_STRINGS_END = "strings that the C library reads in unknown objects and in fields are terminated"
_ALL_STRINGS_END = "strings that the C library reads are terminated inside of their objects"
_ARGUMENTS = "arguments of main are strings, also where the program has written to these"
_WRAPS = "signed overflow wraps around"
_MOST_INSTRUCTIONS = 3_000  # more are not interpreted function by function: some ms for each
_WHOLE_DOMAINS = DOMAINS[:2]
_POINTING = "pointers that a function gets or reads point into objects that exist, as C asks"
_PROMISED = (
    "callers that are not followed pass no null as a reference, 'this' or a parameter declared"
    " nonnull"
)
_READS_END = "a run ends where it reads uninitialised memory, which is checked"
_NO_POINTERS_IN_BYTES = (
    "pointers that leave the program as bytes or as printed numbers do not come back"
)
_WRITTEN = "memory from outside, and memory passed to unknown functions, is initialised by them"
_UNSCOPED = (
    "locals live until their function returns, unless the compiler marks the end of their scope, as"
    " it does for C++ and optimised code"
)
_SAME_LOCAL = "a local of a loop's body is the same one in each of its iterations"
_STAYS = "memory from outside lives as long as it is used"
_NO_RACES = "threads and signal handlers free no memory that others use meanwhile"


@dataclass(frozen=True, slots=True)
class Invariants:
    """What holds at every point of a C program, and which of its checks are safe?

    Forward abstract interpretation of each function from its entry, functions that it calls laid
    in. Cheap domains go first, and those behind them are run as long as checks are not proved.

    Attributes:
        domain: the last domain to try: "interval", "octagon", "relational", "partitioned" or
            "predicates". Empty: the last one, or for whole programs octagons. Of whole programs,
            functions with open checks are looked at again, one by one, by the domains behind
            octagons.
        checks: kinds of checks that are wanted, all but dead code if none is named; others are
            neither reported nor worth a more precise domain.
        functions: names of functions to analyse, all that are not inlined into others if none. Of
            whole programs, these are looked at again with all domains if no domain is named.
        unroll: how many iterations of each loop, from the first on, are analysed one by one. Of
            whole programs, functions are looked at again for that.
        wraps: whether signed overflow wraps around, as with `-fwrapv`; else it is checked, and
            assumed not to happen afterwards.
        time_s: seconds for each function; then the result of cheaper domains stands. 0: no limit.
            Of whole programs, these are counted as steps of octagons, on any machine alike.
        whole_program: whether all functions are looked at together, every fact about a value for
            all calls alike (intervals and octagons only); else each by itself with callees inlined.
            None: together if the program has more than 3,000 instructions and no function is named.
    """

    domain: str = ""
    checks: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    unroll: int = 0
    wraps: bool = False
    time_s: float = 0.0
    whole_program: bool | None = None

    def __post_init__(self) -> None:
        for name in ("checks", "functions"):  # one text is one name, not a name for each letter
            object.__setattr__(self, name, paths_of(getattr(self, name)))
        if self.domain and self.domain not in DOMAINS:
            message = f"there is no domain '{self.domain}'"
            note = did_you_mean(self.domain, DOMAINS)
            raise SourceError(None, "invariants/no-such-domain", message, note)
        if self.unroll < 0:
            message = f"loops cannot be unrolled {self.unroll} times"
            raise SourceError(None, "invariants/bad-unroll", message, "give 0 or more")
        for one in self.checks:
            if one not in list(CheckKind):
                message = f"there is no kind of check '{one}'"
                note = did_you_mean(one, list(CheckKind))
                raise SourceError(None, "invariants/no-such-check", message, note)

    def run(
        self, program: Program, *, device: Device | str = Device.AUTO, threads: int | None = None
    ) -> InvariantsResult:
        """Return the answer for a program.

        Functions by themselves are looked at on the CPU, by one thread.

        Raises:
            SourceError: the program is not one of C or C++ (`invariants/not-c`), or has no such
                function (`invariants/no-such-function`).
        """
        if not isinstance(program, Program):
            raise SourceError(None, "invariants/not-c", "this is no C or C++ program")
        if self._is_whole(program):
            return self._whole(program, device, threads)
        answers: list[FunctionResult] = []
        verdicts: dict[Site, tuple[Verdict, str, str]] = {}
        losses: dict[Site, str] = {}
        with progress.task("interpreting functions"):
            todo = self._roots(program)
            for function in todo:  # it grows: calls that are not followed may pass anything
                answer, others = self._function(program, function, verdicts, losses)
                answers.append(answer)
                todo += [] if self.functions else [one for one in others if one not in todo]
        checks = [
            self._check(program, site, *answer, losses.get(site, ""))
            for site, answer in _of_reached(verdicts)
        ]
        if CheckKind.DEAD_CODE.value in self.checks:
            checks += dead_code(program, reached_blocks(answers, roots_only=bool(self.functions)))
        return InvariantsResult(
            program,
            answers,
            by_place(checks),
            (
                *self._assumed(program, _STRINGS_END),
                *_pointing(program),
                *_promised(program),
                *_unscoped(program),
            ),
        )

    def _is_whole(self, program: Program) -> bool:
        if self.whole_program is None:
            return not self.functions and len(program.instructions) > _MOST_INSTRUCTIONS
        return self.whole_program

    def _whole(
        self, program: Program, device: Device | str, threads: int | None
    ) -> InvariantsResult:
        """Return the answer for all functions together; of named ones if some are."""
        from kleene.analyses.invariants.whole import interpret
        from kleene.analyses.invariants.whole.second_look import SecondLook

        chosen = self.domain if self.domain in _WHOLE_DOMAINS else _WHOLE_DOMAINS[-1]
        last = self.domain or (DOMAINS[-1] if self.functions else chosen)
        run = interpret(
            program,
            domain=chosen,
            wraps=self.wraps,
            time_s=self.time_s,
            device=device,
            threads=threads,
        )
        offsets = program.function_table.block_offsets
        defined = [row for row in range(len(offsets) - 1) if offsets[row] < offsets[row + 1]]
        rows = [_function(program, name, defined) for name in self.functions] or defined
        names = [program.functions[row].name for row in rows]
        answers = [FunctionResult(name, domain=chosen, notes=run.notes(name)) for name in names]
        inside = set(rows)
        again = SecondLook(run, DOMAINS[: DOMAINS.index(last) + 1], self.time_s, self.unroll)
        if last != chosen or self.unroll:
            again.look(rows, self._is_wanted)
            for one in answers:
                one.notes += again.notes.get(one.name, [])
                one.domain = again.domains.get(one.name, chosen)
        checks = [
            one
            for one in run.results(again.answers)
            if self._is_wanted(one.kind)
            and (not self.functions or int(program.instruction_function[one.instruction]) in inside)
        ]
        if CheckKind.DEAD_CODE.value in self.checks:
            blocks = [block for row in rows for block in range(offsets[row], offsets[row + 1])]
            is_reached = run.context.block_is_reached[blocks].tolist()
            checks += dead_code(program, dict(zip(blocks, is_reached, strict=True)))
        taken = (_READS_END, _NO_POINTERS_IN_BYTES)
        frees = self._is_wanted(CheckKind.FREED) and has_others(program)
        stays = (*_unscoped(program), _STAYS, *((_NO_RACES,) if frees else ()))
        written = (_WRITTEN,) if self._is_wanted(CheckKind.UNINITIALISED) else ()
        has_main = any(one.name == "main" for one in program.functions)
        promised = () if has_main else _promised(program)
        assumed = self._assumed(program, _ALL_STRINGS_END) + taken + stays + written + promised
        return InvariantsResult(program, answers, by_place(checks), assumed, run)

    def _assumed(self, program: Program, strings_end: str) -> tuple[str, ...]:
        """Return what the answer takes for granted, with `strings_end` if strings are read."""
        touches = (touch for model, _ in calls_by_model(program) for touch in model.touches)
        has_strings = any(one.size is None and one.has_end for one in touches)
        overflow = _WRAPS if self.wraps else _NO_OVERFLOW
        first, last = program.bases[ValueKind.ARGUMENT], program.n_values
        types = np.unique(program.value_types[first:last])
        has_floats = bool(np.any(program.types.kind[types[types >= 0]] == TypeKind.FLOAT))
        has_arguments = any(
            one.name == "main" and len(one.arguments) > 1 for one in program.functions
        )
        arguments = [_ARGUMENTS] * has_arguments
        strings, floats = [strings_end] * has_strings, [_FLOATS] * has_floats
        return (overflow, _ENDS, *strings, *arguments, *floats)

    def _check(
        self, program: Program, site: Site, verdict: Verdict, by: str, state: str, lost: str
    ) -> CheckResult:
        view = program.instruction_view(site.instruction)
        name = view.function.source_name or view.function.name
        return CheckResult(
            site.kind, verdict, view.span, name, site.message, by, state, site.instruction,
            lost if verdict in OPEN else "",
        )  # fmt: skip

    # Functions

    def _roots(self, program: Program) -> list[int]:
        """Return the functions to analyse on their own: those that are not inlined into others.

        These are `main`, functions that nobody calls by name, and those that others may call: by
        pointer, or, without a `main`, from outside.
        """
        offsets = program.function_table.block_offsets
        defined = [row for row in range(len(offsets) - 1) if offsets[row] < offsets[row + 1]]
        if self.functions:
            return [_function(program, name, defined) for name in self.functions]
        names = {program.functions[row].name: row for row in defined}
        has_main = "main" in names
        callers = _callers(program, defined)
        roots = [names["main"]] if has_main else []
        for row in defined:
            value = int(program.function_table.value[row])
            linkage, flags = program.globals.linkage[value], int(program.globals.flags[value])
            is_hidden = has_main or linkage in (Linkage.INTERNAL, Linkage.PRIVATE)
            is_inlined = bool(callers[row] - {row}) and is_hidden
            if row not in roots and (not is_inlined or flags & GlobalFlag.ADDRESS_TAKEN):
                roots.append(row)
        return _with_the_rest(defined, roots, callers)

    def _function(
        self,
        program: Program,
        function: int,
        verdicts: dict[Site, tuple[Verdict, str, str]],
        losses: dict[Site, str],
    ) -> tuple[FunctionResult, list[int]]:
        """Return the answer for a function, and functions it calls that are not inlined."""
        deadline_s = perf_counter() + self.time_s if self.time_s else inf
        answer = FunctionResult(program.functions[function].name)
        flat = lower(program, function, wraps=self.wraps)
        code = compile_function(program, flat)
        answer.notes += flat.notes
        judged = Judged()
        if flat.refused:
            name = program.functions[function].source_name or answer.name
            answer.notes.append(f"{name} is not analysed: {flat.refused}")
        else:
            domains = DOMAINS[: DOMAINS.index(self.domain or DOMAINS[-1]) + 1]
            judged = judge(
                program, code, domains, lambda place: self._is_wanted(code.sites[place].kind),
                self.time_s, deadline_s, is_limited=not self.domain, unroll=self.unroll,
            )  # fmt: skip
            answer.notes += judged.notes
            answer.runs, answer.domain = judged.runs, judged.domain
        found = judged.answers
        if not answer.runs:
            found = dict.fromkeys(range(len(code.sites)), Answer(Verdict.MAY_FAIL))
        self._drop_suppositions(code.sites, found)
        for place, (verdict, by, state) in found.items():
            site = code.sites[place]
            if self._is_wanted(site.kind):
                known = verdicts.get(site)
                merged = worst(known[0] if known else None, verdict)
                if verdict in OPEN and answer.runs and perf_counter() < deadline_s:
                    losses.setdefault(site, lost_of(program, answer.runs[-1], place))
                verdicts[site] = (merged, by if merged is verdict else "", state)
        return answer, list(flat.not_followed)

    def _drop_suppositions(self, sites: list[Site], found: dict[int, Answer]) -> None:
        """Leave out one of two checks of an access: what supposes something, or what does not.

        That a parameter says how many elements there are, or points to a string, is a guess: it is
        right if all accesses are inside then, and only then worth telling.
        """
        proved = (Verdict.SAFE, Verdict.UNREACHABLE)
        wrong = {
            sites[place].message
            for place, (verdict, _, _) in found.items()
            if verdict not in proved
        }
        for supposed, plain in _twins(sites).items():
            if sites[supposed].message in wrong or found[plain][0] in proved:
                del found[supposed]
            else:
                del found[plain]

    def _is_wanted(self, kind: CheckKind) -> bool:
        return not self.checks or kind.value in self.checks


def _pointing(program: Program) -> tuple[str, ...]:
    """Return what is assumed of pointers from outside of a function, if there are any."""
    kinds, table = program.types.kind, program.instructions
    loaded = table.type[table.opcode == Opcode.LOAD]
    first, end = program.bases[ValueKind.ARGUMENT], program.bases[ValueKind.BLOCK]
    types = np.unique(np.concatenate([loaded, program.value_types[first:end]]))
    return (_POINTING,) * bool(np.any(kinds[types[types >= 0]] == TypeKind.POINTER))


def _promised(program: Program) -> tuple[str, ...]:
    """Return what is assumed of parameters that are declared not to be null, if there are any."""
    is_promised = program.arguments.flags & ArgumentFlag.NONNULL != 0
    rows = np.flatnonzero(np.diff(program.function_table.block_offsets))
    offsets = program.function_table.argument_offsets
    has_body = np.zeros(len(program.arguments), bool)
    for first, end in zip(offsets[rows].tolist(), offsets[rows + 1].tolist(), strict=True):
        has_body[first:end] = True
    return (_PROMISED,) * bool(np.any(is_promised & has_body))


def _unscoped(program: Program) -> tuple[str, ...]:
    """Return what is assumed of the lifetimes of locals in memory, if there are any.

    Parameters live as long as their function, and other locals until a marker, if they have one.
    """
    first = program.bases[ValueKind.INSTRUCTION]
    rows = np.flatnonzero(program.instructions.opcode == Opcode.ALLOCA) + first
    scoped, bindings = program.scoped_locals, program.bindings
    is_parameter = program.variables.argument[bindings.variable] > 0
    parameters = bindings.value[is_parameter & (bindings.kind == Binding.DECLARE)]
    unmarked = np.setdiff1d(rows, np.concatenate([scoped, parameters]))
    return (_UNSCOPED,) * bool(len(unmarked)) + (_SAME_LOCAL,) * bool(len(scoped))


def _twins(sites: list[Site]) -> dict[int, int]:
    """Return, by checks that suppose something, those of the same accesses that do not."""
    plain = {
        (one.kind, one.instruction): place
        for place, one in enumerate(sites)
        if one.message == PLAIN
    }
    return {
        place: plain[one.kind, one.instruction]
        for place, one in enumerate(sites)
        if one.message.startswith(SUPPOSED)
    }


def reached_blocks(answers: list[FunctionResult], *, roots_only: bool) -> dict[int, bool]:
    """Return of blocks whether a run may come there, on some chain of calls.

    Of what was inlined into roots that were named, other chains are not known.
    """
    reached: dict[int, bool] = {}
    for answer in answers:
        for run in answer.runs[-1:]:
            seen: set[tuple[int, int]] = set()
            for value, block in zip(run.values, run.code.flat.blocks, strict=True):
                key = (block.context, block.row)
                if key not in seen and not (roots_only and block.context):
                    seen.add(key)
                    reached[block.row] = reached.get(block.row, False) or not value.is_bottom()
    return reached


def dead_code(program: Program, reached: dict[int, bool]) -> Iterator[CheckResult]:
    """Yield where code begins that no run comes to, though one may come to what goes on there.

    Reports of errors are meant not to be reached.
    """
    offsets, targets = program.successors
    behind = {
        target
        for row, is_reached in reached.items()
        if is_reached
        for target in targets[offsets[row] : offsets[row + 1]].tolist()
    }
    for row, is_reached in reached.items():
        if is_reached or row not in behind:
            continue
        found = _statement(program, row)
        if found is not None:
            view = program.instruction_view(found)
            name = view.function.source_name or view.function.name
            message = "some run comes here"
            kind = CheckKind.DEAD_CODE
            yield CheckResult(kind, Verdict.FAILS, view.span, name, message, "", "", found)


def _statement(program: Program, block: int) -> int | None:
    """Return the first instruction of a block that the source has, unless it reports an error."""
    first, end = program.blocks.instruction_offsets[block : block + 2].tolist()
    table, spans = program.instructions, program.spans
    found = None
    for row in range(first, end):
        opcode = int(table.opcode[row])
        if opcode in CALLS and model_of(program, int(table.operands_of(row)[0])).effect == "fails":
            return None
        span = int(table.span[row])
        is_own = opcode not in (Opcode.PHI, Opcode.BR, Opcode.UNREACHABLE)
        if found is None and is_own and span >= 0 and spans.line[span]:
            found = row
    return found


def _callers(program: Program, defined: list[int]) -> dict[int, set[int]]:
    """Return who calls each function by name."""
    from kleene.analyses.invariants.lower import reachable

    found: dict[int, set[int]] = {row: set() for row in defined}
    for row in defined:
        for callee in reachable(program, row, deep=False):
            if callee in found and callee != row:
                found[callee].add(row)
    return found


def _of_reached(
    verdicts: dict[Site, tuple[Verdict, str, str]],
) -> Iterator[tuple[Site, tuple[Verdict, str, str]]]:
    """Yield checks with their answers, but those not reached that other callers do reach.

    They reach the same check of another object, or one that is behind it and has no need of it:
    the address of an object is not null.
    """
    reached = {
        (site.kind, site.instruction)
        for site, (verdict, _, _) in verdicts.items()
        if verdict is not Verdict.UNREACHABLE
    }
    for site, answer in verdicts.items():
        is_dead = answer[0] is Verdict.UNREACHABLE
        if is_dead and (site.kind, site.instruction) in reached:
            continue
        is_null = site.kind is CheckKind.NULL
        if is_dead and is_null and (CheckKind.BOUNDS, site.instruction) in reached:
            yield site, (Verdict.SAFE, DOMAINS[0], "")
        else:
            yield site, answer


def _with_the_rest(defined: list[int], roots: list[int], callers: dict[int, set[int]]) -> list[int]:
    """Return the roots and, of functions that only call each other, enough to reach all."""
    callees: dict[int, list[int]] = {row: [] for row in defined}
    for callee, known in callers.items():
        for caller in known:
            callees[caller].append(callee)
    seen: set[int] = set()

    def visit(row: int) -> None:
        todo = [row]
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += callees[one]

    for row in roots:
        visit(row)
    for row in defined:
        if row not in seen:
            roots.append(row)
            visit(row)
    return roots


def _function(program: Program, name: str, defined: list[int]) -> int:
    for row in defined:
        if name in (program.functions[row].name, program.functions[row].source_name):
            return row
    message = f"the program defines no function '{name}'"
    views = [program.functions[row] for row in defined]
    note = did_you_mean(name, [one.source_name or one.name for one in views])
    raise SourceError(None, "invariants/no-such-function", message, note)
