"""Of which types the value of each expression may be: numbers and strings are followed here.

The types of an expression or variable are a set, written as the bits of an integer, and cover
every run; no bit at all means that nothing ever gets there. Who calls whom is taken from the solved
control flow. What comes out of data, or from primitives that call, may be of any type.

Tests narrow the types of local variables that nothing assigns: in `(if (pair? x) A B)`, x is a
pair in A and none in B, and `(if x A B)` takes A only if x is not #f. The bits `several(n)` stand
for n values at once, so that the types of a procedure's body also say how many values it returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np

from kleene.analyses.cfa.builder import CONTINUATION, HIDDEN, INSTANCE, LAMBDA
from kleene.analyses.cfa.index import Index
from kleene.analyses.cfa.reach import Reach
from kleene.base.arrays import I32, distinct, offsets_of
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core
from kleene.ir.scheme.values import NIL, Char, Pair, String
from kleene.solvers.inclusion.problem import NONE

NAMES = (
    *("false", "true", "number", "symbol", "string", "character", "null", "pair", "vector"),
    *("bytevector", "procedure", "box", "table", "promise", "record", "port", "eof", "other"),
)
BITS = {name: 1 << number for number, name in enumerate(NAMES)}
_N_SEVERAL = 9  # bits for 0 to 7 values at once, and for more
ONE = (1 << len(NAMES)) - 1  # any one value
ANY = (1 << len(NAMES) + _N_SEVERAL) - 1
_UNIONS = {
    "any": ANY,
    "never": 0,
    "boolean": BITS["false"] | BITS["true"],
    "list": BITS["null"] | BITS["pair"],
}
_SHOWN = {
    "false": "#f",
    "true": "#t",
    "null": "()",
    "table": "a hash table",
    "eof": "an end of file",
    "other": "something else",
}
_MOST_FACTS, _MOST_DEPTH = 16, 12  # variables that tests tell about, and how deep tests nest
Facts = dict[int, int]  # variables and the types that they may still have
_NEVER: Facts = {NONE: 0}  # what is known where a test never leads


def several(n: int) -> int:
    """Return the bit for n values at once; one value has the bit of its type."""
    return 1 << len(NAMES) + min(n, _N_SEVERAL - 1)


def counts(types: int) -> list[int] | None:
    """Return how many values there may be at once; None if that is not known."""
    if types & several(_N_SEVERAL):
        return None
    found = [n for n in range(_N_SEVERAL - 1) if types & several(n)]
    return sorted(found + [1] * bool(types & ONE))


def shown(types: int) -> str:
    """Return types as people read them: `a number or a string`."""
    if types & _UNIONS["boolean"] == _UNIONS["boolean"]:
        return _either(["a Boolean", *_shown(types & ~_UNIONS["boolean"])])
    if types & _UNIONS["list"] == _UNIONS["list"]:
        return _either(["a list", *_shown(types & ~_UNIONS["list"])])
    return _either(_shown(types))


def _shown(types: int) -> list[str]:
    return [_SHOWN.get(name, f"a {name}") for name in NAMES if types & BITS[name]]


def _either(words: list[str]) -> str:
    return " or ".join(words[-2:] if len(words) < 3 else [", ".join(words[:-1]), words[-1]])


@dataclass(frozen=True, slots=True)
class Signature:
    """What a primitive takes and returns, as types."""

    result: int
    fixed: tuple[int, ...]
    rest: int = ANY
    last: int | None = None

    def argument(self, index: int, n_arguments: int) -> int:
        """Return the types of one of so many arguments, counted from 0."""
        if self.last is not None and index == n_arguments - 1:
            return self.last
        return self.fixed[index] if index < len(self.fixed) else self.rest


_OPEN = Signature(ANY, ())


@cache
def signatures() -> dict[str, Signature]:
    """Return the signature of each primitive that `types.txt` has."""
    text = files(__package__).joinpath("types.txt").read_text(encoding="utf-8")
    found: dict[str, Signature] = {}
    for line in text.splitlines():
        if matched := re.fullmatch(r"([^; ]+) \((.*?)\) (.+)", line):
            result, arguments, names = matched.groups()
            words, _, last = arguments.partition(" . ")
            *fixed, final = words.split() or [""]
            rest = ANY
            if final == "...":
                rest = _union(fixed.pop())
            elif final:
                fixed.append(final)
            signature = Signature(
                _union(result), tuple(map(_union, fixed)), rest, _union(last) if last else None
            )
            found.update(dict.fromkeys(names.split(), signature))
    return found


def _union(words: str) -> int:
    found = 0
    for word in words.split("|"):
        found |= _UNIONS[word] if word in _UNIONS else BITS[word]
    return found


@cache
def _predicates() -> dict[str, int]:
    """Return the types for which each predicate holds: for all values of them, and for no other."""
    plain = ("number", "symbol", "string", "null", "pair", "vector", "bytevector", "procedure")
    others = {"char?": "character", "box?": "box", "hash-table?": "table", "port?": "port"}
    found = {f"{name}?": BITS[name] for name in plain} | {"boolean?": _UNIONS["boolean"]}
    return found | {name: BITS[kind] for name, kind in others.items()}


def type_of(value: Any) -> int:
    """Return the type of a constant."""
    if value is NIL:
        return BITS["null"]
    if type(value) is bool:
        return BITS["true"] if value else BITS["false"]
    return _OF_CLASS.get(type(value), ANY)


_OF_CLASS: dict[type, int] = {
    **dict.fromkeys((int, float, Fraction, complex), BITS["number"]),
    Char: BITS["character"],
    str: BITS["symbol"],
    String: BITS["string"],
    Pair: BITS["pair"],
    list: BITS["vector"],
    bytearray: BITS["bytevector"],
}


class Types:
    """The types of a solved program; `row` and `variable` have them by number."""

    def __init__(self, reach: Reach) -> None:
        self._reach, self._system = reach, reach.system
        self._index: Index = reach.system.index
        self._core: Core = reach.system.core
        self._n_rows = self._core.n_rows
        self._facts: list[Facts | None] = self._narrowed()
        self._masks = self._solved()

    def row(self, row: int) -> int:
        """Return the types of an expression's value; 0 where it never has one."""
        return self._masks[row]

    def variable(self, variable: int) -> int:
        """Return the types of what a variable may hold."""
        return self._masks[self._n_rows + variable]

    def is_live(self, row: int) -> bool:
        """Return whether a row may be evaluated, as far as types tell.

        It is not if a test around it never comes out that way, or if what is evaluated before it
        never returns.
        """
        if not self._is_possible(row):
            return False
        while (parent := self._parents[row]) != NONE:
            before = self._index.below(parent)
            if self._index.kind[parent] == columns.IF:
                before = before[:1]
            for other in before:
                if other == row:
                    break
                if not self._index.is_let[other] and not self._returns(other, _MOST_DEPTH):
                    return False
            row = parent
        return True

    def _is_possible(self, row: int) -> bool:
        """Return whether all tests around a row may come out as they must for it."""
        facts = self._facts[row] or {}
        return all(kept & self._masks[self._n_rows + variable] for variable, kept in facts.items())

    def _returns(self, row: int, depth: int) -> bool:
        """Return whether the evaluation of a row may come to its end."""
        if not self._masks[row] or not depth:
            return self._masks[row] != 0
        below = self._index.below(row)
        if self._index.kind[row] == columns.IF:
            branches = (branch for branch in below[1:] if self._is_possible(branch))
            return any(self._returns(branch, depth - 1) for branch in branches)
        if self._index.kind[row] == columns.SEQUENCE:
            return all(self._returns(form, depth - 1) for form in below)
        return True

    def results(self, functions: Iterable[int]) -> int:
        """Return the types of what any of these functions may return."""
        found, s = 0, self._system
        for function in functions:
            kind, which = int(s.function_kind[function]), int(s.function_which[function])
            if kind == LAMBDA:
                found |= self._masks[self._index.below(which)[0]]
            elif kind == INSTANCE:
                found |= signatures().get(s.instances[which], _OPEN).result
            elif kind != CONTINUATION:
                found = ANY
        return found

    def only_primitive(self, site: int) -> str | None:
        """Return the primitive that a call reaches through a variable, and nothing else; or None.

        What does not take so many arguments counts: that it fails is another finding.
        """
        name = self._primitives.get(site, "")
        return name or None

    @cached_property
    def _primitives(self) -> dict[int, str]:
        """The primitives that calls through variables reach; no name where there are others."""
        s, (call, function) = self._system, self._reach.solution.call_edges.T
        found: dict[int, str] = {}
        is_instance = s.function_kind[function] == INSTANCE
        sites = s.call_site[call]
        mixed = set(sites[~is_instance].tolist())
        columns = (sites[is_instance].tolist(), s.function_which[function[is_instance]].tolist())
        for site, which in set(zip(*columns, strict=True)):
            name = s.instances[which]
            is_first = site not in mixed and found.get(site, name) == name
            found[site] = name if is_first else ""
        return found

    @cached_property
    def _parents(self) -> list[int]:
        parents = np.full(self._n_rows, NONE, np.int32)
        sizes = np.diff(self._core.operand_offsets)
        parents[self._core.operands] = np.repeat(np.arange(self._n_rows), sizes)
        found: list[int] = parents.tolist()
        return found

    # What tests tell

    def _narrowed(self) -> list[Facts | None]:
        """Return what the tests around each row tell about local variables."""
        index, core = self._index, self._core
        self._bound = self._let_values()
        found: list[Facts | None] = [None] * core.n_rows
        kinds, below = index.kind, index.below
        for row in [core.root, *range(core.n_rows)]:  # all others come behind what they are in
            facts = found[row]
            if kinds[row] == columns.IF:
                test, *branches = below(row)
                found[test] = facts
                for branch, told in zip(branches, self._told(test, _MOST_DEPTH), strict=True):
                    told = _NEVER if told is None else told
                    found[branch] = _both(facts or {}, told) if told else facts
            elif facts is not None:
                for operand in below(row):
                    found[operand] = facts
        return found

    def _let_values(self) -> dict[int, int]:
        """Return the values of variables that `let` binds and nothing assigns."""
        index, core = self._index, self._core
        calls = np.flatnonzero(core.kind == columns.CALL)
        operators = core.operands[core.operand_offsets[calls]]
        found: dict[int, int] = {}
        for row in calls[np.array(index.is_let, np.bool_)[operators]].tolist():
            operator, *arguments = index.below(row)
            found.update(zip(index.formals(operator), arguments, strict=True))
        return {variable: row for variable, row in found.items() if not core.is_assigned[variable]}

    def _told(self, test: int, depth: int) -> tuple[Facts | None, Facts | None]:
        """Return what is known where a test is true and where it is false; None: it never is."""
        index, kind = self._index, self._index.kind[test]
        if kind == columns.CONSTANT:
            is_false = self._core.constants[index.reference[test]] is False
            return (None, {}) if is_false else ({}, None)
        if not depth:
            return {}, {}
        if kind == columns.VARIABLE:
            variable = index.reference[test]
            told = self._told(self._bound[variable], depth - 1) if variable in self._bound else None
            true, false = told or ({}, {})
            if not self._is_fixed(variable):
                return true, false
            no, yes = {variable: BITS["false"]}, {variable: ANY & ~BITS["false"]}
            return (
                true if true is None else _both(true, yes),
                false if false is None else _both(false, no),
            )
        if kind == columns.IF:
            return self._told_by_if(index.below(test), depth)
        if kind == columns.SEQUENCE and index.below(test):
            return self._told(index.below(test)[-1], depth - 1)
        if kind == columns.CALL:
            return self._told_by_call(*index.below(test), depth=depth)
        return {}, {}

    def _told_by_if(self, operands: list[int], depth: int) -> tuple[Facts | None, Facts | None]:
        test, first, second = (self._told(operand, depth - 1) for operand in operands)
        ways = [(test[0], first), (test[1], second)]
        true, false = (
            [
                _both(before, told[which])
                for before, told in ways
                if before is not None and told[which] is not None
            ]
            for which in (0, 1)
        )
        return _joined(true), _joined(false)

    def _told_by_call(
        self, operator: int, *operands: int, depth: int
    ) -> tuple[Facts | None, Facts | None]:
        index = self._index
        if index.is_let[operator]:
            return self._told(index.below(operator)[0], depth - 1)
        name = index.primitive(operator)
        if name == "not" and len(operands) == 1:
            true, false = self._told(operands[0], depth - 1)
            return false, true
        kept = _predicates().get(name or "")
        if kept is None or len(operands) != 1 or index.kind[operands[0]] != columns.VARIABLE:
            return {}, {}
        variable = index.reference[operands[0]]
        if not self._is_fixed(variable):
            return {}, {}
        return {variable: kept}, {variable: ANY & ~kept}

    def _is_fixed(self, variable: int) -> bool:
        """Return whether all that read a variable in one call of its procedure read the same."""
        return bool(self._core.owner[variable] != NONE and not self._core.is_assigned[variable])

    # How types flow

    def _solved(self) -> list[int]:
        """Return the types of all rows, and of all variables behind those."""
        flows = _Flows(self._reach, self._facts)
        order = np.argsort(flows.source, kind="stable")
        target, kept, masks = flows.target[order], flows.kept[order], flows.masks
        offsets = offsets_of(np.bincount(flows.source, minlength=len(masks)))
        changed = np.flatnonzero(masks)
        while len(changed):
            sizes = offsets[changed + 1] - offsets[changed]
            edge = np.repeat(offsets[changed] - (np.cumsum(sizes) - sizes), sizes)
            edge += np.arange(len(edge))
            reached = target[edge]
            before = masks[reached]
            np.bitwise_or.at(masks, reached, np.repeat(masks[changed], sizes) & kept[edge])
            changed = np.unique(reached[masks[reached] != before])
        found: list[int] = masks.tolist()
        return found


