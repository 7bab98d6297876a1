"""Thin views: `program.functions["main"].blocks[0].instructions`.

A view is a program and a number; it is made when asked for, holds nothing else, and equals every
other view of the same thing. For work on whole programs use the columns.
"""

from kleene.ir.views.base import FunctionRows, Rows, Type, Value, View, span_of
from kleene.ir.views.code import Block, Call, Function, Instruction, instruction_view, value_view
from kleene.ir.views.data import Argument, Constant, Global

__all__ = [
    "Argument",
    "Block",
    "Call",
    "Constant",
    "Function",
    "FunctionRows",
    "Global",
    "Instruction",
    "Rows",
    "Type",
    "Value",
    "View",
    "instruction_view",
    "span_of",
    "value_view",
]
