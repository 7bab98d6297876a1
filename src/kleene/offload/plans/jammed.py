"""Unroll-and-jam of short parallel loops of a thread: what their iterations share is read once.

    for (int c = 0; c < 3; c++) {           int sum_0 = 0, sum_1 = 0, sum_2 = 0;
      int sum = 0;                          for (int u = 0; u < size; u++) {
      for (int u = 0; u < size; u++)          sum_0 += by[u] * a[x + u][0];
        sum += by[u] * a[x + u][c];           sum_1 += by[u] * a[x + u][1];
      out[x][c] = sum;                        sum_2 += by[u] * a[x + u][2];
    }                                       }
                                            out[x][0] = sum_0; ...

Iterations of a parallel loop may be executed in any order, also one statement of each in turn, if
each keeps the order of its own: a value gets from one to another neither through an array, which is
the verdict, nor through a variable, of which each has a copy. Loops inside have one head for all,
which is right if their bounds are the same in all iterations. A loop without loops inside is left
to the compiler, which unrolls it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import count
from typing import Any

from kleene.codegen.text import assigned_in, symbols_in
from kleene.codegen.trees import counted, mapped, number, substituted
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Symbol, Variable

_MAX_TRIPS = 4  # more would need too many registers


def jammed(block: Block, is_parallel: Callable[[tree.Loop], bool], taken: Collection[str]) -> Block:
    """Return statements of a thread with the iterations of short parallel loops side by side.

    `taken` are the names of other variables.
    """

    def change(node: Any) -> Any:
        if type(node) is not tree.Loop or not is_parallel(node):
            return node
        return _side_by_side(node, names) or node

    names = {*taken, *(one.name for one in symbols_in(block))}
    made: Block = mapped(block, change)
    return made


def _side_by_side(loop: tree.Loop, taken: set[str]) -> Block | None:
    """Return the statements of all iterations in turn, if the loops inside can be shared."""
    form = counted(loop)
    if form is None or form.step != 1 or form.is_descending or not _has_own_counter(loop):
        return None
    if not isinstance(form.low, tree.Literal) or not isinstance(form.high, tree.Literal):
        return None
    values = range(int(form.low.value), int(form.high.value))
    if not 2 <= len(values) <= _MAX_TRIPS:
        return None
    counters = _shared_counters(loop)
    if counters is None or not any(isinstance(one, tree.Loop) for one in loop.body):
        return None
    declared = {one.symbol for one in tree.walk(loop.body) if isinstance(one, tree.Declare)}
    own = declared - counters
    if any(one.type.kind == "array" for one in own) or assigned_in(loop.body) - declared:
        return None  # of a variable from outside there would have to be copies, too
    copies = []
    for position, value in enumerate(values):
        renamed = {one: replace(one, name=_free(one.name, position, taken)) for one in own}
        taken |= {one.name for one in renamed.values()}
        made = substituted(loop.body, {form.variable: number(value, form.variable.type)})
        copies.append(_with_names(made, renamed))
    return _in_turn(copies)


def _has_own_counter(loop: tree.Loop) -> bool:
    """Return whether nothing outside of a loop can read its variable: the loop declares it."""
    form = counted(loop)
    declared = [one.symbol for one in loop.init if isinstance(one, tree.Declare)]
    return form is not None and form.variable in declared


def _shared_counters(loop: tree.Loop) -> set[Symbol] | None:
    """Return the variables of the loops inside; None if these differ between iterations.

    Bounds must read neither arrays nor what iterations assign, but variables of loops around.
    """
    inner = [one for one in tree.walk(loop.body) if isinstance(one, tree.Loop)]
    forms = [counted(one) for one in inner]
    known = [one for one in forms if one is not None]
    if len(known) < len(inner) or not all(type(one) is tree.Loop for one in inner):
        return None
    counters = {one.variable for one in known}
    heads = [one for each in inner for one in (*each.init, *each.step)]
    others = assigned_in(loop) - counters
    for one in tree.walk(loop.body):
        target = one.target if isinstance(one, tree.Assign) else None
        is_counter = isinstance(target, Variable) and target.symbol in counters
        if is_counter and not any(one is head for head in heads):
            return None
    for each, form in zip(inner, known, strict=True):
        bounds = (form.low, form.high)
        if not _has_own_counter(each) or symbols_in(bounds) & others:
            return None
        if any(isinstance(one, Element) for one in tree.walk(bounds)):
            return None
    return counters


def _in_turn(copies: list[Block]) -> Block:
    """Return the statements of copies of one block in turn; its loops are shared.

    `int sum = 0` are two statements, which stay together.
    """
    made: list[tree.Statement] = []
    units = [_units(block) for block in copies]
    for ones in zip(*units, strict=True):
        first = ones[0][0]
        if isinstance(first, tree.Loop):
            bodies = [one.body for (one,) in ones if isinstance(one, tree.Loop)]
            made.append(replace(first, body=_in_turn(bodies)))
        else:
            made += [one for unit in ones for one in unit]
    return tuple(made)


def _units(block: Block) -> list[Block]:
    """Return the statements of a block, each by itself, or with the declaration before it."""
    units: list[Block] = []
    for one in block:
        before = units[-1] if units else ()
        is_first = len(before) == 1 and isinstance(one, tree.Assign)
        if is_first and isinstance(before[0], tree.Declare):
            units[-1] = (before[0], one)
        else:
            units.append((one,))
    return units


def _with_names(block: Block, renamed: dict[Symbol, Symbol]) -> Block:
    def change(node: Any) -> Any:
        if isinstance(node, Variable | tree.Declare) and node.symbol in renamed:
            return replace(node, symbol=renamed[node.symbol])
        return node

    made: Block = mapped(block, change)
    return made


def _free(name: str, position: int, taken: set[str]) -> str:
    """Return a name for the copy of a variable that no other one has."""
    made = f"{name}_{position}"
    for more in count(2):
        if made not in taken:
            return made
        made = f"{name}_{position}_{more}"
    raise AssertionError
