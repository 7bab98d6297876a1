"""Parts of a split nest that change nothing: shortest paths, while no cycle is negative.

    for (i...) for (j...) p[i][j] = min(p[i][j], p[i][k] + p[k][j]);

is split at i = k and at j = k, into nine parts that wait for each other: the others read row k and
column k. In the five parts with j = k or i = k the statement is

    p[i][k] = min(p[i][k], p[i][k] + p[k][k]);        x = min(x, x + d), with d = p[k][k]

If d >= 0 then x + d >= x, for signed integers whose sum does not overflow, which C forbids: x stays
as it is. If the other parts write nothing that these touch, d stays as it is, too, and all of these
can be left out at once. What is left is one kernel, if its parts do not meet:

    if (0 <= k < n && p[k][k] >= 0) for all (i, j) with i != k, j != k at once: ...
    else the nine parts

With max, d must be at most 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kleene.codegen.plan import Axis, Kernel
from kleene.codegen.text import flattened, symbols_in
from kleene.codegen.trees import (
    binary,
    choose,
    counted,
    number,
    read,
    substituted,
    with_bounds,
)
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Symbol
from kleene.transforms.loops.updates import extremum_of

Point = tuple[Symbol, Expression]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Parts that change nothing while `condition` holds, and the others.

    These are the points of the nest at which no variable of `at` has the value beside it. One of
    the parts is a single point, `corner`: if the nest has it, it reads the `element`.
    """

    condition: Expression
    element: Element  # that the condition reads
    idle: tuple[Kernel, ...]
    rest: tuple[Kernel, ...]
    at: tuple[Point, ...]
    corner: dict[Symbol, Expression]

    def whole(self, axes: Sequence[Axis]) -> Expression:
        """Return that the condition holds, and that axes have the corner: else it is not read."""
        found: list[Expression] = []
        for axis in axes:
            value = self.corner[axis.variable]
            tests = binary("<=", axis.low, value), binary("<", value, axis.high)
            found += [one for one in tests if one not in found]
        return all_of([*found, self.condition])


def unchanged_of(parts: Sequence[Kernel]) -> Unchanged | None:
    """Return which parts of a nest of one statement change nothing under a condition, if any."""
    idle, rest, at = list[Kernel](), list[Kernel](), list[Point]()
    tests: list[tuple[Expression, Element]] = []
    corner: dict[Symbol, Expression] = {}
    for one in parts:
        if len(one.body) != 1 or one.body != parts[0].body or one.private:
            return None
        points = [(axis.variable, v) for axis in one.axes if (v := only_value(axis)) is not None]
        if not points:
            rest.append(one)
            continue
        test = _test(one.body[0], dict(points))
        if test is None or symbols_in(test[0]) & {axis.variable for axis in one.axes}:
            return None
        idle.append(one)
        tests.append(test)
        at += [point for point in points if point not in at]
        if len(points) == len(one.axes):
            corner = dict(points)
    if not corner or not rest or any(one != tests[0] for one in tests):
        return None
    for one in rest:
        by_variable = {axis.variable: axis for axis in one.axes}
        if not all(_avoids(by_variable.get(variable), value) for variable, value in at):
            return None
    return Unchanged(*tests[0], tuple(idle), tuple(rest), tuple(at), corner)


def guard_of(at: Iterable[Point]) -> Expression:
    """Return that no variable has the value beside it."""
    return all_of([binary("!=", read(variable), value) for variable, value in at])


def without_points(loop: tree.Loop, at: Iterable[Point]) -> tree.Loop:
    """Return a nest without those points: loops inside end before a value, and go on after it.

    Compilers for CPUs vectorise these, and not a loop with a condition inside.
    """
    values = dict(at)

    def parts(block: Block) -> Block:
        made: list[tree.Statement] = []
        for one in block:
            form = counted(one) if isinstance(one, tree.Loop) else None
            if not isinstance(one, tree.Loop) or form is None:
                made.append(one)
                continue
            inner, value = replace(one, body=parts(one.body)), values.get(form.variable)
            if value is None:
                made.append(inner)
                continue
            after = binary("+", value, number(1, value.type))
            ends = [(form.low, choose("<", form.high, value))]
            ends.append((choose(">", form.low, after), form.high))
            made += [with_bounds(inner, form.variable, *each) for each in ends]
        return tuple(made)

    form, body = counted(loop), parts(loop.body)
    assert form is not None
    if form.variable not in values:
        return replace(loop, body=body)
    test = guard_of([(form.variable, values[form.variable])])
    return replace(loop, body=(tree.If(loop.place, test, body, ()),))


def all_of(tests: Sequence[Expression]) -> Expression:
    """Return that all of some conditions hold."""
    found = tests[0]
    for one in tests[1:]:
        found = binary("&&", found, one)
    return found


def only_value(axis: Axis) -> Expression | None:
    """Return v if an axis takes no value but v: it begins at v or later, and ends before v + 1."""
    ends = _bounds(axis.high, "<")
    for one in _bounds(axis.low, ">"):
        if binary("+", one, number(1, one.type)) in ends:
            return one
    return None


def _avoids(axis: Axis | None, value: Expression) -> bool:
    """Return whether an axis does not take a value: it ends before, or begins after it."""
    if axis is None:
        return False
    after = binary("+", value, number(1, value.type))
    return value in _bounds(axis.high, "<") or after in _bounds(axis.low, ">")


def _bounds(value: Expression, operator: str) -> list[Expression]:
    """Return the values whose least ("<") or greatest (">") a value is."""
    match value:
        case tree.Choose(
            condition=tree.Binary(operator=found, left=left, right=right),
            then=then,
            otherwise=otherwise,
        ) if found == operator and (left, right) == (then, otherwise):
            return [*_bounds(left, operator), *_bounds(right, operator)]
    return [value]


def _test(
    statement: tree.Statement, values: dict[Symbol, Expression]
) -> tuple[Expression, Element] | None:
    """Return when `x = min(x, x + d)` changes nothing, with some variables at values, and d."""
    made = substituted((statement,), values)[0]
    if not isinstance(made, tree.Assign) or not isinstance(made.target, Element):
        return None
    target, kind = made.target, made.target.type
    found = extremum_of(target, made.value)
    if found is None or kind.kind != "int" or not kind.signed or made.value.type != kind:
        return None
    operator, (other,) = found
    if not isinstance(other, tree.Binary) or other.operator != "+" or other.type != kind:
        return None
    sides = [other.left, other.right]
    own = [isinstance(one, tree.Read) and one.location == target for one in sides]
    if not any(own):
        return None
    by = sides[0] if own[1] else sides[1]
    if not isinstance(by, tree.Read) or not isinstance(by.location, Element) or by.type != kind:
        return None
    subscripts = tuple(index for index, _ in flattened(by.location)[1])
    if any(isinstance(one, Element) for one in tree.walk(subscripts)):
        return None
    return binary(">=" if operator == "min" else "<=", by, number(0, kind)), by.location
