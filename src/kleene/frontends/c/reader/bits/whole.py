"""A whole file: what is examined before, read in compiled loops, and checked after."""

from __future__ import annotations

import re

import numpy as np

from kleene.base.errors import SourceError
from kleene.frontends.c.bitcode import LLVM_MAJOR
from kleene.frontends.c.reader import state as heap_state
from kleene.frontends.c.reader.assemble import assemble
from kleene.frontends.c.reader.bits import blocks, functions, numbers, room, state, texts
from kleene.frontends.c.reader.bits.metadata import TAKES_NUMBER
from kleene.frontends.c.reader.bits.plan import Records, Refused, check, examine, plan
from kleene.frontends.c.reader.bits.stream import R_CODE, R_END, R_FIRST, take_apart
from kleene.frontends.c.reader.faults import unread
from kleene.frontends.c.reader.symbols import N_SYMBOLS, S_WIDTH, START, TABLE_FULL
from kleene.frontends.c.reader.symbols import TABLE_SIZE as SYMBOL_TABLE_SIZE
from kleene.frontends.c.reader.words import WORDS
from kleene.ir.program import Program
from kleene.ir.verifier import problems

_WRAPPER = b"\xde\xc0\x17\x0b"
_DEBUG_VERSION = 3
_SPECIAL = re.compile(rb"[^ !#-\[\]-~]")
_ABOUT_PLACES = (blocks.MD_LOCATION, blocks.MD_UNIT, blocks.MD_SUBPROGRAM)


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
    texts.spell(nothing, cells, 0, 0)
    nothing.flags.writeable = False
    functions.read_records(nothing, cells, cells, cells, cells, cells.reshape(-1, 1), 0)
    take_apart(b"")


class _Reading:
    """One file, on its way."""

    def __init__(self, raw: bytes, major: int, *, is_own: bool = False) -> None:
        """Take the bytes apart; with `is_own`, nothing is left that LLVM would upgrade or strip."""
        stream = take_apart(raw)
        check(stream is not None, "the bitstream is damaged")
        assert stream
        records = Records(stream)
        examine(records, major)
        self.is_own = is_own
        self.records = records
        self.source = records.text(blocks.MODULE, blocks.MODULE_SOURCE)
        check(self.source is not None)
        self.plan = plan(records, raw, major, is_own)
        self.heap = room.heap(records, self.plan)  # first: texts take the place of operands
        self._bring_texts(raw)
        self.nodes = room.nodes(records, self.plan)
        self.known = room.known(records, self.plan)
        self.known[state.STRINGS_END] = len(raw)
        self.known[state.ZERO_TEXTS : state.ZERO_TEXTS + 3] = self.zeros
        self.symbols = room.symbols(records, self.plan)

    def program(self) -> Program:
        """Return what it says."""
        known, heap = self.known, self.heap
        stopped = functions.read_records(
            self.text,
            self.symbols,
            self.records.cells,
            known,
            heap,
            self.nodes,
            len(self.records.rows),
        )
        if known[state.FAULT] or heap[heap_state.ERROR] or heap[heap_state.FULL]:
            raise Refused(self._place(stopped))
        check(not self.symbols[TABLE_FULL])
        sorts = self.plan.order[:, state.O_SORT]
        has_upgrades = bool((sorts == state.LIFETIME).any())
        check(not has_upgrades or known[state.N_CREATED] == len(sorts))
        strings = self._strings()
        if not self.is_own:
            self._check_debug_version(strings)
        self._describe(strings)
        names = heap_state.table_of(heap, heap_state.GLOBALS, len(sorts))[:, heap_state.G_NAME]
        check(len(np.unique(names)) == len(names) and names.all())
        return assemble(strings, self.nodes, heap, lambda symbol: _quoted(strings[symbol]))

    @property
    def n_unknown(self) -> int:
        """How many constants and instructions became opaque."""
        return int(self.known[state.N_UNKNOWN])

    def _place(self, record: int) -> str:
        """Return where reading stopped, in words."""
        if not 0 <= record < len(self.records.rows):
            return "its parts do not fit together"
        block, code, *_ = self.records.rows[record].tolist()
        return f"record {record}, of code {code} in a block {block}, is not understood"

    def _bring_texts(self, raw: bytes) -> None:
        """Lay the file's bytes, the texts that we add, and those that records spell in a row."""
        records = self.records
        added = b"".join(self.plan.names)
        self.zeros = []
        for zero in numbers.ZEROS:
            self.zeros.append(((len(raw) + len(added)) << state.TEXT_SHIFT) + len(zero))
            added += zero
        added += b"".join(numbers.spell_wide(records, len(raw) + len(added)))
        place = len(raw) + len(added)
        letters = np.zeros(place + texts.room_for(records) + 16, np.uint8)
        letters[:place] = np.frombuffer(raw + added, np.uint8)
        check(texts.spell(letters, records.cells, len(records.rows), place) >= 0)
        letters.flags.writeable = False
        self.text = letters

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
