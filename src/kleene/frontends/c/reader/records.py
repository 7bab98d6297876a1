"""Records by block and code, and what is known of a module before it is read.

That includes what LLVM 22 changes in bitcode of LLVM 20 and 21, as far as it is known here: a file
of LLVM 22 is taken as it stands; in an older one LLVM 22 may give intrinsics other parameters and
attributes, and data layouts further parts. Known are intrinsics whose form and attributes (of those
that the IR keeps) have not changed since LLVM 20, the layouts of two processors, and the lifetime
intrinsics, which have lost an argument.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.base.arrays import I64
from kleene.frontends.c.exchange import UNSET
from kleene.frontends.c.reader import bitcodes, state
from kleene.frontends.c.reader.bitstream import ENTER, R_BLOCK, R_CODE, R_END, R_FIRST, Stream

_BLOCKS = {
    bitcodes.BLOCKINFO,
    *range(bitcodes.MODULE, bitcodes.TYPE_NEW + 1),
    bitcodes.OPERAND_BUNDLE_TAGS,
    bitcodes.METADATA_KIND,
    bitcodes.STRTAB,
    bitcodes.SYNC_SCOPE_NAMES,
}
_MODULE_CODES = {
    bitcodes.MODULE_VERSION,
    bitcodes.MODULE_TRIPLE,
    bitcodes.MODULE_DATALAYOUT,
    bitcodes.MODULE_ASM,
    bitcodes.MODULE_SECTIONNAME,
    bitcodes.MODULE_GLOBALVAR,
    bitcodes.MODULE_FUNCTION,
    bitcodes.MODULE_GCNAME,
    bitcodes.MODULE_COMDAT,
    bitcodes.MODULE_VSTOFFSET,
    bitcodes.MODULE_ALIAS,
    bitcodes.MODULE_SOURCE_FILENAME,
    bitcodes.MODULE_HASH,
    bitcodes.MODULE_IFUNC,
}
_GLOBALS = (
    bitcodes.MODULE_GLOBALVAR,
    bitcodes.MODULE_ALIAS,
    bitcodes.MODULE_IFUNC,
    bitcodes.MODULE_FUNCTION,
)
_MAX_GLOBALS = _MAX_ARGUMENTS = 1 << 24


class Refused(Exception):  # noqa: N818 - no error: LLVM is asked then
    """Not for this reader: LLVM is to read it, and to say what is wrong if anything is."""


class Plan(NamedTuple):
    """A file's globals in the order of the text, and what else is known before reading."""

    order: I64  # rows of state.O_WIDTH
    bodies: I64  # function rows that have a body
    first_blocks: I64  # by function row
    n_globals: int  # values that are globals
    n_arguments: int
    n_metadata: int
    names: list[bytes]  # to be put behind the file's bytes: the order refers to them there
    unset: int  # the value that is `@kleene.unset`, which is not in the order; -1 for none


def check(value: object, reason: str = "its parts do not fit together") -> None:
    """Refuse the file unless `value` holds."""
    if not value:
        raise Refused(reason)


