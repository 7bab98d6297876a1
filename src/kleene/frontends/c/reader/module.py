"""A whole file: examined before, read in compiled loops, checked after."""

from __future__ import annotations

import re

import numpy as np

from kleene.base.arrays import I64
from kleene.base.errors import SourceError
from kleene.frontends.c.bitcode import LLVM_MAJOR
from kleene.frontends.c.reader import bitcodes, functions, state, strings, tables
from kleene.frontends.c.reader.bitstream import R_CODE, R_END, R_FIRST, parse_bitstream
from kleene.frontends.c.reader.columns import columns, unread
from kleene.frontends.c.reader.metadata import M_WIDTH
from kleene.frontends.c.reader.records import Plan, Records, Refused, check, examine, plan
from kleene.ir.program import Program
from kleene.ir.verifier import problems

_WRAPPER = b"\xde\xc0\x17\x0b"
_DEBUG_VERSION = 3
_SPECIAL = re.compile(rb"[^ !#-\[\]-~]")
_ABOUT_PLACES = (bitcodes.MD_LOCATION, bitcodes.MD_COMPILE_UNIT, bitcodes.MD_SUBPROGRAM)
_MAX_GROUPS = 1 << 20
_CALLS = (bitcodes.INST_CALL, bitcodes.INST_INVOKE, bitcodes.INST_CALLBR)
_SPELLING = (bitcodes.TYPE_NEW, bitcodes.CONSTANTS, bitcodes.VALUE_SYMTAB)
_HOLDING = (  # constants in constants: see `constants.inner`
    bitcodes.CST_AGGREGATE,
    bitcodes.CST_BINOP,
    bitcodes.CST_CAST,
    bitcodes.CST_EXTRACTELT,
    bitcodes.CST_INSERTELT,
    bitcodes.CST_SHUFFLEVEC,
    bitcodes.CST_SHUFVEC_EX,
    bitcodes.CST_GEP_WITH_INRANGE,
    bitcodes.CST_GEP,
    bitcodes.CST_PTRAUTH_OLD,
    bitcodes.CST_PTRAUTH,
)


def read_given(raw: bytes, major: int) -> Program | None:
    """Return the program of a file that an LLVM of this major wrote; None if it is not for us."""
    if raw.startswith(_WRAPPER):
        first, size = (int.from_bytes(raw[at : at + 4], "little") for at in (8, 12))
        raw = raw[first : first + size]
    try:
        reading = _Reading(raw, major)
        program = reading.program()
    except (Refused, SourceError):  # the latter: from `assemble`, of what does not fit together
        return None
    return None if reading.n_unknown or problems(program) else program


def read_own(raw: bytes) -> Program:
    """Return the program of bitcode that our own LLVM has written, verified and upgraded."""
    try:
        return _Reading(raw, LLVM_MAJOR, is_own=True).program()
    except Refused as refusal:
        raise unread(str(refusal)) from None


def warm() -> None:
    """Load, or compile, the loops: they are called on nothing."""
    nothing, cells = np.zeros(64, np.uint8), np.zeros(1 << 10, np.int64)
    strings.spell(nothing, cells, 0, 0)
    nothing.flags.writeable = False
    functions.read_records(nothing, cells, cells, cells, cells, cells.reshape(-1, 1), 0)
    parse_bitstream(b"")


