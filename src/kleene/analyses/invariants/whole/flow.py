"""The blocks of a whole program that a run may reach, and the ways between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.base.arrays import Bools, Ints
from kleene.ir.codes import CALLS

_Event = TypeVar("_Event", bound=tuple[Any, ...])  # the first is its kind


class Flow:
    """Control flow along edges that a run may take."""

    def __init__(self, context: Context) -> None:
        program = context.program
        self._offsets = program.function_table.block_offsets.tolist()
        self._rows = program.blocks.instruction_offsets.tolist()
        self._is_reached = context.block_is_reached.tolist()
        self._successors: dict[int, list[int]] = defaultdict(list)
        self._predecessors: dict[int, list[int]] = defaultdict(list)
        sources, targets = context.split.flow.blocks.edges()
        kept = np.flatnonzero(context.edge_is_reached)
        self._n_blocks = len(program.blocks)
        edges = sources[kept].astype(np.int64) * self._n_blocks + targets[kept]
        unique, place = np.unique(edges, return_index=True)  # several cases of a switch
        self._edges = unique
        for edge in edges[np.sort(place)].tolist():
            source, target = divmod(edge, self._n_blocks)
            self._successors[source].append(target)
            self._predecessors[target].append(source)
        self._calls: dict[int, list[int]] = defaultdict(list)
        calls = np.flatnonzero(np.isin(program.instructions.opcode, tuple(CALLS)))
        of_call = program.instructions.block[calls]
        for call, block in zip(calls.tolist(), of_call.tolist(), strict=True):
            self._calls[block].append(call)
        self._blocks: dict[int, list[int]] = {}

    @cached_property
    def functions(self) -> list[int]:
        """The functions that are reached."""
        n_functions = len(self._offsets) - 1
        return [row for row in range(n_functions) if self.blocks(row)]

    def blocks(self, function: int) -> list[int]:
        """Return the blocks of a function that are reached, in reverse postorder."""
        if function not in self._blocks:
            self._blocks[function] = self._ordered(function)
        return self._blocks[function]

    def _ordered(self, function: int) -> list[int]:
        first, end = self._offsets[function], self._offsets[function + 1]
        if first == end or not self._is_reached[first]:
            return []
        order: list[int] = []
        seen = {first}
        stack = [(first, iter(self._successors[first]))]
        while stack:
            block, left = stack[-1]
            target = next((one for one in left if one not in seen), None)
            if target is None:
                order.append(block)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(self._successors[target])))
        return order[::-1]

    @cached_property
    def is_followed(self) -> Bools:
        """Whether a run may reach a block, by block."""
        found = np.zeros(self._n_blocks, bool)
        for function in self.functions:
            found[self.blocks(function)] = True
        return found

    def are_edges(self, sources: Ints, targets: Ints) -> Bools:
        """Return between which blocks a run may go."""
        return np.isin(sources.astype(np.int64) * self._n_blocks + targets, self._edges)

    def rows(self, block: int) -> tuple[int, int]:
        """Return the first instruction of a block, and the end."""
        return self._rows[block], self._rows[block + 1]

    def calls(self, block: int) -> list[int]:
        """Return the calls in a block."""
        return self._calls.get(block, [])

    def successors(self, block: int) -> list[int]:
        """Return where a run may go from a block."""
        return self._successors.get(block, [])

    def predecessors(self, block: int) -> list[int]:
        """Return where a run may come from."""
        return self._predecessors.get(block, [])


class States(ABC, Generic[_Event]):
    """The greatest sets that hold where the blocks of a function begin, as integers.

    Most events do the same to every state,

        state & keep | more

    and those between two others are merged,

        (state & k | m) & keep | more  =  state & (k & keep) | (m & keep | more)

    What others tell a function only gets less. So a later run starts where the last one ended: that
    is not below the greatest solution, and only blocks are looked at again that were told less.

    Attributes:
        CHANGES: kinds of events that do what depends on the state, or on what others tell.
        TELLS: kinds of events at which others are told something.
    """

    CHANGES: ClassVar[frozenset[int]]
    TELLS: ClassVar[frozenset[int]]

    def _begin(self, flow: Flow, events: dict[int, list[_Event]]) -> None:
        """Take the events of blocks, which are in reverse postorder."""
        self._flow, self._events, self._blocks = flow, events, list(events)
        self._steps = dict(self._merged(events, self.CHANGES))
        asked = self.CHANGES | self.TELLS
        telling = {
            block: found for block, found in events.items() if any(one[0] in asked for one in found)
        }
        self._telling = dict(self._merged(telling, asked))
        self._again = {self._blocks[0], *telling}
        self._into: dict[int, int] = {}
        self._out: dict[int, int] = {}

    def _merged(
        self, events: dict[int, list[_Event]], stops: frozenset[int]
    ) -> Iterator[tuple[int, list[tuple[int, int, _Event | None]]]]:
        """Yield, by block, its events of some kinds, with what those before them do."""
        for block, found in events.items():
            keep, more = -1, 0
            steps: list[tuple[int, int, _Event | None]] = []
            for event in found:
                if event[0] in stops:
                    steps.append((keep, more, event))
                    keep, more = -1, 0
                else:
                    kept, new = self._effect(event)
                    keep, more = keep & kept, more & kept | new
            if keep != -1 or more:
                steps.append((keep, more, None))
            if steps:
                yield block, steps

    @abstractmethod
    def _effect(self, event: _Event) -> tuple[int, int]:
        """Return what an event keeps of every state, and what it adds."""

    @abstractmethod
    def _after(self, event: _Event, state: int) -> int:
        """Return the state after an event that changes it."""

    @abstractmethod
    def _joined(self, block: int) -> int:
        """Return what holds on all ways into a block that a run has come so far."""

    def _lower(self) -> list[int]:
        """Find the states where blocks begin; return the blocks to tell others of."""
        into, out = self._into, self._out
        waiting = set(self._again if out else self._blocks)
        seen = set()
        while waiting:
            for block in self._blocks:
                if block not in waiting:
                    continue
                waiting.discard(block)
                seen.add(block)
                into[block] = self._joined(block)
                state = self._through(block, into[block])
                if out.get(block) != state:
                    out[block] = state
                    waiting.update(self._flow.successors(block))
        return [block for block in self._telling if block in seen]

    def _through(self, block: int, state: int) -> int:
        """Return the state where a block ends that begins with one."""
        for keep, more, event in self._steps.get(block, ()):
            state = state & keep | more
            if event is not None:
                state = self._after(event, state)
        return state

    def _states(
        self, steps: Iterable[tuple[int, list[tuple[int, int, _Event | None]]]]
    ) -> Iterator[tuple[_Event, int]]:
        """Yield the events that end steps of blocks, each with the state before it."""
        changes = self.CHANGES
        for block, found in steps:
            state = self._into[block]
            for keep, more, event in found:
                state = state & keep | more
                if event is not None:
                    yield event, state
                    if event[0] in changes:
                        state = self._after(event, state)
                    else:
                        kept, new = self._effect(event)
                        state = state & kept | new

    def _told(self, blocks: list[int]) -> Iterator[tuple[_Event, int]]:
        """Yield the events of blocks that tell others something, each with the state before it."""
        return self._states((block, self._telling[block]) for block in blocks)

    def _asked(self, kind: int) -> Iterator[tuple[_Event, int]]:
        """Yield all events of a kind, each with the state before it."""
        events = {
            block: found
            for block, found in self._events.items()
            if any(one[0] == kind for one in found)
        }
        for event, state in self._states(self._merged(events, self.CHANGES | {kind})):
            if event[0] == kind:
                yield event, state
