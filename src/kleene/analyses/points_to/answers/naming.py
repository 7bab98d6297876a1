"""What pointers and objects are called: one text for each, stable, and understood when asked for.

**Storage** (an object) is called by its variable, or by what made it and where:

- `table`, `on_click`, `Dog::speak`, `list.c:helper`: a global variable or function, as `written`
  has it;
- `main.buffer`: a local variable (`main.buffer~2` where a function has two of that name);
- `heap@list.c:12:9`: what the allocator called there returned (`~2`: the second call there);
  `exception@…` likewise; without debug information the register: `heap@push.%3`;
- `static@getenv`: storage a library keeps; `variadic@log`, `command-line@main`, `local@main.%3`
  and `copy@draw.%0`: an unnamed local, a copy made for an argument passed by value.

A **field** within it follows, by its name in the source (`fields`): `event.target`,
`table.slot[0].key`; `table.slot[].key` is that of the later elements of an array. Where the
source's type is not known, or has nothing there, that is an **offset**: `+8` is byte 8; `+8[]` that
of the later elements of an array (with two arrays there, `+8[16]`: of the one with elements of 16
bytes); `+?` somewhere; nothing: its start.

**Pointers** are called `main.%7` (the register, as `kleene ir` prints it), `main.p` (a variable:
all registers it ever is), `main.return` (what a function returns), or by storage: what is in it.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.answers.fields import Fields
from kleene.analyses.points_to.answers.written import Written
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET, AllocationKind, ConstraintSystem
from kleene.base.arrays import I32, I64, distinct
from kleene.base.errors import Span
from kleene.ir import Program
from kleene.ir.codes import TypeKind, ValueKind
from kleene.ir.views import span_of
from kleene.results import naming

KIND_WORDS = {
    AllocationKind.GLOBAL: "global",
    AllocationKind.FUNCTION: "function",
    AllocationKind.STACK: "local",
    AllocationKind.HEAP: "heap",
    AllocationKind.STATIC: "static",
    AllocationKind.COPY: "copy",
    AllocationKind.VARIADIC: "variadic",
    AllocationKind.COMMAND_LINE: "command-line",
    AllocationKind.EXCEPTION: "exception",
}
_SYMBOLS = (AllocationKind.GLOBAL, AllocationKind.FUNCTION)
_LOCALS = (AllocationKind.STACK, AllocationKind.COPY)
_BY_LOCATION = (AllocationKind.HEAP, AllocationKind.EXCEPTION)


class Naming(naming.Naming):
    """The names of a program's pointers and objects, found when asked for.

    The number of a location is its row in the program's spans, that of a call its instruction.
    """

    def __init__(self, program: Program, system: ConstraintSystem) -> None:
        self._program = program
        self._system = system
        self._suffixes: dict[tuple[int, bool, bytes], list[str]] = {}
        self._suffixes_of: dict[int, list[str]] = {}  # by allocation
        self.fields = Fields(program)
        self._locals: dict[int, dict[int, str]] = {}

    @cached_property
    def written(self) -> Written:
        """The globals of the program, as people write them."""
        return Written(self._program, lambda: self.files)

    @cached_property
    def files(self) -> naming.Files:
        """The source files that spans of the program mention."""
        return naming.Files(self._program.strings[symbol] for symbol in self._file_symbols)

    def matching_files(self, name: str) -> list[int]:
        """Return the files (symbols) whose path ends in the parts of `name`."""
        paths = set(self.files.matching(name))
        return [s for s in self._file_symbols if self._program.strings[s] in paths]

    @cached_property
    def _file_symbols(self) -> list[int]:
        symbols: list[int] = distinct(self._program.spans.file).tolist()
        return symbols

    def span(self, location: int) -> Span | None:
        """Return a row of the spans with the whole path of its file; None for -1."""
        return span_of(self._program, location)

    def location(self, location: int) -> str | None:
        """Return a row of the spans as `file:line:column`; None for -1."""
        if location < 0:
            return None
        table = self._program.spans
        file = self._file_names[int(table.file[location])]
        return str(Span(file, int(table.line[location]), int(table.column[location])))

    @cached_property
    def _file_names(self) -> dict[int, str]:
        return {s: self.files.name(self._program.strings[s]) for s in self._file_symbols}

    def call_location(self, call: int) -> int:
        """Return the row in the spans of an instruction, or -1."""
        return int(self._program.instructions.span[call])

    def object(self, object: int) -> str:
        """Return the name of an object: its storage and the offset in it."""
        allocation = int(self._system.locations.allocation[object])
        first = int(self._system.problem.allocation_offsets[allocation])
        return self.allocation(allocation) + self.suffixes(allocation)[object - first]

    def allocation(self, allocation: int) -> str:
        """Return the name of an allocation."""
        table = self._system.allocations
        kind, site = AllocationKind(table.kind[allocation]), int(table.site[allocation])
        if kind in _SYMBOLS:
            return self._numbered(self.written.names[site], int(table.part[allocation]))
        if kind in _LOCALS:
            return self._locals_of(self.function_of(site))[allocation]
        times = int(self._times[allocation])
        return self._numbered(f"{KIND_WORDS[kind]}@{self._site(kind, site)}", times)

    def suffixes(self, allocation: int) -> list[str]:
        """Return what each object of an allocation adds to its name."""
        if allocation not in self._suffixes_of:
            self._suffixes_of[allocation] = self._found_suffixes(allocation)
        return self._suffixes_of[allocation]

    def _found_suffixes(self, allocation: int) -> list[str]:
        """Return the same, one list for all allocations that are alike."""
        byte, stride = self.bytes_and_strides(allocation)
        source_type, is_many = self.source_type(allocation)
        key = source_type, is_many, byte.tobytes() + stride.tobytes()
        if key not in self._suffixes:
            pairs = byte.tolist(), stride.tolist()
            if source_type < 0:
                self._suffixes[key] = offset_suffixes(*pairs)
            else:
                named = self._field_suffixes(source_type, is_many, *pairs)
                self._suffixes[key] = _unique(named)
        return self._suffixes[key]

    def bytes_and_strides(self, allocation: int) -> tuple[I64, I32]:
        """Return byte and stride of each object of an allocation."""
        table, offsets = self._system.locations, self._system.problem.allocation_offsets
        span = slice(int(offsets[allocation]), int(offsets[allocation + 1]))
        return table.byte[span], table.stride[span]

    def source_type(self, allocation: int) -> tuple[int, bool]:
        """Return the source's type of an allocation (-1 if unknown), and whether many are there."""
        table = self._system.allocations
        kind, site = AllocationKind(table.kind[allocation]), int(table.site[allocation])
        type_id, found, is_many = int(table.type[allocation]), -1, kind in _BY_LOCATION
        if kind == AllocationKind.GLOBAL:
            found = int(self._program.globals.source_type[site])
        elif kind in _LOCALS or kind in _BY_LOCATION:
            found = self._variable_type(site, is_pointer=kind in _BY_LOCATION)
        if found < 0 and type_id >= 0:
            types = self._program.types
            while types.kind[type_id] == TypeKind.ARRAY:
                type_id, is_many = int(types.elements_of(type_id)[0]), True
            found = int(types.source_type[type_id])
        n_bytes, size = int(table.n_bytes[allocation]), self.fields.size(found) if found >= 0 else 0
        if size <= 0 or 0 <= n_bytes < size:
            return -1, False
        return found, is_many and (n_bytes < 0 or n_bytes % size == 0)

    def _variable_type(self, site: int, *, is_pointer: bool) -> int:
        """Return the source's type of the variable that a value is, or points to; or -1."""
        table = self._program.variables
        for row in self._program.variable_rows_of(site):
            if table.source_type[row] >= 0 and table.is_pointer[row] == is_pointer:
                return int(table.source_type[row])
        return -1

    def _field_suffixes(
        self, source_type: int, is_many: bool, byte: list[int], stride: list[int]
    ) -> list[str]:
        """Return each object by its field; the start, and what has no field, by its offset."""
        names = offset_suffixes(byte, stride)
        for i, (at, step) in enumerate(zip(byte, stride, strict=True)):
            found = self.fields.suffix(source_type, at, step, is_many=is_many) if at > 0 else None
            names[i] = names[i] if found is None else found
        return names

    def node(self, node: int) -> str | None:
        """Return the name of a node, a register, storage or result; helpers have none."""
        if node < self._program.n_values:
            return self.value(node)
        if (object := int(self.object_of_contents[node])) >= 0:
            return self.object(object)
        if (function := int(self.function_of_result[node])) >= 0:
            return f"{self.function(function)}.return"
        return None

    def nodes(self, nodes: I64) -> list[str]:
        """Return the names of nodes, nothing for helpers.

        Names are made function by function: arguments and instructions are in tables apart.
        """
        program, function = self._program, np.zeros(len(nodes), np.int64)
        row = nodes - program.bases[ValueKind.ARGUMENT]
        chosen = (row >= 0) & (row < len(program.arguments))
        offsets = program.function_table.argument_offsets
        function[chosen] = np.searchsorted(offsets, row[chosen], side="right") - 1
        row = nodes - program.bases[ValueKind.INSTRUCTION]
        chosen = (row >= 0) & (row < len(program.instructions))
        function[chosen] = program.instruction_function[row[chosen]]
        names = [""] * len(nodes)
        for i in np.argsort(function, kind="stable").tolist():
            names[i] = self.node(int(nodes[i])) or ""
        return names

    def value(self, value: int) -> str:
        """Return the name of a value: `@symbol` is the address, a constant is written out."""
        kind, row = self._program.locate(value)
        if kind == ValueKind.GLOBAL:
            return f"&{self.written.names[row]}"
        if kind in (ValueKind.ARGUMENT, ValueKind.INSTRUCTION):
            return self._register(kind, row)
        return str(self._program.value_view(value))

    def _register(self, kind: ValueKind, row: int) -> str:
        """Return the name of an argument or an instruction's result, after its function's."""
        table, function = self._program.function_table, self._function_at(kind, row)
        names = self._program.names.of_function(function)
        if kind == ValueKind.ARGUMENT:
            name = names.arguments[row - int(table.argument_offsets[function])]
        else:
            first = self._program.blocks.instruction_offsets[table.block_offsets[function]]
            name = names.instructions[row - int(first)]
        return f"{self.function(function)}.%{name}"

    def readable(self, node: int) -> str:
        """Return the name of a node for people: a register's variable, where it is one."""
        if node < self._program.n_values:
            kind, _ = self._program.locate(node)
            is_local = kind in (ValueKind.ARGUMENT, ValueKind.INSTRUCTION)
            if is_local and (variables := self._program.variables_of(node)):
                name = f"{self.function(self.function_of(node))}.{variables[0]}"
                return f"&{name}" if node in self._local_sites else name
        return self.node(node) or "a value on the way"

    def function(self, function: int) -> str:
        """Return the name of a function, by its row."""
        return self.written.names[int(self._program.function_table.value[function])]

    def function_of(self, value: int) -> int:
        """Return the function (row) that an argument or instruction belongs to."""
        return self._function_at(*self._program.locate(value))

    def _function_at(self, kind: ValueKind, row: int) -> int:
        if kind == ValueKind.INSTRUCTION:
            return int(self._program.instruction_function[row])
        offsets = self._program.function_table.argument_offsets
        return int(np.searchsorted(offsets, row, side="right")) - 1

    def span_row(self, value: int) -> int:
        """Return the row in the spans of where a value is made, or -1."""
        kind, row = self._program.locate(value)
        if kind == ValueKind.INSTRUCTION:
            return int(self._program.instructions.span[row])
        if kind == ValueKind.GLOBAL:
            return int(self._program.globals.span[row])
        if kind == ValueKind.ARGUMENT:
            function = self._program.function_table.value[self.function_of(value)]
            return int(self._program.globals.span[function])
        return -1

    def value_location(self, value: int) -> str | None:
        """Return where a value is made, as `file:line:column`, or None."""
        return self.location(self.span_row(value))

    @cached_property
    def object_of_contents(self) -> I32:
        """Per node: the first object whose contents it is, or -1."""
        contents = self._system.problem.contents
        found = np.full(self._system.problem.n_nodes, -1, np.int32)
        owners = np.flatnonzero(contents >= 0)[::-1]
        found[contents[owners]] = owners
        return found

    @cached_property
    def function_of_result(self) -> I32:
        """Per node: the function (row) whose result it is, or -1."""
        results = self._system.result_node
        found = np.full(self._system.problem.n_nodes, -1, np.int32)
        rows = np.flatnonzero(results >= 0)
        found[results[rows]] = rows
        return found

    def _site(self, kind: AllocationKind, site: int) -> str:
        """Return where an allocation was made, as its name says it."""
        if site < 0:
            return "nowhere"
        if kind in _BY_LOCATION:
            return self.value_location(site) or self.value(site)
        located, row = self._program.locate(site)
        if located == ValueKind.GLOBAL:
            return self.written.names[row]
        return self.function(self.function_of(site))

    @cached_property
    def _times(self) -> I32:
        """Per allocation: how many before it are of its kind, at its location."""
        table = self._system.allocations
        times = np.zeros(len(table), np.int32)
        seen: Counter[tuple[int, str]] = Counter()
        for row in np.flatnonzero(~np.isin(table.kind, _SYMBOLS + _LOCALS)).tolist():
            kind = AllocationKind(table.kind[row])
            key = int(kind), self._site(kind, int(table.site[row]))
            times[row] = seen[key]
            seen[key] += 1
        return times

    def _locals_of(self, function: int) -> dict[int, str]:
        """Return the names of a function's local storage, by allocation."""
        if function not in self._locals:
            seen: Counter[str] = Counter()
            names = {}
            for allocation in self._local_allocations[function]:
                name = self._local_name(function, allocation)
                names[allocation] = self._numbered(name, seen[name])
                seen[name] += 1
            self._locals[function] = names
        return self._locals[function]

    def _local_name(self, function: int, allocation: int) -> str:
        table = self._system.allocations
        site, kind = int(table.site[allocation]), AllocationKind(table.kind[allocation])
        if variables := self._program.variable_rows_of(site):
            return f"{self.function(function)}.{self.variable(function, variables[0])}"
        return f"{KIND_WORDS[kind]}@{self.value(site)}"

    def variable(self, function: int, row: int) -> str:
        """Return the name of a variable, by its row; no two of a function share it."""
        names = self._program.names
        index = names.variable_rows(function).tolist().index(row)
        name: str = names.of_function(function).variables[index]
        return name

    @cached_property
    def _local_sites(self) -> frozenset[int]:
        table = self._system.allocations
        return frozenset(table.site[np.isin(table.kind, _LOCALS)].tolist())

    @cached_property
    def _local_allocations(self) -> dict[int, list[int]]:
        """The allocations that are local storage of each function."""
        table = self._system.allocations
        found: dict[int, list[int]] = {}
        for row in np.flatnonzero(np.isin(table.kind, _LOCALS)).tolist():
            found.setdefault(self.function_of(int(table.site[row])), []).append(row)
        return found

    def local_allocations(self, function: int) -> dict[int, str]:
        """Return the local storage of a function by allocation, with the names."""
        return self._locals_of(function) if function in self._local_allocations else {}

    @staticmethod
    def _numbered(name: str, times: int) -> str:
        return f"{name}~{times + 1}" if times else name


def offset_suffixes(byte: list[int], stride: list[int]) -> list[str]:
    """Return the objects of one layout by their offsets, no two alike."""
    starts = [b - s if s else b for b, s in zip(byte, stride, strict=True)]
    arrays = Counter(start for start, s in zip(starts, stride, strict=True) if s)
    names = [
        _suffix(b, start, s, arrays[start])
        for b, start, s in zip(byte, starts, stride, strict=True)
    ]
    return _unique(names)


def _unique(names: list[str]) -> list[str]:
    """Return names, the second of one name with `#2` behind it."""
    seen: Counter[str] = Counter()
    for i, name in enumerate(names):
        seen[name] += 1
        names[i] = name if seen[name] == 1 else f"{name}#{seen[name]}"
    return names


def _suffix(byte: int, start: int, stride: int, n_arrays: int) -> str:
    if byte == UNKNOWN_OFFSET:
        return "+?"
    offset = f"+{start}" if start else ""
    if stride:
        return f"{offset}[]" if n_arrays == 1 else f"{offset}[{stride}]"
    return offset
