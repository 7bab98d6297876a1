"""Control that needs no jumps: a `switch` whose cases do not fall through, `do ... while (0)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kleene.frontends.c.loops.ast import Node, children

_ENDS = {"BreakStmt", "ContinueStmt", "ReturnStmt"}
_LOOPS = frozenset(["CXXForRangeStmt", "DoStmt", "ForStmt", "WhileStmt"])
_OWN_BREAKS = _LOOPS | {"SwitchStmt"}
_LABELS = {"CaseStmt", "DefaultStmt"}


@dataclass
class Arm:
    """The statements of one or more cases, without the `break` at their end."""

    values: list[Node] = field(default_factory=list)
    is_default: bool = False
    statements: list[Node] = field(default_factory=list)


def is_done_once(body: Node, test: Node) -> bool:
    """Return whether `do body while (test)` is a block: test 0, and nothing jumps out."""
    while test.get("kind") in ("ParenExpr", "ImplicitCastExpr", "ConstantExpr"):
        (test,) = children(test)
    is_zero = test.get("kind") == "IntegerLiteral" and int(test["value"]) == 0
    jumps = {"BreakStmt", "ContinueStmt"}
    return is_zero and not any(one.get("kind") in jumps for one in _reached([body], _LOOPS))


def switch_arms(body: Node) -> list[Arm] | None:
    """Return the arms of a switch's body; None if it is none of this kind.

    Every arm but the last must end by `break`, `continue` or `return`; other breaks, labels inside
    of statements and declarations before the first case are not taken apart.
    """
    arms: list[Arm] = []
    for node in children(body) if body.get("kind") == "CompoundStmt" else [body]:
        if node.get("kind") in _LABELS:
            arms.append(Arm())
            inner = _labelled(node, arms[-1])
            if inner is None:
                return None
            node = inner
        if not arms:
            return None
        arms[-1].statements.append(node)
    for arm in arms:
        is_last = arm is arms[-1]
        if not _is_closed(arm, is_last):
            return None
    return arms or None


def _labelled(node: Node, arm: Arm) -> Node | None:
    """Note the labels of a statement, and return the statement."""
    while node.get("kind") in _LABELS:
        *values, inner = children(node)
        if node["kind"] == "DefaultStmt":
            arm.is_default = True
        elif len(values) == 1:
            arm.values += values
        else:
            return None  # a range of GNU C
        node = inner
    return node


def _is_closed(arm: Arm, is_last: bool) -> bool:
    """Return whether an arm is left at its end alone; take its `break` away."""
    flat = [
        one
        for node in arm.statements
        for one in (children(node) if node.get("kind") == "CompoundStmt" else [node])
    ]
    ends = bool(flat) and flat[-1].get("kind") in _ENDS
    if not ends and not is_last:
        return False
    rest = flat[:-1] if ends and flat[-1].get("kind") == "BreakStmt" else flat
    has_scopes = any(one.get("kind") == "CompoundStmt" for one in arm.statements)
    if has_scopes and len(arm.statements) > 2:
        return False
    arm.statements = rest
    return not any(
        one.get("kind") in {"BreakStmt", *_LABELS} for one in _reached(rest, _OWN_BREAKS)
    )


def _reached(nodes: list[Node], apart: frozenset[str]) -> Iterator[Node]:
    """Yield all parts but those of statements inside whose jumps are their own."""
    for node in nodes:
        yield node
        if node.get("kind") not in apart:
            yield from _reached(children(node), apart)
