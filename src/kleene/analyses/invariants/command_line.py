"""What `main` is called with: `argc` pointers to strings, and a null pointer behind them."""

from __future__ import annotations

import numpy as np

from kleene.ir import Program
from kleene.ir.codes import GlobalFlag, TypeKind, ValueKind

MOST_ARGUMENTS = (1 << 31) - 1
POINTER_BYTES = 8


def command_line(program: Program) -> tuple[int, int] | None:
    """Return the values `argc` and `argv` of `main`; None if the program may call that itself."""
    main = next((one for one in program.functions if one.name == "main" and one.blocks), None)
    if main is None or len(main.arguments) < 2 or is_called(program, main.row):
        return None
    first = int(program.function_table.argument_offsets[main.row])
    argc = program.value(ValueKind.ARGUMENT, first)
    types = program.types
    count, array = (int(program.value_types[one]) for one in (argc, argc + 1))
    is_count = types.kind[count] == TypeKind.INT and types.size[count] == 4
    is_array = types.kind[array] == TypeKind.POINTER and types.size[array] == POINTER_BYTES
    return (argc, argc + 1) if is_count and is_array else None


def is_called(program: Program, function: int) -> bool:
    """Return whether the program itself may call a function: by name, or through a pointer."""
    value = int(program.function_table.value[function])
    is_taken = bool(program.globals.flags[value] & GlobalFlag.ADDRESS_TAKEN)
    return is_taken or bool(np.any(program.instructions.operands == value))
