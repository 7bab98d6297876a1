"""Which variables of a function may a pointer hold the address of?

A variable is safe as long as it is read, assigned, stepped, or subscripted and selected from; every
other use of it (its address taken, an array passed on or assigned to a pointer, a reference bound
to it) may make its address known.
"""

from __future__ import annotations

from kleene.frontends.c.loops.ast import Node, children

_INHERITS = {"ParenExpr", "ConstantExpr"}


def exposed(function: Node) -> set[str]:
    """Return clang's ids of the variables whose address may be taken in `function`."""
    found: set[str] = set()
    _scan(function, False, found)
    return found


def _scan(node: Node, is_safe: bool, found: set[str]) -> None:
    """Visit `node`; `is_safe` tells how the location that it may be is used."""
    kind = node.get("kind")
    if kind == "DeclRefExpr":
        if not is_safe and "referencedDecl" in node:
            found.add(node["referencedDecl"]["id"])
        return
    for number, child in enumerate(children(node)):
        _scan(child, _child_is_safe(node, number, child, is_safe), found)


def _child_is_safe(node: Node, number: int, child: Node, is_safe: bool) -> bool:
    kind = node.get("kind")
    if kind in _INHERITS:
        return is_safe
    if kind == "MemberExpr":
        return is_safe and not node.get("isArrow")
    if kind == "ImplicitCastExpr" and node.get("castKind") == "LValueToRValue":
        return True
    if kind == "ImplicitCastExpr" and node.get("castKind") == "ArrayToPointerDecay":
        return is_safe
    if kind == "ArraySubscriptExpr":  # of an array the element is used; of a pointer its value
        return is_safe and number == 0 and child.get("castKind") == "ArrayToPointerDecay"
    if kind in ("CompoundAssignOperator", "BinaryOperator"):
        is_target = number == 0 and node.get("opcode", "").endswith("=")
        return is_target and node["opcode"] not in ("==", "!=", "<=", ">=")
    return kind == "UnaryOperator" and node.get("opcode") in ("++", "--")
