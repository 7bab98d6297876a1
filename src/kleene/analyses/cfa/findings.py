"""What is wrong with a program, or cannot be known, as far as control flow shows it.

Sets hold every procedure that may come to an expression in any run, so *never* is sound; *may* is
a note, for sets hold more than any one run. Only code that can be reached has findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from kleene import analyses
from kleene.analyses.cfa import rules
from kleene.analyses.cfa.evaluated import sees_libraries_only
from kleene.analyses.cfa.naming import Value
from kleene.analyses.cfa.primitives import list_length
from kleene.analyses.cfa.type_sets import ANY, BITS, ONE, counts, shown, signatures
from kleene.analyses.cfa.types import Types
from kleene.base.arrays import I32
from kleene.base.errors import Span
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core
from kleene.ir.scheme.primitives import table
from kleene.results import Finding, Location, Rule, apply_suppressions, rules_in
from kleene.solvers.inclusion import NONE

if TYPE_CHECKING:
    from kleene.analyses.cfa.result import CFAResult

_SHOWN = 3


def findings_of(result: CFAResult, may: bool) -> list[Finding]:
    """Return the findings in reached code, and about procedures that are not, by place.

    With `may`, those are among them that may be no fault at all. Suppressions are applied.
    """
    found = _Findings(result)
    every = [
        *found.mismatches(),
        *found.primitives(),
        *found.no_procedures(),
        *found.argument_types(),
        *found.others(),
        *found.unreachable(result.dead),
        *found.unused(result.dead),
    ]
    if not may:
        every = [each for each in every if each.rule not in rules.MAY]
    files = files_of(result.core)
    inside = set(files)
    own = [finding for finding in every if finding.span is None or finding.span.file in inside]
    return apply_suppressions(dict.fromkeys(own), files, rules_in(rules), analyses.all_rules)


def files_of(core: Core) -> list[str]:
    """Return the paths of all files of a program, those of its own libraries included."""
    return [source.file for source in core.sources.all if not source.is_bundled]


class _Findings:
    def __init__(self, result: CFAResult) -> None:
        self._system, self._solution = result.system, result.solution
        self._core, self._index = result.core, result.system.index
        self._types, self._is_library = Types(result.reach), result.is_library
        self._reach, self._naming = result.reach, result.naming
        calls = np.flatnonzero(result.core.kind == columns.CALL).tolist()
        self._calls = [call for call in calls if self._reach.runs(call)]

    def mismatches(self) -> Iterator[Finding]:
        """Yield calls of what takes another number of arguments, by the program or a primitive."""
        for site, pairs in self._reach.mismatches.items():
            if self._reach.runs(site):
                yield from self._mismatch(site, pairs, len(self._reach.targets.get(site, ())))
        for site in self._calls:
            operator, *operands = self._index.below(site)
            name = self._index.primitive(operator)
            if name is None or not operands:
                continue
            if name == "call-with-values":
                yield from self._mismatch(site, *self._wrong_counts(site, self._n_values(site)))
            elif name == "apply" and (n := self._list_length(operands[-1])) is not None:
                given = [len(operands) - 2 + n]
                yield from self._mismatch(site, *self._wrong_counts(site, given))

    def _mismatch(
        self, site: int, pairs: Iterable[tuple[int, int]], n_others: int
    ) -> Iterator[Finding]:
        """Yield that a site calls targets with numbers of arguments that they do not take."""
        values = sorted({self._naming.target(target) for target, _ in pairs}, key=_by_name)
        if not values or not (n_others or self._types.is_live(site)):
            return
        names = [value.name for value in values]
        by = self._index.primitive(self._index.below(site)[0])
        given = " or ".join(_arguments(n) for n in sorted({n for _, n in pairs}))
        message = f"{_listed(names)} {'does' if len(names) == 1 else 'do'} not take {given}"
        if by is not None:
            message += f", with which {by} calls {'it' if len(names) == 1 else 'them'}"
        if len(values) == 1 and (taken := self._formals(values[0])) is not None:
            message += f": it takes {taken}"
        if n_others:
            message += "; others that may be called here do"
        written = [
            Location(self._span(value.row), f"{value.name} is written here")
            for value in values[:_SHOWN]
            if value.row >= 0
        ]
        rule = rules.MAY_CALL_ARITY if n_others else rules.CALL_ARITY
        yield self._about(rule, site, message, tuple(written))

    def _formals(self, value: Value) -> str | None:
        """Return what a procedure of the program takes, as it is written; None for others."""
        if value.kind != "procedure":
            return None
        names = [self._core.names[formal] for formal in self._index.formals(value.row)]
        if self._index.has_rest[value.row]:
            names[-1] = f". {names[-1]}"
        return f"({' '.join(names)})"

    def _wrong_counts(
        self, site: int, given: list[int] | None
    ) -> tuple[list[tuple[int, int]], int]:
        """Return who is called with a wrong number of arguments, which is one of `given`.

        The calls are those that the primitive at a site makes with any number. A target is wrong if
        it takes none of these; second comes how many are not wrong.
        """
        s, edges = self._system, self._edges(site)
        is_open = s.call_size[edges[:, 0]] == NONE
        targets = np.unique(edges[is_open, 1]).tolist()
        if not given:
            return [], len(targets)
        least, most = self._reach.arities
        wrong, n_others = list[tuple[int, int]](), 0
        for each in targets:
            target = int(s.target_of_function[each])
            fits = any(least[each] <= n <= most[each] for n in given)
            if fits or target in self._reach.clauses:
                n_others += 1
            else:
                wrong += [(target, n) for n in given]
        return wrong, n_others

    def _n_values(self, site: int) -> list[int] | None:
        """Return how many values the producer of a `call-with-values` may return, if known."""
        call, function = self._edges(site).T
        is_producer = self._system.call_size[call] == 0
        fits = [f for f in function[is_producer].tolist() if not self._reach.arities[0][f]]
        return counts(self._types.results(fits))

    def _edges(self, site: int) -> I32:
        """Return the call edges of a site."""
        sites, edges = self._edges_by_site
        first, last = np.searchsorted(sites, [site, site + 1])
        return edges[first:last]

    @cached_property
    def _edges_by_site(self) -> tuple[I32, I32]:
        """The call edges in the order of their sites, behind those."""
        edges = self._solution.call_edges
        sites = self._system.call_site[edges[:, 0]]
        order = np.argsort(sites, kind="stable")
        return sites[order], edges[order]

    def _list_length(self, row: int) -> int | None:
        """Return how many items the list has that a variable holds; None for other expressions."""
        if self._index.kind[row] != columns.VARIABLE:
            return None  # the engine has seen how many arguments there are
        value = self._values_of_variables.get(self._index.reference[row])
        return None if value is None else list_length(self._index, value)

    @cached_property
    def _values_of_variables(self) -> dict[int, int]:
        """The expressions whose values variables hold and no other, if nothing changes pairs.

        Text that is evaluated may define variables again, and so may it and code outside change
        pairs: then it is not known how long a list is.
        """
        index, core = self._index, self._core
        is_open = self._is_library or len(core.unbound()) > 0
        if is_open or not {"set-cdr!", "eval", "load"}.isdisjoint(core.primitives):
            return {}
        found: dict[int, int] = {}
        again = set(np.flatnonzero(core.is_assigned).tolist())
        for row in np.flatnonzero(np.isin(core.kind, (columns.DEFINE, columns.CALL))).tolist():
            below = index.below(row)
            variables: Iterable[int] = ()
            if index.kind[row] == columns.DEFINE:
                variables = (index.reference[row],)
            elif index.is_let[below[0]]:
                variables, below = index.formals(below[0]), below[1:]
            for variable, value in zip(variables, below, strict=False):
                again.update({variable} & found.keys())
                found[variable] = value
        return {variable: row for variable, row in found.items() if variable not in again}

    def primitives(self) -> Iterator[Finding]:
        """Yield calls of primitives by name that take other numbers of arguments."""
        for site in self._calls:
            operator, *operands = self._system.index.below(site)
            name = self._system.index.primitive(operator)
            if name is not None and not table()[name].accepts(len(operands)):
                message = f"{name} is called with {_arguments(len(operands))}"
                yield self._about(rules.CALL_ARITY, site, message)

    def no_procedures(self) -> Iterator[Finding]:
        """Yield calls of what is never a procedure: no lambda, primitive or continuation."""
        s, edges = self._system, self._solution.call_edges
        calling = set(s.call_site[edges[:, 0]].tolist())
        unbound = set(s.core.unbound().tolist())
        operator_node = dict(zip(s.call_site.tolist(), s.call_operator.tolist(), strict=True))
        for site in self._calls:
            operator = s.index.below(site)[0]
            is_known = s.index.primitive(operator) is not None or s.index.is_let[operator]
            if site in calling or is_known or operator in unbound:
                continue
            types = self._types.row(operator)
            if not types or not self._types.is_live(site):
                continue
            if site not in operator_node and types & BITS["procedure"]:
                continue
            node = operator_node.get(site, NONE)
            objects = self._solution.of(node).tolist() if node != NONE else []
            data = sorted({self._naming.object(o) for o in set(objects) - s.hidden})
            message = "what is called here is never a procedure"
            if data:
                message += f": it may be {_listed(data)}"
            elif not types & (ANY & ~ONE | BITS["procedure"]):
                message += f": it is {shown(types)}"
            yield self._about(rules.NOT_A_PROCEDURE, site, message)

    def argument_types(self) -> Iterator[Finding]:
        """Yield calls of primitives with arguments of types that they do not take."""
        for site in self._calls:
            operands = self._index.below(site)[1:]
            name, takes = self._taken(site, len(operands))
            for number, (operand, taken) in enumerate(zip(operands, takes, strict=False), 1):
                types = self._types.row(operand)
                wrong = types & ~taken
                if not wrong or types & ~ONE:
                    continue
                at = f"argument {number} of {name}"
                if wrong != types:
                    message = f"{at} may be {shown(wrong)}, and not {shown(taken)}"
                    yield self._about(rules.MAY_ARGUMENT_TYPE, site, message)
                elif self._types.is_live(site):
                    message = f"{at} is never {shown(taken)}: it is {shown(types)}"
                    yield self._about(rules.ARGUMENT_TYPE, site, message)

    def _taken(self, site: int, n_arguments: int) -> tuple[str, list[int]]:
        """Return the primitive that a site calls and no other, and the types that it takes.

        Procedures of `define-record-type` take a record.
        """
        operator = self._index.below(site)[0]
        name = self._index.primitive(operator)
        if name is None:
            if (row := self._record_procedure(operator)) != NONE:
                is_record = [BITS["record"]] if self._index.n_bound[row] == n_arguments else []
                return self._core.names[self._index.reference[operator]], is_record
            name = self._types.only_primitive(site)
        signature = signatures().get(name or "")
        if name is None or signature is None or name.startswith("%"):
            return "", []
        return name, [signature.argument(i, n_arguments) for i in range(n_arguments)]

    def _record_procedure(self, operator: int) -> int:
        """Return the accessor or modifier that a call of this operator calls alone, or NONE."""
        index = self._index
        if index.kind[operator] != columns.VARIABLE:
            return NONE
        row = index.record_procedures.get(index.reference[operator], NONE)
        if row == NONE:
            return NONE
        return NONE if index.primitive(index.below(index.below(row)[0])[0]) == "%record" else row

    def others(self) -> Iterator[Finding]:
        """Yield text that is evaluated, and variables that nothing defines."""
        s = self._system
        for site in self._reach.evaluating:
            if self._reach.runs(site):
                message = "text is evaluated: it may call and change all that it is given"
                if not sees_libraries_only(s.index, tuple(s.index.below(site)[1:])):
                    message += ", and all that global variables lead to"
                yield self._about(rules.EVALUATES, site, message)
        for row in s.core.unbound().tolist():
            if self._reach.runs(row):
                name = s.core.names[s.core.reference[row]]
                yield self._about(rules.UNBOUND, row, f"nothing defines '{name}'")

    def unreachable(self, dead: Iterable[Value]) -> Iterator[Finding]:
        """Yield the procedures that nothing can call."""
        for procedure in dead:
            message = f"{procedure.name} is never called: no call that may run leads to it"
            yield self._about(rules.UNREACHABLE_PROCEDURE, procedure.row, message)

    def unused(self, dead: Iterable[Value]) -> Iterator[Finding]:
        """Yield what `define` defines and nothing uses; of procedures, `unreachable` tells.

        What other files may use is left out: variables of libraries that are named once more.
        """
        core, index = self._core, self._index
        is_used = np.zeros(core.n_variables, np.bool_)
        is_used[core.reference[core.kind == columns.VARIABLE]] = True
        if self._is_library or not {"eval", "load"}.isdisjoint(core.primitives):
            is_used |= core.owner == NONE
        told = {value.row for value in dead}
        for row in np.flatnonzero(np.isin(core.kind, (columns.DEFINE, columns.LETREC))).tolist():
            is_global = index.kind[row] == columns.DEFINE
            variables = [index.reference[row]] if is_global else index.formals(row)
            for variable, value in zip(variables, index.below(row), strict=False):
                if is_used[variable] or value in told or not self._reach.runs(row):
                    continue
                if self._is_written(variable, is_global):
                    name = core.names[variable]
                    span = self._naming.span(int(core.variable_at[variable]))
                    inside = self._naming.procedure(index.procedure[row]).name
                    message = f"nothing uses {name}"
                    yield Finding(rules.UNUSED_DEFINITION, span, message, inside)

    def _is_written(self, variable: int, is_global: bool) -> bool:
        """Return whether a variable is bound by `define` in the text, and in no library's list."""
        at, name = int(self._core.variable_at[variable]), self._core.names[variable].encode()
        source = next(s for s in reversed(self._core.sources.all) if s.base <= at)
        text, start = bytes(source.text), at - source.base
        if text[start : start + len(name)] != name or name.startswith(b"_"):
            return False
        if not re.search(rb"\(define\s+\(*$", text[max(0, start - 80) : start]):
            return False
        is_shared = is_global and b"(define-library" in text
        return not (is_shared and len(re.findall(_WORD % re.escape(name), text)) > 1)

    def _about(
        self, rule: Rule, row: int, message: str, related: tuple[Location, ...] = ()
    ) -> Finding:
        inside = self._naming.procedure(self._system.index.procedure[row]).name
        return Finding(rule, self._span(row), message, inside, related)

    def _span(self, row: int) -> Span | None:
        return self._naming.span(self._naming.call_location(row))


_by_name = attrgetter("name")
_WORD = rb"(?<![^\s()'`,])%s(?![^\s()])"  # a symbol in the text


def _listed(names: list[str]) -> str:
    """Return names as a list, as far as people read it."""
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def _arguments(n: int) -> str:
    return "1 argument" if n == 1 else f"{n} arguments"
