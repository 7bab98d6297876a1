"""Constants that 64 bits do not hold, written as LLVM prints them."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader.bits import blocks
from kleene.frontends.c.reader.bits.constants import WIDE_TEXT
from kleene.frontends.c.reader.bits.plan import Records, check
from kleene.frontends.c.reader.bits.state import TEXT_SHIFT
from kleene.frontends.c.reader.bits.stream import R_CODE, R_END, R_FIRST

ZEROS = (b"0xK" + 20 * b"0", b"0xL" + 32 * b"0", b"0xM" + 32 * b"0")
_WORD = (1 << 64) - 1
_MOST_BITS = 8192  # Python writes no number of more than 4300 digits
_USUAL = (blocks.TYPE_HALF, blocks.TYPE_BFLOAT, blocks.TYPE_FLOAT, blocks.TYPE_DOUBLE)


def spell_wide(records: Records, place: int) -> list[bytes]:
    """Return the texts of such constants, to lie from `place` on; their records refer to them."""
    described = records.of_block(blocks.TYPES)
    codes = records.rows[described, R_CODE]
    numbered = (codes != blocks.TYPE_COUNT) & (codes != blocks.TYPE_STRUCT_NAME)
    types = described[numbered]
    wide = records.of(blocks.CONSTANTS, blocks.CONSTANT_WIDE)
    reals = records.of(blocks.CONSTANTS, blocks.CONSTANT_FLOAT)
    stated = records.of(blocks.CONSTANTS, blocks.CONSTANT_TYPE)
    texts: list[bytes] = []
    for record in np.sort(np.concatenate([wide, reals])).tolist():
        before = int(np.searchsorted(stated, record)) - 1
        check(before >= 0)
        number = int(records.operand(stated[before : before + 1], 0)[0])
        check(0 <= number < len(types))
        code = int(records.rows[types[number], R_CODE])
        if code in _USUAL:
            continue
        text = _text(records, record, code, types[number : number + 1])
        records.rows[record, [R_CODE, R_FIRST]] = WIDE_TEXT, (place << TEXT_SHIFT) + len(text)
        place += len(text)
        texts.append(text)
    return texts


def _text(records: Records, record: int, code: int, type_record: np.ndarray) -> bytes:
    first, end = records.rows[record, [R_FIRST, R_END]].tolist()
    words = [word & _WORD for word in records.cells[first:end].tolist()]
    if code == blocks.TYPE_INTEGER:
        return _integer(words, int(records.operand(type_record, 0)[0]))
    check(len(words) == 2)
    match code:
        case blocks.TYPE_X86_FP80:
            mantissa = (words[0] << 16 | words[1] & 0xFFFF) & _WORD
            return b"0xK%04X%016X" % (words[0] >> 48, mantissa)
        case blocks.TYPE_FP128:
            return b"0xL%016X%016X" % (words[0], words[1])
        case blocks.TYPE_PPC_FP128:
            return b"0xM%016X%016X" % (words[0], words[1])
    check(False)
    return b""


def _integer(words: list[int], bits: int) -> bytes:
    """Return the decimal text of an integer of so many bits; each word keeps its sign apart."""
    check(0 < bits <= _MOST_BITS)
    value = 0
    for place, word in enumerate(words):
        half = word >> 1
        value |= ((-half if word & 1 and half else half) & _WORD if word != 1 else 1 << 63) << (
            64 * place
        )
    value &= (1 << bits) - 1
    return b"%d" % (value - (1 << bits) if value >> (bits - 1) else value)
