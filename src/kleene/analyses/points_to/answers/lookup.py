"""Names as people write them: which pointers, or which objects, does a text mean?

What `naming` writes is understood, and more: `list.c:42:p` (the variable p at or above that line),
a register without its variable, a function or global by its name in the source, `heap@list.c:12`
without the column, `&table` (the address), and `+*` for all offsets. A name of storage without an
offset stands for all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.answers.naming import KIND_WORDS, Naming, offset_suffixes
from kleene.analyses.points_to.answers.sets import Solved
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.errors import SourceError
from kleene.ir import Program
from kleene.ir.codes import Binding, ConstantKind, TypeKind, ValueKind

_WITH_OFFSET = re.compile(r"(?P<base>.*?)(?P<offset>(\+(\d+|\?|\*))?(\[\d*\])?(#\d+)?)", re.DOTALL)
_AT_LINE = re.compile(r"(?P<file>.+):(?P<line>\d+):(?P<name>[^:]+)")
_BY_WORD = {word: kind for kind, word in KIND_WORDS.items()}
_N_OFFSETS_SHOWN = 8
_N_SUGGESTED = 3


class Lookup:
    """Finds what a name means in one analysed program."""

    def __init__(self, solved: Solved) -> None:
        self._program, self._system = solved.program, solved.system
        self._solution, self._naming = solved.solution, solved.naming
        self.symbols = Symbols(solved.program, solved.naming)

    def pointer(self, text: str) -> list[int]:
        """Return the nodes that a name of a pointer means.

        Raises:
            SourceError: it names nothing (`points-to/no-such-name`), or something that cannot hold
                an address (`points-to/not-a-pointer`).
        """
        nodes = self._address(text[1:]) if text.startswith("&") else self._holder(text)
        if nodes is None:
            near = self._near(_split_offset(text)[0].removeprefix("&"))
            raise unknown(f"'{text}' names no pointer of the program", near)
        kept = [node for node in nodes if self._may_point(node)]
        if not kept:
            raise self._not_a_pointer(text, nodes)
        return [node for node in kept if not self._is_undefined(node)] or kept

    def objects(self, text: str) -> list[int]:
        """Return the objects that a name of storage means.

        Raises:
            SourceError: it names no storage (`points-to/no-such-name`).
        """
        found = self._objects(text)
        if found is None:
            near = self._near(_split_offset(text)[0])
            raise unknown(f"'{text}' names no storage of the program", near)
        return found

    # What a pointer's name means

    def _address(self, text: str) -> list[int] | None:
        if (symbol := self.symbols.one_global(text)) is not None:
            return [symbol]
        allocations = self._allocations(text) or []
        sites = [int(self._system.allocations.site[a]) for a in allocations]
        return [site for site in sites if site >= 0] or None

    def _holder(self, text: str) -> list[int] | None:
        """Return the nodes of what a variable, register or storage holds."""
        found = _AT_LINE.fullmatch(text)
        if found and (nodes := self._at_line(text, found)) is not None:
            return nodes
        for function, rest in self.symbols.split(text):
            if (nodes := self._in_function(text, function, rest)) is not None:
                return nodes
        objects = self._objects(text)
        return None if objects is None else self._contents(objects)

    def _at_line(self, text: str, found: re.Match[str]) -> list[int] | None:
        file, line, name = found["file"], int(found["line"]), found["name"]
        variables, is_inside = self.symbols.variables_at(file, line, name)
        rows = [self._allocation_of_global.get(g) for g in self.symbols.globals_in(file, name)]
        allocations = [row for row in rows if row is not None]
        if allocations and not is_inside:
            return self._contents(self._objects_at(allocations, ""))
        return self._bound(text, variables) if variables else None

    def _in_function(self, text: str, function: int, rest: str) -> list[int] | None:
        if rest == "return":
            node = int(self._system.result_node[function])
            return [node] if node >= 0 else None
        if rest.startswith("%"):
            return self._register(function, rest[1:])
        variables = self.symbols.variables(function, rest)
        return self._bound(text, variables) if variables else None

    def _register(self, function: int, name: str) -> list[int] | None:
        """Return the register of a name, or of a number that a variable's name follows."""
        program = self._program
        names = program.names.of_function(function)
        first = int(program.function_table.argument_offsets[function])
        block = int(program.function_table.block_offsets[function])
        instruction = int(program.blocks.instruction_offsets[block])
        bases = (
            (names.arguments, program.value(ValueKind.ARGUMENT, first)),
            (names.instructions, program.value(ValueKind.INSTRUCTION, instruction)),
        )
        called = [(n, base + i) for given, base in bases for i, n in enumerate(given) if n]
        exact = [value for n, value in called if n == name]
        plain = [value for n, value in called if name.isdigit() and n.split(".")[0] == name]
        return exact or plain or None

    def _bound(self, text: str, variables: list[int]) -> list[int]:
        """Return the nodes that are, or contain, these variables."""
        table = self._program.bindings
        rows = np.flatnonzero(np.isin(table.variable, variables) & (table.value >= 0))
        exact = rows[table.exact[rows] != 0]
        if len(rows) and not len(exact):
            parts = dict.fromkeys(self._naming.value(v) for v in table.value[rows].tolist())
            raise unknown(f"no one value is all of '{text}': it was split into parts", list(parts))
        nodes: list[int] = []
        for row in exact.tolist():
            value = int(table.value[row])
            is_address = table.kind[row] == Binding.DECLARE
            nodes += self._contents(self._behind(value)) if is_address else [value]
        return list(dict.fromkeys(nodes))

    def _behind(self, value: int) -> list[int]:
        """Return all objects of what a value, the address of a variable, points to."""
        allocations = np.unique(self._system.locations.allocation[self._solution.of(value)])
        return self._objects_at(allocations.tolist(), "")

    # What a name of storage means

    def _objects(self, text: str) -> list[int] | None:
        for base, offset in _splits(text):
            allocations = self._allocations(base) or []
            if found := self._objects_at(allocations, offset):
                return found
            kinds = self._system.allocations.kind[allocations]
            if len(kinds) and (kinds != AllocationKind.FUNCTION).all():
                names = (self._naming.suffixes(allocation) for allocation in allocations)
                every = [base + (suffix or "+0") for suffixes in names for suffix in suffixes]
                near = nearest(text, every) if offset[0] == "." else every[:_N_OFFSETS_SHOWN]
                raise unknown(f"'{base}' has nothing at '{offset}'", near)
        return None

    def _allocations(self, base: str) -> list[int] | None:
        word, at, _ = base.partition("@")
        if at and word in _BY_WORD:
            return self._sited(base, _BY_WORD[word])
        if base in self._copies_of_globals:
            return [self._copies_of_globals[base]]
        symbol = self.symbols.one_global(base)
        if symbol is not None and symbol in self._allocation_of_global:
            return [self._allocation_of_global[symbol]]
        for function, _ in self.symbols.split(base):
            named = self._naming.local_allocations(function).items()
            if found := [allocation for allocation, name in named if name == base]:
                return found
        return None

    def _sited(self, base: str, kind: AllocationKind) -> list[int] | None:
        """Return the allocations called `kind@location`, with or without the column."""
        rows = np.flatnonzero(self._system.allocations.kind == kind).tolist()
        names = {row: self._naming.allocation(row) for row in rows}
        exact = [row for row, name in names.items() if name == base]
        return exact or [row for row, name in names.items() if name.startswith(f"{base}:")] or None

    def _objects_at(self, allocations: Iterable[int], offset: str) -> list[int]:
        """Return the objects of allocations at one offset, or at all."""
        found: list[int] = []
        wanted = re.sub(r"^\+0(?=\[|#|$)", "", offset)
        for allocation in allocations:
            first, end = self._system.problem.allocation_offsets[allocation : allocation + 2]
            if offset in ("", "+*"):
                found += range(first, end)
                continue
            byte, stride = (
                column.tolist() for column in self._naming.bytes_and_strides(allocation)
            )
            plain = offset_suffixes(byte, stride)
            named = zip(range(first, end), self._naming.suffixes(allocation), plain, strict=True)
            exact = [o for o, *names in named if wanted in names]
            found += exact or self._fields_at(allocation, wanted)
        return found

    def _fields_at(self, allocation: int, suffix: str) -> list[int]:
        """Return the objects of an allocation where a field of its source type lies."""
        source_type, is_many = self._naming.source_type(allocation)
        if source_type < 0:
            return []
        first = int(self._system.problem.allocation_offsets[allocation])
        byte = self._naming.bytes_and_strides(allocation)[0].tolist()
        for is_folded in (False, True):
            ways = {"is_many": is_many, "is_folded": is_folded}
            places = self._naming.fields.places(source_type, suffix, **ways)
            inside = [
                first + i
                for i, at in enumerate(byte)
                if any(begin <= at < begin + n_bytes for begin, n_bytes in places)
            ]
            if inside:
                return inside
        begin = min((place.byte for place in places), default=-1)  # within another field
        before = max((at for at in byte if 0 <= at <= begin), default=-1)
        return [first + i for i, at in enumerate(byte) if at == before >= 0]

    def _contents(self, objects: Iterable[int]) -> list[int]:
        nodes = self._system.problem.contents[list(objects)].tolist()
        return list(dict.fromkeys(node for node in nodes if node >= 0))

    @cached_property
    def _allocation_of_global(self) -> dict[int, int]:
        table = self._system.allocations
        kinds = [AllocationKind.GLOBAL, AllocationKind.FUNCTION]
        rows = np.flatnonzero(np.isin(table.kind, kinds) & (table.part == 0)).tolist()
        return {int(table.site[row]): row for row in rows}

    @cached_property
    def _copies_of_globals(self) -> dict[str, int]:
        """Virtual tables that objects have for a while, by name."""
        rows = [table.allocation for table in self._system.passing_tables]
        return {self._naming.allocation(row): row for row in rows}

    # What cannot be asked

    def _may_point(self, node: int) -> bool:
        """Return whether a node is a pointer, or something else that holds addresses after all."""
        if self._solution.unknown[node] or len(self._solution.of(node)):
            return True
        type_id = self._type(node)
        return type_id < 0 or self._has_pointer(type_id)

    def _is_undefined(self, node: int) -> bool:
        """Return whether a node is the constant that a variable without a value has."""
        program = self._program
        row = node - program.bases[ValueKind.CONSTANT]
        if not 0 <= row < len(program.constants):
            return False
        return int(program.constants.kind[row]) == ConstantKind.UNDEF

    def _type(self, node: int) -> int:
        """Return the type of a value, or of the storage that a node is in; -1 if unknown."""
        if node < self._program.n_values:
            return int(self._program.value_types[node])
        if (object := int(self._naming.object_of_contents[node])) < 0:
            return -1
        allocation, table = self._system.locations.allocation[object], self._system.allocations
        is_guessed = table.kind[allocation] in (AllocationKind.HEAP, AllocationKind.EXCEPTION)
        return -1 if is_guessed else int(table.type[allocation])

    def _has_pointer(self, type_id: int) -> bool:
        types = self._program.types
        if types.kind[type_id] in (TypeKind.STRUCT, TypeKind.ARRAY, TypeKind.VECTOR):
            return any(self._has_pointer(part) for part in types.elements_of(type_id).tolist())
        return bool(types.kind[type_id] == TypeKind.POINTER)

    def _not_a_pointer(self, text: str, nodes: list[int]) -> SourceError:
        types = {self._type(node) for node in nodes} - {-1}
        names = sorted(self._program.printer.types[t].removeprefix("$") for t in types)
        what = f", {' or '.join(names)}," if names else ""
        message = f"'{text}'{what} never holds an address"
        note = "ask for a pointer, or for storage that contains one"
        return SourceError(None, "points-to/not-a-pointer", message, note)

    def _near(self, text: str) -> list[str]:
        """Return the names that may have been meant."""
        if "@" not in text:
            return self.symbols.near(text)
        sited = ~np.isin(self._system.allocations.kind, [0, 1])
        return nearest(text, [self._naming.allocation(a) for a in np.flatnonzero(sited).tolist()])


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """Yield every way to read `text` as storage and a field or offset in it, longest first."""
    yield text, ""  # Stack::operator[], say
    base, offset = _split_offset(text)
    if offset:
        yield base, offset
    for i in range(len(base) - 1, 0, -1):
        if base[i] in ".[":
            yield base[:i], text[i:]


