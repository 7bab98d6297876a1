"""Pruned SSA by its definition, slow and plain: an oracle for splitting at definitions.

Dominators are sets of blocks (bits of an integer), iterated until nothing changes; frontiers are
read off them as they are defined; a φ is where a variable is live and its definitions' iterated
frontier is (Cytron et al., 1991; Choi, Cytron, Ferrante, 1991). What a use reads is looked for
upwards, from block to dominator. Nothing is shared with `kleene.transforms.splitting`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

Definition = tuple[str, int]  # ("φ", block) or ("instruction", number), of the variable asked about


@dataclass
class Blocks:
    """A control-flow graph from block 0 on, and accesses in program order.

    Attributes:
        successors: of each block, one for each edge.
        uses: (instruction, variable) of each block, in order; an instruction uses, then defines.
        definitions: likewise; instruction -1 stands for the caller, before the first block.
    """

    successors: list[list[int]]
    uses: list[list[tuple[int, int]]]
    definitions: list[list[tuple[int, int]]]
    predecessors: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.predecessors = [[] for _ in self.successors]
        for block in bits(self.reached()):
            for target in self.successors[block]:
                self.predecessors[target].append(block)

    def reached(self) -> int:
        """Return the set of blocks that control may come to."""
        found, waiting = 1, [0]
        while waiting:
            for target in self.successors[waiting.pop()]:
                if not found >> target & 1:
                    found |= 1 << target
                    waiting.append(target)
        return found

    def dominators(self) -> list[int]:
        """Return the set of blocks that dominate each block, itself among them."""
        found = [self.reached()] * len(self.successors)
        found[0] = 1
        is_changed = True
        while is_changed:
            is_changed = False
            for block in bits(self.reached() & ~1):
                all_ways = -1
                for before in self.predecessors[block]:
                    all_ways &= found[before]
                new = all_ways | 1 << block
                is_changed |= new != found[block]
                found[block] = new
        return found


def bits(number: int) -> Iterator[int]:
    """Yield the members of a set."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


@dataclass
class Pruned:
    """The φ of each variable, with its operands by edge, and the definition that each use reads."""

    phis: dict[tuple[int, int], list[tuple[int, Definition | None]]]  # (variable, block)
    reads: dict[tuple[int, int], Definition | None]  # (variable, instruction)


def pruned_ssa(code: Blocks) -> Pruned:
    """Return the pruned SSA form of all variables."""
    above, reached = code.dominators(), list(bits(code.reached()))
    frontier = dict.fromkeys(reached, 0)
    for block in reached:
        for before in code.predecessors[block]:
            for one in bits(above[before]):
                if one == block or not above[block] >> one & 1:
                    frontier[one] |= 1 << block
    variables = {v for rows in (*code.uses, *code.definitions) for _, v in rows}
    found = Pruned({}, {})
    for variable in sorted(variables):
        live = _live_in(code, variable)
        waiting = [b for b in reached if any(v == variable for _, v in code.definitions[b])]
        placed = 0
        while waiting:
            new = frontier[waiting.pop()] & ~placed
            placed |= new
            waiting += bits(new)
        placed &= live
        _rename(code, variable, above, placed, reached, found)
    return found


def _live_in(code: Blocks, variable: int) -> int:
    """Return the blocks at whose start a variable is live."""
    exposed = killed = 0
    for block, (uses, definitions) in enumerate(zip(code.uses, code.definitions, strict=True)):
        used = min((i for i, v in uses if v == variable), default=None)
        defined = min((i for i, v in definitions if v == variable), default=None)
        if used is not None and (defined is None or used <= defined):
            exposed |= 1 << block
        killed |= (defined is not None) << block
    live = exposed
    waiting = list(bits(exposed))
    while waiting:
        for before in code.predecessors[waiting.pop()]:
            if not (killed | live) >> before & 1:
                live |= 1 << before
                waiting.append(before)
    return live


def _rename(
    code: Blocks, variable: int, above: list[int], placed: int, reached: list[int], found: Pruned
) -> None:
    """Enter the variable's φ with operands, and what its uses read."""

    def at_start(block: int) -> Definition | None:
        if placed >> block & 1:
            return ("φ", block)
        strictly = above[block] & ~(1 << block)
        if not strictly:
            return None
        # The nearest of the dominators is the one that all others dominate.
        return at_end(max(bits(strictly), key=lambda one: above[one].bit_count()))

    def at_end(block: int) -> Definition | None:
        made = [i for i, v in code.definitions[block] if v == variable]
        return ("instruction", max(made)) if made else at_start(block)

    for block in reached:
        for place, used in code.uses[block]:
            if used == variable:
                made = [i for i, v in code.definitions[block] if v == variable and i < place]
                found.reads[variable, place] = (
                    ("instruction", max(made)) if made else at_start(block)
                )
    for block in bits(placed):
        found.phis[variable, block] = sorted(
            ((before, at_end(before)) for before in code.predecessors[block]), key=str
        )
