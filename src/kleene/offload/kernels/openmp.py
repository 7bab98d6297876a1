"""Parallel loops as OpenMP directives, written into the sources by a patch.

A directive is put before the outermost loops that may run in parallel. What a verdict asks for
becomes clauses; pointers that must not overlap become a test at run time, from the sections that
the loop touches: `if((char *)a + 8*n <= (char *)b || ...)`. A loop whose verdict OpenMP has no
words for (a snapshot, an induction variable, a section without bounds) is left as it is, with the
reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from kleene.base.errors import Span
from kleene.base.expression import Atom, Expression, Floor, Maximum, Quotient, Symbol, of
from kleene.base.source_text import relative_path
from kleene.ir.loops.symbols import Choice, LoopSymbol, loops_of, symbols_of
from kleene.ir.loops.tables import Access, Compare, LoopRow, Root
from kleene.offload.kernels.dependences import facts_of
from kleene.offload.kernels.parallel import ParallelLoop, visit_outermost
from kleene.offload.kernels.trips import trips_if_any
from kleene.offload.kernels.verdicts import Private, Reduction, Verdict

if TYPE_CHECKING:
    from kleene.offload.kernels.result import Analysed, KernelsResult

_HEAD = re.compile(r"for\s*\(")
_NAME = r"[A-Za-z_]\w*"
_FIRST = re.compile(rf"(?:[\w\s]+?[\s*]+)?({_NAME})\s*=(?!=)[^,]*$", re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


class _CannotError(Exception):
    """OpenMP has no words for it."""


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive before the loop at `place`; or, if `text` is empty, why there is none."""

    place: Span
    text: str
    reason: str = ""


def directives(result: KernelsResult) -> list[Directive]:
    """Return a directive for each outermost parallel loop, or why it has none."""
    return [one for function in result.functions for one in _in_function(function)]


def _in_function(function: Analysed) -> list[Directive]:
    found: list[Directive] = []

    def visit(loop: ParallelLoop) -> bool:
        try:
            found.append(Directive(loop.row.place, _Loop(loop).directive()))
        except _CannotError as error:
            found.append(Directive(loop.row.place, "", str(error)))
            return False
        return True

    visit_outermost(facts_of(function.table, function.conditions), function.verdicts, visit)
    return found


