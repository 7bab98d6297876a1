"""What loops may call without a body at hand, and what speaks for refusing them."""

from __future__ import annotations

from typing import Literal

# Values from arguments alone. `errno` and the floating-point status flags are not modelled.
_MATH = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "nearbyint",
    "nextafter",
    "pow",
    "remainder",
    "rint",
    "round",
    "scalbn",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
]
PURE = frozenset(
    [
        *(name + suffix for name in _MATH for suffix in ("", "f", "l")),
        *(f"__builtin_{name}{suffix}" for name in _MATH for suffix in ("", "f", "l")),
        *["abs", "labs", "llabs", "isnan", "isinf", "isfinite", "signbit"],
        *["__builtin_abs", "__builtin_labs", "__builtin_expect", "__builtin_popcount"],
        *["__builtin_huge_val", "__builtin_huge_valf", "__builtin_inf", "__builtin_inff"],
        *[
            "__builtin_clz",
            "__builtin_ctz",
            "__builtin_isnan",
            "__builtin_bswap32",
            "__builtin_bswap64",
        ],
    ]
)
IO = frozenset(
    [
        "fclose",
        "feof",
        "ferror",
        "fflush",
        "fgetc",
        "fgets",
        "fopen",
        "fprintf",
        "fputc",
        "fputs",
        "fread",
        "fscanf",
        "fseek",
        "ftell",
        "fwrite",
        "getc",
        "getchar",
        "gets",
        "perror",
        "printf",
        "putc",
        "putchar",
        "puts",
        "read",
        "remove",
        "rename",
        "rewind",
        "scanf",
        "sprintf",
        "snprintf",
        "sscanf",
        "ungetc",
        "vfprintf",
        "vprintf",
        "write",
    ]
)
SETJMP = frozenset(
    ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "longjmp", "_longjmp", "siglongjmp"]
)
_ASSERTS = frozenset(["__assert_fail", "__assert_rtn", "__assert"])
_ALLOCATES = frozenset(["aligned_alloc", "calloc", "malloc"])


def effect_of(name: str) -> Literal["none", "allocates", "asserts", "unknown"]:
    """Return what a call of the C library's function does besides giving a value."""
    if name in PURE:
        return "none"
    if name in _ASSERTS:
        return "asserts"
    return "allocates" if name in _ALLOCATES else "unknown"
