"""The words of LLVM's text, numbered, and what each means in each place it may stand.

A word is looked up by its 64-bit FNV-1a hash in `TABLE_HASH`/`TABLE_WORD` (open addressing); the
meaning arrays are then indexed by its number. Word 0 is every word not in this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.ir.codes import (
    ORDERING_SHIFT,
    ArgumentFlag,
    AtomicOperation,
    Binding,
    Flag,
    GlobalFlag,
    Linkage,
    Opcode,
    Ordering,
    Passing,
    Predicate,
)

FNV_START = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3
TABLE_BITS = 11

OPCODES = {op.name.lower(): int(op) for op in Opcode if op is not Opcode.OPAQUE}
FLAGS = {
    word: int(Flag[word.upper()])
    for word in (
        "nuw nsw exact disjoint nneg samesign inbounds nusw volatile atomic tail musttail "
        "notail cleanup weak nnan ninf nsz arcp contract afn reassoc"
    ).split()
} | {
    "fast": int(
        Flag.NNAN | Flag.NINF | Flag.NSZ | Flag.ARCP | Flag.CONTRACT | Flag.AFN | Flag.REASSOC
    ),
    "sideeffect": int(Flag.SIDE_EFFECT),
}
ORDERINGS = {o.name.lower(): int(o) << ORDERING_SHIFT for o in Ordering if o}
PREDICATES = {p.name.lower(): int(p) for p in Predicate}
OPERATIONS = {o.name.lower(): int(o) for o in AtomicOperation}
LINKAGES = {o.name.lower(): int(o) for o in Linkage}
GLOBAL_FLAGS = {
    "dso_local": int(GlobalFlag.DSO_LOCAL),
    "hidden": int(GlobalFlag.HIDDEN),
    "thread_local": int(GlobalFlag.THREAD_LOCAL),
    "unnamed_addr": int(GlobalFlag.UNNAMED_ADDRESS),
    "local_unnamed_addr": 0,
    "externally_initialized": int(GlobalFlag.EXTERNALLY_INITIALIZED),
    "noreturn": int(GlobalFlag.NORETURN),
    "returns_twice": int(GlobalFlag.RETURNS_TWICE),
    "nounwind": int(GlobalFlag.NOUNWIND),
    "readnone": int(GlobalFlag.READ_NONE),
    "readonly": int(GlobalFlag.READ_ONLY),
    "allockind": int(GlobalFlag.ALLOCATOR),
    "allocsize": int(GlobalFlag.ALLOCATOR),
}
ARGUMENT_FLAGS = {
    "noalias": int(ArgumentFlag.NOALIAS),
    "nonnull": int(ArgumentFlag.NONNULL),
    "nocapture": int(ArgumentFlag.NOCAPTURE),
    "readonly": int(ArgumentFlag.READ_ONLY),
    "writeonly": int(ArgumentFlag.WRITE_ONLY),
    "readnone": int(ArgumentFlag.READ_NONE),
    "returned": int(ArgumentFlag.RETURNED),
    "signext": int(ArgumentFlag.SIGN_EXTENDED),
    "zeroext": int(ArgumentFlag.ZERO_EXTENDED),
}
PASSINGS = {
    "byval": int(Passing.BYVAL),
    "sret": int(Passing.SRET),
    "byref": int(Passing.BYREF),
    "inalloca": int(Passing.INALLOCA),
    "preallocated": int(Passing.PREALLOCATED),
    "elementtype": int(Passing.ELEMENT),
}
# The simple types, in the order in which the reader makes them: their ids are their places here.
SIMPLE_TYPES = (
    "void half bfloat float double x86_fp80 fp128 ppc_fp128 ptr label metadata token x86_amx i1 i32"
).split()
OTHERS = (
    "to within unwind from caller label align addrspace syncscope x vscale type opaque "
    "target null undef poison zeroinitializer none true false splat blockaddress asm "
    "dso_local_equivalent no_cfi ptrauth inrange captures memory range alignstack "
    "inteldialect catch filter global constant alias ifunc define declare attributes "
    "source_filename module comdat section partition personality prefix prologue gc "
    "code_model triple datalayout distinct inline name linkageName scope file line column "
    "inlinedAt var filename directory arg dbg dbg_value dbg_declare dbg_assign dbg_label "
    "dbg_declare_value cc swifterror read write readwrite"
).split()


def fnv(text: str) -> int:
    """Return the hash under which a word is found."""
    value = FNV_START
    for byte in text.encode():
        value = ((value ^ byte) * FNV_PRIME) & 0xFFFFFFFFFFFFFFFF
    return value


def _number() -> dict[str, int]:
    groups: list[Mapping[str, int] | list[str]] = [
        OPCODES,
        FLAGS,
        ORDERINGS,
        PREDICATES,
        OPERATIONS,
        LINKAGES,
        GLOBAL_FLAGS,
        ARGUMENT_FLAGS,
        PASSINGS,
        SIMPLE_TYPES,
        OTHERS,
    ]
    unique = dict.fromkeys(word for group in groups for word in group)
    return {word: number for number, word in enumerate(unique, 1)}


WORDS = _number()


def _meaning(group: Mapping[str, int], absent: int = -1) -> Any:
    """Return, by word number, its meaning in `group`."""
    column = np.full(len(WORDS) + 1, absent, np.int64)
    for word, value in group.items():
        column[WORDS[word]] = value
    return column


def _table() -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    hashes = np.zeros(1 << TABLE_BITS, np.uint64)
    words = np.zeros(1 << TABLE_BITS, np.int64)
    for word, number in WORDS.items():
        value = fnv(word)
        place = value & ((1 << TABLE_BITS) - 1)
        while words[place]:
            assert hashes[place] != np.uint64(value), f"{word}: two words share a hash"
            place = (place + 1) & ((1 << TABLE_BITS) - 1)
        hashes[place], words[place] = np.uint64(value), number
    return hashes, words


TABLE_HASH, TABLE_WORD = _table()
OPCODE_OF = _meaning(OPCODES)
FLAG_OF = _meaning(FLAGS, 0)
ORDERING_OF = _meaning(ORDERINGS, 0)
PREDICATE_OF = _meaning(PREDICATES)
OPERATION_OF = _meaning(OPERATIONS)
LINKAGE_OF = _meaning(LINKAGES)
GLOBAL_FLAG_OF = _meaning(GLOBAL_FLAGS, 0)
ARGUMENT_FLAG_OF = _meaning(ARGUMENT_FLAGS, 0)
PASSING_OF = _meaning(PASSINGS)
SIMPLE_TYPE_OF = _meaning({word: place for place, word in enumerate(SIMPLE_TYPES)})
# Words that begin a constant; any other word before a value is an attribute.
STARTS_VALUE = _meaning(
    dict.fromkeys(
        (
            "null undef poison zeroinitializer none true false splat blockaddress asm "
            "dso_local_equivalent no_cfi ptrauth getelementptr trunc ptrtoint ptrtoaddr inttoptr "
            "bitcast addrspacecast add sub mul xor shl icmp fcmp select extractelement "
            "insertelement shufflevector zext sext fptrunc fpext"
        ).split(),
        1,
    ),
    0,
)
# Which column of a metadata node a key fills: see metadata.M_NAME and so on.
NODE_KEYS = ("name linkageName scope file line column inlinedAt var filename directory arg").split()
NODE_COLUMN_OF = _meaning({key: place for place, key in enumerate(NODE_KEYS, 1)})
BINDING_OF = _meaning({f"dbg_{kind.name.lower()}": int(kind) for kind in Binding})
