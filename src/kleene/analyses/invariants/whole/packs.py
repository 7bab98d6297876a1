"""Octagons on whole programs: packs of values around the checks that intervals leave open.

For each open check, the values that it is about and those that branches and loops relate them to
are a pack of at most `MOST_VARIABLES`; it is followed through the control-flow graph of its
function alone (`kernels.octagon_flow`). What comes from outside of a pack, and from outside of the
function, is what facts on values say: so all packs of the program are solved together, in any
order. Of a sum that is no octagonal constraint, the part inside of the pack is kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.whole.bounds import Addresses
from kleene.analyses.invariants.whole.forms import Bound, Sum, Sums
from kleene.analyses.invariants.whole.pointers import Pointers
from kleene.analyses.invariants.whole.problem import (
    TOO_LONG,
    FlowBuilder,
    Operation,
    Pack,
    PackGraph,
    Packs,
    Target,
)
from kleene.analyses.invariants.whole.sites import KINDS, MAY_FAIL, Checks
from kleene.graphs import Graph, weak_topological_order
from kleene.ir.codes import CALLS, Flag, Opcode, ValueKind
from kleene.kernels.octagon_flow.codes import (
    ASSIGN,
    ASSUME,
    CHECK,
    EXCLUDE,
    FAIL,
    MOST_VARIABLES,
    SET,
    WIDEST,
)
from kleene.transforms.splitting import NameKind
from kleene.transforms.splitting.program import phi_edges

_ASKED = {KINDS.index(kind) for kind in (CheckKind.OVERFLOW, CheckKind.BOUNDS, CheckKind.ASSERT)}
_MOST_EDGES = 20_000  # of a function; larger ones are left to intervals


def packs_of(
    context: Context, pointers: Pointers, checks: Checks, most: int | None = None
) -> Packs:
    """Return the packs for all checks that are not decided.

    Args:
        context: the program.
        pointers: where its pointers point.
        checks: with verdicts.
        most: how many nodes all packs of a function may have together; no such limit if None.
    """
    writer = FlowBuilder()
    sums = Sums(context)
    program = context.program
    chosen = np.flatnonzero((checks.verdict == MAY_FAIL) & np.isin(checks.kind, list(_ASKED)))
    of_function = program.instruction_function[checks.row[chosen]]
    order = np.argsort(of_function, kind="stable")
    functions, first = np.unique(of_function[order], return_index=True)
    whole = _Whole(context, sums, Addresses(context, pointers, sums))
    for function, rows in zip(
        functions.tolist(), np.split(chosen[order], first[1:]) if len(first) else [], strict=True
    ):
        targets = [one for row in rows.tolist() if (one := whole.target(checks, row)) is not None]
        if targets:
            _Function(whole, function).add(targets, writer, most)
    return writer.finished()


class _Whole:
    """What is looked up for all functions."""

    def __init__(self, context: Context, sums: Sums, addresses: Addresses) -> None:
        self.context, self.program, self.sums = context, context.program, sums
        self.addresses = addresses
        self.table = self.program.instructions
        self.first = self.program.bases[ValueKind.INSTRUCTION]
        flow = context.split.flow
        self.sources, self.targets = flow.blocks.edges()
        self.is_reached = context.edge_is_reached
        self.edge_offsets = flow.blocks.offsets
        places, edges = phi_edges(self.program, flow)
        self.phi_place = np.full(len(self.table.operands), -1, np.int64)
        self.phi_place[places] = edges
        self._sigmas()

    def _sigmas(self) -> None:
        """Keep what facts say behind branches, sorted by edge."""
        split, facts = self.context.split, self.context.facts
        rows = np.flatnonzero(split.kind == NameKind.SIGMA)
        rows = rows[facts.has_value[rows + self.program.n_values]]
        edge = split.point[rows] - split.flow.along(0)
        order = np.argsort(edge, kind="stable")
        names = rows[order] + self.program.n_values
        self.sigma_edge, self.sigma_value = edge[order], split.value[rows[order]]
        self.sigma_low, self.sigma_high = facts.low[names], facts.high[names]

    def target(self, checks: Checks, row: int) -> Target | None:
        """Return a check as bounds; None if it is not about sums of two values."""
        instruction = int(checks.row[row])
        kind = KINDS[int(checks.kind[row])]
        if kind is CheckKind.BOUNDS:
            found = self.addresses.bounds(instruction)
            return None if found is None else Target(row, instruction, *found)
        if kind is CheckKind.ASSERT:
            opcode = int(self.table.opcode[instruction])
            is_report = checks.messages[int(checks.message[row])] != "the condition holds"
            return Target(row, instruction, ()) if opcode in CALLS and is_report else None
        return self._overflow(row, instruction)

    def _overflow(self, row: int, instruction: int) -> Target | None:
        opcode, sums = int(self.table.opcode[instruction]), self.sums
        if opcode not in (Opcode.ADD, Opcode.SUB):
            return None
        found = sums.exact(instruction, opcode, sums.width(self.first + instruction))
        if found is None or not found.terms:
            return None
        # Of 64 bits it is asked whether the sum is far from overflow: larger ends are not kept.
        half = min(1 << sums.width(self.first + instruction) - 1, WIDEST // 2)
        if abs(found.constant) >= half:
            return None
        most, least = half - 1 - found.constant, -half - found.constant
        negative = tuple((value, -factor) for value, factor in found.terms)
        bounds = Bound(found.terms, most), Bound(negative, -least)
        is_exact = half == 1 << sums.width(self.first + instruction) - 1
        return Target(row, instruction, bounds, bounds if is_exact else ())


class _Function:
    """The control-flow graph of one function, and what relates its values."""

    def __init__(self, whole: _Whole, function: int) -> None:
        self._whole, self._function, self._sums = whole, function, whole.sums
        program = whole.program
        first, end = program.function_table.block_offsets[function : function + 2].tolist()
        low, high = int(whole.edge_offsets[first]), int(whole.edge_offsets[end])
        edges = low + np.flatnonzero(whole.is_reached[low:high])
        self.first = first
        self.edges = edges.tolist()
        self.source = whole.sources[edges].tolist()
        self.target = whole.targets[edges].tolist()
        self.rows = program.blocks.instruction_offsets[[first, end]].tolist()
        self.guards: list[tuple[int, Bound]] = []
        self.of_value: dict[int, list[int]] = defaultdict(list)
        self.phis: dict[int, list[tuple[int, Sum | None, int]]] = {}
        self.near: dict[int, Counter[int]] = defaultdict(Counter)
        self.counters: dict[int, dict[int, None]] = defaultdict(dict)  # by the loop's first block

    def add(self, targets: list[Target], writer: FlowBuilder, most: int | None) -> None:
        """Add the packs of the function to a problem; those that are most asked about go first."""
        if len(self.edges) > _MOST_EDGES:
            writer.left_out[self._function] = f"there are {len(self.edges)} edges"
            return
        table, (first, end) = self._whole.table, self.rows
        is_call = np.isin(table.opcode[first:end], list(CALLS))
        if (table.flags[first:end][is_call] & Flag.RETURNS_TWICE).any():
            writer.left_out[self._function] = "a call may return twice (setjmp)"
            return
        self._relate()
        packs = self._packs(targets)
        if most is not None and len(packs) * len(self.edges) > most:
            writer.left_out[self._function] = TOO_LONG
            packs.sort(key=lambda one: -len(one.targets))
            packs = packs[: most // len(self.edges)]
        if packs:
            graph = writer.graph(self._graph())
            for pack in packs:
                writer.pack(self._function, graph, pack, *self._operations(pack))

    def _graph(self) -> PackGraph:
        nodes = max([self.first, *self.source, *self.target]) - self.first + 1
        source = np.array(self.source, np.int64) - self.first
        target = np.array(self.target, np.int64) - self.first
        order = weak_topological_order(Graph.from_edges(nodes, source, target))
        self.blocks = (order.order + self.first).tolist()
        self.place = {block: place for place, block in enumerate(self.blocks)}
        is_head = order.end > np.arange(len(order.end))
        place = np.full(nodes, -1, np.int64)
        place[order.order] = np.arange(len(order.order))
        source, target = place[source], place[target]
        keep = (source >= 0) & (target >= 0)
        kept = np.flatnonzero(keep)
        by_target = kept[np.lexsort((kept, target[kept]))]
        self.edge_place = {self.edges[edge]: at for at, edge in enumerate(by_target.tolist())}
        return PackGraph(self.blocks, source[keep], target[keep], is_head)

    # Relations

    def _relate(self) -> None:
        """Find what branches say and what φs take over, and which values that relates."""
        whole, table = self._whole, self._whole.table
        last = whole.program.blocks.instruction_offsets
        for edge, source in zip(self.edges, self.source, strict=True):
            row = int(last[source + 1]) - 1
            if table.opcode[row] != Opcode.BR or table.offsets[row + 1] - table.offsets[row] != 3:
                continue
            condition = int(table.operands[table.offsets[row]])
            holds = edge == int(whole.edge_offsets[source])
            for bound in self._sums.bounds(condition, holds):
                self._guard(edge, bound)
        first, end = self.rows
        for row in (first + np.flatnonzero(table.opcode[first:end] == Opcode.PHI)).tolist():
            self._phi(row)

    def _guard(self, edge: int, bound: Bound) -> None:
        for value, _ in bound.terms:
            self.of_value[value].append(len(self.guards))
        self.guards.append((edge, bound))
        self._meet([value for value, _ in bound.terms])

    def _meet(self, values: Iterable[int]) -> None:
        several = list(dict.fromkeys(values))
        for value in several:
            for other in several:
                if value != other:
                    self.near[value][other] += 1

    def _phi(self, row: int) -> None:
        whole, table = self._whole, self._whole.table
        value = whole.first + row
        if self._sums.width(value) <= 1:
            return
        begin, end = int(table.offsets[row]), int(table.offsets[row + 1])
        found = []
        for place in range(begin, end, 2):
            edge = int(whole.phi_place[place])
            operand = self._sums.of(int(table.operands[place]))
            found.append((edge, operand, int(whole.context.split.operand[place])))
            if operand is not None:
                self._meet([value, *(one for one, _ in operand.terms)])
                if operand.terms == ((value, 1),):
                    self.counters[int(table.block[row])][value] = None
        self.phis[value] = found

    def _packs(self, targets: list[Target]) -> list[Pack]:
        """Return packs such that each target's values are in one of them."""
        packs: list[Pack] = []
        block_of = self._whole.table.block
        into: dict[int, list[int]] = defaultdict(list)
        for edge, target in zip(self.edges, self.target, strict=True):
            into[target].append(edge)
        by_edge: dict[int, list[Bound]] = defaultdict(list)
        for edge, bound in self.guards:
            by_edge[edge].append(bound)
        for target in targets:
            wanted = {value for bound in target.bounds for value, _ in bound.terms}
            if not target.bounds:
                for edge in into[int(block_of[target.row])]:
                    wanted |= {value for bound in by_edge[edge] for value, _ in bound.terms}
            if not 0 < len(wanted) <= MOST_VARIABLES:
                continue
            pack = next((one for one in packs if wanted <= set(one.values)), None)
            if pack is None:
                values = self._grown(sorted(wanted))
                is_about_size = len(target.bounds) == 1  # that some value says
                if len(values) < 2 and not is_about_size:
                    continue  # intervals have said all there is
                pack = Pack(values)
                packs.append(pack)
            pack.targets.append(target)
        return packs

    def _grown(self, values: list[int]) -> tuple[int, ...]:
        """Return values and those that are related to them, nearest first.

        Counters of one loop (`i++, j++`) are related, too, if there is room for them.
        """
        found = dict.fromkeys(values)
        level = list(values)
        while level and len(found) < MOST_VARIABLES:
            around: Counter[int] = Counter()
            for value in level:
                around.update(
                    {other: n for other, n in self.near[value].items() if other not in found}
                )
            level = []
            for other, _ in sorted(around.items(), key=lambda one: (-one[1], one[0])):
                if len(found) < MOST_VARIABLES:
                    found[other] = None
                    level.append(other)
            if not level:
                level = self._beside(found)[: MOST_VARIABLES - len(found)]
                found.update(dict.fromkeys(level))
        return tuple(found)

    def _beside(self, values: dict[int, None]) -> list[int]:
        """Return the counters of loops that some of the values count, too."""
        first, block = self._whole.first, self._whole.table.block
        loops = dict.fromkeys(int(block[one - first]) for one in values if one in self.phis)
        return [
            other
            for loop in loops
            if any(one in values for one in self.counters[loop])
            for other in self.counters[loop]
            if other not in values
        ]

    # Operations

    def _operations(
        self, pack: Pack
    ) -> tuple[dict[int, list[Operation]], dict[int, list[Operation]], list[tuple[int, int]]]:
        """Return the operations of edges and of nodes by place, and the ranges of values."""
        number = {value: place for place, value in enumerate(pack.values)}
        edges: dict[int, list[Operation]] = defaultdict(list)
        seen = dict.fromkeys(guard for value in pack.values for guard in self.of_value[value])
        for guard in seen:
            edge, bound = self.guards[guard]
            if edge in self.edge_place and all(value in number for value, _ in bound.terms):
                code = EXCLUDE if bound.differs else ASSUME
                edges[self.edge_place[edge]].append(_bounded(code, bound, number, 0))
        self._behind_branches(pack, number, edges)
        self._phi_operations(pack, number, edges)
        ranges = [self._sums.range(value) for value in pack.values]
        return edges, self._node_operations(pack, number), ranges

    def _behind_branches(
        self, pack: Pack, number: dict[int, int], edges: dict[int, list[Operation]]
    ) -> None:
        whole, ends_of = self._whole, [*self.edges[:1], *self.edges[-1:]]
        if not ends_of:
            return
        low, high = np.searchsorted(whole.sigma_edge, [ends_of[0], ends_of[1] + 1])
        inside = low + np.flatnonzero(np.isin(whole.sigma_value[low:high], pack.values))
        for at in inside.tolist():
            place = self.edge_place.get(int(whole.sigma_edge[at]))
            if place is not None:
                variable = number[int(whole.sigma_value[at])]
                ends = int(whole.sigma_low[at]), int(whole.sigma_high[at])
                edges[place] += _within(variable, *ends)

    def _phi_operations(
        self, pack: Pack, number: dict[int, int], edges: dict[int, list[Operation]]
    ) -> None:
        """Add what φs take over along edges: all of a block at once."""
        at_once: dict[int, dict[int, tuple[Sum | None, int]]] = defaultdict(dict)
        for value in pack.values:
            for edge, operand, name in self.phis.get(value, ()):
                if edge in self.edge_place:
                    at_once[self.edge_place[edge]][number[value]] = (operand, name)
        for place, assigned in at_once.items():
            left = {
                variable: self._assigned(variable, operand, name, number)
                for variable, (operand, name) in assigned.items()
            }
            edges[place] += _one_by_one(left)
            for variable, (_, name) in assigned.items():
                edges[place] += _within(variable, *self._sums.range(name))

    def _assigned(
        self, variable: int, operand: Sum | None, name: int, number: dict[int, int]
    ) -> Operation:
        """Return the assignment of a sum: one term of the pack, and the range of the rest."""
        low, high = self._sums.range(name)
        if operand is not None:
            inside = [term for term in operand.terms if term[0] in number]
            if inside:
                value, factor = inside[0]
                ends = [operand.constant, operand.constant]
                for other, sign in operand.terms:
                    if other != value:
                        least, most = self._sums.range(other)
                        ends[0] += min(sign * least, sign * most)
                        ends[1] += max(sign * least, sign * most)
                if max(map(abs, ends)) < WIDEST:
                    literal = 2 * number[value] + (factor < 0)
                    return (ASSIGN, variable, literal, ends[0], ends[1])
        return (SET, variable, 0, low, high)

    def _node_operations(self, pack: Pack, number: dict[int, int]) -> dict[int, list[Operation]]:
        """Return what blocks do: values are computed, checks are asked and then hold."""
        whole = self._whole
        ordered: list[tuple[int, int, list[Operation]]] = []
        for value, variable in number.items():
            row = value - whole.first
            if row >= 0 and whole.table.opcode[row] != Opcode.PHI:
                ordered.append((row, 1, self._computed(row, value, variable, number)))
        for target in pack.targets:
            asked = [_bounded(CHECK, bound, number, target.check) for bound in target.bounds]
            asked += [_bounded(ASSUME, bound, number, 0) for bound in target.after]
            if not target.bounds:
                asked = [(FAIL, 0, 0, target.check, 0)]
            ordered.append((target.row, 0, asked))
        nodes: dict[int, list[Operation]] = defaultdict(list)
        for row, _, operations in sorted(ordered, key=lambda one: one[:2]):
            place = self.place.get(int(whole.table.block[row]))
            if place is not None:
                nodes[place] += operations
        return nodes

    def _computed(
        self, row: int, value: int, variable: int, number: dict[int, int]
    ) -> list[Operation]:
        """Return that a value is any of its range, and not above an operand where that is so.

        For 0 <= a and 0 <= b: a & b, a / b, a % b and a >> b are at most a.
        """
        low, high = self._sums.range(value)
        found: list[Operation] = [(SET, variable, 0, low, high)]
        table = self._whole.table
        if table.opcode[row] in (Opcode.AND, Opcode.UDIV, Opcode.UREM, Opcode.LSHR):
            operands = table.operands_of(row).tolist()
            ends = [self._sums.range(self._sums.name(row, place)) for place in (0, 1)]
            if all(end[0] >= 0 for end in ends):
                below = [operands[0]] if table.opcode[row] != Opcode.AND else operands
                for operand in below:
                    other = self._sums.of(operand)
                    if other is not None and len(other.terms) == 1 and other.terms[0][1] == 1:
                        at = number.get(other.terms[0][0])
                        if at is not None and at != variable:
                            found.append((ASSUME, 2 * variable, 2 * at + 1, 0, other.constant))
        return found


