"""The core of Scheme programs: their columns, their values, and the primitives they may use."""

from kleene.ir.scheme.core import Core, Node

__all__ = ["Core", "Node"]