def _both(first: Facts, second: Facts | None) -> Facts:
    """Return what two lists of facts say together; of too many variables, not all."""
    found = dict(first)
    for variable, kept in (second or {}).items():
        if variable in found or len(found) < _MOST_FACTS:
            found[variable] = found.get(variable, ANY) & kept
    return found


def _joined(ways: list[Facts]) -> Facts | None:
    """Return what holds whichever way was taken; None if there is none."""
    if len(ways) < 2:
        return ways[0] if ways else None
    one, other = ways
    return {variable: one[variable] | other[variable] for variable in one if variable in other}


class _Flows:
    """The types that rows and variables begin with, and where they flow from there.

    Nodes are the rows, then the variables. Edge e lets types `kept[e]` flow from `source[e]` to
    `target[e]`.
    """

    def __init__(self, reach: Reach, facts: list[Facts | None]) -> None:
        self._reach, self._system, self._index = reach, reach.system, reach.system.index
        core = self._core = reach.system.core
        self._n_rows = core.n_rows
        self._parts: list[tuple[I32, I32]] = []
        self.masks = np.zeros(core.n_rows + core.n_variables, np.int32)
        self._sizes = np.diff(core.operand_offsets)
        self._first = np.append(core.operands, NONE)[core.operand_offsets[:-1]]  # operand, or any
        self._globals()
        self._leaves()
        self._forms()
        self._primitive_calls()
        self._calls()
        source, target = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        kept = np.full(len(source), ANY, np.int32)
        self.source, self.target, self.kept = self._with_reads(source, target, kept, facts)

    def _with_reads(
        self, source: I32, target: I32, kept: I32, facts: list[Facts | None]
    ) -> tuple[I32, I32, I32]:
        """Return the edges with those from variables to the rows that read them."""
        rows = np.flatnonzero(self._core.kind == columns.VARIABLE).astype(np.int32)
        variables = self._core.reference[rows]
        narrowed = np.full(len(rows), ANY, np.int32)
        for number, (row, variable) in enumerate(
            zip(rows.tolist(), variables.tolist(), strict=True)
        ):
            if (told := facts[row]) is not None and variable in told:
                narrowed[number] = told[variable]
        return (
            np.concatenate([source, variables + self._n_rows]),
            np.concatenate([target, rows]),
            np.concatenate([kept, narrowed]),
        )

    def _flow(self, source: I32, target: I32) -> None:
        self._parts.append((source.astype(np.int32), target.astype(np.int32)))

    def _globals(self) -> None:
        """Let globals begin as primitives; text that is evaluated may give them any value."""
        core, variables = self._core, self.masks[self._n_rows :]
        is_global = core.owner == NONE
        is_open = not {"eval", "load"}.isdisjoint(core.primitives)
        variables[is_global & (core.starts_as != NONE)] = BITS["procedure"]
        variables[is_global & (is_open | ~core.is_defined & (core.starts_as == NONE))] = ANY

    def _leaves(self) -> None:
        core = self._core
        is_constant = core.kind == columns.CONSTANT
        of_constant = np.array([type_of(value) for value in core.constants] or [0], np.int32)
        self.masks[: self._n_rows][is_constant] = of_constant[core.reference[is_constant]]
        is_procedure = (core.kind == columns.LAMBDA) | (core.kind == columns.PRIMITIVE)
        self.masks[: self._n_rows][is_procedure] = BITS["procedure"]
        rest = (core.reference + core.n_bound - 1)[(core.kind == columns.LAMBDA) & core.has_rest]
        self.masks[self._n_rows + rest] |= _UNIONS["list"]

    def _forms(self) -> None:
        """Let operands flow to what they are the value of, and to what they are bound to."""
        core, n_rows, operands = self._core, self._n_rows, self._core.operands
        parent = np.repeat(np.arange(n_rows, dtype=np.int32), self._sizes)
        place = np.arange(len(operands)) - core.operand_offsets[parent]
        kind, is_last = core.kind[parent], place == self._sizes[parent] - 1
        reference = core.reference[parent]
        is_let = np.array(self._index.is_let, np.bool_)[self._first[parent]] & (
            kind == columns.CALL
        )
        is_value = (kind == columns.IF) & (place > 0) | (kind == columns.SEQUENCE) & is_last
        is_value |= (kind == columns.LETREC) & is_last
        self._flow(operands[is_value], parent[is_value])
        bound = (kind == columns.LETREC) & ~is_last
        self._flow(operands[bound], n_rows + (reference + place)[bound])
        given = (kind == columns.DEFINE) | (kind == columns.SET)
        self._flow(operands[given], n_rows + reference[given])
        passed = is_let & (place > 0)
        formal = core.reference[self._first[parent]] + place - 1
        self._flow(operands[passed], n_rows + formal[passed])
        lets = parent[is_let & (place == 0)]
        self._flow(self._first[self._first[lets]], lets)
        is_unknown = (core.kind == columns.DEFINE) | (core.kind == columns.SET)
        is_unknown |= (core.kind == columns.SEQUENCE) & (self._sizes == 0)
        self.masks[:n_rows][is_unknown] = ANY

    def _primitive_calls(self) -> None:
        core = self._core
        calls = np.flatnonzero(core.kind == columns.CALL)
        calls = calls[core.kind[self._first[calls]] == columns.PRIMITIVE]
        which = core.reference[self._first[calls]]
        results = [signatures().get(name, _OPEN).result for name in core.primitives] or [0]
        self.masks[calls] = np.array(results, np.int32)[which]
        if "values" in core.primitives:
            calls = calls[which == core.primitives.index("values")]
            for row in calls.tolist():
                operands = self._index.below(row)[1:]
                self.masks[row] = 0 if len(operands) == 1 else several(len(operands))
            single = calls[self._sizes[calls] == 2]
            self._flow(core.operands[core.operand_offsets[single] + 1], single)

    def _calls(self) -> None:
        """Let arguments flow to formals and results back, by the calls that are known.

        Calls that primitives, evaluated text or code outside make pass arguments of any type.
        """
        s, core, n_rows = self._system, self._core, self._n_rows
        site, function = self._callees()
        is_written = (site < n_rows).copy()
        is_written[is_written] = core.kind[self._first[site[is_written]]] != columns.PRIMITIVE
        kind, which = s.function_kind[function], s.function_which[function]
        is_lambda = kind == LAMBDA
        self._pass_any(np.unique(which[is_lambda & ~is_written]))
        known = is_lambda & is_written
        self._pass(site[known], which[known])
        self._flow(self._first[which[known]], site[known])
        others = is_written & ~is_lambda & (kind != CONTINUATION)
        for at, what, number in zip(
            site[others].tolist(), kind[others].tolist(), which[others].tolist(), strict=True
        ):
            name = s.instances[number] if what == INSTANCE else ""
            self.masks[at] |= signatures().get(name, _OPEN).result
        # A call that calls nothing fails, which is one finding: what comes behind has its own.
        calls = np.flatnonzero(core.kind == columns.CALL)
        is_let = np.array(self._index.is_let, np.bool_)[self._first[calls]]
        is_open = ~is_let & (core.kind[self._first[calls]] != columns.PRIMITIVE)
        self.masks[np.setdiff1d(calls[is_open], site)] = ANY

    def _callees(self) -> tuple[I32, I32]:
        """Return sites and what they may call, each lambda once, though in many contexts."""
        s, (call, function) = self._system, self._reach.solution.call_edges.T
        chosen = self._reach.fits & (s.function_kind[function] != HIDDEN)
        site = s.call_site[call[chosen]].astype(np.int64)
        site[site < 0] = np.iinfo(np.int32).max  # no call of the program
        first = _first_alike(s.function_kind, s.function_which)[function[chosen]]
        pairs = distinct(site << 32 | first)
        return (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)

    def _pass_any(self, lambdas: I32) -> None:
        """Pass arguments of any type to lambdas; a rest stays a list."""
        formals, _, _ = self._fixed_formals(lambdas)
        self.masks[self._n_rows + formals] = ANY

    def _pass(self, sites: I32, lambdas: I32) -> None:
        formals, pair, place = self._fixed_formals(lambdas)
        operands = self._core.operands[self._core.operand_offsets[sites[pair]] + 1 + place]
        self._flow(operands, self._n_rows + formals)

    def _fixed_formals(self, lambdas: I32) -> tuple[I32, I32, I32]:
        """Return the formals of lambdas but for rests, whose each is, and which of them."""
        n_fixed = self._core.n_bound[lambdas] - self._core.has_rest[lambdas]
        pair = np.repeat(np.arange(len(lambdas), dtype=np.int32), n_fixed)
        place = np.arange(len(pair)) - (np.cumsum(n_fixed) - n_fixed)[pair]
        return self._core.reference[lambdas[pair]] + place.astype(np.int32), pair, place


def _first_alike(kind: I32, which: I32) -> I32:
    """Return for each function the first with the same kind and number: others are contexts."""
    keys = kind.astype(np.int64) << 32 | (which.astype(np.int64) & 0xFFFFFFFF)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    found: I32 = first[inverse].astype(np.int32)
    return found
