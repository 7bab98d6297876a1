"""What functions outside of the program do, as far as numbers go."""

from __future__ import annotations

from enum import Enum, auto

from kleene.ir import Program
from kleene.ir.codes import Flag, GlobalFlag


class Model(Enum):
    """What a call of a function without a body does."""

    UNKNOWN = auto()  # returns anything, and writes to all that it can reach
    PURE = auto()  # returns anything, and writes to nothing
    STOP = auto()  # does not come back
    FAIL = auto()  # reports an error: the run was wrong to come here
    ASSUME = auto()  # goes on only if its argument is not 0
    CHECK = auto()  # fails if its argument is 0
    COPY = auto()  # returns its first argument
    MALLOC = auto()  # allocates as many bytes as its argument says, or returns null
    CALLOC = auto()  # allocates as many bytes as the product of its arguments, or returns null
    FILL = auto()  # writes to the object of its first argument only


_MODELS = {
    "__assert_fail": Model.FAIL, "__assert": Model.FAIL, "__assert_rtn": Model.FAIL,
    "reach_error": Model.FAIL, "__VERIFIER_error": Model.FAIL,
    "abort": Model.STOP, "exit": Model.STOP, "_exit": Model.STOP, "_Exit": Model.STOP,
    "__VERIFIER_assume": Model.ASSUME, "kleene_assume": Model.ASSUME, "llvm.assume": Model.ASSUME,
    "__VERIFIER_assert": Model.CHECK, "kleene_check": Model.CHECK,
    "malloc": Model.MALLOC, "calloc": Model.CALLOC, "free": Model.PURE,
    "rand": Model.PURE, "random": Model.PURE, "time": Model.UNKNOWN, "abs": Model.PURE,
    "putchar": Model.PURE, "puts": Model.PURE, "printf": Model.UNKNOWN, "strlen": Model.PURE,
    "strcmp": Model.PURE, "strncmp": Model.PURE, "memcmp": Model.PURE, "getchar": Model.PURE,
    "memset": Model.FILL, "memcpy": Model.FILL, "memmove": Model.FILL,
}  # fmt: skip
_WHATEVER_THEY_DO = ("reach_error", "__VERIFIER_error", "kleene_assume", "kleene_check")
_BEGIN = {
    "__VERIFIER_nondet": Model.PURE,
    "llvm.dbg": Model.PURE,
    "llvm.lifetime": Model.PURE,
    "llvm.expect": Model.COPY,
    "llvm.memset": Model.FILL,
    "llvm.memcpy": Model.FILL,
    "llvm.memmove": Model.FILL,
    "llvm.trap": Model.STOP,
}


def model_of(program: Program, callee: int) -> Model:
    """Return what a call does, from whom it calls; a function with a body has no model."""
    if callee >= len(program.globals) or (row := int(program.globals.function[callee])) < 0:
        return Model.UNKNOWN
    offsets = program.function_table.block_offsets
    name = program.strings[int(program.globals.name[callee])]
    if offsets[row] < offsets[row + 1] and name not in _WHATEVER_THEY_DO:
        return Model.UNKNOWN
    if name in _MODELS:
        return _MODELS[name]
    for prefix, model in _BEGIN.items():
        if name.startswith(prefix):
            return model
    flags = int(program.globals.flags[callee])
    if flags & GlobalFlag.NORETURN:
        return Model.STOP
    return Model.PURE if flags & (GlobalFlag.READ_NONE | GlobalFlag.READ_ONLY) else Model.UNKNOWN


def is_noreturn(flags: int) -> bool:
    """Return whether a call instruction says that it does not come back."""
    return bool(flags & Flag.NORETURN)