def _split_offset(text: str) -> tuple[str, str]:
    """Return a name of storage, and the offset in it as written."""
    found = _WITH_OFFSET.fullmatch(text)
    assert found, "the pattern matches every text"
    return found["base"], found["offset"]


class Symbols:
    """Finds what the program and its source call things."""

    def __init__(self, program: Program, naming: Naming) -> None:
        self._program = program
        self._naming = naming

    def function(self, text: str) -> int:
        """Return the function (row) of a name.

        Raises:
            SourceError: there is none (`points-to/no-such-name`), or there are several.
        """
        found = self.functions(text)
        if not found:
            names = [self._naming.function(f) for f in range(len(self._program.function_table))]
            raise unknown(f"no function is called '{text}'", nearest(text, names))
        if len(found) > 1:
            raise ambiguous(text, [self._naming.function(f) for f in found])
        return found[0]

    def functions(self, text: str) -> list[int]:
        """Return the functions (rows) of a symbol, or of a name of the source."""
        rows = self._program.globals.function
        return [int(rows[g]) for g in self._naming.written.rows(text) if rows[g] >= 0]

    def one_global(self, text: str) -> int | None:
        """Return the global (row) of a symbol, or of a name that one symbol has in the source.

        Raises:
            SourceError: several globals are called so (`points-to/ambiguous-name`).
        """
        rows = self._naming.written.rows(text)
        if len(rows) > 1:
            raise ambiguous(text, [self._naming.written.names[row] for row in rows])
        return rows[0] if rows else None

    def split(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield every way to read `text` as a function and something in it, longest first."""
        for i in range(len(text) - 1, 0, -1):
            if text[i] == ".":
                for function in self.functions(text[:i]):
                    yield function, text[i + 1 :]

    def variables(self, function: int, name: str) -> list[int]:
        """Return the variables (rows) of a function that are called so."""
        names = self._program.names
        rows = names.variable_rows(function).tolist()
        unique = names.of_function(function).variables
        called = zip(rows, unique, (self._variable_name(row) for row in rows), strict=True)
        return [row for row, first, second in called if name in (first, second)]

    def variables_at(self, file: str, line: int, name: str) -> tuple[list[int], bool]:
        """Return the variables (rows) declared nearest above a line, or near it if there are none.

        The second is whether the line is in their function.
        """
        spans = self._program.variables.span
        files = self._naming.matching_files(file)
        here = np.flatnonzero((spans >= 0) & np.isin(self._program.spans.file[spans], files))
        rows = [row for row in here.tolist() if self._variable_name(row) == name]
        inside = [row for row in rows if self._reaches(row, line)]
        lines = self._program.spans.line[spans[inside or rows]].tolist()
        above = max((n for n in lines if n <= line), default=min(lines, default=0))
        near = [row for row, n in zip(inside or rows, lines, strict=True) if n == above]
        return near, bool(inside) and above <= line

    def globals_in(self, file: str, name: str) -> list[int]:
        """Return the globals (rows) of a name that a file defines."""
        table, spans = self._program.globals, self._program.spans
        files = self._naming.matching_files(file)
        placed = [row for row in sorted(self._naming.written.rows(name)) if table.span[row] >= 0]
        return [row for row in placed if int(spans.file[table.span[row]]) in files]

    def near(self, text: str) -> list[str]:
        """Return the names of the program that may have been meant."""
        for function, rest in self.split(text):
            found = self._program.names.of_function(function)
            registers = [f"%{n}" for n in (*found.arguments, *found.instructions) if n]
            names = registers if rest.startswith("%") else found.variables
            return nearest(text, [f"{self._naming.function(function)}.{n}" for n in names])
        table = self._program.variables
        variables = (
            f"{self._naming.function(function)}.{self._variable_name(row)}"
            for row, function in enumerate(table.function.tolist())
        )
        return nearest(text, [*self._naming.written.every, *variables])

    def _variable_name(self, row: int) -> str:
        return self._program.strings[int(self._program.variables.name[row])]

    def _reaches(self, variable: int, line: int) -> bool:
        """Return whether the code of a variable's function goes on to a line of its file."""
        program = self._program
        function = int(program.variables.function[variable])
        blocks = program.function_table.block_offsets[function : function + 2]
        first, end = program.blocks.instruction_offsets[blocks].tolist()
        spans = program.instructions.span[first:end]
        spans = spans[spans >= 0]
        file = program.spans.file[program.variables.span[variable]]
        lines = program.spans.line[spans][program.spans.file[spans] == file]
        return bool(lines.max(initial=0) >= line)


def nearest(text: str, names: list[str]) -> list[str]:
    """Return the names most like a text."""
    return get_close_matches(text, list(dict.fromkeys(names)), n=_N_SUGGESTED)


def unknown(message: str, near: list[str]) -> SourceError:
    """Return the error for a name of nothing, with what may have been meant."""
    hint = f"did you mean {' or '.join(near)}?" if near else "'kleene ir' shows what there is"
    return SourceError(None, "points-to/no-such-name", message, hint)


def ambiguous(text: str, symbols: list[str]) -> SourceError:
    """Return the error for a name of several things."""
    message = f"'{text}' may be any of {len(symbols)} names"
    note = f"write {' or '.join(symbols[:8])}"
    return SourceError(None, "points-to/ambiguous-name", message, note)
