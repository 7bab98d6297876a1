"""Columnar program tables: builder, verifier, text form, store."""

from kleene.ir.builder import Builder
from kleene.ir.canonical import canonical, same
from kleene.ir.program import Program
from kleene.ir.text import dump, parse
from kleene.ir.verifier import problems, verify
from kleene.ir.views import (
    Argument,
    Block,
    Call,
    Constant,
    Function,
    Global,
    Instruction,
    Type,
    Value,
)

__all__ = [
    "Argument",
    "Block",
    "Builder",
    "Call",
    "Constant",
    "Function",
    "Global",
    "Instruction",
    "Program",
    "Type",
    "Value",
    "canonical",
    "dump",
    "parse",
    "problems",
    "same",
    "verify",
]