class Records:
    """The records of a file, asked for by block and code."""

    def __init__(self, stream: Stream) -> None:
        self.cells, self.rows = stream.cells, stream.records
        block, code = self.rows[:, R_BLOCK], self.rows[:, R_CODE]
        known = (code >= 0) & (code < bitcodes.N_CODES) & (block < bitcodes.N_BLOCKS)
        key = np.where(known, block * bitcodes.N_CODES + code, -1).astype(np.int16)
        self._order = np.argsort(key, kind="stable")
        self._key = key[self._order]

    def of(self, block: int, *codes: int) -> I64:
        """Return the numbers of the records of these codes, in their order."""
        found = [self._between(block * bitcodes.N_CODES + code, 1) for code in codes]
        return found[0] if len(found) == 1 else np.sort(np.concatenate(found))

    def of_block(self, block: int) -> I64:
        """Return the numbers of the records of a block, in their order."""
        return np.sort(self._between(block * bitcodes.N_CODES, bitcodes.N_CODES))

    def count(self, block: int, *codes: int) -> int:
        """Return how many records these codes have; without codes, how many the block has."""
        if codes:
            return sum(len(self._between(block * bitcodes.N_CODES + code, 1)) for code in codes)
        return len(self._between(block * bitcodes.N_CODES, bitcodes.N_CODES))

    def _between(self, first: int, count: int) -> I64:
        low, high = np.searchsorted(self._key, np.array([first, first + count], np.int16))
        return self._order[low:high]

    def n_operands(self, records: I64) -> I64:
        """Return how many operands each record has."""
        return self.rows[records, R_END] - self.rows[records, R_FIRST]

    def operand(self, records: I64, place: int) -> I64:
        """Return the operand at a place of each record; all must have one."""
        check((self.n_operands(records) > place).all())
        return self.cells[self.rows[records, R_FIRST] + place]

    def text(self, block: int, code: int) -> bytes | None:
        """Return the text that the only record of a code spells, None if there is none."""
        found = self.of(block, code)
        check(len(found) <= 1)
        return self.spelled(int(found[0])) if len(found) else None

    def spelled(self, record: int, skipped: int = 0) -> bytes:
        """Return a record's operands as bytes."""
        first, end = self.rows[record, R_FIRST] + skipped, self.rows[record, R_END]
        return (self.cells[first:end] & 255).astype(np.uint8).tobytes()


def examine(records: Records, major: int) -> None:
    """Refuse a file with anything at the top that we do not know, or that LLVM would upgrade."""
    rows = records.rows
    entered = rows[rows[:, R_CODE] == ENTER, R_BLOCK]
    check(set(np.unique(entered).tolist()) <= _BLOCKS)
    check((entered == bitcodes.MODULE).sum() == 1)
    check((entered == bitcodes.STRTAB).sum() == 1)
    check((rows[:, R_CODE] < bitcodes.N_CODES).all())
    codes = rows[records.of_block(bitcodes.MODULE), R_CODE]
    check(set(np.unique(codes).tolist()) <= _MODULE_CODES)
    check(_only(records, bitcodes.MODULE, bitcodes.MODULE_VERSION) == 2)
    check(_only(records, bitcodes.IDENTIFICATION, bitcodes.IDENTIFICATION_EPOCH) == 0)
    kinds = records.of(bitcodes.METADATA_KIND, bitcodes.METADATA_KIND_NAME)
    check(not len(kinds) or records.spelled(int(kinds[0])) == b"\0dbg")
    scopes = records.of_block(bitcodes.SYNC_SCOPE_NAMES)
    check(not len(scopes) or not records.n_operands(scopes[1:2]).any())  # 1: the whole system
    layout = records.text(bitcodes.MODULE, bitcodes.MODULE_DATALAYOUT)
    triple = records.text(bitcodes.MODULE, bitcodes.MODULE_TRIPLE)
    check(major >= LAYOUTS.major or (layout, (triple or b"").partition(b"-")[0]) in LAYOUTS.known)


def _only(records: Records, block: int, code: int) -> int:
    found = records.of(block, code)
    check(len(found) == 1)
    return int(records.operand(found, 0)[0])


def plan(records: Records, raw: bytes, major: int, is_own: bool) -> Plan:
    """Return the plan of a file; what our own LLVM wrote needs no upgrade."""
    cells = records.cells
    found = records.of(bitcodes.MODULE, *_GLOBALS)
    check(0 < len(found) < _MAX_GLOBALS)
    table = records.of(bitcodes.STRTAB, bitcodes.STRTAB_BLOB)
    check(len(table) == 1 and records.n_operands(table)[0] == 2)
    first, size = (int(cell) for cell in cells[records.rows[table[0], R_FIRST] :][:2])
    check(first + size <= len(raw))
    offset, length = records.operand(found, 0), records.operand(found, 1)
    check(((offset >= 0) & (length >= 0) & (offset + length <= size)).all())
    order = np.zeros((len(found), state.O_WIDTH), np.int64)
    order[:, state.O_RECORD], order[:, state.O_VALUE] = found, np.arange(len(found))
    order[:, state.O_FIRST] = first + offset
    order[:, state.O_END] = first + offset + length
    codes = records.rows[found, R_CODE]
    for sort, code in enumerate(_GLOBALS):
        order[codes == code, state.O_SORT] = sort
    return _Planner(records, order, raw).plan(None if is_own else major)


