"""What LLVM 22 changes in bitcode of LLVM 20 and 21, as far as it is known here.

A file of LLVM 22 is taken as it stands. In an older one LLVM 22 may give intrinsics other
parameters and attributes, and data layouts further parts. Known are intrinsics whose form and
attributes (of those that the IR keeps) have not changed since LLVM 20, the layouts of two
processors, and the lifetime intrinsics, which have lost an argument.
"""

from __future__ import annotations

from typing import NamedTuple

MAJORS = (20, 21, 22)  # of the writers whose files were compared with what LLVM 22 makes of them

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
