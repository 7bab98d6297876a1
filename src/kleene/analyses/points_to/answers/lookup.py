"""Names as people write them: which pointers, or which objects, does a text mean?

What `naming` writes is understood, and more: `list.c:42:p` (the variable p at or above that line),
a register without its variable, a function or global by its name in the source, `heap@list.c:12`
without the column, `&table` (the address), and `+*` for all places. A name of storage without a
place stands for all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.answers.naming import KIND_WORDS, Naming
from kleene.analyses.points_to.model import AllocationKind, Statement
from kleene.base.errors import SourceError
from kleene.ir import Program
from kleene.ir.codes import Binding, TypeKind, ValueKind
from kleene.solvers.inclusion import Solution

_PLACED = re.compile(r"(?P<base>.*?)(?P<place>(\+(\d+|\?|\*))?(\[\d*\])?(#\d+)?)")
_AT_LINE = re.compile(r"(?P<file>.+):(?P<line>\d+):(?P<name>[^:]+)")
_N_SUGGESTED = 3


class Lookup:
    """Finds what a name means in one analysed program."""

    def __init__(
        self, program: Program, statement: Statement, solution: Solution, naming: Naming
    ) -> None:
        self._program = program
        self._statement = statement
        self._solution = solution
        self._naming = naming

    def pointer(self, text: str) -> list[int]:
        """Return the nodes that a name of a pointer means.

        Raises:
            SourceError: it names nothing (`points-to/no-such-name`), or something that cannot hold
                an address (`points-to/not-a-pointer`).
        """
        nodes = self._address(text[1:]) if text.startswith("&") else self._holder(text)
        if nodes is None:
            raise self._nothing(text, "pointer")
        kept = [node for node in nodes if self._may_point(node)]
        if not kept:
            raise _not_a_pointer(text, self._type_of(nodes))
        return kept

    def objects(self, text: str) -> list[int]:
        """Return the objects that a name of storage means.

        Raises:
            SourceError: it names no storage (`points-to/no-such-name`).
        """
        found = self._objects(text)
        if found is None:
            raise self._nothing(text, "object")
        return found

    def function(self, text: str) -> int:
        """Return the function (row) of this name.

        Raises:
            SourceError: there is none (`points-to/no-such-name`), or several.
        """
        found = self._functions_called(text)
        if not found:
            near = get_close_matches(text, self._function_names, n=_N_SUGGESTED)
            raise _unknown(f"no function is called '{text}'", near)
        if len(found) > 1:
            raise _ambiguous(text, [self._naming.function(f) for f in found])
        return found[0]

    # What a pointer's name means

    def _address(self, text: str) -> list[int] | None:
        if (symbol := self._global_called(text)) is not None:
            return [symbol]
        allocations = self._allocations(text) or []
        sites = [int(self._statement.allocations.site[a]) for a in allocations]
        return [site for site in sites if site >= 0] or None

    def _holder(self, text: str) -> list[int] | None:
        """Return the nodes of what a variable, register or piece of storage holds."""
        if found := _AT_LINE.fullmatch(text):
            at_line = self._at_line(found["file"], int(found["line"]), found["name"])
            if at_line is not None:
                return at_line
        for function, rest in self._split(text):
            if (nodes := self._in_function(function, rest)) is not None:
                return nodes
        objects = self._objects(text)
        return None if objects is None else self._contents(objects)

    def _in_function(self, function: int, rest: str) -> list[int] | None:
        if rest == "return":
            node = int(self._statement.result_node[function])
            return [node] if node >= 0 else None
        if rest.startswith("%"):
            return self._register(function, rest[1:])
        base, _, place = _placed(rest)
        if place:
            return None  # a place in a variable's storage: an object
        rows = self._variables_called(function, base)
        return self._bound(rows) if rows else None

    def _register(self, function: int, name: str) -> list[int] | None:
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
        plain = [value for n, value in called if n.split(".")[0] == name and name.isdigit()]
        return exact or plain or None

    def _variables_called(self, function: int, name: str) -> list[int]:
        """Return the variables (rows) of a function that are called so."""
        names = self._program.names
        rows = names.variable_rows(function).tolist()
        unique = names.of_function(function).variables
        raw = [self._program.strings[int(self._program.variables.name[row])] for row in rows]
        called = zip(rows, unique, raw, strict=True)
        return [row for row, first, second in called if name in (first, second)]

    def _at_line(self, file: str, line: int, name: str) -> list[int] | None:
        """Return what holds the variable that is declared nearest above a line of a file."""
        program = self._program
        files = self._naming.files.matching(file)
        spans = program.variables.span
        here = np.flatnonzero((spans >= 0) & np.isin(program.spans.file[spans], files))
        rows = [r for r in here.tolist() if program.strings[int(program.variables.name[r])] == name]
        if not rows:
            return self._global_at(files, name)
        lines = program.spans.line[spans[rows]].tolist()
        above = max((n for n in lines if n <= line), default=min(lines))
        return self._bound([r for r, n in zip(rows, lines, strict=True) if n == above])

    def _global_at(self, files: list[int], name: str) -> list[int] | None:
        program, table = self._program, self._program.globals
        for row in np.flatnonzero(table.span >= 0).tolist():
            in_file = int(program.spans.file[table.span[row]]) in files
            names = (program.strings[int(s[row])] for s in (table.name, table.source_name))
            if in_file and name in names:
                return self._contents(self._places([self._allocation_of_global[row]], ""))
        return None

    def _bound(self, variables: list[int]) -> list[int]:
        """Return the nodes that are, or contain, these variables."""
        table = self._program.bindings
        rows = np.flatnonzero(
            np.isin(table.variable, variables) & (table.exact != 0) & (table.value >= 0)
        )
        nodes: list[int] = []
        for row in rows.tolist():
            value = int(table.value[row])
            if table.kind[row] == Binding.DECLARE:
                nodes += self._contents(self._behind(value))
            else:
                nodes.append(value)
        return list(dict.fromkeys(nodes))

    def _behind(self, value: int) -> list[int]:
        """Return all places of what a value, the address of a variable, points to."""
        allocations = np.unique(self._statement.places.allocation[self._solution.of(value)])
        return self._places(allocations.tolist(), "")

    # What a name of storage means

    def _objects(self, text: str) -> list[int] | None:
        base, place, _ = _placed(text)
        allocations = self._allocations(base)
        if allocations is None:
            return None
        found = self._places(allocations, place)
        if not found:
            names = [self._naming.suffixes(a) for a in allocations]
            near = [base + (suffix or "+0") for suffixes in names for suffix in suffixes]
            raise _unknown(f"'{base}' has no place '{place}'", near[:8])
        return found

    def _allocations(self, base: str) -> list[int] | None:
        if "@" in base and base.split("@")[0] in self._by_kind_word:
            return self._sited(base)
        symbol = self._global_called(base)
        if symbol is not None and symbol in self._allocation_of_global:
            return [self._allocation_of_global[symbol]]
        for function, _ in self._split(base):
            named = self._naming.local_allocations(function).items()
            if found := [allocation for allocation, name in named if name == base]:
                return found
        return None

    def _sited(self, base: str) -> list[int] | None:
        """Return the allocations called `kind@place`, with or without the column."""
        kind = self._by_kind_word[base.split("@")[0]]
        rows = np.flatnonzero(self._statement.allocations.kind == kind).tolist()
        names = {row: self._naming.allocation(row) for row in rows}
        exact = [row for row, name in names.items() if name == base]
        return exact or [row for row, name in names.items() if name.startswith(f"{base}:")] or None

    def _places(self, allocations: Iterable[int], place: str) -> list[int]:
        """Return the objects of allocations at one place, or at all."""
        found: list[int] = []
        for allocation in allocations:
            first, end = self._statement.problem.allocation_offsets[allocation : allocation + 2]
            objects = range(int(first), int(end))
            if place in ("", "+*"):
                found += objects
            else:
                suffix = place.removeprefix("+0") if place.startswith("+0") else place
                named = zip(objects, self._naming.suffixes(allocation), strict=True)
                found += [o for o, name in named if name == suffix]
        return found

    def _contents(self, objects: Iterable[int]) -> list[int]:
        nodes = self._statement.problem.contents[list(objects)].tolist()
        return list(dict.fromkeys(node for node in nodes if node >= 0))

    # Symbols

    def _split(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield every way to read `text` as a function and something in it, longest first."""
        for i in range(len(text) - 1, 0, -1):
            if text[i] == ".":
                for function in self._functions_called(text[:i]):
                    yield function, text[i + 1 :]

    def _functions_called(self, text: str) -> list[int]:
        return self._by_symbol.get(text) or self._by_source_name.get(text) or []

    def _global_called(self, text: str) -> int | None:
        if text in self._global_rows:
            return self._global_rows[text]
        rows = self._globals_by_source_name.get(text, [])
        if len(rows) > 1:
            raise _ambiguous(text, [self._program.names.globals[row] for row in rows])
        return rows[0] if rows else None

    @cached_property
    def _global_rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self._program.names.globals)}

    @cached_property
    def _globals_by_source_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, symbol in enumerate(self._program.globals.source_name.tolist()):
            if symbol:
                found.setdefault(self._program.strings[symbol], []).append(row)
        return found

    @cached_property
    def _allocation_of_global(self) -> dict[int, int]:
        table = self._statement.allocations
        kinds = [AllocationKind.GLOBAL, AllocationKind.FUNCTION]
        rows = np.flatnonzero(np.isin(table.kind, kinds) & (table.part == 0)).tolist()
        return {int(table.site[row]): row for row in rows}

    @cached_property
    def _by_symbol(self) -> dict[str, list[int]]:
        return {name: [row] for row, name in enumerate(self._function_names)}

    @cached_property
    def _by_source_name(self) -> dict[str, list[int]]:
        rows = self._program.globals.function
        return {
            name: [int(rows[g]) for g in found if rows[g] >= 0]
            for name, found in self._globals_by_source_name.items()
        }

    @cached_property
    def _function_names(self) -> list[str]:
        return [self._naming.function(f) for f in range(len(self._program.function_table))]

    @cached_property
    def _by_kind_word(self) -> dict[str, AllocationKind]:
        return {word: kind for kind, word in KIND_WORDS.items()}

    # What went wrong

    def _may_point(self, node: int) -> bool:
        """Return whether a node is a pointer, or something else that holds addresses after all."""
        if bool(self._solution.unknown[node]) or len(self._solution.of(node)):
            return True
        type_id = self._type(node)
        return type_id < 0 or self._has_pointer(type_id)

    def _type(self, node: int) -> int:
        """Return the type of a value, or of the storage that a node is in; -1 if unknown."""
        if node < self._program.n_values:
            return int(self._program.value_types[node])
        if (object := int(self._naming.object_of_contents[node])) < 0:
            return -1
        allocation = self._statement.places.allocation[object]
        return int(self._statement.allocations.type[allocation])

    def _has_pointer(self, type_id: int) -> bool:
        types = self._program.types
        if types.kind[type_id] in (TypeKind.STRUCT, TypeKind.ARRAY, TypeKind.VECTOR):
            return any(self._has_pointer(part) for part in types.elements_of(type_id).tolist())
        return bool(types.kind[type_id] == TypeKind.POINTER)

    def _type_of(self, nodes: list[int]) -> str:
        types = {self._type(node) for node in nodes} - {-1}
        names = (self._program.printer.types[t].removeprefix("$") for t in types)
        return " or ".join(sorted(names))

    def _nothing(self, text: str, what: str) -> SourceError:
        base = _placed(text)[0].removeprefix("&")
        near = get_close_matches(base, self._candidates(base), n=_N_SUGGESTED)
        return _unknown(f"'{text}' names no {what} of the program", near)

    def _candidates(self, text: str) -> list[str]:
        """Return the names that may have been meant."""
        program = self._program
        for function, rest in self._split(text):
            locals_ = program.names.of_function(function)
            registers = [n for n in (*locals_.arguments, *locals_.instructions) if n]
            named = [f"%{n}" for n in registers] if rest.startswith("%") else locals_.variables
            return [f"{self._naming.function(function)}.{name}" for name in named]
        names = list(dict.fromkeys([*program.names.globals, *self._globals_by_source_name]))
        if "@" in text:
            sited = ~np.isin(self._statement.allocations.kind, [0, 1])
            names += [self._naming.allocation(row) for row in np.flatnonzero(sited).tolist()]
        pairs = zip(program.variables.name.tolist(), program.variables.function, strict=True)
        variables = (f"{self._naming.function(f)}.{program.strings[s]}" for s, f in pairs)
        return names + list(dict.fromkeys(variables))


def _placed(text: str) -> tuple[str, str, bool]:
    """Return a name of storage, the place in it as written, and whether there is one."""
    found = _PLACED.fullmatch(text)
    assert found, "the pattern matches every text"
    return found["base"], found["place"], bool(found["place"])


def _unknown(message: str, near: list[str]) -> SourceError:
    hint = f"did you mean {' or '.join(near)}?" if near else "'kleene ir' shows what there is"
    return SourceError(None, "points-to/no-such-name", message, hint)


def _ambiguous(text: str, symbols: list[str]) -> SourceError:
    message = f"'{text}' may be any of {len(symbols)} symbols"
    note = f"write the symbol: {' or '.join(symbols[:8])}"
    return SourceError(None, "points-to/ambiguous-name", message, note)


def _not_a_pointer(text: str, type_name: str) -> SourceError:
    what = f"is {type_name} and never holds an address" if type_name else "holds no address"
    note = "ask for a pointer, or for storage that contains one"
    return SourceError(None, "points-to/not-a-pointer", f"'{text}' {what}", note)
