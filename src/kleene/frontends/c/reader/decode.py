"""Text to bytes and numbers: escapes, wide integers, and LLVM's ways of writing a real."""

from __future__ import annotations

import re
import struct

import numpy as np

_ESCAPE = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")
_LARGEST, _SMALLEST = (1 << 63) - 1, -(1 << 63)
_MOST_DIGITS = len(str(_SMALLEST))
_HEXADECIMAL = re.compile(rb"0x([HRKLM]?)([0-9A-Fa-f]{1,32})")


def unescape(raw: bytes) -> bytes:
    r"""Return the bytes that LLVM writes as `raw`: `\\` and `\0A` stand for one byte each."""
    return _ESCAPE.sub(_byte, raw)


def _byte(found: re.Match[bytes]) -> bytes:
    return b"\\" if found[1] == b"\\" else bytes.fromhex(found[1].decode())


def narrow(text: bytes) -> int | None:
    """Return the integer if 64 bits hold it."""
    if len(text) > _MOST_DIGITS:  # Python refuses to read very long ones
        return None
    value = int(text)
    return value if _SMALLEST <= value <= _LARGEST else None


def real_bits(text: bytes) -> int | None:
    """Return the bits of the float64 that `text` writes, or None for the wider kinds.

    Raises:
        ValueError: it writes no number.
    """
    found = _HEXADECIMAL.fullmatch(text)
    if not found:
        return _signed(struct.pack("<d", float(text)))
    kind, bits = found[1], int(found[2], 16)
    if kind in (b"K", b"L", b"M"):
        return None
    if bits >= 1 << (16 if kind else 64):
        raise ValueError(f"{text!r} has too many bits")
    if kind == b"H":
        return _signed(struct.pack("<d", float(np.uint16(bits).view(np.float16))))
    if kind == b"R":
        return _signed(struct.pack("<d", *struct.unpack("<f", _upper_half(bits))))
    return _signed(bits.to_bytes(8, "little"))


def _upper_half(bits: int) -> bytes:
    """Return the float32 whose upper half is the bfloat given."""
    return (bits << 16).to_bytes(4, "little")


def _signed(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)