class _Reading:
    """One file, on its way."""

    def __init__(self, raw: bytes, major: int, *, is_own: bool = False) -> None:
        """Take the bytes apart; with `is_own`, nothing is left that LLVM would upgrade or strip."""
        stream = parse_bitstream(raw)
        check(stream is not None, "the bitstream is damaged")
        assert stream
        records = Records(stream)
        examine(records, major)
        self.is_own = is_own
        self.records = records
        self.source = records.text(bitcodes.MODULE, bitcodes.MODULE_SOURCE_FILENAME)
        sections = records.of(bitcodes.MODULE, bitcodes.MODULE_SECTIONNAME).tolist()
        self.sections = [records.spelled(record) for record in sections]
        check(is_own or self.source is not None)  # LLVM would give it a name
        self.plan = plan(records, raw, major, is_own)
        self.tables = _tables(records, self.plan)  # first: strings take the place of operands
        self._bring_strings(raw)
        n_locations = records.count(bitcodes.FUNCTION, bitcodes.INST_DEBUG_LOC)
        self.nodes = np.zeros((self.plan.n_metadata + n_locations + 1, M_WIDTH), np.int64)
        self.state = _state(records, self.plan)
        self.state[state.STRINGS_END] = len(raw)
        self.state[state.ZERO_TEXTS : state.ZERO_TEXTS + 3] = self.zeros
        n_spelled = sum(records.count(block) for block in _SPELLING)
        n_spelled += records.count(bitcodes.OPERAND_BUNDLE_TAGS)
        most = 2 * n_spelled + self.plan.n_metadata + len(self.plan.order) + 64
        self.symbols = strings.symbol_table(most)

    def program(self) -> Program:
        """Return what it says."""
        h, m = self.state, self.tables
        stopped = functions.read_records(
            self.text,
            self.symbols,
            self.records.cells,
            h,
            m,
            self.nodes.reshape(-1),
            len(self.records.rows),
        )
        if h[state.FAULT] or m[tables.ERROR] or m[tables.FULL]:
            raise Refused(self._place(stopped))
        check(not self.symbols[strings.SYMBOL_TABLE_FULL])
        sorts = self.plan.order[:, state.O_SORT]
        has_upgrades = bool((sorts == state.LIFETIME).any())
        check(not has_upgrades or h[state.N_CREATED] == len(sorts))
        texts = strings.strings_of(self.symbols, self.text.tobytes())
        if not self.is_own:
            self._check_debug_version(texts)
        self._describe(texts)
        self._name_sections(texts)
        names = tables.table_of(m, tables.GLOBALS, len(sorts))[:, tables.G_NAME]
        check(len(np.unique(names)) == len(names) and names.all())
        points = self._address_points()
        return columns(texts, self.nodes, m, lambda symbol: _quoted(texts[symbol]), points)

    @property
    def n_unknown(self) -> int:
        """How many constants and instructions became opaque."""
        return int(self.state[state.N_UNKNOWN])

    def _place(self, record: int) -> str:
        """Return where reading stopped, in words."""
        if not 0 <= record < len(self.records.rows):
            return "its parts do not fit together"
        block, code, *_ = self.records.rows[record].tolist()
        return f"record {record}, of code {code} in a block {block}, is not understood"

    def _bring_strings(self, raw: bytes) -> None:
        """Lay the file's bytes, the texts that we add, and those that records spell in a row."""
        records = self.records
        added = b"".join(self.plan.names)
        self.zeros = []
        for zero in strings.ZEROS:
            self.zeros.append(((len(raw) + len(added)) << state.TEXT_SHIFT) + len(zero))
            added += zero
        added += b"".join(strings.spell_wide(records, len(raw) + len(added)))
        place = len(raw) + len(added)
        letters = np.zeros(place + strings.n_spelled_bytes(records) + 16, np.uint8)
        letters[:place] = np.frombuffer(raw + added, np.uint8)
        check(strings.spell(letters, records.cells, len(records.rows), place) >= 0)
        letters.flags.writeable = False
        self.text = letters

    def _name_sections(self, texts: list[bytes]) -> None:
        """Replace the numbers of sections, from 1 on, by symbols."""
        table = tables.table_of(self.tables, tables.GLOBALS, int(self.tables[tables.N_GLOBALS]))
        numbers = table[:, tables.G_SECTION]
        check(bool(((numbers >= 0) & (numbers <= len(self.sections))).all()))
        symbols = np.arange(len(texts) - 1, len(texts) + len(self.sections))
        symbols[0] = 0
        texts += self.sections
        table[:, tables.G_SECTION] = symbols[numbers]

    def _describe(self, texts: list[bytes]) -> None:
        """Add what describes the module as a whole; assembly in its own lines is a notice."""
        records, m = self.records, self.tables
        for cell, text in (
            (tables.SOURCE_NAME, self.source),
            (tables.TRIPLE, records.text(bitcodes.MODULE, bitcodes.MODULE_TRIPLE)),
            (tables.LAYOUT, records.text(bitcodes.MODULE, bitcodes.MODULE_DATALAYOUT)),
        ):
            m[cell] = len(texts) if text else 0
            texts += [text] if text else []
        assembly = records.text(bitcodes.MODULE, bitcodes.MODULE_ASM)
        if assembly:
            n_lines = assembly.count(b"\n") + (not assembly.endswith(b"\n"))
            notices = tables.table_of(m, tables.NOTICES, int(m[tables.N_NOTICES]) + 1)
            notices[-1, [tables.N_TEXT, tables.N_COUNT]] = len(texts), n_lines
            texts.append(b"module")
            m[tables.N_NOTICES] += 1

    def _check_debug_version(self, texts: list[bytes]) -> None:
        """Refuse debug information of another version: LLVM would strip it."""
        records = self.records
        if not records.count(bitcodes.METADATA, *_ABOUT_PLACES):
            return
        names = records.of(bitcodes.METADATA, bitcodes.MD_NAME)
        flags = [n for n in names.tolist() if records.spelled(n) == b"llvm.module.flags"]
        check(len(flags) == 1 and records.rows[flags[0] + 1, R_CODE] == bitcodes.MD_NAMED_NODE)
        versions = [
            self._number(parts[2])
            for parts in self._module_nodes(self._operands(flags[0] + 1))
            if len(parts) == 3 and self._md_text(parts[1], texts) == b"Debug Info Version"
        ]
        check(versions == [_DEBUG_VERSION])

    def _operands(self, record: int) -> list[int]:
        first, end = self.records.rows[record, [R_FIRST, R_END]].tolist()
        found: list[int] = self.records.cells[first:end].tolist()
        return found

    def _module_nodes(self, numbers: list[int]) -> list[list[int]]:
        """Return the parts of some nodes of the module; they are numbered after its strings."""
        records = self.records
        found = records.of_block(bitcodes.METADATA)
        strings = records.of(bitcodes.METADATA, bitcodes.MD_STRINGS)
        is_ours = len(strings) > 0 and strings[0] == found[0]
        n_texts = int(records.operand(strings[:1], 0)[0]) if is_ours else 0
        nodes = found[bitcodes.TAKES_NUMBER[records.rows[found, R_CODE]]]
        check(all(0 <= number - n_texts < len(nodes) for number in numbers))
        chosen = [int(nodes[number - n_texts]) for number in numbers]
        return [[part - 1 for part in self._operands(record)] for record in chosen]

    def _address_points(self) -> list[tuple[int, int, int]]:
        """Return (row of the global, byte, type) of all type metadata; see `columns`."""
        records, h = self.records, self.state
        rows, nodes, found = [], [], []
        for record in records.of(bitcodes.METADATA, bitcodes.MD_GLOBAL_DECL_ATTACHMENT).tolist():
            number, *pairs = self._operands(record)
            mine = [
                n for k, n in zip(pairs[::2], pairs[1::2], strict=True) if k == bitcodes.KIND_TYPE
            ]
            nodes += mine
            rows += [int(h[h[state.GLOBAL_ROW] + number])] * len(mine)
        for row, parts in zip(rows, self._module_nodes(nodes) if nodes else (), strict=True):
            if len(parts) == 2 and (type_ := self._type_text(parts[1])) is not None:
                found.append((row, self._number(parts[0]), type_))
        return found

    def _type_text(self, number: int) -> int | None:
        """Return what metadata that stands for a type is as text, as `columns` has it."""
        h = self.state
        check(-1 <= number < self.plan.n_metadata)
        kind = h[h[state.MD_KIND] + number]
        if kind == state.MD_STRING:
            return int(h[h[state.MD_DATA] + number])
        return tables.NAMELESS_TEXT - number if kind == state.MD_NAMELESS else None

    def _md_text(self, number: int, texts: list[bytes]) -> bytes:
        """Return the text of the module's metadata of this number, empty if it is none."""
        h = self.state
        check(-1 <= number < self.plan.n_metadata)
        if number < 0 or h[h[state.MD_KIND] + number] != state.MD_STRING:
            return b""
        return texts[int(h[h[state.MD_DATA] + number])]

    def _number(self, node: int) -> int:
        """Return the number that metadata of the module is, -1 if it is none."""
        h, m = self.state, self.tables
        check(0 <= node < self.plan.n_metadata)
        value = int(h[h[state.MD_DATA] + node])
        check(h[h[state.MD_KIND] + node] == state.MD_VALUE)
        check(0 <= value < h[state.N_MODULE_VALUES])
        tagged = int(h[h[state.VALUES] + value])
        if tagged & ~tables.TAG_MASK != tables.TAG_CONSTANT:
            return -1
        row = tables.table_of(m, tables.CONSTANTS, int(m[tables.N_CONSTANTS]))[
            tagged & tables.TAG_MASK
        ]
        return int(row[tables.C_PAYLOAD])


