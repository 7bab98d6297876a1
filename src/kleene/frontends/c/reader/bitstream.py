"""The bitstream taken apart: every record of every block, in order, as plain integers.

The format is LLVM's: blocks within blocks, records of a code and operands, and abbreviations that
say how a record is written ("LLVM Bitcode File Format", section Bitstream).

    bytes   42 43 C0 DE | 35 14 00 00 05 00 00 00 | 62 0C 30 24 …
            magic         enter block 13, 5 words   records, as abbreviations say

    c       block code first end | block code first end | …   | operands of the first | …
            one row of four cells for each record              from `first` to `end`

Entering and leaving a block are rows of their own. A blob is two operands, its first byte and its
length.

Whatever the bytes say, nothing is read past their end, nothing written past a table's, and every
turn of a loop consumes bits or fills a table: damage is a fault, and no records come out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.base.arrays import I64
from kleene.frontends.c.reader import bitcodes
from kleene.frontends.c.reader.compiled import Cells, Words, device_function, entry_point, noinline
from kleene.kernels.bits import funnel, wrapped
from kleene.kernels.compiled import interpreted
from kleene.kernels.pointers import as_pointers

# Columns of a record, and the codes of the rows that are none.
R_BLOCK, R_CODE, R_FIRST, R_END, R_WIDTH = range(5)
ENTER, LEAVE = -1, -2

# Single cells of the state `b`, …
PLACE, LIMIT, FAULT = range(3)  # in bits: of the next one, of the end
(
    N_RECORDS,
    MAX_RECORDS,
    N_CELLS,
    MAX_CELLS,
    N_ABBREVIATIONS,
    N_PARTS,
    N_SHARED,
    N_SCOPE,
    DEPTH,
    ABOUT,  # the block that BLOCKINFO speaks of
    FULL,  # whether the fault is that a table was too small
) = range(3, 14)
# … and its tables: abbreviations by first part and count; parts by encoding and value; what
# BLOCKINFO defines for a block; the abbreviations known here; the blocks that are open.
_MAX_ABBREVIATIONS, _MAX_PARTS, _MAX_SHARED, _MAX_DEPTH = 4096, 65536, 1024, 16
ABBREVIATIONS = 16
PARTS = ABBREVIATIONS + 2 * _MAX_ABBREVIATIONS
SHARED = PARTS + 2 * _MAX_PARTS
SCOPE = SHARED + 2 * _MAX_SHARED
FRAMES = SCOPE + _MAX_ABBREVIATIONS
F_BLOCK, F_WIDTH, F_END, F_SCOPE, F_ABBREVIATIONS, F_PARTS, F_SIZE = range(7)
_SIZE = FRAMES + (_MAX_DEPTH + 1) * F_SIZE

_LITERAL, _FIXED, _VBR = bitcodes.LITERAL, bitcodes.FIXED, bitcodes.VBR
_ARRAY, _CHAR6, _BLOB = bitcodes.ARRAY, bitcodes.CHAR6, bitcodes.BLOB
_BLOCKINFO = bitcodes.BLOCKINFO
_MAGIC_BITS, _MAX_BITS = 32, 64
_LONGEST_FIRST = 4096  # bytes that are looked for in the first block
# Blocks that say nothing about the program: orders of uses, summaries, the linker's symbols.
_SKIPPED = np.zeros(bitcodes.N_BLOCKS, np.bool_)
_SKIPPED[[bitcodes.USELIST, bitcodes.MODULE_STRTAB, bitcodes.GLOBALVAL_SUMMARY]] = True
_SKIPPED[[bitcodes.FULL_LTO_GLOBALVAL_SUMMARY, bitcodes.SYMTAB]] = True
_LETTERS = np.frombuffer(bitcodes.CHAR6_LETTERS, np.uint8).astype(np.int64)
# Bits a record and bits an operand: compilers write 50 to 80 and 10 to 15, but a large array of two
# addresses takes two bits an element. Fewer than the last nobody writes.
_DENSITIES = ((32, 6), (8, 3), (2, 1))


class Stream(NamedTuple):
    """A file taken apart."""

    cells: I64
    n_records: int

    @property
    def records(self) -> I64:
        """The rows, as a matrix."""
        return self.cells[: self.n_records * R_WIDTH].reshape(-1, R_WIDTH)


@device_function
def read_fixed(words: Words, b: Cells, width: int) -> int:
    """Return the next `width` bits, at most 64; past the end it is a fault."""
    place = b[PLACE]
    if width > b[LIMIT] - place:
        b[FAULT] = 1
        return 0
    if width == 0:
        return 0
    b[PLACE] = place + width
    word, shift = place >> 6, place & 63
    value = funnel(words[word], words[word + 1], shift)
    return value if width == _MAX_BITS else value & ((1 << width) - 1)


@device_function
def read_vbr(words: Words, b: Cells, width: int) -> int:
    """Return the next variable-width number: chunks whose top bit says that more follow."""
    if width < 2 or width > 32:
        b[FAULT] = 1
        return 0
    top = 1 << (width - 1)
    chunk = read_fixed(words, b, width)
    value, shift = chunk & (top - 1), width - 1
    while chunk & top:
        if shift >= _MAX_BITS:
            b[FAULT] = 1
            return 0
        chunk = read_fixed(words, b, width)
        value |= (chunk & (top - 1)) << shift
        shift += width - 1
    return wrapped(value)


@device_function
def align(b: Cells) -> None:
    """Move to the next multiple of 32 bits."""
    b[PLACE] = (b[PLACE] + 31) & ~31
    if b[PLACE] > b[LIMIT]:
        b[FAULT] = 1
        b[PLACE] = b[LIMIT]


@device_function
def peek_bits(words: Words, place: int) -> int:
    """Return the 64 bits from `place` on; what lies past the last word is not asked for."""
    word, shift = place >> 6, place & 63
    return funnel(words[word], words[word + 1], shift)


@device_function
def put(c: Cells, b: Cells, value: int) -> None:
    """Append an operand."""
    if b[N_CELLS] >= b[MAX_CELLS]:
        b[FAULT] = b[FULL] = 1
        return
    c[b[N_CELLS]] = value
    b[N_CELLS] += 1


@device_function
def open_record(c: Cells, b: Cells, code: int) -> None:
    """Append a row without operands."""
    noinline()
    if b[N_RECORDS] >= b[MAX_RECORDS]:
        b[FAULT] = b[FULL] = 1
        return
    row = b[N_RECORDS] * R_WIDTH
    c[row + R_BLOCK] = b[FRAMES + b[DEPTH] * F_SIZE + F_BLOCK]
    c[row + R_CODE] = code
    c[row + R_FIRST] = c[row + R_END] = b[N_CELLS]
    b[N_RECORDS] += 1


@device_function
def record_code(b: Cells, code: int) -> int:
    """Return the code of a record; none is taken for ENTER or LEAVE."""
    if code < 0:
        b[FAULT] = 1
        return 0
    return code


@device_function
def close_record(c: Cells, b: Cells) -> None:
    """End the last row's operands here."""
    if not b[FAULT]:
        c[(b[N_RECORDS] - 1) * R_WIDTH + R_END] = b[N_CELLS]


