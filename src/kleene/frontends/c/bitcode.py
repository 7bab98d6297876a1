"""Is this LLVM bitcode, and which LLVM wrote it?

LLVM aborts the process on bitcode of a later LLVM, so we look before it does. A bitcode file
begins with an identification block whose string record names the producer ("LLVM22.1.8"); files
from before LLVM 3.8 have none. See "LLVM Bitcode File Format", on the wrapper and on
IDENTIFICATION_BLOCK.
"""

from __future__ import annotations

import re

from kleene.base.errors import SourceError, Span

LLVM_MAJOR = 22  # of the llvmlite that pyproject.toml allows; a test compares the two
UNDERSTOOD_MAJORS = (20, 21, 22)  # whose files were compared with what LLVM 22 makes of them

_RAW = b"BC\xc0\xde"
_WRAPPER = b"\xde\xc0\x17\x0b"
_ASSEMBLY = (
    *(rb"source_filename\b", rb"target\b", rb"define\b", rb"declare\b", rb"module asm\b"),
    *(rb"attributes #", rb"@", rb"%", rb"![A-Za-z0-9{]", rb"\$"),
)
_NATIVE = {
    b"\x7fELF": "an ELF object",
    b"!<ar": "an archive",
    b"\xcf\xfa\xed\xfe": "a Mach-O object",
    b"\x64\x86": "a COFF object",
}


def is_bitcode(raw: bytes) -> bool:
    """Return whether `raw` begins as a bitcode file does."""
    return raw.startswith((_RAW, _WRAPPER))


def is_assembly(raw: bytes) -> bool:
    """Return whether `raw` begins as LLVM assembly does: with a word or sign of its language."""
    return re.match(rb"(?:\s|;[^\n]*\n)*(?:%s)" % b"|".join(_ASSEMBLY), raw) is not None


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
    from kleene.frontends.c.reader import bitcodes
    from kleene.frontends.c.reader.bitstream import first_block

    block = first_block(raw[start:])
    if block is None:
        return None
    for number, code, first, end in block.records.tolist():
        if number == bitcodes.IDENTIFICATION and code == bitcodes.IDENTIFICATION_STRING:
            return "".join(chr(letter & 0xFF) for letter in block.cells[first:end].tolist())
    return None
