"""From the tables `m` to the columns of a `Program`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kleene.base.arrays import I32, I64, offsets_of, ragged
from kleene.base.errors import SourceError
from kleene.frontends.c.reader import debug, tables
from kleene.frontends.c.reader.source_types import SourceTypeBuilder
from kleene.ir.canonical import without_unused_constants
from kleene.ir.codes import ConstantKind, Flag, GlobalFlag, TypeFlag, TypeKind, ValueKind
from kleene.ir.layout import lay_out
from kleene.ir.program import Program
from kleene.ir.tables import (
    AddressPoints,
    Arguments,
    Bindings,
    Blocks,
    Bundles,
    Constants,
    Functions,
    Globals,
    Instructions,
    Notices,
    Passed,
    Strings,
    Types,
    Variables,
)

_DEEPEST = 50  # types within types that are written
_MAX_DIGITS = len(str(-(1 << 63)))
_WORD_OF = {
    int(ConstantKind.NULL): b"null",
    int(ConstantKind.UNDEF): b"undef",
    int(ConstantKind.POISON): b"poison",
    int(ConstantKind.ZERO): b"zeroinitializer",
}


def unread(message: str) -> SourceError:
    """Return the error: the bitcode is LLVM's own, so the fault is ours."""
    note = "this is a fault of Kleene's reader: please report it with the input"
    return SourceError(None, "c/unread", message, note)


def columns(
    texts: list[bytes],
    nodes: I64,
    m: I64,
    quoted: Callable[[int], bytes],
    points: Sequence[tuple[int, int, int]],
) -> Program:
    """Return the program that was read into `m`.

    Strings are given by symbol, plain and as metadata, and address points of virtual tables: the
    row of the global, the byte, and what the type is, as metadata.
    """
    return _Columns(texts, nodes, m, quoted).program(points)