class _Planner:
    """The globals of a file, on their way into the order of the text."""

    def __init__(self, records: Records, order: I64, raw: bytes) -> None:
        self.records, self.raw = records, raw
        self.order = order[np.argsort(order[:, state.O_SORT], kind="stable")]
        self.n_globals = len(order)
        self.extra: list[bytes] = []
        self.end = len(raw)  # of the file's bytes and the names put behind them

    def plan(self, major: int | None) -> Plan:
        """Return all of it, upgraded from this LLVM's form if one is given."""
        unset = self._without_unset()
        self._number_nameless()
        if major is not None:
            self._upgrade(major)
        functions = self.order[self.order[:, state.O_SORT] > state.IFUNC]
        is_body = functions[:, state.O_SORT] == state.PLAIN_FUNCTION
        is_body[is_body] = self.records.operand(functions[is_body, state.O_RECORD], 4) == 0
        bodies = np.flatnonzero(is_body)
        declared = self.records.of(bitcodes.FUNCTION, bitcodes.INST_DECLAREBLOCKS)
        check(len(declared) == len(bodies))
        n_blocks = np.zeros(len(functions) + 1, np.int64)
        n_blocks[bodies + 1] = self.records.operand(declared, 0)
        check(((n_blocks >= 0) & (n_blocks <= len(self.records.rows))).all())
        first_blocks = np.cumsum(n_blocks)
        check(first_blocks[-1] <= len(self.records.rows))
        return Plan(
            self.order,
            bodies,
            first_blocks,
            self.n_globals,
            self._n_arguments(functions),
            self._n_metadata(),
            self.extra,
            unset,
        )

    def _without_unset(self) -> int:
        """Take `@kleene.unset` out of the order; return its value, -1 if there is none."""
        name = UNSET.encode()
        sizes = self.order[:, state.O_END] - self.order[:, state.O_FIRST]
        is_variable = self.order[:, state.O_SORT] == state.VARIABLE
        for row in np.flatnonzero(is_variable & (sizes == len(name))).tolist():
            value, first = self.order[row, [state.O_VALUE, state.O_FIRST]].tolist()
            if self.raw.startswith(name, first):
                self.order = np.delete(self.order, row, axis=0)
                return int(value)
        return -1

    def _name(self, row: int, name: bytes) -> None:
        first, self.end = self.end, self.end + len(name)
        self.order[row, [state.O_FIRST, state.O_END]] = first, self.end
        self.extra.append(name)

    def _number_nameless(self) -> None:
        """Give the names that LLVM prints to globals without one."""
        nameless = np.flatnonzero(self.order[:, state.O_FIRST] == self.order[:, state.O_END])
        places = self.order[:, [state.O_FIRST, state.O_END]].tolist() if len(nameless) else []
        taken = {self.raw[first:end] for first, end in places}
        for number, row in enumerate(nameless.tolist()):
            name = b"%d" % number
            while name in taken:  # `@0` beside `@"0"`
                name += b"."
            self._name(row, name)

    def _upgrade(self, major: int) -> None:
        """Put intrinsics that LLVM 22 has in another form where it would; refuse unknown ones."""
        lifetimes = []
        for row, (_, sort, _, first, end) in enumerate(self.order.tolist()):
            if sort != state.PLAIN_FUNCTION or not self.raw.startswith(b"llvm.", first):
                continue
            name = self.raw[first:end]
            if is_lifetime(name) and self._n_parameters(row) == 2:
                lifetimes.append(row)
            else:
                check(is_known(name, major))
        kept = np.delete(np.arange(len(self.order)), lifetimes)
        strays, news = self.order[lifetimes], self.order[lifetimes]
        strays[:, state.O_SORT], news[:, state.O_SORT] = state.STRAY, state.LIFETIME
        self.order = np.concatenate([self.order[kept], strays, news])
        for row in range(len(kept), len(kept) + len(lifetimes)):
            first, end = self.order[row, [state.O_FIRST, state.O_END]].tolist()
            self._name(row, self.raw[first:end].rpartition(b".")[0] + b".i64")

    def _n_parameters(self, row: int) -> int:
        return int(self._parameters(self.order[row : row + 1])[0])

    def _parameters(self, functions: I64) -> I64:
        """Return how many parameters the type of each function has."""
        described = self.records.of_block(bitcodes.TYPE_NEW)
        codes = self.records.rows[described, R_CODE]
        numbered = (codes != bitcodes.TYPE_NUMENTRY) & (codes != bitcodes.TYPE_STRUCT_NAME)
        described, codes = described[numbered], codes[numbered]
        counts = np.where(
            codes == bitcodes.TYPE_FUNCTION, self.records.n_operands(described) - 2, 0
        )
        types = self.records.operand(functions[:, state.O_RECORD], 2)
        check(((types >= 0) & (types < len(counts))).all())
        return np.maximum(counts[types], 0)

    def _n_arguments(self, functions: I64) -> int:
        count = int(self._parameters(functions).sum())
        check(count <= _MAX_ARGUMENTS)
        return count

    def _n_metadata(self) -> int:
        records = self.records
        codes = records.rows[records.of_block(bitcodes.METADATA), R_CODE]
        check((codes < len(bitcodes.TAKES_NUMBER)).all())
        strings = records.operand(records.of(bitcodes.METADATA, bitcodes.MD_STRINGS), 0)
        check(((strings >= 0) & (strings <= 2 * len(self.raw))).all())
        check(strings.sum() <= 2 * len(self.raw))  # the length of each takes six bits
        return int(bitcodes.TAKES_NUMBER[codes].sum()) + int(strings.sum())


