"""From a `FlatFunction` to code: variables numbered, dead ones forgotten, edges put in order.

Values of the IR that a source variable takes one after the other get one number: a value that
flows into a phi shares its number, unless both are needed at one time (Chaitin's interference).
So an edge of a loop is `x := x + 1` instead of copies, and octagons stay small.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from kleene.analyses.invariants.expressions import (
    Condition,
    Form,
    Key,
    Kind,
    keys_of,
    only,
    replaced,
)
from kleene.analyses.invariants.flat import Base, Cell, Edge, FlatFunction, Site, Source
from kleene.analyses.invariants.operations import Havoc, Operation
from kleene.analyses.invariants.storage import name_of
from kleene.analyses.invariants.strings import pointer_of
from kleene.graphs import Graph, weak_topological_order
from kleene.ir import Program
from kleene.ir.codes import TypeKind

if TYPE_CHECKING:
    from kleene.analyses.invariants.facts import Reaching


@dataclass
class Step:
    """An edge: what must hold, what is set, what is forgotten.

    Attributes:
        source: where it comes from.
        target: where it leads.
        condition: what must hold.
        assignments: one after the other; none uses a variable set before.
        flags: variables that become 1 where a condition, on the values before, holds, else 0.
        anything: variables that get any value.
        dead: variables that nobody asks for any more.
    """

    source: int
    target: int
    condition: Condition | None
    assignments: tuple[tuple[int, Form], ...] = ()
    flags: tuple[tuple[int, Condition], ...] = ()
    anything: tuple[int, ...] = ()
    dead: tuple[int, ...] = ()


@dataclass
class Code:
    """A function that can be run on numbers.

    Attributes:
        flat: what it was compiled from.
        kinds: of each variable.
        names: of each variable; empty where the source has none.
        operations: of each block.
        origins: of each operation, the context and instruction.
        steps: the edges of all blocks.
        live: the variables that are needed where a block begins.
        number: the variable of each key.
        reaching: of inlined functions, by row, the values that the source's variables have.
    """

    flat: FlatFunction
    kinds: list[Kind] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    operations: list[list[Operation]] = field(default_factory=list)
    origins: list[list[tuple[int, int]]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    live: list[frozenset[int]] = field(default_factory=list)
    number: dict[Key, int] = field(default_factory=dict)
    live_keys: list[frozenset[Key]] = field(default_factory=list)
    reaching: dict[int, Reaching] = field(default_factory=dict)

    @property
    def sites(self) -> list[Site]:
        """The checks in it."""
        return self.flat.sites

    @cached_property
    def loops(self) -> dict[int, tuple[int, ...]]:
        """The blocks of each loop, by its first: only edges back lead from later ones to earlier.

        Loops inside of others stand behind them.
        """
        pairs = sorted({(step.source, step.target) for step in self.steps})
        ends = [source for source, _ in pairs], [target for _, target in pairs]
        order = weak_topological_order(Graph.from_edges(len(self.operations), *ends))
        nodes = order.order.tolist()
        return {
            node: tuple(nodes[place:end])
            for place, (node, end) in enumerate(zip(nodes, order.end.tolist(), strict=True))
            if end > place
        }


def compile_function(program: Program, flat: FlatFunction) -> Code:
    """Return the code of a function."""
    live = _liveness(flat)
    _drop_dead(flat, live)
    classes = _Coalescing(program, flat, live)
    code = Code(flat)
    code.number = classes.numbers()
    members: dict[int, list[Key]] = defaultdict(list)
    for key, number in code.number.items():
        members[number].append(key)
    for number in range(len(members)):
        code.kinds.append(flat.kinds[members[number][0]])
        code.names.append(_named(program, flat, members[number]))
    _number_blocks(flat, code, live)
    return code


def source_keys(source: Source) -> Iterable[Key]:
    """Return the variables of what is assigned."""
    if source is None:
        return ()
    return source.keys if isinstance(source, Form) else keys_of(source)


def _edge_uses(edge: Edge, live: frozenset[Key]) -> set[Key]:
    """Return what an edge needs, where some variables are needed behind it."""
    targets = {key for key, _ in edge.assignments}
    needed = set(live) - targets
    if edge.condition is not None:
        needed.update(keys_of(edge.condition))
    for key, source in edge.assignments:
        if key in live:
            needed.update(source_keys(source))
    return needed


def before(operation: Operation, live: set[Key]) -> None:
    """Make what is needed after an operation what is needed before it."""
    target = operation.sets
    if isinstance(operation, Havoc):
        live.difference_update(operation.variables)
    if target is None or target in live:
        live.discard(target)
        live.update(operation.uses())


def _liveness(flat: FlatFunction) -> list[frozenset[Key]]:
    """Return the variables that are needed where each block begins."""
    live: list[frozenset[Key]] = [frozenset()] * len(flat.blocks)
    changed = True
    while changed:
        changed = False
        for place in reversed(range(len(flat.blocks))):
            needed = needed_at_end(flat, place, live)
            for operation in reversed(flat.blocks[place].operations):
                before(operation, needed)
            if needed != live[place]:
                live[place] = frozenset(needed)
                changed = True
    return live


def needed_at_end(flat: FlatFunction, place: int, live: list[frozenset[Key]]) -> set[Key]:
    """Return the variables that are needed where a block ends."""
    needed: set[Key] = set()
    for edge in flat.blocks[place].edges:
        needed |= _edge_uses(edge, live[edge.target])
    return needed


def _drop_dead(flat: FlatFunction, live: list[frozenset[Key]]) -> None:
    """Take away operations and assignments whose result nobody needs."""
    for place, block in enumerate(flat.blocks):
        needed = needed_at_end(flat, place, live)
        kept = []
        for position in reversed(range(len(block.operations))):
            operation = block.operations[position]
            if operation.sets is None or operation.sets in needed:
                kept.append(position)
            before(operation, needed)
        kept.reverse()
        block.operations = [block.operations[position] for position in kept]
        block.origins = [block.origins[position] for position in kept]
        for edge in block.edges:
            edge.assignments = [one for one in edge.assignments if one[0] in live[edge.target]]


class _Coalescing:
    """Classes of variables that share a number."""

    def __init__(self, program: Program, flat: FlatFunction, live: list[frozenset[Key]]) -> None:
        self._flat = flat
        self._classes: dict[Key, list[Key]] = {}
        self._clashes: dict[Key, set[Key]] = defaultdict(set)
        self._find_clashes(live)
        for block in flat.blocks:
            for edge in block.edges:
                for key, source in edge.assignments:
                    if isinstance(source, Form):
                        for one in sorted(
                            source.keys, key=lambda k: not _same_name(program, k, key)
                        ):
                            self._unite(key, one)

    def numbers(self) -> dict[Key, int]:
        """Return the number of each variable."""
        for key in self._keys():
            self._classes.setdefault(key, [key])
        found: dict[Key, int] = {}
        number = 0
        for key, members in self._classes.items():
            if key not in found:
                found.update(dict.fromkeys(members, number))
                number += 1
        return found

    def _keys(self) -> Iterable[Key]:
        for block in self._flat.blocks:
            for operation in block.operations:
                if operation.sets is not None:
                    yield operation.sets
                if isinstance(operation, Havoc):
                    yield from operation.variables
                yield from operation.uses()
            for edge in block.edges:
                if edge.condition is not None:
                    yield from keys_of(edge.condition)
                for key, source in edge.assignments:
                    yield key
                    yield from source_keys(source)

    def _find_clashes(self, live: list[frozenset[Key]]) -> None:
        for place, block in enumerate(self._flat.blocks):
            now = needed_at_end(self._flat, place, live)
            for operation in reversed(block.operations):
                if operation.sets is not None:
                    self._clash(operation.sets, now)
                before(operation, now)
        for block in self._flat.blocks:
            for edge in block.edges:
                for key, _ in edge.assignments:
                    self._clash(key, live[edge.target])

    def _clash(self, key: Key, others: Iterable[Key]) -> None:
        for other in others:
            if other != key:
                self._clashes[key].add(other)
                self._clashes[other].add(key)

    def _unite(self, a: Key, b: Key) -> None:
        if isinstance(a, Cell) or isinstance(b, Cell) or self._flat.kinds[a] != self._flat.kinds[b]:
            return
        left = self._classes.setdefault(a, [a])
        right = self._classes.setdefault(b, [b])
        if left is right or any(self._clashes[one] & set(right) for one in left):
            return
        left += right
        for key in right:
            self._classes[key] = left


def _same_name(program: Program, a: Key, b: Key) -> bool:
    if not (isinstance(a, Base) and isinstance(b, Base)) or a.value < 0 or b.value < 0:
        return False
    return bool(set(program.variables_of(a.value)) & set(program.variables_of(b.value)))


def _named(program: Program, flat: FlatFunction, members: list[Key]) -> str:
    """Return what the source calls a variable: the name that most of its values have."""
    names: Counter[str] = Counter()
    for key in members:
        if isinstance(key, Base) and (pointer := pointer_of(key)) is not None:
            names.update(f"length({one})" for one in program.variables_of(pointer.value))
        elif isinstance(key, Base) and key.value >= 0:
            names.update(program.variables_of(key.value))
        elif isinstance(key, Base) and _is_pointer(program, ~key.value):
            names.update(f"offset({one})" for one in program.variables_of(~key.value))
        elif isinstance(key, Cell) and not key.is_aspect:
            object = flat.objects[key.object]
            if not object.name:
                continue
            is_whole = object.size == Form((), key.size)
            part = object.name if is_whole else f"{object.name}@{key.offset}"
            names[name_of(key, object.name) or part] += 1
    return names.most_common(1)[0][0] if names else ""


def _is_pointer(program: Program, value: int) -> bool:
    if not 0 <= value < program.n_values or program.value_types[value] < 0:
        return False
    return bool(program.types.kind[program.value_types[value]] == TypeKind.POINTER)


def _number_blocks(flat: FlatFunction, code: Code, live: list[frozenset[Key]]) -> None:
    forms = {key: only(number) for key, number in code.number.items()}
    code.live_keys = live
    code.live = [frozenset(code.number[key] for key in one) for one in live]
    for place, block in enumerate(flat.blocks):
        code.operations.append([one.renamed(forms.get) for one in block.operations])
        code.origins.append(block.origins)
        needed = {code.number[key] for key in needed_at_end(flat, place, live)}
        for edge in block.edges:
            code.steps.append(_step(code, place, edge, forms, frozenset(needed)))


def _step(
    code: Code, place: int, edge: Edge, forms: dict[Key, Form], needed: frozenset[int]
) -> Step:
    condition = None if edge.condition is None else replaced(edge.condition, forms.get)
    assignments: dict[int, Form] = {}
    flags: list[tuple[int, Condition]] = []
    anything = []
    for key, source in edge.assignments:
        number = code.number[key]
        if source is None:
            anything.append(number)
        elif isinstance(source, Form):
            form = source.replaced(forms.get)
            if form != only(number):
                assignments[number] = form
        else:
            flags.append((number, replaced(source, forms.get)))
    ordered = _in_order(code, assignments)
    step = Step(place, edge.target, condition, ordered, tuple(flags), tuple(anything))
    used = {number for number, _ in ordered} | {number for number, _ in flags} | set(anything)
    step.dead = tuple(sorted((needed | used) - code.live[edge.target]))
    return step


def _in_order(code: Code, assignments: dict[int, Form]) -> tuple[tuple[int, Form], ...]:
    """Return assignments made at once as a sequence; a cycle is broken by one more variable."""
    left, ordered = dict(assignments), []
    while left:
        used = {key for target, form in left.items() for key in form.keys if key != target}
        free = [target for target in left if target not in used]
        if free:
            ordered.append((free[0], left.pop(free[0])))
            continue
        target = next(iter(left))
        spare = len(code.kinds)
        code.kinds.append(code.kinds[target])
        code.names.append("")
        ordered.append((spare, only(target)))
        spares = {target: only(spare)}
        for key, form in left.items():
            if key != target:
                left[key] = form.replaced(spares.get)
    return tuple(ordered)
