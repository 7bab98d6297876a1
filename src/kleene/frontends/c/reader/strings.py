"""Strings as numbers: those that records spell are brought together as bytes, and interned.

A record spells a string a letter an operand. `spell` writes its bytes behind the file's and puts
one number in the place of its letters, `first byte * 2^32 + length`: for records that are nothing
but a string, in the place of their first operand's address. `symbol` numbers equal strings alike.
Constants that 64 bits do not hold are strings too, as LLVM prints them.
"""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I64
from kleene.frontends.c.reader import bitcodes, state
from kleene.frontends.c.reader.bitstream import R_BLOCK, R_CODE, R_END, R_FIRST, R_WIDTH
from kleene.frontends.c.reader.compiled import Cells, Text, device_function, entry_point, noinline
from kleene.frontends.c.reader.records import Records, check
from kleene.kernels.bits import mix
from kleene.kernels.pointers import as_pointers

WIDE_TEXT = 200  # our own code, of no file: a number that was made a string before reading
# The array `s`: three cells, a hash table of symbols, then for each where its string lies.
N_SYMBOLS, SYMBOL_TABLE_SIZE, SYMBOL_TABLE_FULL, START = range(4)
S_FIRST, S_END, S_WIDTH = range(3)
_NONE, _WHOLE, _WHOLE_WITH_NUL, _NAMED, _ASSEMBLY = range(5)
_SPELLED = np.zeros((bitcodes.N_BLOCKS, bitcodes.N_CODES), np.int64)  # by block and code
_SPELLED[bitcodes.TYPE_NEW, bitcodes.TYPE_STRUCT_NAME] = _WHOLE
_SPELLED[bitcodes.OPERAND_BUNDLE_TAGS, bitcodes.BUNDLE_TAG] = _WHOLE
_SPELLED[bitcodes.CONSTANTS, bitcodes.CST_STRING] = _WHOLE
_SPELLED[bitcodes.CONSTANTS, bitcodes.CST_CSTRING] = _WHOLE_WITH_NUL
_SPELLED[bitcodes.CONSTANTS, bitcodes.CST_INLINEASM] = _ASSEMBLY
_SPELLED[bitcodes.VALUE_SYMTAB, bitcodes.VST_ENTRY] = _NAMED
_SPELLED[bitcodes.VALUE_SYMTAB, bitcodes.VST_BBENTRY] = _NAMED


def n_spelled_bytes(records: Records) -> int:
    """Return how many bytes `spell` may need for these records."""
    found = [records.of(int(block), int(code)) for block, code in np.argwhere(_SPELLED)]
    return sum(int(records.n_operands(some).sum()) + len(some) for some in found)


@device_function
def letters_of(letters: Text, c: Cells, first: int, end: int, place: int) -> int:
    """Write operands as bytes from `place` on; return the text as a number, -1 if too long."""
    noinline()
    if end - first > state.TEXT_MASK - 1:
        return -1
    for i in range(first, end):
        letters[place + i - first] = c[i] & 255
    return (place << state.TEXT_SHIFT) + end - first


@entry_point
def spell(letters: Text, c: Cells, n_records: int, place: int) -> int:
    """Write all texts from `place` on; return where they end, -1 if one is not well formed."""
    return _spell(as_pointers(letters), as_pointers(c), n_records, place)


@device_function
def _spell(letters: Text, c: Cells, n_records: int, place: int) -> int:
    for record in range(n_records):
        row = record * R_WIDTH
        block, code = c[row + R_BLOCK], c[row + R_CODE]
        if code < 0 or code >= bitcodes.N_CODES or block >= bitcodes.N_BLOCKS:
            continue
        sort = _SPELLED[block, code]
        if sort == _NONE:
            continue
        first, end = c[row + R_FIRST], c[row + R_END]
        text = 0
        if sort == _WHOLE or sort == _WHOLE_WITH_NUL:
            text = letters_of(letters, c, first, end, place)
            place += end - first
            if sort == _WHOLE_WITH_NUL:
                letters[place] = 0
                place += 1
                text += 1
            c[row + R_FIRST] = text
        elif sort == _NAMED:
            if end - first < 2:
                return -1
            text = letters_of(letters, c, first + 1, end, place)
            place += end - first - 1
            c[first + 1] = text
        else:  # type, flags, length, code, length, constraints
            if end - first < 4:
                return -1
            length = c[first + 2]
            if length < 0 or length > end - first - 4:
                return -1
            others = first + 3 + length
            if c[others] != end - others - 1:
                return -1
            text = letters_of(letters, c, first + 3, others, place)
            place += length
            constraints = letters_of(letters, c, others + 1, end, place)
            place += end - others - 1
            c[first + 2], c[first + 3] = text, constraints
            text = min(text, constraints)
        if text < 0:
            return -1
    return place


@device_function
def symbol_of(text: Text, s: Cells, packed: int) -> int:
    """Return the symbol of a text that is one number."""
    first = packed >> state.TEXT_SHIFT
    return symbol(text, s, first, first + (packed & state.TEXT_MASK))