# What stands between `llvm.` and the types that an intrinsic is made for.
_STEMS = frozenset(
    (
        "abs assume bitreverse bswap ceil copysign cos ctlz ctpop cttz donothing "
        "eh.typeid.for exp exp2 expect expect.with.probability fabs floor fma fmuladd "
        "frameaddress fshl fshr is.constant log log10 log2 maxnum memcpy memmove "
        "memset minnum nearbyint objectsize pow "
        "returnaddress rint round roundeven sadd.sat sadd.with.overflow scmp sin smax smin "
        "smul.with.overflow sqrt ssub.sat ssub.with.overflow stackrestore stacksave "
        "threadlocal.address trap trunc uadd.sat uadd.with.overflow ubsantrap ucmp umax umin "
        "umul.with.overflow usub.sat usub.with.overflow va_copy va_end va_start "
        "vector.reduce.add vector.reduce.and vector.reduce.mul vector.reduce.or "
        "vector.reduce.smax vector.reduce.smin vector.reduce.umax vector.reduce.umin "
        "vector.reduce.xor"
    ).split()
)
_LIFETIMES = (b"llvm.lifetime.start.p0", b"llvm.lifetime.end.p0")
_TYPE_LETTERS = frozenset("ifpvb")


class _Layouts(NamedTuple):
    major: int  # from which on layouts are taken as they stand
    known: frozenset[tuple[bytes | None, bytes]]


LAYOUTS = _Layouts(
    22,
    frozenset(
        (
            (
                b"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
                b"x86_64",
            ),
            (
                b"e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64"
                b"-S128-Fn32",
                b"aarch64",
            ),
        )
    ),
)


def is_lifetime(name: bytes) -> bool:
    """Return whether this intrinsic had a size as its first argument."""
    return name in _LIFETIMES


def is_known(name: bytes, major: int) -> bool:
    """Return whether LLVM 22 leaves this intrinsic of an LLVM of this major as it is."""
    if name.startswith(b"llvm.dbg."):
        return False
    return major >= LAYOUTS.major or _stem(name.decode(errors="replace")) in _STEMS


def _stem(name: str) -> str:
    """Return an intrinsic's name without `llvm.` and the types at its end."""
    words = name.split(".")[1:]
    while len(words) > 1 and words[-1][:1] in _TYPE_LETTERS and words[-1][-1:].isdigit():
        words.pop()
    return ".".join(words)