class _Columns:
    """The tables of one program, and what is looked up in several of them."""

    def __init__(
        self, texts: list[bytes], nodes: I64, m: I64, quoted: Callable[[int], bytes]
    ) -> None:
        self._texts, self._node_table, self._m = texts, nodes, m
        self._quoted = quoted
        self._symbols: dict[bytes, int] = {}
        self._globals = self._rows(tables.GLOBALS, tables.N_GLOBALS)
        self._type_rows = self._rows(tables.TYPES, tables.N_TYPES)
        self._functions = self._rows(tables.FUNCTIONS, tables.N_FUNCTIONS)
        self._blocks = self._rows(tables.BLOCKS, tables.N_BLOCKS)
        counts = (tables.N_GLOBALS, tables.N_CONSTANTS, tables.N_ARGUMENTS, tables.N_BLOCKS)
        self._bases = np.cumsum([0, *(m[count] for count in counts)])
        self._global_of = np.full(len(self._texts), -1, np.int64)
        self._global_of[self._globals[:, tables.G_NAME]] = np.arange(len(self._globals))

    def program(self, points: Sequence[tuple[int, int, int]]) -> Program:
        """Return all of it."""
        nodes = self._node_table
        builder = debug.SpanBuilder(nodes, self._decoded, self._add)
        described = SourceTypeBuilder(nodes, self._texts, self._add)
        rows = self._rows(tables.INSTRUCTIONS, tables.N_INSTRUCTIONS)
        spans = builder.locations(self._nodes(rows[:, tables.I_DEBUG]))
        variables, bindings = self._variables(builder, described)
        data_layout = self._text(tables.LAYOUT)
        program = Program(
            name=self._text(tables.SOURCE_NAME),
            triple=self._text(tables.TRIPLE),
            data_layout=data_layout,
            types=self._types(data_layout, described),
            globals=self._global_table(builder, described),
            function_table=self._function_table(),
            arguments=self._arguments(),
            blocks=self._block_table(),
            instructions=self._instructions(rows, spans),
            constants=self._constants(),
            variables=variables,
            bindings=bindings,
            bundles=self._bundles(),
            passed=self._passed(),
            address_points=self._address_points(points),
            notice_table=self._notices(),
            spans=builder.table(),
            source_types=described.table(),
            strings=Strings.of([b"", *self._texts[1:]]),
        )
        program = without_unused_constants(program)  # many are metadata's alone
        taken = program.address_taken() * np.uint32(GlobalFlag.ADDRESS_TAKEN)
        flags = program.globals.flags | taken.astype(np.uint32)
        return _read_only(replace(program, globals=replace(program.globals, flags=flags)))

    def _rows(self, base: int, count: int) -> I64:
        return tables.table_of(self._m, base, int(self._m[count]))

    def _cells(self, base: int, count: int) -> I64:
        return self._rows(base, count)[:, 0]

    def _decoded(self, symbol: int) -> str:
        return self._texts[symbol].decode(errors="replace")

    def _text(self, cell: int) -> str:
        return self._decoded(self._m[cell])

    def _add(self, text: str | bytes) -> int:
        """Return a symbol for a text of our own."""
        raw = text.encode() if isinstance(text, str) else text
        if not raw:
            return 0
        if raw not in self._symbols:
            self._symbols[raw] = len(self._texts)
            self._texts.append(raw)
        return self._symbols[raw]

    def _text_symbol(self, number: int) -> int:
        """Return the symbol of metadata's text, or of one that its number describes."""
        if number >= 0:
            return self._add(self._quoted(number))
        return self._add(self._written(number))

    def _written(self, number: int) -> bytes:
        """Return a text that only its number describes: see `tables.A_NODE`."""
        if number == tables.A_NODE:
            return b"!"
        if tables.INSTRUCTION_TEXT < number <= tables.NAMELESS_TEXT:
            return b"!%d" % (tables.NAMELESS_TEXT - number)
        if number <= tables.CONSTANT_TEXT:
            return b"constant of record %d" % (tables.CONSTANT_TEXT - number)
        if number <= tables.INSTRUCTION_TEXT:
            return b"instruction of record %d" % (tables.INSTRUCTION_TEXT - number)
        return self._value_text(tables.VALUE_TEXT - number)

    def _value_text(self, tagged: int) -> bytes:
        """Return a value as LLVM prints it where it is metadata: `i32 1`, `ptr @x`, `ptr %x`."""
        kind, row = tagged >> tables.TAG_SHIFT, tagged & tables.TAG_MASK
        if kind == ValueKind.GLOBAL:
            space = self._globals[self._global_of[row], tables.G_SPACE]
            return b"ptr%s @%s" % (_space_text(space), self._texts[row])
        if kind != ValueKind.CONSTANT:
            if kind == ValueKind.ARGUMENT:
                local = self._rows(tables.ARGUMENTS, tables.N_ARGUMENTS)[row]
                type_id, name = local[[tables.A_TYPE, tables.A_NAME]].tolist()
            else:
                local = self._rows(tables.INSTRUCTIONS, tables.N_INSTRUCTIONS)[row]
                type_id, name = local[[tables.I_TYPE, tables.I_NAME]].tolist()
            return b"%s %%%s" % (self._type_text(type_id), self._texts[name])
        constant = self._rows(tables.CONSTANTS, tables.N_CONSTANTS)[row]
        text = _WORD_OF.get(int(constant[tables.C_KIND]), b"...")
        if constant[tables.C_KIND] == ConstantKind.INT:
            payload = int(constant[tables.C_PAYLOAD])
            is_wide = constant[tables.C_FLAGS] & Flag.WIDE
            text = self._texts[payload] if is_wide else b"%d" % payload
        return b"%s %s" % (self._type_text(int(constant[tables.C_TYPE])), text)

    def _type_text(self, type_id: int, depth: int = 0) -> bytes:
        """Return a type as LLVM prints it; what lies very deep is left out."""
        kind, flags, name, bits, first, count = self._type_rows[type_id].tolist()
        pool = self._cells(tables.ELEMENTS, tables.N_ELEMENTS)[first : first + count].tolist()
        if depth > _DEEPEST:
            return b"..."
        if kind == TypeKind.OTHER and type_id >= len(tables.SIMPLE_TYPES):
            end = 2 + pool[1]
            words = [b'"%s"' % self._texts[pool[0]]]
            words += [self._type_text(inner, depth + 1) for inner in pool[2:end]]
            words += [b"%d" % number for number in pool[end:]]
            return b"target(%s)" % b", ".join(words)
        inner = [self._type_text(element, depth + 1) for element in pool] if not name else []
        match kind:
            case TypeKind.INT:
                return b"i%d" % bits
            case TypeKind.POINTER:
                return b"ptr" + _space_text(bits)
            case TypeKind.ARRAY:
                return b"[%d x %s]" % (bits, inner[0])
            case TypeKind.VECTOR:
                scalable = b"vscale x " if flags & TypeFlag.SCALABLE else b""
                return b"<%s%d x %s>" % (scalable, bits, inner[0])
            case TypeKind.FUNCTION:
                dots = [b"..."] if flags & TypeFlag.VARARG else []
                return b"%s (%s)" % (inner[0], b", ".join([*inner[1:], *dots]))
            case TypeKind.STRUCT if name:
                return b"%%%s" % (self._texts[name - 1] if name > 0 else b"%d" % (-name - 1))
            case TypeKind.STRUCT:
                body = b"{ %s }" % b", ".join(inner) if inner else b"{}"
                return b"<%s>" % body if flags & TypeFlag.PACKED else body
            case _:
                return tables.SIMPLE_TYPES[type_id].encode()

    def _values(self, tagged: I64) -> I32:
        """Return the value ids of tagged values; -1 stays -1."""
        kind, index = tagged >> tables.TAG_SHIFT, tagged & tables.TAG_MASK
        known = tagged >= 0
        if (kind > ValueKind.INSTRUCTION).any():
            raise unread("a local is used outside its function")
        values = np.where(known, self._bases[np.where(known, kind, 0)] + index, -1)
        of_global = known & (kind == ValueKind.GLOBAL)
        values[of_global] = self._global_of[index[of_global]]
        if (values[known] < 0).any():
            raise unread("a global is used but not declared")
        return values.astype(np.int32)

    def _types(self, data_layout: str, described: SourceTypeBuilder) -> Types:
        rows = self._type_rows
        kind, flags, _, bits, first, count = rows.T
        offsets, places = _ranges(first, np.where(kind == TypeKind.OTHER, 0, count))
        elements = self._cells(tables.ELEMENTS, tables.N_ELEMENTS)[places]
        names = [self._type_name(row, *r) for row, r in enumerate(rows.tolist())]
        size, align, places = lay_out(kind, flags, bits, offsets, elements, data_layout)
        structs = np.flatnonzero((kind == TypeKind.STRUCT) & (size > 0)).tolist()
        source = np.full(len(rows), -1)
        for row in structs:
            source[row] = described.of_struct(self._texts[names[row]], int(size[row]))
        sizes = size, align, offsets, elements, places
        return Types.of_columns(kind, flags, names, bits, *sizes, source)

    def _type_name(self, type_id: int, kind: int, _flags: int, name: int, *_rest: int) -> int:
        """Return the symbol of a type's name; see types.intern_type for how it is kept."""
        if kind in (TypeKind.FLOAT, TypeKind.OTHER) and type_id < len(tables.SIMPLE_TYPES):
            return self._add(tables.SIMPLE_TYPES[type_id])
        if kind == TypeKind.OTHER:
            return self._add(self._type_text(type_id))
        if name < 0:
            return self._add(str(-name - 1))
        return max(name - 1, 0)

    def _global_table(self, spans: debug.SpanBuilder, described: SourceTypeBuilder) -> Globals:
        rows, nodes = self._globals, self._node_table
        declared = debug.variable_nodes(nodes, self._nodes(rows[:, tables.G_DEBUG]))
        flags = rows[:, tables.G_FLAGS] | self._list_flags(rows[:, tables.G_ATTRIBUTES])
        return Globals.of_columns(
            *rows.T[: tables.G_FLAGS],
            flags,
            *rows.T[tables.G_TYPE : tables.G_INITIALIZER],
            self._values(rows[:, tables.G_INITIALIZER]),
            rows[:, tables.G_FUNCTION],
            debug.names(nodes, declared),
            spans.declarations(declared),
            rows[:, tables.G_SECTION],
            described.of_globals(debug.types(nodes, declared)),
        )

    def _nodes(self, numbers: I64) -> I64:
        """Return the metadata nodes of these numbers; -1 for what is none."""
        return np.where(numbers < len(self._node_table) - 1, numbers, -1)

    def _list_flags(self, number: I64) -> I64:
        """Return the flags of each attribute list; none for -1."""
        table = tables.table_of(self._m, tables.LIST_FLAGS, int(self._m[tables.N_LISTS]))[:, 0]
        return np.where(number >= 0, table[number], 0)

    def _function_table(self) -> Functions:
        function, personality, block, argument = self._functions.T
        return Functions.of_columns(
            function,
            self._values(personality),
            np.append(block, len(self._blocks)),
            np.append(argument, self._m[tables.N_ARGUMENTS]),
        )

    def _arguments(self) -> Arguments:
        return Arguments.of_columns(*self._rows(tables.ARGUMENTS, tables.N_ARGUMENTS).T)

    def _block_table(self) -> Blocks:
        name, function, first = self._blocks.T
        return Blocks.of_columns(name, function, np.append(first, self._m[tables.N_INSTRUCTIONS]))

    def _instructions(self, rows: I64, spans: I32) -> Instructions:
        operands = self._cells(tables.OPERANDS, tables.N_OPERANDS)
        groups = self._list_flags(rows[:, tables.I_ATTRIBUTES])
        flags = rows[:, tables.I_FLAGS].copy()
        flags[groups & GlobalFlag.NORETURN != 0] |= Flag.NORETURN
        flags[groups & GlobalFlag.RETURNS_TWICE != 0] |= Flag.RETURNS_TWICE
        return Instructions.of_columns(
            *rows.T[: tables.I_FLAGS],
            flags,
            *rows.T[tables.I_TYPE : tables.I_DEBUG],
            spans,
            np.append(rows[:, tables.I_FIRST], len(operands)),
            self._values(operands),
        )

    def _constants(self) -> Constants:
        rows = self._rows(tables.CONSTANTS, tables.N_CONSTANTS)
        kind, flags = rows[:, tables.C_KIND], rows[:, tables.C_FLAGS].copy()
        payload = rows[:, tables.C_PAYLOAD].copy()
        is_wide = (flags & Flag.WIDE != 0) & (kind == ConstantKind.INT)
        for row in np.flatnonzero(is_wide):  # of a wide type, but the number may not be
            text = self._texts[payload[row]]
            if len(text) <= _MAX_DIGITS and -(1 << 63) <= (number := int(text)) < 1 << 63:
                flags[row], payload[row] = 0, number
        for row in np.flatnonzero(np.isin(kind, (ConstantKind.METADATA, ConstantKind.UNKNOWN))):
            payload[row] = self._text_symbol(payload[row])
        for row in np.flatnonzero(kind == ConstantKind.WRAPPED):
            payload[row] = self._add(tables.WRAPPERS[payload[row]])
        offsets, places = _ranges(rows[:, tables.C_FIRST], rows[:, tables.C_COUNT])
        operands = self._cells(tables.CONSTANT_OPERANDS, tables.N_CONSTANT_OPERANDS)[places]
        return Constants.of_columns(
            kind,
            rows[:, tables.C_OPCODE],
            flags,
            rows[:, tables.C_TYPE],
            rows[:, tables.C_ABOUT],
            payload,
            offsets,
            self._values(operands),
        )

    def _variables(
        self, spans: debug.SpanBuilder, described: SourceTypeBuilder
    ) -> tuple[Variables, Bindings]:
        nodes = self._node_table
        rows = self._rows(tables.BINDINGS, tables.N_BINDINGS)
        if (self._nodes(rows[:, tables.V_VARIABLE]) < 0).any():
            raise unread("a debug record names a variable that is not there")
        keys = rows[:, tables.V_FUNCTION] * len(nodes) + rows[:, tables.V_VARIABLE]
        unique, variable = _in_order(keys)
        node = unique % max(len(nodes), 1)
        variables = Variables.of_columns(
            debug.names(nodes, node),
            unique // max(len(nodes), 1),
            debug.argument_numbers(nodes, node),
            spans.declarations(node),
            *described.of_variables(debug.types(nodes, node)),
        )
        kind, exact, value, before, *_ = rows.T
        bindings = Bindings.of_columns(variable, kind, exact, self._values(value), before)
        return variables, bindings

    def _bundles(self) -> Bundles:
        instruction, tag, first = self._rows(tables.BUNDLES, tables.N_BUNDLES).T
        operands = self._cells(tables.BUNDLE_OPERANDS, tables.N_BUNDLE_OPERANDS)
        first = np.append(first, len(operands))
        return Bundles.of_columns(instruction, tag, first, self._values(operands))

    def _passed(self) -> Passed:
        return Passed.of_columns(*self._rows(tables.PASSED, tables.N_PASSED).T)

    def _address_points(self, points: Sequence[tuple[int, int, int]]) -> AddressPoints:
        ordered = sorted(points, key=lambda point: point[0])
        found = [(row, byte, self._text_symbol(text)) for row, byte, text in ordered]
        return AddressPoints.of_columns(*np.array(found, np.int64).reshape(-1, 3).T)

    def _notices(self) -> Notices:
        numbers, counts = self._rows(tables.NOTICES, tables.N_NOTICES).T
        texts = [n if n > 0 else self._text_symbol(n) for n in numbers.tolist()]
        return Notices.of_columns(texts, counts.copy())


def _space_text(space: int) -> bytes:
    return b" addrspace(%d)" % space if space else b""


def _in_order(keys: I64) -> tuple[I64, I64]:
    """Return each key once, by first appearance, and the place of every key among those."""
    unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return unique[order], place[inverse]


def _ranges(first: I64, count: I64) -> tuple[I32, I64]:
    """Return CSR offsets for ranges of a pool, and the pool's places in their order."""
    return offsets_of(count).astype(np.int32), ragged(first, first + count)[1]


def _read_only(program: Program) -> Program:
    """Return the program with its columns as the cache gives them: loops are compiled for one."""
    for table in program.tables().values():
        for _, column in table.columns():
            column.flags.writeable = False
    return program