class _Loop:
    """One loop on its way to a directive."""

    def __init__(self, loop: ParallelLoop) -> None:
        self._facts = loop.facts
        self._row = row = loop.row
        self._verdict = loop.verdict
        self._verdicts = loop.verdicts
        self._guards: dict[str, None] = {}  # conditions under which the test may load
        self._guarded: set[str] = set()  # what it loads
        accesses = loop.facts.table.inside(row.number)
        self._inside = [one for one in accesses if row.number not in one.root.declared_in]

    def directive(self) -> str:
        """Return the directive.

        Raises:
            _CannotError: OpenMP has no words for the verdict, or the loop is not in its form.
        """
        verdict = self._verdict
        _check_form(self._row)
        if verdict.copies:
            raise _CannotError(f"it needs a snapshot of {', '.join(verdict.copies)}")
        if verdict.inductions:
            raise _CannotError(f"write {verdict.inductions[0]} as a formula of the loop's variable")
        parts = ["omp parallel for", self._collapse()]
        parts += self._private()
        parts += [self._reduction(one) for one in verdict.reductions]
        parts.append(self._overlap_test())
        return " ".join(part for part in parts if part)

    # Clauses

    def _collapse(self) -> str:
        """Return how many loops have no statement between them and are all parallel."""
        rows = [self._row]
        while len(rows) < 3:
            children = [one for one in self._facts.table.loops if one.parent == rows[-1].number]
            verdict = self._verdicts.get(children[0].place) if len(children) == 1 else None
            if verdict is None or verdict.verdict is not Verdict.PAR:
                break
            if self._varies(children[0], rows) or not _is_only_statement(rows[-1], children[0]):
                break
            rows.append(children[0])
        return f"collapse({len(rows)})" if len(rows) > 1 else ""

    def _varies(self, inner: LoopRow, around: Iterable[LoopRow]) -> bool:
        try:
            _check_form(inner)
        except _CannotError:
            return True
        trips = trips_if_any(inner)
        numbers = {one.number for one in around}
        bounds = [] if inner.start is None else [inner.start]
        bounds += [] if trips is None else [trips]
        symbols = [symbol for one in bounds for symbol in symbols_of(one)]
        # Bounds of collapsed loops are computed before all of them, even if there is no iteration.
        has_loads = any(one.kind == "load" for one in symbols)
        return trips is None or has_loads or any(loops_of(one) & numbers for one in bounds)

    def _private(self) -> Iterator[str]:
        lists: dict[str, list[str]] = {"private": [], "firstprivate": [], "lastprivate": []}
        for one in self._verdict.privates:
            self._check_private(one)
            if one.last:
                lists["lastprivate"].append(one.name)
            if one.is_first:
                lists["firstprivate"].append(one.name)
            if not one.last and not one.is_first:
                lists["private"].append(one.name)
        if self._is_counter_used_later():
            lists["lastprivate"].append(self._row.variable)
        for clause, names in lists.items():
            if names:
                yield f"{clause}({', '.join(dict.fromkeys(names))})"

    def _check_private(self, one: Private) -> None:
        if one.last == "last writing iteration":
            raise _CannotError(f"{one.name} keeps the value of the last iteration that writes it")
        root = self._root(one.name)
        if root.kind != "variable" or root.symbol is None:
            raise _CannotError(f"a private copy of what {one.name} points to is needed")
        self._check_names(root)

    def _check_names(self, root: Root) -> None:
        """Check that the loop uses some storage by its name alone, which a clause can replace.

        Raises:
            _CannotError: a pointer or a called function leads to it, too.
        """
        symbol = root.symbol
        if symbol is not None and symbol.storage in ("global", "static") and self._row.callees:
            raise _CannotError(f"called functions may use the global {root.name}")
        named = re.compile(rf"\**{re.escape(root.name)}\b")
        for one in self._inside:
            if one.root is root and not named.match(one.text):
                raise _CannotError(f"{one.text} leads to {root.name}")

    def _is_counter_used_later(self) -> bool:
        """Return whether the loop's own variable is read after it."""
        symbols = [one for one in self._row.inductions if one.name == self._row.variable]
        return any(
            one.root.symbol in symbols
            and not one.is_write
            and one.sequence > self._row.end_sequence
            for one in self._facts.table.accesses
        )

    def _reduction(self, one: Reduction) -> str:
        root = self._root(one.name)
        self._check_names(root)
        if one.kept:
            raise _CannotError(f"{' and '.join(one.kept)} are kept with {one.name}")
        if not one.is_array:
            return f"reduction({one.operator}:{one.name})"
        accesses = [access for access in self._inside if access.root is root]
        sizes = {access.n_bytes for access in accesses}
        if any(isinstance(s, str) for access in accesses for s in access.path or ("?",)):
            raise _CannotError(f"a reduction of parts of {one.name}")
        if root.kind == "variable" and root.symbol is not None:
            if root.symbol.type.n_bytes is None:
                raise _CannotError(f"a reduction of {one.name}, whose size is not known")
            return f"reduction({one.operator}:{one.name})"
        # Every element of the section is read and written: none may lie outside of the array.
        first, end = self._section(root, is_exact=True)
        (size,) = sizes if len(sizes) == 1 else (None,)
        if not size or not first.over(size).is_integer or not end.over(size).is_integer:
            raise _CannotError(f"a reduction of {one.name}, whose elements are not known")
        begin, count = self._c(first.over(size)), self._c((end - first).over(size))
        return f"reduction({one.operator}:{one.name}[{begin}:{count}])"

    def _overlap_test(self) -> str:
        """Return the test that no two of the pointers overlap in what the loop touches."""
        tests = []
        for names in self._verdict.no_overlap:
            sides = []
            for name in names:
                root = self._root(name)
                first, end = self._section(root)
                if root.source is not None:
                    self._guard(name)
                address = f"(char *){'' if _is_plain(name) else '('}{name}"
                address += "" if _is_plain(name) else ")"
                sides.append((f"{address} + {self._c(first)}", f"{address} + {self._c(end)}"))
            (first_a, end_a), (first_b, end_b) = sides
            tests.append(f"({end_a} <= {first_b} || {end_b} <= {first_a})")
        return f"if({' && '.join([*self._guards, *tests])})" if tests else ""

    def _guard(self, name: str) -> None:
        """Note when `name` is loaded in the loop: else the test must not load it.

        What the loop's own test loads is loaded in any case.

        Raises:
            _CannotError: a condition decides it.
        """
        if name in self._guarded:
            return
        self._guarded.add(name)
        row = self._row
        before = row.context[: row.context.index(Compare(">=", of(row.counter)))]
        for one in self._facts.table.accesses:
            is_before = one.sequence < row.sequence and one.context == before
            if is_before and one.text == name and not one.is_write:
                return
        for one in self._inside:
            if one.text != name or one.is_write:
                continue
            loops = [self._facts.rows[n] for n in one.loops[one.loops.index(row.number) :]]
            trips = [trips_if_any(inner) for inner in loops]
            known = [value for value in trips if value is not None]
            if len(one.context) == len(loops[-1].context) and len(known) == len(trips):
                for value in known:
                    self._guards[f"{self._c(value)} > 0"] = None
                return
        raise _CannotError(f"{name} is not always loaded: no test for overlap")

    def _root(self, name: str) -> Root:
        found = {one.root for one in self._inside if one.root.name == name and _is_storage(one)}
        found = found or {one.root for one in self._inside if one.root.name == name}
        if len(found) != 1:
            raise _CannotError(f"{name} means several things")
        (root,) = found
        return root

    def _section(self, root: Root, is_exact: bool = False) -> tuple[Expression, Expression]:
        from kleene.offload.kernels.sections import section_of

        if root.loops:
            raise _CannotError(f"{root.name} changes where it points to")
        accesses = [one for one in self._inside if one.root is root]
        found = section_of(self._facts, self._row, accesses)
        if found.first is None or found.end is None:
            raise _CannotError(f"the section of {root.name} has no bounds: no test for overlap")
        if is_exact and not found.is_exact:
            raise _CannotError(f"a reduction of {root.name}, whose elements are not known")
        return found.first, found.end

    # C

    def _c(self, value: Expression) -> str:
        """Return an expression as C, with the values that its names have before the loop."""
        names = {row.counter: self._variable(row) for row in self._facts.table.loops}
        return _text(value, lambda symbol: names.get(symbol) or self._value(symbol))

    def _variable(self, row: LoopRow) -> str | None:
        """Return the number of a loop's iterations before this one, if it is around this loop."""
        step = None if row.step is None else row.step.integer
        around = set(self._inside[0].loops) if self._inside else set()
        is_around = row.number in around and row.sequence < self._row.sequence
        if not is_around or row.start is None or step not in (1, -1) or not row.variable:
            return None
        start = _text(row.start, lambda symbol: self._value(symbol))
        parts = (row.variable, start) if step == 1 else (start, row.variable)
        return f"((long long)({parts[0]}) - ({parts[1]}))"

    def _value(self, symbol: Symbol) -> str:
        """Return a symbol's name, if that is its value in C right before the loop."""
        parameters = self._facts.table.parameters
        is_parameter = parameters.get(symbol.name) is symbol
        is_load = isinstance(symbol, LoopSymbol) and symbol.kind == "load" and not symbol.loops
        if is_parameter:
            is_changed = any(
                one.is_write and one.path == () and one.root.name == symbol.name
                for one in self._facts.table.accesses
            )
            if not is_changed:
                return f"(long long){symbol.name}"
        if is_load and not isinstance(symbol, Choice):
            self._guard(symbol.name)
            return f"(long long)({symbol.name})"
        raise _CannotError(f"{symbol.name} has no name before the loop")