@device_function
def symbol(text: Text, s: Cells, start: int, end: int) -> int:
    """Return the symbol of text[start:end]: equal strings have one, the empty string has 0."""
    noinline()
    if start >= end:
        return 0
    value, middle = 0, end - (end - start) % 4
    for i in range(start, middle, 4):
        low, high = text[i] | text[i + 1] << 8, text[i + 2] | text[i + 3] << 8
        value = mix(value, low | high << 16)
    for i in range(middle, end):
        value = mix(value, text[i])
    mask = s[SYMBOL_TABLE_SIZE] - 1
    rows = START + s[SYMBOL_TABLE_SIZE]
    place = value & mask
    size = end - start
    while s[START + place] != 0:
        found = s[START + place]
        first = s[rows + found * S_WIDTH + S_FIRST]
        if s[rows + found * S_WIDTH + S_END] - first == size:
            j = 0
            while j < size and text[first + j] == text[start + j]:
                j += 1
            if j == size:
                return found
        place = (place + 1) & mask
    new = s[N_SYMBOLS]
    if (new + 2) * 10 > s[SYMBOL_TABLE_SIZE] * 7:
        s[SYMBOL_TABLE_FULL] = 1
        return 0
    s[rows + new * S_WIDTH + S_FIRST], s[rows + new * S_WIDTH + S_END] = start, end
    s[START + place] = new
    s[N_SYMBOLS] = new + 1
    return new


def symbol_table(most: int) -> I64:
    """Return a table of symbols for at most so many strings, with the empty one in it."""
    size = 1 << (2 * most).bit_length()
    s = np.zeros(START + size * (1 + S_WIDTH), np.int64)
    s[N_SYMBOLS], s[SYMBOL_TABLE_SIZE] = 1, size
    return s


def strings_of(s: I64, text: bytes) -> list[bytes]:
    """Return the strings by symbol."""
    first = START + int(s[SYMBOL_TABLE_SIZE])
    rows = s[first : first + int(s[N_SYMBOLS]) * S_WIDTH].reshape(-1, S_WIDTH)
    return [text[start:end] for start, end in rows.tolist()]


ZEROS = (b"0xK" + 20 * b"0", b"0xL" + 32 * b"0", b"0xM" + 32 * b"0")
_WORD = (1 << 64) - 1
_SO_MANY = 10**4000
_USUAL = (bitcodes.TYPE_HALF, bitcodes.TYPE_BFLOAT, bitcodes.TYPE_FLOAT, bitcodes.TYPE_DOUBLE)


def spell_wide(records: Records, place: int) -> list[bytes]:
    """Return the texts of such constants, to lie from `place` on; their records refer to them."""
    described = records.of_block(bitcodes.TYPE_NEW)
    codes = records.rows[described, R_CODE]
    numbered = (codes != bitcodes.TYPE_NUMENTRY) & (codes != bitcodes.TYPE_STRUCT_NAME)
    types = described[numbered]
    wide = records.of(bitcodes.CONSTANTS, bitcodes.CST_WIDE_INTEGER)
    reals = records.of(bitcodes.CONSTANTS, bitcodes.CST_FLOAT)
    stated = records.of(bitcodes.CONSTANTS, bitcodes.CST_SETTYPE)
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
        records.rows[record, [R_CODE, R_FIRST]] = WIDE_TEXT, (place << state.TEXT_SHIFT) + len(text)
        place += len(text)
        texts.append(text)
    return texts


def _text(records: Records, record: int, code: int, type_record: np.ndarray) -> bytes:
    first, end = records.rows[record, [R_FIRST, R_END]].tolist()
    words = [word & _WORD for word in records.cells[first:end].tolist()]
    if code == bitcodes.TYPE_INTEGER:
        return _integer(words, int(records.operand(type_record, 0)[0]))
    check(len(words) == 2)
    match code:
        case bitcodes.TYPE_X86_FP80:
            mantissa = (words[0] << 16 | words[1] & 0xFFFF) & _WORD
            return b"0xK%04X%016X" % (words[0] >> 48, mantissa)
        case bitcodes.TYPE_FP128:
            return b"0xL%016X%016X" % (words[0], words[1])
        case bitcodes.TYPE_PPC_FP128:
            return b"0xM%016X%016X" % (words[0], words[1])
    check(False)
    return b""


def _integer(words: list[int], bits: int) -> bytes:
    """Return the decimal text of an integer of so many bits; each word keeps its sign apart."""
    check(bits > 0)
    value = 0
    for place, word in enumerate(words):
        half = word >> 1
        value |= ((-half if word & 1 and half else half) & _WORD if word != 1 else 1 << 63) << (
            64 * place
        )
    value &= (1 << bits) - 1
    return _decimal(value - (1 << bits) if value >> (bits - 1) else value)


def _decimal(value: int) -> bytes:
    """Return a number in digits: Python itself writes no more than 4300 at once."""
    rest, parts = abs(value), []
    while rest >= _SO_MANY:
        rest, low = divmod(rest, _SO_MANY)
        parts.append(b"%04000d" % low)
    return (b"-" if value < 0 else b"") + b"%d" % rest + b"".join(reversed(parts))