def _tables(records: Records, plan: Plan) -> I64:
    """Return the program's tables, as large as the records can need."""
    data = records.of(bitcodes.CONSTANTS, bitcodes.CST_DATA)
    calls = records.of(bitcodes.FUNCTION, *_CALLS)
    n_records = len(records.rows) + len(plan.order)  # and globals that an upgrade adds
    n_operands = int((records.rows[:, R_END] - records.rows[:, R_FIRST]).sum()) + n_records
    n_constants = records.count(bitcodes.CONSTANTS) + int(records.n_operands(data).sum())
    n_hashed = max(n_constants + 1024, records.count(bitcodes.TYPE_NEW))
    n_places = 1 << (2 * n_hashed).bit_length()
    n_lists = records.count(bitcodes.PARAMATTR) + 1
    rows = {
        tables.TYPES: n_places,
        tables.ELEMENTS: 2 * n_operands,  # instructions make types of their operands' types
        tables.CONSTANTS: n_places,
        tables.CONSTANT_OPERANDS: 2 * n_operands,  # a shuffle's mask is made once more
        tables.GLOBALS: len(plan.order),
        tables.FUNCTIONS: len(plan.order),
        tables.ARGUMENTS: plan.n_arguments,
        tables.BLOCKS: n_records,
        tables.INSTRUCTIONS: n_records,
        tables.OPERANDS: n_operands,
        tables.BINDINGS: n_records,
        tables.BUNDLES: records.count(bitcodes.FUNCTION, bitcodes.INST_OPERAND_BUNDLE),
        tables.BUNDLE_OPERANDS: n_operands,
        tables.PASSED: int(records.n_operands(calls).sum()),
        tables.NOTICES: tables.MAX_NOTICES,
        tables.STACK: n_operands,
        tables.LIST_FLAGS: n_lists,
    }
    return tables.allocate(n_places, n_lists, rows)