def _is_storage(access: Access) -> bool:
    return access.path != ()


def _is_plain(name: str) -> bool:
    return re.fullmatch(_NAME, name) is not None


def _text(value: Expression, named: Any) -> str:
    """Return an expression as C of type long long; `named` gives the text of a symbol."""
    parts = []
    for monomial, factor in value.terms.items():
        if not isinstance(factor, int):
            raise _CannotError("a section that is not whole")
        factors = [_atom(atom, named) for atom, power in monomial for _ in range(power)]
        parts.append("*".join([f"{factor}", *factors] if factor != 1 or not factors else factors))
    text = " + ".join(parts) or "0"
    return text if len(parts) < 2 and not text.startswith("-") else f"({text})"


def _atom(atom: Atom, named: Any) -> str:
    match atom:
        case Floor(numerator, divisor):
            above = _text(numerator, named)  # rounded down: the remainder is from 0 up
            return f"(({above} - (({above}) % {divisor} + {divisor}) % {divisor}) / {divisor})"
        case Quotient(numerator, divisor):
            return f"({_text(numerator, named)} / {_text(divisor, named)})"
        case Maximum(choices):
            first, *others = sorted((_text(one, named) for one in choices), key=len)
            for one in others:
                first = f"({first} > {one} ? {first} : {one})"
            return first
        case Symbol():
            return str(named(atom))
    raise _CannotError(f"{atom} is not an expression of C")


