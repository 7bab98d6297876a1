"""Invariants as others read them: `assert` in C, ACSL, witnesses of SV-COMP (format 2.0), data.

Each is written in front of a statement, in terms of variables that are visible there. Variables are
cast to how the analysis reads their bits where that matters, and sums are made in a type that holds
them: an `int` that is followed as unsigned is `(unsigned int)x`, and `x - y <= 3` is
`(long long)x - (long long)y <= 3`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kleene.analyses.invariants.expressions import Form, Kind, only
from kleene.analyses.invariants.facts import constraints, lines_of, position_of, variables_at
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.statements import Place, Shape
from kleene.base.source_text import relative_path
from kleene.graphs import weak_topological_order
from kleene.ir.codes import Opcode, TypeKind

if TYPE_CHECKING:
    from kleene.analyses.invariants.result import InvariantsResult
    from kleene.analyses.invariants.solve import Run

_MOST_CASES = 4
_DECIMAL = re.compile(r"\d+(?:\.\d+)?(?:e[+-]\d+)|\d+\.\d+")  # ACSL's are not rounded


@dataclass(frozen=True, slots=True)
class Invariant:
    """What holds in front of a statement, on every run that comes there.

    Attributes:
        file: the source.
        line: of the statement, from 1.
        column: of the statement, from 1.
        function: that it stands in.
        is_loop: whether the statement is a loop, and this holds before each of its iterations.
        cases: of these one holds, each a list of constraints in C.
    """

    file: str
    line: int
    column: int
    function: str
    is_loop: bool
    cases: tuple[tuple[str, ...], ...]

    def expression(self) -> str:
        """Return it as an expression of C."""
        parts = [" && ".join(case) for case in self.cases]
        return parts[0] if len(parts) == 1 else " || ".join(f"({one})" for one in parts)


# Invariants


class Annotations:
    """The invariants of a result at the statements of its sources."""

    def __init__(self, result: InvariantsResult) -> None:
        self._result, self._program = result, result.program
        self._shapes: dict[str, Shape] = {}
        self._names: dict[int, dict[str, list[int]]] = {}
        self._loops: dict[int, list[tuple[int, int, tuple[str, int]]]] = {}

    @cached_property
    def invariants(self) -> list[Invariant]:
        """All that say something, by place."""
        found: list[Invariant] = []
        for file in self.files:
            for place in self._shape(file).statements.values():
                found += self._at(file, place)
        return sorted(found, key=lambda one: (one.file, one.line, one.column, not one.is_loop))

    @property
    def files(self) -> list[str]:
        """The sources that can be read."""
        symbols = sorted({self._program.strings[one] for one in self._program.spans.file.tolist()})
        return [one for one in symbols if os.path.isfile(one)]

    def _shape(self, file: str) -> Shape:
        if file not in self._shapes:
            with open(file, encoding="utf-8", errors="replace") as source:
                self._shapes[file] = Shape(source.read())
        return self._shapes[file]

    def _at(self, file: str, place: Place) -> Iterator[Invariant]:
        """Yield what holds in front of a statement on all paths, and before iterations of a loop.

        Nothing where some way has nothing to say, or they have too many different things.
        """
        if self._result.whole is not None:
            yield from self._of_whole(file, place)
            return
        runs = [run for answer in self._result.functions for run in answer.runs[-1:]]
        before = [
            (run, *one)
            for run in runs
            for one in lines_of(self._program, run, file, place.line, place.last)
        ]
        yield from self._of(before, file, place, is_loop=False)
        if place.word in ("for", "while"):
            heads = [(run, *one) for run in runs for one in self._heads(run, file, place.line)]
            if len({row for _, _, row in heads}) == 1:
                inside = place._replace(scope=(*place.scope, self._shape(file).offset(place)))
                yield from self._of(heads, file, inside, is_loop=True)

    def _of(
        self, points: list[tuple[Run, int, int]], file: str, place: Place, *, is_loop: bool
    ) -> Iterator[Invariant]:
        cases: dict[tuple[str, ...], None] = {}
        for run, block, row in points:
            cases.update(dict.fromkeys(self._cases(run, block, row, file, place)))
        if 0 < len(cases) <= _MOST_CASES and () not in cases:
            name = self._program.instruction_view(points[0][2]).function.name
            yield Invariant(file, place.line, place.column, name, is_loop, tuple(cases))

    def _of_whole(self, file: str, place: Place) -> Iterator[Invariant]:
        """Yield what holds in front of a statement, or before iterations, in a whole program.

        A loop is one of whose blocks begins all iterations, and is the first one of its line.
        """
        assert self._result.whole is not None
        program, (offsets, sources) = self._program, self._program.predecessors
        first: dict[int, int] = {}
        for line in range(place.line, max(place.line, place.last) + 1):
            for row in self._rows.get((file, line), ()):
                block = int(program.instructions.block[row])
                first[block] = min(row, first.get(block, row))
        begins, heads = [], []
        tree = self._result.whole.context.split.flow.tree
        for block, row in first.items():
            before = sources[offsets[block] : offsets[block + 1]].tolist()
            if not before or not set(before) <= first.keys():
                begins.append(row)
            start = int(program.blocks.instruction_offsets[block])
            opcode = program.instructions.opcode
            is_start = bool((opcode[start:row] == Opcode.PHI).all())
            if is_start and any(tree.dominates(block, one) for one in before):
                heads.append(row)
        yield from self._said(begins, file, place, is_loop=False)
        if place.word in ("for", "while") and len(heads) == 1:
            inside = place._replace(scope=(*place.scope, self._shape(file).offset(place)))
            yield from self._said(heads, file, inside, is_loop=True)

    def _said(
        self, rows: list[int], file: str, place: Place, *, is_loop: bool
    ) -> Iterator[Invariant]:
        assert self._result.whole is not None
        places, cases = self._result.whole.places, dict[tuple[str, ...], None]()
        for row in rows:
            if not places.is_reached(row):
                continue
            fresh, texts = self._just_set(row), list[str]()
            for name, value in places.variables(row):
                if name not in fresh and self._is_visible(name, row, file, place):
                    texts += places.in_c(name, value, row)
            cases[tuple(sorted(set(texts)))] = None
        if 0 < len(cases) <= _MOST_CASES and () not in cases:
            name = self._program.instruction_view(rows[0]).function.name
            yield Invariant(file, place.line, place.column, name, is_loop, tuple(cases))

    @cached_property
    def _rows(self) -> dict[tuple[str, int], list[int]]:
        """The instructions of each line of each source; none that a phi is."""
        program, found = self._program, dict[tuple[str, int], list[int]]()
        table, spans = program.instructions, program.spans
        rows = np.flatnonzero((table.span >= 0) & (table.opcode != Opcode.PHI))
        at = table.span[rows]
        columns = (rows.tolist(), spans.file[at].tolist(), spans.line[at].tolist())
        for row, symbol, line in zip(*columns, strict=True):
            found.setdefault((program.strings[symbol], line), []).append(row)
        return found

    def _heads(self, run: Run, file: str, line: int) -> Iterator[tuple[int, int]]:
        """Yield the blocks that loops of a line begin with, and their first instructions."""
        if id(run) not in self._loops:
            order = weak_topological_order(run.graph)
            ends = zip(order.order.tolist(), order.end.tolist(), strict=True)
            heads = [node for place, (node, end) in enumerate(ends) if end > place + 1]
            self._loops[id(run)] = [(head, *self._first(run, head)) for head in heads]
        for head, row, place in self._loops[id(run)]:
            if place == (file, line):
                yield head, row

    def _first(self, run: Run, block: int) -> tuple[int, tuple[str, int]]:
        """Return the first instruction of a block that is no phi, and where it stands."""
        flat = run.code.flat.blocks[block]
        first, end = flat.first, int(self._program.blocks.instruction_offsets[flat.row + 1])
        table, spans = self._program.instructions, self._program.spans
        rows = [row for row in range(first, end) if table.opcode[row] != Opcode.PHI]
        for row in rows:
            if (span := int(table.span[row])) >= 0 and spans.line[span]:
                name = self._program.strings[int(spans.file[span])]
                return rows[0], (name, int(spans.line[span]))
        return rows[0], ("", 0)

    def _cases(
        self, run: Run, block: int, row: int, file: str, place: Place
    ) -> Iterator[tuple[str, ...]]:
        position = position_of(run, block, row)
        known, bits = variables_at(self._program, run, block, row)
        fresh = self._just_set(row)
        visible = {
            name: form
            for name, form in known.items()
            if name not in fresh and self._is_visible(name, row, file, place)
        }
        for numbers in run.values[block]:
            made = numbers.copy()
            for operation in run.code.operations[block][:position]:
                made = operation.apply(made, None)
                if made.is_empty:
                    break
            else:
                yield tuple(sorted(in_c(made, visible, bits)))

    def _just_set(self, row: int) -> set[str]:
        """Return the variables that get a value right in front of an instruction.

        The statement of the instruction may be what sets them: `x = n; f();` has instructions for
        the call alone. What phis of the block set, was set before the statement began.
        """
        table, program = self._program.bindings, self._program
        base, block = program.bases[4], program.instructions.block[row]
        found = set()
        for one in self._bound.get(row, ()):
            maker = int(table.value[one]) - base
            is_phi = maker >= 0 and (
                program.instructions.opcode[maker] == Opcode.PHI
                and program.instructions.block[maker] == block
            )
            if not is_phi:
                found.add(program.strings[int(program.variables.name[table.variable[one]])])
        return found

    @cached_property
    def _bound(self) -> dict[int, list[int]]:
        """The bindings in front of each instruction."""
        found: dict[int, list[int]] = {}
        for one, before in enumerate(self._program.bindings.before.tolist()):
            found.setdefault(before, []).append(one)
        return found

    def _is_visible(self, name: str, row: int, file: str, place: Place) -> bool:
        """Return whether a name means the variable that the analysis knows by it."""
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            return False
        function = int(self._program.instruction_function[row])
        declared = self._declared(function).get(name, [])
        if len(declared) != 1:
            return not declared and self._is_global(name, file, place)
        span = self._program.spans
        at = int(self._program.variables.span[declared[0]])
        if at < 0:
            return False
        line = int(span.line[at])
        if self._shape(file).is_indirect(line, name):
            return False
        variables = self._program.variables
        if variables.source_type[declared[0]] >= 0 and not variables.is_pointer[declared[0]]:
            return False  # a struct of one number, which is no number in C
        if self._program.variables.argument[declared[0]] > 0:  # of another one, if that is inlined
            return self._shape(file).is_inside_function(line, name, place.scope)
        scope = self._shape(file).scope_of(line, name)
        if not scope:  # a macro declares it, inside of what that stands for
            return False
        is_before = line < place.line or (
            scope[-1] == place.scope[-1] == self._shape(file).offset(place)
        )  # in front of the statement, or in the head of this loop
        return is_before and place.scope[: len(scope)] == scope

    def _declared(self, function: int) -> dict[str, list[int]]:
        if function not in self._names:
            table = self._program.variables
            found: dict[str, list[int]] = {}
            for row in (table.function == function).nonzero()[0].tolist():
                found.setdefault(self._program.strings[int(table.name[row])], []).append(row)
            self._names[function] = found
        return self._names[function]

    @cached_property
    def _globals(self) -> dict[str, int]:
        names = [self._program.strings[int(one)] for one in self._program.globals.name.tolist()]
        return {name: row for row, name in reversed(list(enumerate(names)))}

    def _is_global(self, name: str, file: str, place: Place) -> bool:
        if name not in self._globals:
            return False
        table, spans = self._program.globals, self._program.spans
        row = self._globals[name]
        span, kind = int(table.span[row]), self._program.types.kind[table.type[row]]
        return (
            span >= 0
            and kind in (TypeKind.INT, TypeKind.FLOAT, TypeKind.POINTER)  # no struct of one number
            and self._program.strings[int(spans.file[span])] == file
            and int(spans.line[span]) < place.line
        )

    # Texts

    def asserts(self, file: str, call: str = "assert") -> str:
        """Return a source with `assert` in front of its statements; lines keep their numbers."""
        lines = self._lines(file)
        for one in self.invariants:
            if one.file == file and not one.is_loop:
                _insert(lines, one, f"{call}({one.expression()}); ")
        return "#include <assert.h>\n#line 1\n" + "".join(lines)

    def acsl(self, file: str) -> str:
        """Return a source with annotations of ACSL; lines keep their numbers."""
        lines = self._lines(file)
        for one in self.invariants:
            if one.file == file:
                text = re.sub(r"\((?:long long|__int128)\)", "", one.expression())
                text = _DECIMAL.sub(lambda found: float(found[0]).hex(), text)
                word = "loop invariant" if one.is_loop else "assert"
                _insert(lines, one, f"/*@ {word} {text}; */ ")
        return "".join(lines)

    def _lines(self, file: str) -> list[str]:
        with open(file, encoding="utf-8", errors="replace") as source:
            return re.findall(r"[^\n]*\n|[^\n]+", source.read())  # a form feed ends no line

    def data(self, root: str | os.PathLike[str] = ".") -> list[dict[str, object]]:
        """Return the invariants as plain data."""
        return [
            {
                "file": relative_path(one.file, root),
                "line": one.line,
                "column": one.column,
                "function": one.function,
                "is_loop": one.is_loop,
                "expression": one.expression(),
            }
            for one in self.invariants
        ]

    def witness(self, created: str, version: str, root: str | os.PathLike[str] = ".") -> str:
        """Return a correctness witness of format 2.0, as YAML.

        Args:
            created: its time, as 2026-01-01T00:00:00Z.
            version: of Kleene, which the format asks for.
            root: files are named from here.
        """
        files = [one for one in self.files if any(i.file == one for i in self.invariants)]
        hashes = {}
        for file in files:
            with open(file, "rb") as source:
                hashes[relative_path(file, root)] = hashlib.sha256(source.read()).hexdigest()
        entries = [one for one in self.invariants if "__int128" not in one.expression()]
        whole = json.dumps([hashes, [one.expression() for one in entries]], sort_keys=True)
        lines = [
            "- entry_type: invariant_set",
            "  metadata:",
            '    format_version: "2.0"',
            f'    uuid: "{uuid.uuid5(uuid.NAMESPACE_URL, whole)}"',
            f'    creation_time: "{created}"',
            "    producer:",
            '      name: "kleene"',
            f"      version: {json.dumps(version)}",
            "    task:",
            "      input_files:",
            *(f"        - {json.dumps(file)}" for file in hashes),
            "      input_file_hashes:",
            *(f"        {json.dumps(file)}: {json.dumps(one)}" for file, one in hashes.items()),
            '      specification: "G ! call(reach_error())"',
            '      data_model: "LP64"',
            '      language: "C"',
            "  content:" if entries else "  content: []",
        ]
        for one in entries:
            lines += [
                "    - invariant:",
                f"        type: {'loop_invariant' if one.is_loop else 'location_invariant'}",
                "        location:",
                f"          file_name: {json.dumps(relative_path(one.file, root))}",
                f"          line: {one.line}",
                f"          column: {one.column}",
                f"          function: {json.dumps(one.function)}",
                f"        value: {json.dumps(one.expression())}",
                "        format: c_expression",
            ]
        return "\n".join(lines) + "\n"


def _insert(lines: list[str], one: Invariant, text: str) -> None:
    line = lines[one.line - 1]
    lines[one.line - 1] = line[: one.column - 1] + text + line[one.column - 1 :]


def in_c(numbers: Numbers, known: dict[str, Form], bits: dict[str, int]) -> Iterator[str]:
    """Yield the constraints on variables as expressions of C.

    A variable that is a form of others is the value of this form read as signed: sums that are
    unsigned are variables of their own.
    """
    plain: dict[str, Form] = {}
    wide: dict[str, Form] = {}
    for name, form in known.items():
        if numbers.layout.kinds[form.keys[0]].format is not None:
            plain[name] = form
            continue
        kind = Kind(bits[name], False)
        if form == only(form.keys[0]) and numbers.layout.kinds[form.keys[0]].width == kind.width:
            kind = numbers.layout.kinds[form.keys[0]]
        low, high = numbers.bounds(form)
        is_alike = low >= 0 and high < 1 << kind.width - 1  # as signed and as unsigned
        read = name if is_alike else f"{_cast(kind)}{name}"
        plain[read] = form
        is_small = low > -(1 << 61) and high < 1 << 61  # sums and a few multiples fit 64 bits
        wide[f"({'long long' if is_small else '__int128'}){read}"] = form
    found = [
        *constraints(numbers, plain, relations=False),
        *constraints(numbers, wide, ranges=False),
    ]
    for text in found:
        literals = [int(one) for one in re.findall(r"(?<![\w.])\d+", text)]
        if all(one < 1 << 63 for one in literals):
            yield text


def _cast(kind: Kind) -> str:
    words = {8: "char", 16: "short", 32: "int", 64: "long"}
    sign = "unsigned " if kind.is_unsigned else "signed "
    return f"({sign}{words.get(kind.width, 'long long')})"
