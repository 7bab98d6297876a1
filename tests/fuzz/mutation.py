"""Good inputs spoilt: bytes, words and lines changed, cut, doubled, exchanged between seeds."""

from __future__ import annotations

import random
import re

_WORD = re.compile(rb"\w+|\s+|[^\w\s]")
_ODD = (
    b"\0", b"\xff", b"\x1b[2J", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"-", b"@", b"0", b"-1",
    b"9" * 40, b"\xc2\xb2", b"1e999", b"inf", b"nan", b"", b"*", b"..", b"(", b"[", b"{", b'"',
    b"'",     b"\n", b"\r", b"\xe2\x80\xa8", b"/", b"../..", b"%s", b"=cmd",
)  # fmt: skip


def spoilt(seeds: list[bytes], chance: random.Random) -> bytes:
    """Return one of the seeds with one to five changes."""
    raw = chance.choice(seeds)
    for _ in range(chance.randint(1, 5)):
        raw = chance.choice(_CHANGES)(raw, seeds, chance)
    return raw


def _place(raw: bytes, chance: random.Random) -> int:
    return chance.randint(0, len(raw))


def _bit(raw: bytes, _seeds: list[bytes], chance: random.Random) -> bytes:
    if not raw:
        return raw
    changed = bytearray(raw)
    changed[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(raw: bytes, _seeds: list[bytes], chance: random.Random) -> bytes:
    at = _place(raw, chance)
    return raw[:at] + raw[at + chance.choice((1, 2, 8, 64, len(raw))) :]


def _insert(raw: bytes, _seeds: list[bytes], chance: random.Random) -> bytes:
    at = _place(raw, chance)
    return raw[:at] + chance.choice(_ODD) * chance.choice((1, 1, 1, 2, 300)) + raw[at:]


def _word(raw: bytes, seeds: list[bytes], chance: random.Random) -> bytes:
    words, others = _WORD.findall(raw), _WORD.findall(chance.choice(seeds))
    if not words or not others:
        return raw
    words[chance.randrange(len(words))] = chance.choice(
        (chance.choice(others), chance.choice(_ODD))
    )
    return b"".join(words)


def _double(raw: bytes, _seeds: list[bytes], chance: random.Random) -> bytes:
    start, end = sorted((_place(raw, chance), _place(raw, chance)))
    part = raw[start : min(end, start + 40)]
    return raw[:start] + part * chance.choice((1, 2, 400)) + raw[start:]


def _mix(raw: bytes, seeds: list[bytes], chance: random.Random) -> bytes:
    other = chance.choice(seeds)
    return raw[: _place(raw, chance)] + other[_place(other, chance) :]


_CHANGES = (_bit, _bit, _cut, _insert, _word, _word, _word, _double, _mix)
