"""What the process that holds LLVM is given, and how it says where it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["bitcode", "assembly"]
FORMS: dict[str, Form] = {".bc": "bitcode", ".ll": "assembly", ".o": "bitcode", ".obj": "bitcode"}
MARK = "kleene: at "  # said on stderr before each unit, for when LLVM dies
UNSET = "kleene.unset"  # the variable that locals without a value are copied from
COROUTINE = "llvm.coro.begin"  # what every coroutine calls that is not split into functions yet


@dataclass(frozen=True, slots=True)
class Unit:
    """One module before linking; `file` is for messages."""

    file: str
    form: Form
    normalise: bool
    raw: bytes
