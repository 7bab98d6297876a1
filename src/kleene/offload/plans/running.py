"""What each iteration of a scan adds, and what it does with the result so far.

s += a[i]; b[i] = s;             s is running: b[i] = running + a[i]
b[i] = b[i - 1] + a[i];          the same, with the result in an array
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kleene.codegen.text import arrays_in, assigned_in, flattened, symbols_in
from kleene.codegen.trees import mapped, read
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Symbol, Variable


@dataclass(frozen=True, slots=True)
class Running:
    """The parts of a scan; `last` is the variable that has the result in the end."""

    operator: str
    term: Expression
    running: Symbol
    first: Expression
    body: Block
    last: Variable | None


def scanned(loop: tree.Loop, name: str) -> Running | None:
    """Return a loop as a scan of a variable or array, if its terms hang on nothing it writes."""
    block = loop.body
    if any(not isinstance(one, tree.Assign) for one in block):
        return None
    found = None
    for one in block:
        if isinstance(one, tree.Assign) and _name(one.target) == name:
            if found is not None:
                return None
            found = one
    if found is None or not isinstance(found.value, tree.Binary):
        return None
    value, target = found.value, found.target
    if value.operator not in ("+", "*") or value.type != target.type:
        return None
    if not isinstance(value.left, tree.Read):
        return None
    source, term = value.left.location, value.right
    written = arrays_in(block, written=True) | assigned_in(block)
    if (arrays_in(term, written=False) | symbols_in(term)) & written:
        return None
    running = tree.Symbol(f"{name}_running", target.type)
    inner = Variable(target.type, tree.NOWHERE, running)
    if isinstance(target, Variable):
        if source != target or assigned_in(block) != {target.symbol}:
            return None

        def change(node: Any) -> Any:
            if isinstance(node, tree.Read) and node.location == target:
                return replace(node, location=inner)
            if isinstance(node, tree.Assign) and node.target == target:
                return replace(node, target=inner)
            return node

        body: Block = mapped(block, change)
        return Running(value.operator, term, running, read(target.symbol), body, target)
    if len(block) != 1 or not isinstance(target, Element) or not isinstance(source, Element):
        return None
    if flattened(source)[0] is not flattened(target)[0] or source == target:
        return None
    body = (replace(found, value=replace(value, left=read(running))),)
    return Running(value.operator, term, running, value.left, body, None)


def _name(location: tree.Location) -> str:
    if isinstance(location, Variable):
        return location.symbol.name
    return flattened(location)[0].name if isinstance(location, Element) else ""
