"""What each iteration of a scan adds, and what it does with the result so far.

    s += a[i]; b[i] = s;               s is running: b[i] = running + a[i]
    t = b[i]; b[i] = s; s += t;        the term is b[i], as it is before the iteration
    b[i] = b[i - 1] + a[i];            the same, with the result in an array
    if (a[i] > m) m = a[i]; b[i] = m;  the term is a[i], the operation the maximum

Terms are evaluated before any iteration writes, twice. So a term reads, of what the loop writes,
only elements that its own iteration touches and has not written yet. The verdict says that no value
flows between iterations but the running one: an element that two iterations touched, and that each
of them reads and writes, would be such a value. So no other iteration touches these elements.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from kleene.codegen.arguments import OPERATORS
from kleene.codegen.plan import CannotError
from kleene.codegen.text import arrays_in, assigned_in, flattened, symbols_in
from kleene.codegen.trees import mapped, read, substituted
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Location, Symbol, Variable
from kleene.transforms.loops.updates import extremum_of, guarded_update

_COMMUTATIVE = {"+", "*", "&", "|", "^"}


@dataclass(frozen=True, slots=True)
class Running:
    """The parts of a scan; `last` is the variable that has the result in the end."""

    operator: str
    term: Expression
    running: Symbol
    first: Expression
    body: Block
    last: Variable | None


def scanned(loop: tree.Loop, name: str, own: str) -> Running | None:
    """Return a loop as a scan of a variable or array, if its terms are known beforehand.

    The running value is a variable `own`.
    """
    block = loop.body
    found = None
    for position, one in enumerate(block):
        update = _update(one, name)
        if update is not None:
            if found is not None:
                return None
            found = (position, *update)
        elif not isinstance(one, tree.Declare | tree.Assign):
            return None
    if found is None:
        return None
    position, target, source, operator, term = found
    known = _beforehand(block, position, term, target)
    if known is None or operator not in OPERATORS:
        return None
    running = tree.Symbol(own, target.type)
    inner = Variable(target.type, tree.NOWHERE, running)
    if isinstance(target, Variable):
        assigns = [one for one in tree.walk(block) if isinstance(one, tree.Assign)]
        if sum(one.target == target for one in assigns) != 1:
            return None

        def change(node: Any) -> Any:
            if isinstance(node, tree.Read) and node.location == target:
                return replace(node, location=inner)
            if isinstance(node, tree.Assign) and node.target == target:
                return replace(node, target=inner)
            return node

        body: Block = mapped(block, change)
        return Running(operator, known, running, read(target.symbol), body, target)
    if len(block) != 1:
        return None

    def from_running(node: Any) -> Any:
        is_source = isinstance(node, tree.Read) and node.location == source
        return read(running) if is_source else node

    body = mapped(block, from_running)
    first = tree.Read(source.type, tree.NOWHERE, source)
    return Running(operator, known, running, first, body, None)


def _update(
    statement: tree.Statement, name: str
) -> tuple[Location, Location, str, Expression] | None:
    """Return the target, the source, the operation and the term of `target = source op term`.

    Of a variable, source and target are the same; of an array, the source is another element.
    """
    if isinstance(statement, tree.If):
        guarded = guarded_update(statement)
        if guarded is None or _name(guarded[0].target) != name or len(guarded[2]) != 1:
            return None
        target = guarded[0].target
        if not isinstance(target, Variable) or guarded[2][0].type != target.type:
            return None
        return target, target, guarded[1], guarded[2][0]
    if not isinstance(statement, tree.Assign) or _name(statement.target) != name:
        return None
    target, value = statement.target, statement.value
    if value.type != target.type:
        return None
    for one in tree.walk(value):
        if not isinstance(one, tree.Read) or _name(one.location) != name:
            continue
        source = one.location
        if isinstance(target, Element) == (source == target):
            continue  # of an array, another element
        made = _term(source, value)
        if made is not None:
            return target, source, *made
    return None


def _term(source: Location, value: Expression) -> tuple[str, Expression] | None:
    """Return the operation and e if a value is `source op e`, with operands of one type."""
    extremum = extremum_of(source, value)
    if extremum is not None:
        operator, (other,) = extremum
        return (operator, other) if other.type == source.type else None
    if not isinstance(value, tree.Binary):
        return None
    own = [isinstance(s, tree.Read) and s.location == source for s in (value.left, value.right)]
    if value.operator in _COMMUTATIVE and own[0] != own[1]:
        return value.operator, value.right if own[0] else value.left
    if value.operator == "-" and own == [True, False]:
        return "+", tree.Unary(value.type, value.place, "-", value.right)
    return None


def _beforehand(
    block: Block, position: int, term: Expression, target: Location
) -> Expression | None:
    """Return a term by what is there before the iteration; None if that is not known.

    Variables that the iteration assigns first stand for what they are assigned.
    """
    values: dict[Symbol, Expression] = {}
    written: set[Symbol] = set()
    try:
        for one in block[:position]:
            if not isinstance(one, tree.Assign):
                continue
            if isinstance(one.target, Variable):
                value = substituted(one.value, values)
                if one.target.symbol in values or one.value.type != one.target.type:
                    return None
                values[one.target.symbol] = value
                if arrays_in(value, written=False) & written:
                    del values[one.target.symbol]
            else:
                written.add(flattened(one.target)[0])
        made: Expression = substituted(term, values)
        assigned = assigned_in(block)
        if symbols_in(made) & assigned or arrays_in(term, written=False) & written:
            return None
        changed = arrays_in(block, written=True)
        touched = [
            one.location if isinstance(one, tree.Read) else one.target
            for one in tree.walk(block)
            if isinstance(one, tree.Read | tree.Assign)
        ]
        for own in tree.walk(made):
            if not isinstance(own, tree.Read) or not isinstance(own.location, Element):
                continue
            array = flattened(own.location)[0]
            is_target = isinstance(target, Element) and array is flattened(target)[0]
            if array not in changed or (is_target and own.location == target):
                continue
            if is_target or not _is_alone(own.location, array, touched):
                return None
    except CannotError:
        return None
    return made


def _is_alone(location: Element, array: Symbol, touched: Iterable[Location]) -> bool:
    """Return whether all accesses to an array are to one element."""
    own = [one for one in touched if isinstance(one, Element) and flattened(one)[0] is array]
    return all(one == location for one in own)


def _name(location: Location) -> str:
    if isinstance(location, Variable):
        return location.symbol.name
    return flattened(location)[0].name if isinstance(location, Element) else ""
