"""Instructions that use pointers into one of several objects: lowered once for each of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import product
from math import prod

from kleene.analyses.invariants.builder import FlatFunctionBuilder
from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.expressions import (
    Always,
    Both,
    Condition,
    Form,
    Relation,
    Unknown,
    negation,
)
from kleene.analyses.invariants.flat import Access, Block, Edge, FlatFunction
from kleene.analyses.invariants.objects import Target
from kleene.analyses.invariants.operations import Check

_MOST_CASES = 12  # of one instruction
_SIZE = 8  # bytes of a pointer

_Case = tuple[Target, int | None]


def in_cases(
    builder: FlatFunctionBuilder,
    block: Block,
    pointers: Iterable[int],
    lower: Callable[[Block], object],
    *,
    is_table: bool = False,
) -> Block:
    """Lower an instruction once for all, or for each of the objects that its pointers point into.

    Args:
        builder: appends to blocks; its `origin` is the instruction.
        block: where the instruction stands.
        pointers: what it accesses memory through.
        lower: appends the instruction to a block.
        is_table: whether the elements of a small array are told apart, too.

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
        cases = [[one.anywhere() for one in choice.targets] for choice in choices]
    if prod(map(len, cases)) > _MOST_CASES:
        for pointer in pointers:
            builder.expose(context, pointer)
        cases = []
    if not cases and is_table:
        return _by_element(builder, block, next(iter(pointers)), lower)
    if not cases:
        lower(block)
        return block
    first = len(builder.flat.blocks)
    for chosen in product(*cases):
        builder.pointed = dict(zip(choices, chosen, strict=True))
        found = [one.is_case(*case) for one, case in builder.pointed.items()]
        _add(builder, block, row, reduce(Both, found), lower)
    builder.pointed = {}
    return _after(builder, block, row, first)


def _by_element(
    builder: FlatFunctionBuilder, block: Block, pointer: int, lower: Callable[[Block], object]
) -> Block:
    """Lower an access to an array of a few pointers once for each, and once for other offsets."""
    context, row = builder.origin
    address = builder.values.address(context, pointer)
    size = None if address.object is None else builder.flat.objects[address.object].size
    offset = address.offset
    is_small = size is not None and not size.terms and size.constant <= _MOST_CASES * _SIZE
    if offset is None or not offset.terms or offset.divisor % _SIZE or not is_small:
        lower(block)
        return block
    assert size is not None
    first, others = len(builder.flat.blocks), list[Condition]()
    for place in range(offset.constant % _SIZE, size.constant - _SIZE + 1, _SIZE):
        builder.places[pointer] = Form((), place)
        is_there = Relation(offset.shifted(-place), "eq")
        others.append(negation(is_there))
        _add(builder, block, row, is_there, lower)
    del builder.places[pointer]
    _add(builder, block, row, reduce(Both, others), lower)
    return _after(builder, block, row, first)


def _add(
    builder: FlatFunctionBuilder,
    block: Block,
    row: int,
    condition: Condition,
    lower: Callable[[Block], object],
) -> None:
    """Lower an instruction for a case."""
    block.edges.append(Edge(len(builder.flat.blocks), condition))
    builder.flat.blocks.append(Block(block.context, block.row, row + 1))
    lower(builder.flat.blocks[-1])


def _after(builder: FlatFunctionBuilder, block: Block, row: int, first: int) -> Block:
    """Return the block that goes on behind cases; of all, it is the last: there a line goes on."""
    end = len(builder.flat.blocks)
    builder.flat.cases.append(range(first, end))
    for case in builder.flat.blocks[first:end]:
        case.edges.append(Edge(end))
    builder.flat.blocks.append(Block(block.context, block.row, row + 1))
    return builder.flat.blocks[-1]


def reads_of_storage(flat: FlatFunction) -> frozenset[int]:
    """Return the cases that read what may never have been written: from a local or allocation."""
    return frozenset(
        block
        for blocks in flat.cases
        for block in blocks
        for one in flat.blocks[block].operations
        if isinstance(one, Access) and not one.is_store and one.object is not None
        and flat.objects[one.object].base is not None
    )  # fmt: skip


def complete(flat: FlatFunction, reads: frozenset[int]) -> None:
    """Let each check of one case be one of all cases of its instruction.

    Where an object needs no check, as a global that nobody frees, it holds. So a check fails always
    only where it does for all objects. Of a local or allocation whose bytes nobody is known to have
    written, nothing is known.

    Args:
        flat: gets the checks.
        reads: the cases that read from such.
    """
    for blocks in flat.cases:
        cases = {one: flat.blocks[one] for one in blocks}
        found = {
            place: {one.check for one in case.operations if isinstance(one, Check)}
            for place, case in cases.items()
        }
        for block, case in cases.items():
            for place in sorted(set().union(*found.values()) - found[block]):
                is_open = flat.sites[place].kind is CheckKind.UNINITIALISED and block in reads
                made = Check(place, Unknown() if is_open else Always(True), is_stop=False)
                case.operations.append(made)
                case.origins.append((case.context, flat.sites[place].instruction))
