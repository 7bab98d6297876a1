"""A whole file: what is examined before, read in compiled loops, and checked after."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from kleene.base.errors import SourceError
from kleene.frontends.c.reader import state as heap_state
from kleene.frontends.c.reader.assemble import assemble
from kleene.frontends.c.reader.bits import blocks, functions, numbers, state, texts
from kleene.frontends.c.reader.bits.metadata import TAKES_NUMBER
from kleene.frontends.c.reader.bits.plan import Records, Refused, check, examine, plan
from kleene.frontends.c.reader.bits.stream import R_CODE, R_END, R_FIRST, take_apart
from kleene.frontends.c.reader.symbols import N_SYMBOLS, S_WIDTH, START, TABLE_FULL
from kleene.frontends.c.reader.symbols import TABLE_SIZE as SYMBOL_TABLE_SIZE
from kleene.frontends.c.reader.words import WORDS
from kleene.ir.program import Program
from kleene.ir.verifier import problems

I64 = NDArray[np.int64]
_WRAPPER = b"\xde\xc0\x17\x0b"
_DEBUG_VERSION = 3
_SPECIAL = re.compile(rb"[^ !#-\[\]-~]")
_ABOUT_PLACES = (blocks.MD_LOCATION, 20, blocks.MD_SUBPROGRAM)


def read_whole(raw: bytes, major: int) -> Program | None:
    """Return the program of a file that an LLVM of this major wrote; None if it is not for us."""
    if raw.startswith(_WRAPPER):
        first, size = (int.from_bytes(raw[at : at + 4], "little") for at in (8, 12))
        raw = raw[first : first + size]
    stream = take_apart(raw)
    if stream is None:
        return None
    try:
        program = _Reading(raw, Records(stream), major).program()
    except (Refused, SourceError):  # the latter: from `assemble`, of what does not fit together
        return None
    return None if problems(program) else program


class _Reading:
    """One file, on its way."""

    def __init__(self, raw: bytes, records: Records, major: int) -> None:
        examine(records, major)
        self.records = records
        self.source = records.text(blocks.MODULE, blocks.MODULE_SOURCE)
        check(self.source is not None)
        self.plan = plan(records, raw, major)
        self.heap = self._heap()  # first: texts take the place of operands
        self._bring_texts(raw)
        n_places = records.count(blocks.FUNCTION, blocks.NEW_PLACE)
        self.nodes = np.zeros((self.plan.n_metadata + n_places + 1, 12), np.int64)
        self.known = self._known()
        self.symbols = self._symbol_table()

    def program(self) -> Program:
        """Return what it says."""
        known, heap = self.known, self.heap
        functions.read_records(
            self.text,
            self.symbols,
            self.records.cells,
            known,
            heap,
            self.nodes,
            len(self.records.rows),
        )
        check(not known[state.FAULT] and not heap[heap_state.ERROR] and not heap[heap_state.FULL])
        check(not self.symbols[TABLE_FULL])
        sorts = self.plan.order[:, state.O_SORT]
        has_upgrades = bool((sorts == state.LIFETIME).any())
        check(not has_upgrades or known[state.N_CREATED] == len(sorts))
        strings = self._strings()
        self._check_debug_version(strings)
        self._describe(strings)
        names = heap_state.table_of(heap, heap_state.GLOBALS, len(sorts))[:, heap_state.G_NAME]
        check(len(np.unique(names)) == len(names) and names.all())
        return assemble(strings, self.nodes, heap, lambda symbol: _quoted(strings[symbol]))

    def _bring_texts(self, raw: bytes) -> None:
        """Lay the file's bytes, the texts that we add, and those that records spell in a row."""
        records = self.records
        added = b"".join(self.plan.names)
        self.zeros = [len(raw) + len(added) + sum(map(len, numbers.ZEROS[:i])) for i in range(3)]
        added += b"".join(numbers.ZEROS)
        added += b"".join(numbers.spell_wide(records, len(raw) + len(added)))
        place = len(raw) + len(added)
        letters = np.zeros(place + texts.room_for(records) + 16, np.uint8)
        letters[:place] = np.frombuffer(raw + added, np.uint8)
        check(texts.spell(letters, records.cells, len(records.rows), place) >= 0)
        letters.flags.writeable = False
        self.text, self.n_bytes = letters, len(raw)

    def _n_constants(self) -> int:
        """Return how many constants there may be: one a record, and the elements of data."""
        records = self.records
        data = records.of(blocks.CONSTANTS, blocks.CONSTANT_DATA)
        return records.count(blocks.CONSTANTS) + int(records.n_operands(data).sum()) + 1024

    def _heap(self) -> I64:
        records = self.records
        n_records = len(records.rows)
        n_operands = int((records.rows[:, R_END] - records.rows[:, R_FIRST]).sum())
        calls = records.of(blocks.FUNCTION, blocks.CALL, blocks.INVOKE, blocks.CALL_BRANCH)
        n_types = records.count(blocks.TYPES)
        table_bits = int(2 * max(self._n_constants(), n_types)).bit_length()
        sizes = heap_state.Sizes(
            tokens=n_operands + n_records,
            lines=n_records + len(self.plan.order),
            heads=len(self.plan.order),
            commas=self.plan.n_arguments,
            brackets=int(records.n_operands(calls).sum()),
            quotes=records.count(blocks.FUNCTION, blocks.BUNDLE),
            groups=records.count(blocks.ATTRIBUTE_LISTS) + 1,
            locals=0,
            symbols=0,
        )
        return heap_state.allocate(sizes, table_bits)

    def _known(self) -> I64:
        records, planned = self.records, self.plan
        n_constants = records.count(blocks.CONSTANTS)
        n_values = planned.n_globals + planned.n_arguments + n_constants
        n_values += records.count(blocks.FUNCTION) + 16
        n_types = records.count(blocks.TYPES)
        groups = records.of_block(blocks.ATTRIBUTE_GROUPS)
        n_groups = int(records.operand(groups, 0).max(initial=0)) + 1
        check(n_groups <= 1 << 20)
        n_lists = records.count(blocks.ATTRIBUTE_LISTS) + 1
        n_tags = records.count(blocks.BUNDLE_TAGS)
        inner = records.n_operands(records.of(blocks.CONSTANTS, 7, 10, 11, 31, 32)).sum()
        known = state.allocate(
            {
                state.TYPE_OF: n_types,
                state.VALUES: n_values,
                state.VALUE_TYPES: n_values,
                state.VALUE_RECORDS: n_values,
                state.WAITING: int(inner) + 16,
                state.MD_KIND: planned.n_metadata + 1,
                state.MD_DATA: planned.n_metadata + 1,
                state.GROUPS: n_groups * state.GROUP_WIDTH,
                state.LISTS: n_lists,
                state.LIST_PASSES: n_lists,
                state.ORDER: planned.order.size,
                state.GLOBAL_ROW: planned.n_globals,
                state.UPGRADED: planned.n_globals,
                state.BODIES: len(planned.bodies),
                state.FIRST_BLOCKS: len(planned.first_blocks),
                state.TAGS: n_tags,
            }
        )
        for cell, number in (
            (state.MAX_VALUES, n_values),
            (state.MAX_TYPES, n_types),
            (state.MAX_GROUPS, n_groups),
            (state.MAX_LISTS, n_lists),
            (state.MAX_TAGS, n_tags),
            (state.MAX_BODIES, len(planned.bodies)),
            (state.MAX_ROWS, planned.n_metadata),
            (state.N_NODES, planned.n_metadata),
            (state.N_GLOBALS, planned.n_globals),
            (state.N_ORDERED, len(planned.order)),
            (state.STRINGS_END, self.n_bytes),
        ):
            known[cell] = number
        known[state.MAX_NODES] = planned.n_metadata + records.count(
            blocks.FUNCTION, blocks.NEW_PLACE
        )
        known[state.N_CREATED] = int((planned.order[:, state.O_SORT] != state.LIFETIME).sum())
        for place, (first, zero) in enumerate(zip(self.zeros, numbers.ZEROS, strict=True)):
            known[state.ZERO_TEXTS + place] = (first << state.TEXT_SHIFT) + len(zero)
        for table, column in (
            (state.ORDER, planned.order.ravel()),
            (state.BODIES, planned.bodies),
            (state.FIRST_BLOCKS, planned.first_blocks),
        ):
            known[known[table] : known[table] + len(column)] = column
        return known

    def _symbol_table(self) -> I64:
        records = self.records
        n_spelled = sum(
            records.count(block)
            for block in (blocks.TYPES, blocks.CONSTANTS, blocks.SYMBOLS, blocks.BUNDLE_TAGS)
        )
        most = 2 * n_spelled + self.plan.n_metadata + len(self.plan.order) + 64
        bits = int(2 * most).bit_length()
        table = np.zeros(START + (1 << bits) * (1 + S_WIDTH), np.int64)
        table[N_SYMBOLS], table[SYMBOL_TABLE_SIZE] = 1, 1 << bits  # symbol 0 is empty
        return table

    def _strings(self) -> list[bytes]:
        """Return the texts by symbol."""
        first = START + int(self.symbols[SYMBOL_TABLE_SIZE])
        count = int(self.symbols[N_SYMBOLS])
        rows = self.symbols[first : first + count * S_WIDTH].reshape(-1, S_WIDTH)
        raw = self.text.tobytes()
        return [raw[start:end] for start, end, _ in rows.tolist()]

    def _describe(self, strings: list[bytes]) -> None:
        """Add what the text has in its first lines."""
        records, heap = self.records, self.heap
        for cell, text in (
            (heap_state.SOURCE_NAME, self.source),
            (heap_state.TRIPLE, records.text(blocks.MODULE, blocks.MODULE_TRIPLE)),
            (heap_state.LAYOUT, records.text(blocks.MODULE, blocks.MODULE_LAYOUT)),
        ):
            heap[cell] = len(strings) if text else 0
            strings += [text] if text else []
        assembly = records.text(blocks.MODULE, blocks.MODULE_ASSEMBLY)
        if assembly:
            notice = heap_state.table_of(heap, heap_state.NOTICES, 1)[0]
            notice[heap_state.N_TEXT] = -WORDS["module"] - 1
            notice[heap_state.N_COUNT] = assembly.count(b"\n") + (not assembly.endswith(b"\n"))
            heap[heap_state.N_NOTICES] = 1

    def _check_debug_version(self, strings: list[bytes]) -> None:
        """Refuse debug information of another version: LLVM would strip it."""
        records = self.records
        if not records.count(blocks.METADATA, *_ABOUT_PLACES):
            return
        names = records.of(blocks.METADATA, blocks.MD_NAME)
        flags = [n for n in names.tolist() if records.spelled(n) == b"llvm.module.flags"]
        check(len(flags) == 1 and records.rows[flags[0] + 1, R_CODE] == blocks.MD_NAMED)
        versions = [
            self._number(parts[2])
            for parts in self._module_nodes(self._operands(flags[0] + 1))
            if len(parts) == 3 and self._md_text(parts[1], strings) == b"Debug Info Version"
        ]
        check(versions == [_DEBUG_VERSION])

    def _operands(self, record: int) -> list[int]:
        first, end = self.records.rows[record, [R_FIRST, R_END]].tolist()
        found: list[int] = self.records.cells[first:end].tolist()
        return found

    def _module_nodes(self, numbers: list[int]) -> list[list[int]]:
        """Return the parts of some nodes of the module; they are numbered after its texts."""
        records = self.records
        found = records.of_block(blocks.METADATA)
        strings = records.of(blocks.METADATA, blocks.MD_STRINGS)
        is_ours = len(strings) > 0 and strings[0] == found[0]
        n_texts = int(records.operand(strings[:1], 0)[0]) if is_ours else 0
        nodes = found[TAKES_NUMBER[records.rows[found, R_CODE]]]
        check(all(0 <= number - n_texts < len(nodes) for number in numbers))
        chosen = [int(nodes[number - n_texts]) for number in numbers]
        return [[part - 1 for part in self._operands(record)] for record in chosen]

    def _md_text(self, number: int, strings: list[bytes]) -> bytes:
        """Return the text of the module's metadata of this number, empty if it is none."""
        known = self.known
        check(-1 <= number < self.plan.n_metadata)
        if number < 0 or known[known[state.MD_KIND] + number] != state.MD_STRING:
            return b""
        return strings[int(known[known[state.MD_DATA] + number])]

    def _number(self, node: int) -> int:
        """Return the number that metadata of the module is, -1 if it is none."""
        known, heap = self.known, self.heap
        check(0 <= node < self.plan.n_metadata)
        value = int(known[known[state.MD_DATA] + node])
        check(known[known[state.MD_KIND] + node] == state.MD_VALUE)
        check(0 <= value < known[state.N_MODULE_VALUES])
        tagged = int(known[known[state.VALUES] + value])
        if tagged & ~heap_state.TAG_MASK != heap_state.TAG_CONSTANT:
            return -1
        row = heap_state.table_of(heap, heap_state.CONSTANTS, int(heap[heap_state.N_CONSTANTS]))[
            tagged & heap_state.TAG_MASK
        ]
        return int(row[heap_state.C_PAYLOAD])


def _quoted(text: bytes) -> bytes:
    """Return a text of metadata as LLVM prints it."""
    return b'!"' + _SPECIAL.sub(_escape, text) + b'"'


def _escape(found: re.Match[bytes]) -> bytes:
    return rb"\\" if found[0] == b"\\" else b"\\%02X" % found[0][0]