@device_function
def read_scalar(words: Words, b: Cells, encoding: int, value: int) -> int:
    """Return the next operand in this encoding."""
    if encoding == _FIXED:
        return read_fixed(words, b, value)
    if encoding == _VBR:
        return read_vbr(words, b, value)
    if encoding == _CHAR6:
        return _LETTERS[read_fixed(words, b, 6)]
    if encoding == _LITERAL:
        return value
    b[FAULT] = 1
    return 0


@device_function
def read_vbrs(words: Words, c: Cells, b: Cells, width: int, count: int) -> None:
    """Append `count` variable-width numbers: `read_vbr` with its state in registers."""
    noinline()
    place, limit, at = b[PLACE], b[LIMIT], b[N_CELLS]
    top, mask = 1 << (width - 1), (1 << (width - 1)) - 1
    for i in range(at, at + count):
        value, shift = 0, 0
        window = peek_bits(words, place)
        while window & top and shift < _MAX_BITS:
            value |= (window & mask) << shift
            shift += width - 1
            place += width
            window = peek_bits(words, min(place, limit))
        c[i] = wrapped(value | (window & mask) << (shift & 63))
        place += width
        if place > limit or shift >= _MAX_BITS:
            b[FAULT] = 1
            return
    b[PLACE], b[N_CELLS] = place, at + count


@device_function
def read_array(words: Words, c: Cells, b: Cells, encoding: int, value: int) -> None:
    """Append the elements of an array."""
    noinline()
    count = read_vbr(words, b, 6)
    if count < 0 or count > b[MAX_CELLS] - b[N_CELLS]:
        b[FAULT] = b[FULL] = 1
        return
    if encoding == _VBR:
        read_vbrs(words, c, b, value, count)
        return
    for _ in range(count):
        if b[FAULT]:
            return
        put(c, b, read_scalar(words, b, encoding, value))


@device_function
def read_blob(words: Words, c: Cells, b: Cells) -> None:
    """Append a blob's first byte and length."""
    noinline()
    count = read_vbr(words, b, 6)
    align(b)
    if count < 0 or count > (b[LIMIT] - b[PLACE]) >> 3:
        b[FAULT] = 1
        return
    put(c, b, b[PLACE] >> 3)
    put(c, b, count)
    b[PLACE] += count << 3
    align(b)