def _state(records: Records, plan: Plan) -> I64:
    """Return the state of reading, with the plan in it."""
    n_values = plan.n_globals + plan.n_arguments + records.count(bitcodes.CONSTANTS)
    n_values += records.count(bitcodes.FUNCTION) + 16
    groups = records.operand(records.of_block(bitcodes.PARAMATTR_GROUP), 0)
    n_groups = int(groups.max(initial=0)) + 1
    check(n_groups <= _MAX_GROUPS)
    n_types, n_tags = records.count(bitcodes.TYPE_NEW), records.count(bitcodes.OPERAND_BUNDLE_TAGS)
    n_lists = records.count(bitcodes.PARAMATTR) + 1
    n_inner = int(records.n_operands(records.of(bitcodes.CONSTANTS, *_HOLDING)).sum())
    n_locations = records.count(bitcodes.FUNCTION, bitcodes.INST_DEBUG_LOC)
    h = state.allocate(
        {
            state.TYPE_OF: n_types,
            state.VALUES: n_values,
            state.VALUE_TYPES: n_values,
            state.VALUE_RECORDS: n_values,
            state.WAITING: n_inner + 1,
            state.MD_KIND: plan.n_metadata + 1,
            state.MD_DATA: plan.n_metadata + 1,
            state.GROUPS: n_groups * state.GROUP_WIDTH,
            state.LISTS: n_lists,
            state.LIST_PASSES: n_lists,
            state.ORDER: plan.order.size,
            state.GLOBAL_ROW: plan.n_globals,
            state.UPGRADED: plan.n_globals,
            state.BODIES: len(plan.bodies),
            state.FIRST_BLOCKS: len(plan.first_blocks),
            state.TAGS: n_tags,
        }
    )
    for cell, number in (
        (state.MAX_VALUES, n_values),
        (state.MAX_TYPES, n_types),
        (state.MAX_TAGS, n_tags),
        (state.MAX_GROUPS, n_groups),
        (state.MAX_LISTS, n_lists),
        (state.MAX_ROWS, plan.n_metadata),
        (state.N_NODES, plan.n_metadata),
        (state.MAX_NODES, plan.n_metadata + n_locations),
        (state.N_GLOBALS, plan.n_globals),
        (state.N_ORDERED, len(plan.order)),
        (state.MAX_BODIES, len(plan.bodies)),
        (state.UNSET, plan.unset),
        (state.N_CREATED, int((plan.order[:, state.O_SORT] != state.LIFETIME).sum())),
    ):
        h[cell] = number
    for table, column in (
        (state.ORDER, plan.order.ravel()),
        (state.BODIES, plan.bodies),
        (state.FIRST_BLOCKS, plan.first_blocks),
    ):
        h[h[table] : h[table] + len(column)] = column
    return h


def _quoted(text: bytes) -> bytes:
    """Return a text of metadata as LLVM prints it."""
    return b'!"' + _SPECIAL.sub(_escape, text) + b'"'


def _escape(found: re.Match[bytes]) -> bytes:
    return rb"\\" if found[0] == b"\\" else b"\\%02X" % found[0][0]
