"""Program analysis as fixed points, on CPUs and GPUs.

`load` reads a program, in C, C++ or Scheme, into columns; the analyses are methods of what it
returns. Nothing heavy is imported until it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kleene.base.device import Device
from kleene.base.errors import SourceError

if TYPE_CHECKING:
    from kleene.algebra import Interval, Octagon, Zone
    from kleene.frontends import load, scheme
    from kleene.ir import Program

__version__ = "0.1.0"
__all__ = [
    "Device",
    "Interval",
    "Octagon",
    "Program",
    "SourceError",
    "Zone",
    "__version__",
    "load",
    "scheme",
]
_PACKAGES = ("algebra", "analyses", "frontends", "graphs", "ir", "reports", "results", "solvers")
_ROOMS = {
    "Interval": "algebra",
    "Octagon": "algebra",
    "Program": "ir",
    "Zone": "algebra",
    "load": "frontends",
}


def __getattr__(name: str) -> Any:
    """Import the heavy names on first use, so that `import kleene` stays quick."""
    if name == "scheme":
        return import_module("kleene.frontends.scheme")
    if name in _PACKAGES:
        return import_module(f"kleene.{name}")
    if name not in _ROOMS:
        raise AttributeError(f"module 'kleene' has no attribute {name!r}")
    return getattr(import_module(f"kleene.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES, "__doc__", "__file__", "__name__", "__path__"])
