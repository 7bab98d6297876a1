"""The words of the text form for the codes of the IR, shared by printer and parser."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from functools import cache

from kleene.ir.codes import (
    ORDERING_MASK,
    ORDERING_SHIFT,
    ArgumentFlag,
    AtomicOperation,
    ConstantKind,
    Flag,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    Ordering,
    Passing,
    Predicate,
)


def _numbers(codes: type[IntEnum] | type[IntFlag]) -> dict[str, int]:
    return {name.lower(): int(code) for name, code in codes.__members__.items()}


OPCODES = _numbers(Opcode)
LINKAGES = _numbers(Linkage)
PASSINGS = _numbers(Passing)
ARGUMENT_FLAGS = _numbers(ArgumentFlag)
GLOBAL_FLAGS = _numbers(GlobalFlag)
ORDERINGS = {word: code << ORDERING_SHIFT for word, code in _numbers(Ordering).items() if code}
FLAGS = _numbers(Flag) | ORDERINGS
SUBS = {
    Opcode.ICMP: _numbers(Predicate),
    Opcode.FCMP: _numbers(Predicate),
    Opcode.ATOMICRMW: _numbers(AtomicOperation),
    Opcode.CMPXCHG: _numbers(Ordering),
}
LITERALS = {
    "null": ConstantKind.NULL,
    "undef": ConstantKind.UNDEF,
    "poison": ConstantKind.POISON,
    "zero": ConstantKind.ZERO,
    "none": ConstantKind.NONE,
}
KEYWORDS = {GlobalKind.ALIAS: "alias", GlobalKind.IFUNC: "ifunc"}
BINDINGS = ("at", "=", ":=")  # by codes.Binding; `via` follows where it is not exact

OPCODE_WORDS = {code: word for word, code in OPCODES.items()}
LINKAGE_WORDS = {code: word for word, code in LINKAGES.items()}
PASSING_WORDS = {code: word for word, code in PASSINGS.items()}
LITERAL_WORDS = {kind: word for word, kind in LITERALS.items()}
SUB_WORDS = {
    opcode: {
        code: f"failing {word}" if opcode == Opcode.CMPXCHG else word
        for word, code in words.items()
    }
    for opcode, words in SUBS.items()
}
_ORDERING_WORDS = {code: word for word, code in ORDERINGS.items()}


@cache
def flag_words(flags: int) -> str:
    """Return the modifiers of an instruction, each with a space in front."""
    words = [word for word, bit in _numbers(Flag).items() if flags & bit]
    if ordering := flags & ORDERING_MASK:
        words.append(_ORDERING_WORDS[ordering])
    return "".join(f" {word}" for word in words)


@cache
def global_words(flags: int) -> str:
    """Return the properties of a global, with spaces between."""
    return " ".join(word for word, bit in GLOBAL_FLAGS.items() if flags & bit)


@cache
def argument_words(flags: int) -> str:
    """Return the promises about an argument, each with a space in front."""
    return "".join(f" {word}" for word, bit in ARGUMENT_FLAGS.items() if flags & bit)