def _bounded(code: int, bound: Bound, number: dict[int, int], check: int) -> Operation:
    literals = [2 * number[value] + (factor < 0) for value, factor in bound.terms]
    return (code, literals[0], literals[1] if len(literals) > 1 else -1, check, bound.most)


def _within(variable: int, low: int, high: int) -> Iterator[Operation]:
    """Yield that a variable is in a range, as far as that is not too wide."""
    if high < WIDEST:
        yield (ASSUME, 2 * variable, -1, 0, high)
    if low > -WIDEST:
        yield (ASSUME, 2 * variable + 1, -1, 0, -low)


def _one_by_one(left: dict[int, Operation]) -> list[Operation]:
    """Return assignments made at once as a sequence; of a cycle, one forgets what it read.

    A variable is set once no assignment behind it reads it.
    """
    ordered = []
    while left:
        read = Counter(
            one[2] >> 1 for one in left.values() if one[0] == ASSIGN and one[2] >> 1 != one[1]
        )
        free = next((variable for variable in left if not read[variable]), None)
        if free is None:
            free = next(iter(left))
            for variable, one in left.items():
                if one[0] == ASSIGN and one[2] >> 1 == free and variable != free:
                    left[variable] = (SET, variable, 0, -WIDEST, WIDEST)
        ordered.append(left.pop(free))
    return ordered
