"""Is this LLVM bitcode, and which LLVM wrote it?

LLVM aborts the process on bitcode of a later LLVM, so we look before it does. A bitcode file
begins with an identification block whose string record names the producer ("LLVM22.1.8"); files
from before LLVM 3.8 have none. Format: "LLVM Bitcode File Format", sections on the bitstream
container, the wrapper and IDENTIFICATION_BLOCK.
"""

from __future__ import annotations

import re

from kleene.base.errors import SourceError, Span

LLVM_MAJOR = 22  # of the llvmlite that pyproject.toml allows; a test compares the two
UNDERSTOOD_MAJORS = (20, 21, 22)  # whose files were compared with what LLVM 22 makes of them

_RAW = b"BC\xc0\xde"
_WRAPPER = b"\xde\xc0\x17\x0b"
_NATIVE = {
    b"\x7fELF": "an ELF object",
    b"!<ar": "an archive",
    b"\xcf\xfa\xed\xfe": "a Mach-O object",
    b"\x64\x86": "a COFF object",
}
_ENTER_BLOCK, _END_BLOCK, _DEFINE_ABBREVIATION, _UNABBREVIATED = 1, 0, 2, 3
_IDENTIFICATION_BLOCK = 13
_STRING_RECORD = 1
_FIXED, _VBR, _ARRAY, _CHAR6, _BLOB = 1, 2, 3, 4, 5
_CHAR6_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"

_MAX_NUMBER_BITS = 64
_MAX_STRING = 4096

_Operand = tuple[int, int]  # encoding (0: literal) and its width or value


def is_bitcode(raw: bytes) -> bool:
    """Return whether `raw` begins as a bitcode file does."""
    return raw.startswith((_RAW, _WRAPPER))


def check(file: str, raw: bytes) -> None:
    """Raise the reason why LLVM must not be given `raw`, if there is one."""
    for magic, what in _NATIVE.items():
        if raw.startswith(magic):
            raise SourceError(
                Span(file),
                "c/native-object",
                f"{what} holds machine code, not LLVM bitcode",
                "build it again with clang and -flto: its .o files are bitcode then",
            )
    if not is_bitcode(raw):
        raise SourceError(Span(file), "c/bad-bitcode", "not LLVM bitcode")
    name = producer(raw)
    if name and (version := re.match(r"LLVM(\d+)", name)) and int(version[1]) > LLVM_MAJOR:
        raise SourceError(
            Span(file),
            "c/newer-bitcode",
            f"written by {name}, and this Kleene reads up to LLVM {LLVM_MAJOR}",
            f"compile it with clang {LLVM_MAJOR} or older, or load the sources instead",
        )


def producer(raw: bytes) -> str | None:
    """Return the name of the LLVM that wrote `raw`, or None if the file does not say."""
    start = int.from_bytes(raw[8:12], "little") if raw.startswith(_WRAPPER) else 0
    if raw[start : start + 4] != _RAW:
        return None
    try:
        return _identification(_Bits(raw, 8 * (start + 4)))
    except EOFError:
        return None


def _identification(bits: _Bits) -> str | None:
    if bits.read(2) != _ENTER_BLOCK or bits.vbr(8) != _IDENTIFICATION_BLOCK:
        return None
    width = bits.vbr(4)
    bits.align()
    bits.read(32)  # the block's length in words
    abbreviations: list[list[_Operand]] = []
    while (code := bits.read(width)) != _END_BLOCK:
        if code == _DEFINE_ABBREVIATION:
            abbreviations.append(bits.abbreviation())
            continue
        if code == _UNABBREVIATED:
            record = bits.plain_record()
        elif code - 4 < len(abbreviations) and code >= 4:
            record = bits.record(abbreviations[code - 4])
        else:
            return None
        if record[:1] == [_STRING_RECORD]:
            return "".join(chr(letter & 0xFF) for letter in record[1:])
    return None


class _Bits:
    """A bitstream read from the low bit of each byte up; past its end it raises `EOFError`."""

    def __init__(self, raw: bytes, place: int) -> None:
        self.raw = raw
        self.place = place

    def read(self, width: int) -> int:
        """Return the next `width` bits."""
        first, end = self.place, self.place + width
        if end > 8 * len(self.raw):
            raise EOFError
        self.place = end
        chunk = int.from_bytes(self.raw[first // 8 : (end + 7) // 8], "little")
        return (chunk >> (first % 8)) & ((1 << width) - 1)

    def vbr(self, width: int) -> int:
        """Return the next variable-width number: chunks whose top bit says that more follow."""
        top = 1 << (max(width, 2) - 1)
        value = shift = 0
        while shift < _MAX_NUMBER_BITS:
            chunk = self.read(max(width, 2))
            value |= (chunk & (top - 1)) << shift
            shift += max(width, 2) - 1
            if not chunk & top:
                return value
        raise EOFError

    def align(self) -> None:
        """Skip to the next multiple of 32 bits."""
        self.place += -self.place % 32

    def abbreviation(self) -> list[_Operand]:
        """Return the shape of records that is defined here."""
        operands: list[_Operand] = []
        for _ in range(self.vbr(5)):
            if self.read(1):
                operands.append((0, self.vbr(8)))
                continue
            encoding = self.read(3)
            operands.append((encoding, self.vbr(5) if encoding in (_FIXED, _VBR) else 0))
        return operands

    def plain_record(self) -> list[int]:
        """Return the record written here without an abbreviation."""
        code = self.vbr(6)
        return [code, *(self.vbr(6) for _ in range(self._length()))]

    def record(self, shape: list[_Operand]) -> list[int]:
        """Return the record written here in `shape`."""
        values: list[int] = []
        operands = iter(shape)
        for operand in operands:
            if operand[0] == _ARRAY:
                element = next(operands, (_FIXED, 1))
                values += [self._scalar(element) for _ in range(self._length())]
            elif operand[0] == _BLOB:
                raise EOFError  # none in an identification block
            else:
                values.append(self._scalar(operand))
        return values

    def _length(self) -> int:
        length = self.vbr(6)
        if length > _MAX_STRING:  # hostile: elements of no width would make it endless
            raise EOFError
        return length

    def _scalar(self, operand: _Operand) -> int:
        encoding, argument = operand
        if encoding == _FIXED:
            return self.read(argument)
        if encoding == _VBR:
            return self.vbr(argument)
        return _CHAR6_LETTERS[self.read(6)] if encoding == _CHAR6 else argument
