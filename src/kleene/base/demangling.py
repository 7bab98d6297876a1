"""Symbols of C++ as people write them, by the C++ runtime that NumPy is linked with.

`__cxa_demangle` is part of the Itanium C++ ABI: libstdc++ and libc++abi both have it. Where neither
can be found, symbols stay as they are.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache
from typing import Any

_RUNTIMES = ("libstdc++.so.6", "libc++abi.so.1", "libc++.1.dylib", "libc++abi.dylib")
_RENAMED = re.compile(r"(?<=.)\.\d+$")  # what LLVM appends to the second static of a name
_QUALIFIERS = re.compile(r"( const| volatile| &&| &| noexcept)+$")
_SPECIAL = ("non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to ")
_UNWRITTEN = re.compile(r"\[abi:\w+\]|(?<=\bstd::)(__1|__cxx11)::")
_STRUCTORS = re.compile(r".*(C2|D0|D2)E")
_PARTS = {"C2": " [base]", "D2": " [base]", "D0": " [deleting]"}


def demangled(symbol: str) -> str | None:
    """Return a symbol of C++ as it is written, with its parameters; None for other symbols.

    What LLVM appended to it is left out: `_ZL1fi.2` is `f(int)`, as `_ZL1fi` is. So is what nobody
    writes: tags of an ABI, and namespaces of versions: `std::__1::vector` is `std::vector`.
    """
    plain = _RENAMED.sub("", symbol.removeprefix("\x01"))
    plain = plain[1:] if plain.startswith("__Z") else plain
    found = _demangle()(plain) if plain.startswith("_Z") else None
    return _UNWRITTEN.sub("", found) if found else None


def without_parameters(name: str) -> str:
    """Return a demangled name without parameters and result: `Stack<int>::push`.

    >>> without_parameters("int Stack<int>::push(int (*)(char)) const")
    'Stack<int>::push'
    """
    if name.startswith(_SPECIAL):
        return name
    plain = _QUALIFIERS.sub("", name)
    if not plain.endswith(")"):
        return name
    name = plain
    start = _opening(name)
    if start <= 0:
        return name
    return _last_word(name[:start])


def structor_part(symbol: str) -> str:
    """Return what tells the symbols of one constructor or destructor apart, else nothing.

    The base object's is `Dog::Dog() [base]`, that which frees the storage `Dog::~Dog() [deleting]`.
    """
    found = _STRUCTORS.match(_RENAMED.sub("", symbol))
    return _PARTS[found[1]] if found else ""


def _opening(name: str) -> int:
    """Return where the last group in parentheses begins, -1 if it has no beginning."""
    depth = 0
    for i in range(len(name) - 1, -1, -1):
        depth += (name[i] == ")") - (name[i] == "(")
        if not depth:
            return i
    return -1


def _last_word(name: str) -> str:
    """Return what follows the result's type: the last word that is in no brackets."""
    at = re.search(r"\boperator\b", name)
    end, depth = at.start() if at else len(name), 0
    for i in range(end - 1, -1, -1):
        depth += (name[i] in ")>") - (name[i] in "(<")
        if name[i] == " " and not depth:
            return name[i + 1 :]
    return name


@cache
def _demangle() -> Callable[[str], str | None]:
    """Return the runtime's demangler, or a function that knows no name."""
    for name in _RUNTIMES:
        try:
            return _from(ctypes.CDLL(name).__cxa_demangle, ctypes.CDLL(None).free)
        except (OSError, AttributeError):
            continue
    return lambda symbol: None


def _from(demangle: Any, free: Any) -> Callable[[str], str | None]:
    """Return a demangler of text; what C returns is freed."""
    demangle.restype, free.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)
    demangle.argtypes = (ctypes.c_char_p, *[ctypes.c_void_p] * 3)

    def found(symbol: str) -> str | None:
        address = demangle(symbol.encode(), None, None, None)
        if not address:
            return None
        text = ctypes.string_at(address).decode(errors="replace")
        free(address)
        return text

    return found
