"""From the reader's heap to the columns of a `Program`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from kleene.base.arrays import I32, I64, offsets_of, ragged
from kleene.frontends.c.reader import debug, state
from kleene.frontends.c.reader.decode import narrow, real_bits
from kleene.frontends.c.reader.faults import unread
from kleene.frontends.c.reader.words import SIMPLE_TYPES, WORDS
from kleene.ir.codes import ConstantKind, Flag, GlobalFlag, TypeFlag, TypeKind, ValueKind
from kleene.ir.layout import lay_out
from kleene.ir.program import Program
from kleene.ir.tables import (
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
    Table,
    Types,
    Variables,
)

_DEEPEST = 50
_WORD_OF = {
    int(ConstantKind.NULL): b"null",
    int(ConstantKind.UNDEF): b"undef",
    int(ConstantKind.POISON): b"poison",
    int(ConstantKind.ZERO): b"zeroinitializer",
}


def assemble(texts: list[bytes], nodes: I64, heap: I64, excerpt: Callable[[int], bytes]) -> Program:
    """Return the program that was read into `heap`, given texts by symbol and by excerpt."""
    return _Assembly(texts, nodes, heap, excerpt).program()


class _Assembly:
    """The tables of one heap, and what is looked up in several of them."""

    def __init__(
        self, texts: list[bytes], nodes: I64, heap: I64, excerpt: Callable[[int], bytes]
    ) -> None:
        self._texts, self._node_table, self._heap = texts, nodes, heap
        self._text_of_excerpt = excerpt
        self._symbols: dict[bytes, int] = {}
        self._words = list(WORDS)
        self._globals = self._rows(state.GLOBALS, state.N_GLOBALS)
        self._type_rows = self._rows(state.TYPES, state.N_TYPES)
        self._functions = self._rows(state.FUNCTIONS, state.N_FUNCTIONS)
        self._blocks = self._rows(state.BLOCKS, state.N_BLOCKS)
        counts = (state.N_GLOBALS, state.N_CONSTANTS, state.N_ARGUMENTS, state.N_BLOCKS)
        self._bases = np.cumsum([0, *(heap[count] for count in counts)])
        self._global_of = np.full(len(self._texts), -1, np.int64)
        self._global_of[self._globals[:, state.G_NAME]] = np.arange(len(self._globals))

    def program(self) -> Program:
        """Return all of it."""
        nodes = self._node_table
        places = debug.Places(nodes, lambda s: self._texts[s].decode(errors="replace"), self._add)
        rows = self._rows(state.INSTRUCTIONS, state.N_INSTRUCTIONS)
        spans = places.locations(self._nodes(rows[:, state.I_DEBUG]))
        variables, bindings = self._variables(places)
        data_layout = self._text(state.LAYOUT)
        program = Program(
            name=self._text(state.SOURCE_NAME),
            triple=self._text(state.TRIPLE),
            data_layout=data_layout,
            types=self._types(data_layout),
            globals=self._global_table(places),
            function_table=self._function_table(),
            arguments=self._arguments(),
            blocks=self._block_table(),
            instructions=self._instructions(rows, spans),
            constants=self._constants(),
            variables=variables,
            bindings=bindings,
            bundles=self._bundles(),
            passed=self._passed(),
            notice_table=self._notices(),
            spans=places.table(),
            strings=Strings.of([b"", *self._texts[1:]]),
        )
        taken = program.address_taken() * np.uint32(GlobalFlag.ADDRESS_TAKEN)
        flags = program.globals.flags | taken.astype(np.uint32)
        return _read_only(replace(program, globals=replace(program.globals, flags=flags)))

    def _rows(self, base: int, count: int) -> I64:
        return state.table_of(self._heap, base, int(self._heap[count]))

    def _cells(self, base: int, count: int) -> I64:
        return self._rows(base, count)[:, 0]

    def _text(self, cell: int) -> str:
        return self._texts[self._heap[cell]].decode(errors="replace")

    def _add(self, text: str | bytes) -> int:
        """Return a symbol for a text of our own."""
        raw = text.encode() if isinstance(text, str) else text
        if not raw:
            return 0
        if raw not in self._symbols:
            self._symbols[raw] = len(self._texts)
            self._texts.append(raw)
        return self._symbols[raw]

    def _excerpt(self, number: int) -> int:
        """Return the symbol of an excerpt's text."""
        if number >= 0:
            return self._add(self._text_of_excerpt(number))
        return self._add(self._written(number))

    def _written(self, number: int) -> bytes:
        """Return a text that only its number describes: see `state.A_NODE`."""
        if number == state.A_NODE:
            return b"!"
        if number <= state.CONSTANT_TEXT:
            return b"constant of record %d" % (state.CONSTANT_TEXT - number)
        if number <= state.INSTRUCTION_TEXT:
            return b"instruction of record %d" % (state.INSTRUCTION_TEXT - number)
        return self._value_text(state.VALUE_TEXT - number)

    def _value_text(self, tagged: int) -> bytes:
        """Return a value as LLVM prints it where it is metadata: `i32 1`, `ptr @x`, `ptr %x`."""
        kind, row = tagged >> state.TAG_SHIFT, tagged & state.TAG_MASK
        if kind == ValueKind.GLOBAL:
            space = self._globals[self._global_of[row], state.G_SPACE]
            return b"ptr%s @%s" % (_space_text(space), self._texts[row])
        if kind != ValueKind.CONSTANT:
            is_argument = kind == ValueKind.ARGUMENT
            table, count = (
                (state.ARGUMENTS, state.N_ARGUMENTS)
                if is_argument
                else (state.INSTRUCTIONS, state.N_INSTRUCTIONS)
            )
            columns = (state.A_TYPE, state.A_NAME) if is_argument else (state.I_TYPE, state.I_NAME)
            type_id, name = self._rows(table, count)[row, columns].tolist()
            return b"%s %%%s" % (self._type_text(type_id), self._texts[name])
        constant = self._rows(state.CONSTANTS, state.N_CONSTANTS)[row]
        text = _WORD_OF.get(int(constant[state.C_KIND]), b"...")
        if constant[state.C_KIND] == ConstantKind.INT:
            payload = int(constant[state.C_PAYLOAD])
            is_wide = constant[state.C_FLAGS] & Flag.WIDE
            text = self._texts[payload] if is_wide else b"%d" % payload
        return b"%s %s" % (self._type_text(int(constant[state.C_TYPE])), text)

    def _type_text(self, type_id: int, depth: int = 0) -> bytes:
        """Return a type as LLVM prints it; what lies very deep is left out."""
        kind, flags, name, bits, first, count = self._type_rows[type_id].tolist()
        pool = self._cells(state.ELEMENTS, state.N_ELEMENTS)[first : first + count].tolist()
        if depth > _DEEPEST:
            return b"..."
        if kind == TypeKind.OTHER and type_id >= len(SIMPLE_TYPES):
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
                return SIMPLE_TYPES[type_id].encode()

    def _word(self, number: int) -> int:
        """Return the symbol of a word."""
        return self._add(self._words[number - 1])

    def _number(self, convert: Callable[[bytes], int | None], symbol: int) -> int | None:
        """Return the number that a symbol's text writes, if `convert` can hold it."""
        text = self._texts[symbol]
        try:
            return convert(text)
        except ValueError:
            raise unread(f"{text[:80].decode(errors='replace')} is no number") from None

    def _values(self, tagged: I64) -> I32:
        """Return the value ids of tagged values; -1 stays -1."""
        kind, index = tagged >> state.TAG_SHIFT, tagged & state.TAG_MASK
        known = tagged >= 0
        if (kind > ValueKind.INSTRUCTION).any():
            raise unread("a local is used outside its function")
        values = np.where(known, self._bases[np.where(known, kind, 0)] + index, -1)
        of_global = known & (kind == ValueKind.GLOBAL)
        values[of_global] = self._global_of[index[of_global]]
        if (values[known] < 0).any():
            raise unread("a global is used but not declared")
        return values.astype(np.int32)

    def _types(self, data_layout: str) -> Types:
        rows = self._type_rows
        kind = rows[:, state.T_KIND].astype(np.uint8)
        flags = rows[:, state.T_FLAGS].astype(np.uint8)
        bits = rows[:, state.T_BITS].copy()
        for row in np.flatnonzero(bits < 0):  # an array's count that took a symbol
            bits[row] = self._number(narrow, -bits[row] - 1) or 0
        pool = self._cells(state.ELEMENTS, state.N_ELEMENTS)
        count = np.where(kind == TypeKind.OTHER, 0, rows[:, state.T_COUNT])
        offsets, places = _ranges(rows[:, state.T_FIRST], count)
        elements = pool[places].astype(np.int32)
        size, align, field_offset = lay_out(kind, flags, bits, offsets, elements, data_layout)
        names = np.array(
            [self._type_name(row, *r) for row, r in enumerate(rows.tolist())], np.int32
        )
        return Types(kind, flags, names, bits, size, align, offsets, elements, field_offset)

    def _type_name(self, type_id: int, kind: int, _flags: int, name: int, *_rest: int) -> int:
        """Return the symbol of a type's name; see types.intern_type for how it is kept."""
        if kind in (TypeKind.FLOAT, TypeKind.OTHER) and type_id < len(SIMPLE_TYPES):
            return self._add(SIMPLE_TYPES[type_id])
        if kind == TypeKind.OTHER:
            return self._excerpt(name - 1) if name else self._add(self._type_text(type_id))
        if name < 0:
            return self._add(str(-name - 1))
        return max(name - 1, 0)

    def _global_table(self, places: debug.Places) -> Globals:
        rows, nodes = self._globals, self._node_table
        declared = debug.variable_nodes(nodes, self._nodes(rows[:, state.G_DEBUG]))
        flags = rows[:, state.G_FLAGS] | self._group_flags(rows[:, state.G_GROUP])
        return Globals(
            name=_column(rows, state.G_NAME),
            kind=_column(rows, state.G_KIND, np.uint8),
            linkage=_column(rows, state.G_LINKAGE, np.uint8),
            flags=flags.astype(np.uint32),
            type=_column(rows, state.G_TYPE),
            space=_column(rows, state.G_SPACE),
            align=_column(rows, state.G_ALIGN, np.uint8),
            initializer=self._values(rows[:, state.G_INITIALIZER]),
            function=_column(rows, state.G_FUNCTION),
            source_name=debug.names(nodes, declared),
            span=places.declarations(declared),
        )

    def _nodes(self, numbers: I64) -> I64:
        """Return the metadata nodes of these numbers; -1 for what is none."""
        return np.where(numbers < len(self._node_table) - 1, numbers, -1)

    def _group_flags(self, group: I64) -> I64:
        """Return the flags of each attribute group; none for -1."""
        table = state.table_of(self._heap, state.GROUPS, int(self._heap[state.N_GROUPS]))[:, 0]
        known = (group >= 0) & (group < len(table))
        flags = np.zeros_like(group)
        flags[known] = table[group[known]]
        return flags

    def _function_table(self) -> Functions:
        rows = self._functions
        blocks = np.append(rows[:, state.F_FIRST_BLOCK], len(self._blocks))
        arguments = np.append(rows[:, state.F_FIRST_ARGUMENT], self._heap[state.N_ARGUMENTS])
        return Functions(
            value=_column(rows, state.F_GLOBAL),
            personality=self._values(rows[:, state.F_PERSONALITY]),
            block_offsets=blocks.astype(np.int32),
            argument_offsets=arguments.astype(np.int32),
        )

    def _arguments(self) -> Arguments:
        rows = self._rows(state.ARGUMENTS, state.N_ARGUMENTS)
        return Arguments(
            type=_column(rows, state.A_TYPE),
            name=_column(rows, state.A_NAME),
            flags=_column(rows, state.A_FLAGS, np.uint16),
            passing=_column(rows, state.A_PASSING, np.uint8),
            passed_type=_column(rows, state.A_PASSED),
        )

    def _block_table(self) -> Blocks:
        rows = self._blocks
        first = np.append(rows[:, state.B_FIRST], self._heap[state.N_INSTRUCTIONS])
        return Blocks(
            name=_column(rows, state.B_NAME),
            function=_column(rows, state.B_FUNCTION),
            instruction_offsets=first.astype(np.int32),
        )

    def _instructions(self, rows: I64, spans: I32) -> Instructions:
        operands = self._cells(state.OPERANDS, state.N_OPERANDS)
        groups = self._group_flags(rows[:, state.I_GROUP])
        flags = rows[:, state.I_FLAGS].copy()
        flags[groups & GlobalFlag.NORETURN != 0] |= Flag.NORETURN
        flags[groups & GlobalFlag.RETURNS_TWICE != 0] |= Flag.RETURNS_TWICE
        return Instructions(
            opcode=_column(rows, state.I_OPCODE, np.uint8),
            sub=_column(rows, state.I_SUB, np.uint8),
            align=_column(rows, state.I_ALIGN, np.uint8),
            flags=flags.astype(np.uint32),
            type=_column(rows, state.I_TYPE),
            about=_column(rows, state.I_ABOUT),
            block=_column(rows, state.I_BLOCK),
            name=_column(rows, state.I_NAME),
            span=spans,
            offsets=np.append(rows[:, state.I_FIRST], len(operands)).astype(np.int32),
            operands=self._values(operands),
        )

    def _constants(self) -> Constants:
        rows = self._rows(state.CONSTANTS, state.N_CONSTANTS)
        kind, flags = rows[:, state.C_KIND], rows[:, state.C_FLAGS].copy()
        payload = rows[:, state.C_PAYLOAD].copy()
        for row in np.flatnonzero(flags & Flag.WIDE):  # numbers that are still texts
            convert = real_bits if kind[row] == ConstantKind.FLOAT else narrow
            number = self._number(convert, payload[row])
            flags[row] = Flag.WIDE if number is None else 0
            payload[row] = payload[row] if number is None else number
        for row in np.flatnonzero(np.isin(kind, (ConstantKind.METADATA, ConstantKind.UNKNOWN))):
            payload[row] = self._excerpt(payload[row])
        for row in np.flatnonzero(kind == ConstantKind.WRAPPED):
            payload[row] = self._word(payload[row])
        offsets, places = _ranges(rows[:, state.C_FIRST], rows[:, state.C_COUNT])
        operands = self._cells(state.CONSTANT_OPERANDS, state.N_CONSTANT_OPERANDS)[places]
        for row in np.flatnonzero(kind == ConstantKind.BLOCK_ADDRESS):
            self._find_block(operands[offsets[row] : offsets[row + 1]])
        return Constants(
            kind=kind.astype(np.uint8),
            opcode=_column(rows, state.C_OPCODE, np.uint8),
            flags=flags.astype(np.uint32),
            type=_column(rows, state.C_TYPE),
            about=_column(rows, state.C_ABOUT),
            payload=payload,
            offsets=offsets,
            operands=self._values(operands),
        )

    def _find_block(self, operands: I64) -> None:
        """Resolve the block of a blockaddress in place, if it is still a name."""
        if operands[1] < state.TAG_FOREIGN:
            return
        holder = self._globals[self._global_of[operands[0] & state.TAG_MASK]]
        if holder[state.G_FUNCTION] < 0:
            raise unread("a blockaddress names something else than a function")
        function = self._functions[holder[state.G_FUNCTION]]
        first = function[state.F_FIRST_BLOCK]
        rows = self._blocks[first : function[state.F_END_BLOCK]]
        wanted = operands[1] & state.TAG_MASK
        if wanted & state.FOREIGN_NUMBER:
            found = rows[:, state.B_NUMBER] == wanted - state.FOREIGN_NUMBER
        else:
            found = (rows[:, state.B_NAME] == wanted) & (rows[:, state.B_NUMBER] < 0)
        if not found.any():
            raise unread("a blockaddress names a block that is not there")
        operands[1] = state.TAG_BLOCK + first + np.flatnonzero(found)[0]

    def _variables(self, places: debug.Places) -> tuple[Variables, Bindings]:
        nodes = self._node_table
        rows = self._rows(state.BINDINGS, state.N_BINDINGS)
        if (self._nodes(rows[:, state.V_VARIABLE]) < 0).any():
            raise unread("a debug record names a variable that is not there")
        keys = rows[:, state.V_FUNCTION] * len(nodes) + rows[:, state.V_VARIABLE]
        unique, variable = _in_order(keys)
        node = unique % max(len(nodes), 1)
        variables = Variables(
            name=debug.names(nodes, node),
            function=(unique // max(len(nodes), 1)).astype(np.int32),
            argument=debug.argument_numbers(nodes, node),
            span=places.declarations(node),
        )
        bindings = Bindings(
            variable=variable.astype(np.int32),
            kind=_column(rows, state.V_KIND, np.uint8),
            exact=_column(rows, state.V_EXACT, np.uint8),
            value=self._values(rows[:, state.V_VALUE]),
            before=_column(rows, state.V_BEFORE),
        )
        return variables, bindings

    def _bundles(self) -> Bundles:
        rows = self._rows(state.BUNDLES, state.N_BUNDLES)
        operands = self._cells(state.BUNDLE_OPERANDS, state.N_BUNDLE_OPERANDS)
        return Bundles(
            instruction=_column(rows, state.U_INSTRUCTION),
            tag=_column(rows, state.U_TAG),
            offsets=np.append(rows[:, state.U_FIRST], len(operands)).astype(np.int32),
            operands=self._values(operands),
        )

    def _passed(self) -> Passed:
        rows = self._rows(state.PASSED, state.N_PASSED)
        return Passed(
            operand=_column(rows, state.P_OPERAND),
            passing=_column(rows, state.P_PASSING, np.uint8),
            type=_column(rows, state.P_TYPE),
        )

    def _notices(self) -> Notices:
        rows = self._rows(state.NOTICES, state.N_NOTICES)
        texts = [
            self._excerpt(symbol)
            if symbol <= state.INSTRUCTION_TEXT
            else self._word(-symbol - 1)
            if symbol < 0
            else symbol or self._add("no word")
            for symbol in rows[:, state.N_TEXT].tolist()
        ]
        return Notices(text=np.array(texts, np.int32), count=rows[:, state.N_COUNT].copy())


def _space_text(space: int) -> bytes:
    return b" addrspace(%d)" % space if space else b""


def _column(rows: I64, column: int, dtype: Any = np.int32) -> Any:
    return rows[:, column].astype(dtype)


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
    for field in fields(program):
        table = getattr(program, field.name)
        for _, column in table.columns() if isinstance(table, Table) else ():
            column.flags.writeable = False
    return program
