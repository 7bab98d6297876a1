"""Elements that an iteration of a thread's loop leaves to the next one stay in a register.

    for (int j = 1; j < n; j++)                 double q_before;
      q[i][j] = a * q[i][j - 1] + b[j];         if (1 < n) q_before = q[i][0];
                                                for (int j = 1; j < n; j++) {
                                                  double q_now = a * q_before + b[j];
                                                  q[i][j] = q_now;
                                                  q_before = q_now;
                                                }

Else every iteration would wait for memory, hundreds of cycles. It is right if the loop writes to
the array only there, in every iteration to another element: then what the next one reads is what
this one has written. No other thread writes it, for threads of a kernel do not meet; arrays do not
overlap of which one is written, or the function is executed as it is written.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from kleene.codegen.plan import Atomic, CannotError
from kleene.codegen.text import flattened, symbols_in
from kleene.codegen.trees import Counted, binary, counted, mapped, number, read, substituted
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Symbol, Variable


def carried(block: Block, taken: Collection[str]) -> Block:
    """Return statements of a thread with loops that keep what the next iteration reads.

    `taken` are the names of other variables.
    """
    names = set(taken)

    def change(node: Any) -> Any:
        return _kept(node, names) if type(node) is tree.Loop else node

    made: Block = mapped(block, change)
    return made


def _kept(loop: tree.Loop, taken: set[str]) -> Block | tree.Loop:
    form = counted(loop)
    if form is None or form.step != 1 or loop.kind == "do":
        return loop
    before: list[tree.Statement] = []
    body: list[Block] = [(one,) for one in loop.body]
    ends: list[tree.Statement] = []
    for position, one in enumerate(loop.body):
        if not isinstance(one, tree.Assign) or not isinstance(one.target, Element):
            continue
        if one.value.type != one.target.type or _n_writes(loop, one.target) != 1:
            continue
        by = number(1, form.variable.type)
        last = binary("+" if form.is_descending else "-", read(form.variable), by)
        earlier = substituted(one.target, {form.variable: last})
        reads = [each for each in tree.walk(loop.body) if isinstance(each, tree.Read)]
        if not _moves(one.target, form.variable):
            continue
        if not any(each.location == earlier for each in reads):
            continue
        array, kind = flattened(one.target)[0].name, one.target.type
        kept, now = (_new(f"{array}_{what}", kind, taken) for what in ("before", "now"))
        before += _first(form, one, earlier, kept)
        *declared, assign = body[position]
        body[position] = (*declared, tree.Declare(one.place, now), _set(now, _value(assign)))
        body[position] += (replace(one, value=read(now)),)
        body = [_with(block, earlier, kept) for block in body]
        ends.append(_set(kept, read(now)))
    made = tuple(one for block in body for one in block)
    return (*before, replace(loop, body=(*made, *ends))) if before else loop


def _moves(target: tree.Location, variable: Symbol) -> bool:
    """Return whether an element is another one in each iteration: one subscript is `j + e`.

    Of `q[j / 2]` it is not: what an iteration reads at `q[(j - 1) / 2]` after writing may be what
    it has just written.
    """
    indices = [index for index, _ in flattened(target)[1] if variable in symbols_in(index)]
    if len(indices) != 1:
        return False
    match indices[0]:
        case tree.Read(location=Variable(symbol=symbol)):
            return symbol is variable
        case tree.Binary(operator="+" | "-", left=left, right=right):
            own = [variable in symbols_in(side) for side in (left, right)]
            side = left if own[0] else right
            is_plain = isinstance(side, tree.Read) and isinstance(side.location, Variable)
            return is_plain and own[0] != own[1]
    return False


def _value(statement: tree.Statement) -> tree.Expression:
    assert isinstance(statement, tree.Assign)
    return statement.value


def _with(block: Block, earlier: tree.Location, kept: Symbol) -> Block:
    """Return statements that read the variable in place of the element."""

    def change(node: Any) -> Any:
        is_earlier = isinstance(node, tree.Read) and node.location == earlier
        return read(kept) if is_earlier else node

    made: Block = mapped(block, change)
    return made


def _first(form: Counted, assign: tree.Assign, earlier: tree.Location, kept: Symbol) -> Block:
    """Return what loads the element that the first iteration reads, if there is one."""
    start = form.low
    if form.is_descending:
        start = binary("-", form.high, number(1, form.high.type))
    value = substituted(tree.Read(kept.type, assign.place, earlier), {form.variable: start})
    test = binary("<", form.low, form.high)
    return (tree.Declare(assign.place, kept), tree.If(assign.place, test, (_set(kept, value),), ()))


def _n_writes(loop: tree.Loop, target: tree.Location) -> int:
    """Return how many statements of a loop write to an array."""
    array = flattened(target)[0]
    found = 0
    for one in tree.walk(loop.body):
        if isinstance(one, tree.Assign | Atomic) and isinstance(one.target, Element):
            try:
                found += flattened(one.target)[0] is array
            except CannotError:
                return 2
    return found


def _new(name: str, kind: tree.Type, taken: set[str]) -> Symbol:
    while name in taken:
        name += "_"
    taken.add(name)
    return tree.Symbol(name, kind)


def _set(symbol: Symbol, value: tree.Expression) -> tree.Assign:
    return tree.Assign(tree.NOWHERE, Variable(symbol.type, tree.NOWHERE, symbol), value)
