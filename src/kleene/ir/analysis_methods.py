"""Analyses as methods of what they analyse: `program.points_to(library=True)`.

An analysis is a module of the room `kleene.analyses`, or a folder of `kleene.offload`, that has a
frozen dataclass as `ANALYSIS`: the file is the registration. These rooms stand above this one, so
they are only named here: their folders are listed when this module is imported, and an analysis is
imported when its method is asked for. The
methods are ordinary attributes, so `dir` shows them, and an `AttributeError` raised inside a column
of a program is passed on as it is.

Editors and type checkers read `analysis_methods.pyi`, which a test writes from the analyses
(`pytest tests/ir/test_analysis_methods.py --update-golden`).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kleene.base.device import Device

_ROOMS = ("kleene.analyses", "kleene.offload")
_REGISTERED = "\nANALYSIS = "


def available() -> list[str]:
    """Return the names of all analyses, importing none: room after room, by name in each."""
    return list(_modules())


def module_of(name: str) -> str:
    """Return the module of an analysis."""
    return _modules()[name]


@cache
def _modules() -> dict[str, str]:
    found: dict[str, str] = {}
    for room in _ROOMS:
        spec = find_spec(room)
        assert spec is not None
        for folder in spec.submodule_search_locations or ():
            for one in pkgutil.iter_modules([folder]):
                inner = ("__init__.py",) if one.ispkg else ()
                file = Path(folder, one.name, *inner) if inner else Path(folder, f"{one.name}.py")
                if _REGISTERED in file.read_text(encoding="utf-8"):
                    found[one.name] = f"{room}.{one.name}"
    return found


class _Method:
    """The analysis called `name`, bound to the program it is asked of."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, program: Any, owner: type) -> Any:
        if program is None:
            return self
        return _runner(import_module(module_of(self._name)).ANALYSIS, program)


def _runner(analysis: Any, program: Any) -> Callable[..., Any]:
    """Return a function of the analysis' fields, `device` and `threads` that gives its result.

    Fields in front of a `KW_ONLY` may be given by place.
    """
    n_places = n_by_place(analysis)

    def run(
        *places: Any,
        device: Device | str = Device.AUTO,
        threads: int | None = None,
        **options: Any,
    ) -> Any:
        if len(places) > n_places:
            raise TypeError(f"{len(places)} arguments by place, where {n_places} are taken")
        return analysis(*places, **options).run(program, device=device, threads=threads)

    run.__doc__ = analysis.__doc__
    return run


def n_by_place(analysis: Any) -> int:
    """Return how many fields of an analysis may be given by place."""
    named = [field.kw_only for field in analysis.__dataclass_fields__.values()]
    return named.index(True) if True in named else 0


class ProgramAnalyses:
    """What can be asked of a C or C++ program: a method for each analysis."""

    __slots__ = ()


class CoreAnalyses:
    """What can be asked of a Scheme program: a method for each analysis."""

    __slots__ = ()


for _name in available():
    setattr(ProgramAnalyses, _name, _Method(_name))
    setattr(CoreAnalyses, _name, _Method(_name))
