"""The primitives written in Python; `NATIVES` has them all by name."""

from kleene.frontends.scheme.interpreter.library import (
    control,
    lists,
    numbers,
    ports,
    tables,
    text,
    vectors,
)
from kleene.frontends.scheme.interpreter.library.registry import NATIVES

__all__ = ["NATIVES", "control", "lists", "numbers", "ports", "tables", "text", "vectors"]