@device_function
def unabbreviated_record(words: Words, c: Cells, b: Cells) -> None:
    """Append a record written without an abbreviation."""
    noinline()
    open_record(c, b, record_code(b, read_vbr(words, b, 6)))
    read_array(words, c, b, _VBR, 6)
    close_record(c, b)


@device_function
def abbreviated_record(words: Words, c: Cells, b: Cells, abbreviation: int) -> None:
    """Append a record written as an abbreviation says; its first scalar is the code."""
    noinline()
    row = ABBREVIATIONS + 2 * abbreviation
    part, end = PARTS + 2 * b[row], PARTS + 2 * (b[row] + b[row + 1])
    first = True
    while part < end and not b[FAULT]:
        encoding, value = b[part], b[part + 1]
        if first:
            open_record(c, b, record_code(b, read_scalar(words, b, encoding, value)))
            first = False
        elif encoding == _ARRAY:
            read_array(words, c, b, b[part + 2], b[part + 3])
            break
        elif encoding == _BLOB:
            read_blob(words, c, b)
            break
        else:
            put(c, b, read_scalar(words, b, encoding, value))
        part += 2
    close_record(c, b)


@device_function
def define_abbreviation(words: Words, b: Cells) -> None:
    """Read an abbreviation: for this block, or in BLOCKINFO for the blocks it speaks of."""
    noinline()
    count, new = read_vbr(words, b, 5), b[N_ABBREVIATIONS]
    if new >= _MAX_ABBREVIATIONS or count < 1 or count > _MAX_PARTS - b[N_PARTS]:
        b[FAULT] = 1
        return
    row = ABBREVIATIONS + 2 * new
    b[row], b[row + 1] = b[N_PARTS], count
    for i in range(count):
        encoding, value = _LITERAL, 0
        if read_fixed(words, b, 1):
            value = read_vbr(words, b, 8)
        else:
            encoding = read_fixed(words, b, 3)
            if encoding == _FIXED or encoding == _VBR:
                value = read_vbr(words, b, 5)
            # An array is the last part but one, a blob the last; either is not the code.
            is_last = i == count - 1
            bad_array = encoding == _ARRAY and i != count - 2
            bad_blob = encoding == _BLOB and not is_last
            bad_width = value < 0 or value > _MAX_BITS or (encoding == _VBR and value < 2)
            if encoding < _FIXED or encoding > _BLOB or bad_array or bad_blob or bad_width:
                b[FAULT] = 1
                return
        if i == 0 and (encoding == _ARRAY or encoding == _BLOB):
            b[FAULT] = 1
            return
        part = PARTS + 2 * (b[N_PARTS] + i)
        b[part], b[part + 1] = encoding, value
    b[N_PARTS] += count
    b[N_ABBREVIATIONS] = new + 1
    if b[FRAMES + b[DEPTH] * F_SIZE + F_BLOCK] != _BLOCKINFO:
        know(b, new)
    elif b[N_SHARED] < _MAX_SHARED and b[ABOUT] >= 0:
        b[SHARED + 2 * b[N_SHARED]], b[SHARED + 2 * b[N_SHARED] + 1] = b[ABOUT], new
        b[N_SHARED] += 1
    else:
        b[FAULT] = 1


@device_function
def know(b: Cells, abbreviation: int) -> None:
    """Give the next number of this block to an abbreviation."""
    if b[N_SCOPE] >= _MAX_ABBREVIATIONS:
        b[FAULT] = 1
        return
    b[SCOPE + b[N_SCOPE]] = abbreviation
    b[N_SCOPE] += 1


@device_function
def enter_block(words: Words, c: Cells, b: Cells) -> None:
    """Read a block's head; a block that is not needed is skipped."""
    noinline()
    block, width = read_vbr(words, b, 8), read_vbr(words, b, 4)
    align(b)
    end = (read_fixed(words, b, 32) << 5) + b[PLACE]
    is_bad = end > b[LIMIT] or width < 2 or width > 32 or block < 0 or b[DEPTH] >= _MAX_DEPTH
    if b[FAULT] or is_bad:
        b[FAULT] = 1
        return
    if block < len(_SKIPPED) and _SKIPPED[block]:
        b[PLACE] = end
        return
    b[DEPTH] += 1
    frame = FRAMES + b[DEPTH] * F_SIZE
    b[frame + F_BLOCK], b[frame + F_WIDTH], b[frame + F_END] = block, width, end
    b[frame + F_SCOPE], b[frame + F_ABBREVIATIONS] = b[N_SCOPE], b[N_ABBREVIATIONS]
    b[frame + F_PARTS] = b[N_PARTS]
    b[ABOUT] = -1
    for i in range(b[N_SHARED]):
        if b[SHARED + 2 * i] == block:
            know(b, b[SHARED + 2 * i + 1])
    open_record(c, b, ENTER)


