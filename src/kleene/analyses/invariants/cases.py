"""Instructions that use pointers into one of several objects: lowered once for each of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import product
from math import prod

from kleene.analyses.invariants.builder import FlatFunctionBuilder
from kleene.analyses.invariants.expressions import Always, Both
from kleene.analyses.invariants.flat import Block, Edge, FlatFunction
from kleene.analyses.invariants.objects import Target
from kleene.analyses.invariants.operations import Check

_MOST_CASES = 12  # of one instruction

_Case = tuple[Target, int | None]


def in_cases(
    builder: FlatFunctionBuilder,
    block: Block,
    pointers: Iterable[int],
    lower: Callable[[Block], object],
) -> Block:
    """Lower an instruction once for all, or for each of the objects that its pointers point into.

    Args:
        builder: appends to blocks; its `origin` is the instruction.
        block: where the instruction stands.
        pointers: what it accesses memory through.
        lower: appends the instruction to a block.

    Returns:
        the block that goes on behind the instruction.
    """
    context, row = builder.origin
    choices = {
        address.choice: None
        for address in (builder.values.address(context, one) for one in pointers)
        if address.choice is not None
    }
    cases: list[list[_Case]] = [one.cases() for one in choices]
    if prod(map(len, cases)) > _MOST_CASES:
        cases = [[(target, None) for target in one.targets] for one in choices]
    if prod(map(len, cases)) > _MOST_CASES:
        for pointer in pointers:
            builder.expose(context, pointer)
        cases = []
    if not cases:
        lower(block)
        return block
    ways: list[Edge] = []
    first = len(builder.flat.blocks)
    for chosen in product(*cases):
        part = Block(block.context, block.row, row + 1)
        builder.pointed = dict(zip(choices, chosen, strict=True))
        found = [one.is_case(*case) for one, case in builder.pointed.items()]
        block.edges.append(Edge(len(builder.flat.blocks), reduce(Both, found)))
        builder.flat.blocks.append(part)
        lower(part)
        ways.append(Edge(-1))
        part.edges.append(ways[-1])
    builder.pointed = {}
    builder.flat.cases.append(range(first, len(builder.flat.blocks)))
    for edge in ways:  # the part behind the cases is the last: that is where a line goes on
        edge.target = len(builder.flat.blocks)
    after = Block(block.context, block.row, row + 1)
    builder.flat.blocks.append(after)
    return after


def complete(flat: FlatFunction) -> None:
    """Let each check of one case be one of all cases of its instruction.

    Where an object needs no check, as a global that nobody frees, it holds. So a check fails always
    only where it does for all objects.
    """
    for blocks in flat.cases:
        cases = [flat.blocks[one] for one in blocks]
        found = [{one.check for one in case.operations if isinstance(one, Check)} for case in cases]
        for case, mine in zip(cases, found, strict=True):
            for place in sorted(set().union(*found) - mine):
                case.operations.append(Check(place, Always(True)))
                case.origins.append((case.context, flat.sites[place].instruction))