# Sources


def _lines(file: str) -> list[str]:
    with open(file, encoding="utf-8", errors="surrogateescape", newline="") as text:
        return text.read().splitlines(keepends=True)


def _head(place: Span) -> tuple[str, str]:
    """Return the text between the parentheses of `for`, and what follows them in the file.

    Raises:
        _CannotError: there is no `for` at the place: a macro, or another loop.
    """
    try:
        lines = _lines(place.file)
    except OSError:
        raise _CannotError("the file cannot be read") from None
    text = "".join([lines[place.line - 1][place.column - 1 :], *lines[place.line :]])
    found = _HEAD.match(text)
    if found is None:
        raise _CannotError("it is not written as a for loop")
    depth, position = 1, found.end()
    while depth and position < len(text):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    return text[found.end() : position - 1], text[position:]


def _check_form(row: LoopRow) -> None:
    """Check that a loop is in the form that OpenMP asks for: one variable, tested and stepped.

    Raises:
        _CannotError: it is not.
    """
    lines = _lines(row.place.file)
    above = [one for one in lines[: row.place.line - 1] if one.strip()]
    if above and re.match(r"\s*#\s*pragma\s+omp\b", above[-1]):
        raise _CannotError("it has a directive")
    head, _ = _head(row.place)
    parts = _COMMENT.sub(" ", head).split(";")
    if len(parts) != 3 or not row.is_counted:
        raise _CannotError("its number of iterations is not known before it")
    first, test, step = (" ".join(part.split()) for part in parts)
    named = _FIRST.fullmatch(first)
    name = re.escape(named[1]) if named else "(?!)"
    is_tested = re.fullmatch(rf"{name} ?(<|<=|>|>=) ?[^&|=?]+", test)
    stepped = rf"{name} ?(\+\+|--)|(\+\+|--) ?{name}"
    stepped += rf"|{name} ?[+-]= ?[^,]+|{name} ?= ?{name} ?[+-][^,]+"
    if named is None or not is_tested or not re.fullmatch(stepped, step):
        raise _CannotError("its head is not 'i = first; i < last; i += step'")


def _is_only_statement(outer: LoopRow, inner: LoopRow) -> bool:
    """Return whether an inner loop is all that the body of an outer one consists of."""
    _, body = _head(outer.place)
    _, after = _head(inner.place)
    if not body.endswith(after):
        return False
    between = _COMMENT.sub(" ", body[: len(body) - len(after)])
    before = between[: between.rfind("for")].strip()
    if before not in ("", "{"):
        return False
    if before == "":
        return True
    lines = _lines(outer.place.file)
    rest = _COMMENT.sub(" ", "".join(lines[inner.end_line : outer.end_line]))
    return inner.end_line < outer.end_line and not rest.strip("} \t\r\n")


def patch(found: Iterable[Directive], root: str | os.PathLike[str]) -> str:
    """Return a unified diff that writes directives into their files, for `patch -p1`.

    A loop that begins its line gets a line above it; another one `_Pragma` before it.
    """
    by_file: dict[str, list[Directive]] = {}
    for one in found:
        if one.text:
            by_file.setdefault(one.place.file, []).append(one)
    pieces: list[str] = []
    for file, ones in sorted(by_file.items()):
        old = _lines(file)
        new = list(old)
        for one in sorted(ones, key=lambda d: (d.place.line, d.place.column), reverse=True):
            at, column = one.place.line - 1, one.place.column - 1
            line = new[at]
            ending = line[len(line.rstrip("\r\n")) :] or "\n"
            if line[:column].strip():
                new[at] = f'{line[:column]}_Pragma("{one.text}") {line[column:]}'
            else:
                new.insert(at, f"{line[:column]}#pragma {one.text}{ending}")
        name = relative_path(file, root).lstrip("/")
        for line in unified_diff(old, new, f"a/{name}", f"b/{name}"):
            is_whole = line.endswith("\n")
            pieces.append(line if is_whole else f"{line}\n\\ No newline at end of file\n")
    return "".join(pieces)