@device_function
def end_block(c: Cells, b: Cells) -> None:
    """End a block; its abbreviations are forgotten, BLOCKINFO's are not."""
    noinline()
    frame = FRAMES + b[DEPTH] * F_SIZE
    align(b)
    if b[PLACE] != b[frame + F_END]:
        b[FAULT] = 1
        return
    open_record(c, b, LEAVE)
    b[N_SCOPE] = b[frame + F_SCOPE]
    if b[frame + F_BLOCK] != _BLOCKINFO:
        b[N_ABBREVIATIONS], b[N_PARTS] = b[frame + F_ABBREVIATIONS], b[frame + F_PARTS]
    b[DEPTH] -= 1


@device_function
def set_block_id(c: Cells, b: Cells) -> None:
    """Note the block that BLOCKINFO's last record says its abbreviations are for."""
    row = (b[N_RECORDS] - 1) * R_WIDTH
    if not b[FAULT] and c[row + R_CODE] == bitcodes.SETBID and c[row + R_END] > c[row + R_FIRST]:
        b[ABOUT] = c[c[row + R_FIRST]]


@entry_point
def parse(words: Words, c: Cells, b: Cells) -> None:
    """Fill `c` with the records of the stream from the present place on."""
    _parse(as_pointers(words), as_pointers(c), as_pointers(b))


@device_function
def _parse(words: Words, c: Cells, b: Cells) -> None:
    while not b[FAULT]:
        frame = FRAMES + b[DEPTH] * F_SIZE
        if b[DEPTH] == 0 and b[LIMIT] - b[PLACE] < 32:
            return  # what pads the file
        code = read_fixed(words, b, b[frame + F_WIDTH])
        known = b[N_SCOPE] - b[frame + F_SCOPE]
        if b[FAULT]:
            return
        if code == bitcodes.ENTER_SUBBLOCK:
            enter_block(words, c, b)
        elif b[DEPTH] == 0 or code >= known + bitcodes.FIRST_ABBREV:
            b[FAULT] = 1
        elif code == bitcodes.END_BLOCK:
            end_block(c, b)
        elif code == bitcodes.DEFINE_ABBREV:
            define_abbreviation(words, b)
        else:
            if code == bitcodes.UNABBREV_RECORD:
                unabbreviated_record(words, c, b)
            else:
                number = code - bitcodes.FIRST_ABBREV
                abbreviated_record(words, c, b, b[SCOPE + b[frame + F_SCOPE] + number])
            if b[frame + F_BLOCK] == _BLOCKINFO:
                set_block_id(c, b)


def first_block(raw: bytes) -> Stream | None:
    """Return the records of the first block alone, without compiled code; None if it is damaged."""
    raw = raw[:_LONGEST_FIRST]
    words = np.frombuffer(raw + bytes(16 - len(raw) % 8), np.uint64).data
    b = [_MAGIC_BITS, 8 * len(raw), 0]
    if read_fixed(words, b, 2) != bitcodes.ENTER_SUBBLOCK:
        return None
    read_vbr(words, b, 8)  # which block
    read_vbr(words, b, 4)  # the width of its abbreviation ids
    align(b)
    n_words = read_fixed(words, b, 32)
    end = (b[PLACE] >> 3) + 4 * n_words
    if b[FAULT] or end > len(raw):
        return None
    with interpreted():
        return parse_bitstream(raw[:end])


def parse_bitstream(raw: bytes) -> Stream | None:
    """Return the records of a bitcode file without a wrapper, or None if it is damaged."""
    words = np.frombuffer(raw + bytes(16 - len(raw) % 8), np.uint64)
    for record_bits, operand_bits in _DENSITIES:
        max_records = 8 * len(raw) // record_bits + 16
        cells = np.empty(max_records * R_WIDTH + 8 * len(raw) // operand_bits + 16, np.int64)
        state = np.zeros(_SIZE, np.int64)
        state[PLACE], state[LIMIT] = _MAGIC_BITS, 8 * len(raw)
        state[MAX_RECORDS], state[N_CELLS] = max_records, max_records * R_WIDTH
        state[MAX_CELLS] = len(cells)
        state[FRAMES + F_BLOCK], state[FRAMES + F_WIDTH] = -1, 2
        parse(words, cells, state)
        if not state[FULL]:
            break
    if state[FAULT] or state[DEPTH]:
        return None
    return Stream(cells, int(state[N_RECORDS]))
