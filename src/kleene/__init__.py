"""Program analysis as fixed points, on CPUs and GPUs.

`load` turns C and C++ programs into one columnar `Program`, and `scheme.load` a Scheme program into
its `Core`; the analyses take them from there. Nothing heavy is imported until it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kleene.base.device import Device
from kleene.base.errors import SourceError

if TYPE_CHECKING:
    from kleene.frontends import scheme
    from kleene.frontends.c import load
    from kleene.ir import Program

__version__ = "0.1.0"
__all__ = ["Device", "Program", "SourceError", "__version__", "load", "scheme"]


def __getattr__(name: str) -> Any:
    """Import the heavy names on first use, so that `import kleene` stays quick."""
    if name == "load":
        from kleene.frontends.c import load

        return load
    if name == "scheme":
        from kleene.frontends import scheme

        return scheme
    if name == "Program":
        from kleene.ir import Program

        return Program
    if name in ("Interval", "Octagon", "Zone"):
        from kleene import algebra

        return getattr(algebra, name)
    raise AttributeError(f"module 'kleene' has no attribute {name!r}")
