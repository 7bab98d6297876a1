"""What one value takes from others: copies, edges, arithmetic; instructions and constants alike.

- A cast, phi, select or freeze is a copy; an aggregate or vector is one node for all its parts.
- A getelementptr, and an integer plus or minus a constant, is an edge.
- Bits set or cleared by a constant (tags) are an edge by each number that they can add or take;
  what is masked to less than a page is no address. Other bit operations lead anywhere in the
  allocations at hand.
- Products, quotients and remainders lead anywhere in the allocations at hand, too.
- The difference of two addresses holds none, which is an assumption (see `assumptions`), unless it
  is a constant: then it holds the first, and what is indexed by it may be that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kleene.analyses.points_to.compiled import device_function, entry_point
from kleene.analyses.points_to.constraints.builder import PointerBuilder, distinct_rows
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.reachability import spread
from kleene.analyses.points_to.offset_edges import EdgeKind
from kleene.base.arrays import I32, I64, Bools, Ints, offsets_of, ragged
from kleene.ir.codes import ConstantKind, Flag, Opcode, TypeKind, ValueKind
from kleene.ir.program import Program
from kleene.solvers.inclusion import FROM_OUTSIDE, TO_OUTSIDE

_FIRST = (  # copies of the first operand
    *(Opcode.TRUNC, Opcode.ZEXT, Opcode.SEXT, Opcode.PTRTOINT, Opcode.PTRTOADDR, Opcode.INTTOPTR),
    *(Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE, Opcode.EXTRACTVALUE),
    Opcode.EXTRACTELEMENT,
)
_FIRST_TWO = (Opcode.INSERTVALUE, Opcode.INSERTELEMENT, Opcode.SHUFFLEVECTOR)
_BITS = (Opcode.AND, Opcode.OR, Opcode.XOR)
_SHIFTS = (Opcode.SHL, Opcode.LSHR, Opcode.ASHR)
_DIVISIONS = (Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM)
_PAGE = 4096  # no object lies below
_MOST_TAG_BITS = 3


class Code(NamedTuple):
    """Instructions, or constant expressions, as columns."""

    operands: I32  # of all of them
    value: Ints
    opcode: Ints
    about: Ints  # type
    first: Ints  # operand
    end: Ints
    origin: Ints

    def only(self, *opcodes: Opcode) -> Code:
        """Return the part with one of the opcodes."""
        return self.where(np.isin(self.opcode, opcodes))

    def where(self, found: Bools | I64) -> Code:
        """Return a part, by mask or position."""
        operands, *columns = self
        return Code(operands, *(column[found] for column in columns))

    def operand(self, position: int) -> I32:
        """Return the operand at `position` of each."""
        return self.operands[self.first + position]


def generate_values(builder: PointerBuilder) -> None:
    """Add what values take from others."""
    columns = builder.columns
    _constants(builder)
    for code in (_expressions(columns), _instructions(columns)):
        _copies(builder, code)
        _edges(builder, code.only(Opcode.GETELEMENTPTR))
        is_part = columns.pointer_carrying[code.value]
        _anywhere(builder, code.where(is_part).only(Opcode.ADD, Opcode.SUB, *_BITS), 0, 1)
        _sums(builder, code.where(~is_part))
        _masks(builder, code.where(~is_part).only(*_BITS))
        _anywhere(builder, code.only(*_SHIFTS), 0)
        _anywhere(builder, code.only(Opcode.MUL, *_DIVISIONS), 0, 1)


def _instructions(columns: Columns) -> Code:
    """Return the instructions that compute a pointer-typed or pointer-carrying value."""
    table = columns.program.instructions
    value = columns.program.bases[ValueKind.INSTRUCTION] + np.arange(len(table))
    rows = np.flatnonzero(columns.flows[value] & ~columns.counts)
    return Code(
        *(table.operands, value[rows], table.opcode[rows], table.about[rows]),
        *(table.offsets[rows], table.offsets[rows + 1], rows),
    )


def _expressions(columns: Columns) -> Code:
    table = columns.program.constants
    rows = np.flatnonzero(table.kind == ConstantKind.EXPRESSION)
    return Code(
        *(table.operands, columns.program.bases[ValueKind.CONSTANT] + rows, table.opcode[rows]),
        *(table.about[rows], table.offsets[rows], table.offsets[rows + 1]),
        np.full(len(rows), -1),
    )


def _constants(builder: PointerBuilder) -> None:
    """Add what constants are made of; one that the reader did not understand is outside."""
    columns = builder.columns
    table = columns.program.constants
    base = columns.program.bases[ValueKind.CONSTANT]
    made = (ConstantKind.AGGREGATE, ConstantKind.SPLAT, ConstantKind.WRAPPED)
    rows = np.flatnonzero(np.isin(table.kind, made) & columns.pointer_type[table.type])
    owner, position = ragged(table.offsets[rows], table.offsets[rows + 1])
    none = np.full(len(position), -1)
    _copy(builder, base + rows[owner], table.operands[position], none)
    rows = np.flatnonzero(table.kind == ConstantKind.UNKNOWN)
    _, position = ragged(table.offsets[rows], table.offsets[rows + 1])
    builder.flag(base + rows, FROM_OUTSIDE)
    builder.flag(table.operands[position], TO_OUTSIDE)


def _copies(builder: PointerBuilder, code: Code) -> None:
    for part, positions in ((_FIRST, (0,)), (_FIRST_TWO, (0, 1)), ((Opcode.SELECT,), (1, 2))):
        found = code.only(*part)
        is_element = found.opcode == Opcode.EXTRACTVALUE  # of a struct: see `aggregates`
        if is_element.any():
            found = found.where(~(is_element & builder.columns.is_split[found.operand(0)]))
        for position in positions:
            _copy(builder, found.value, found.operand(position), found.origin)
    phis = code.only(Opcode.PHI)
    owner, incoming = ragged(phis.first, phis.end)
    _copy(builder, phis.value[owner], phis.operands[incoming], phis.origin[owner])


def _copy(builder: PointerBuilder, to: Ints, source: Ints, origin: Ints) -> None:
    columns = builder.columns
    keep = columns.flows[source]
    builder.copy(to[keep], source[keep], origin[keep])


def _edges(builder: PointerBuilder, geps: Code) -> None:
    """Add the offset edge of each getelementptr."""
    columns = builder.columns
    base = geps.operand(0)
    keep = columns.flows[base]
    constant, strides, led_to = gep_offsets(
        columns.program, geps.first, geps.end, geps.operands, geps.about
    )
    in_bytes = columns.program.types.size[geps.about] == 1
    in_bytes &= (constant > 1) | _has_long_steps(columns, geps, in_bytes & (constant > 1))
    kinds = np.where(in_bytes, np.int64(EdgeKind.BYTES), np.int64(EdgeKind.ELEMENTS))
    varies = strides[:, 0] != 0
    is_early = _is_early(columns, geps, constant, varies, led_to)
    is_stray = _is_stray(columns, geps, constant, varies)
    source, constant, strides = _from_before(columns, geps, is_early | is_stray, constant, strides)
    kinds[is_early | (source != base) & (strides[:, 0] != 0)] = EdgeKind.EARLY_INDEX
    to, origin = builder.untested[geps.value[keep]], geps.origin[keep]
    builder.offset_edges(to, source[keep], constant[keep], strides[keep], kinds[keep], origin)
    if columns.has_distances:  # from the base, which may lead to another object
        owner, position = ragged(geps.first + 1, geps.end)
        index = geps.operands[position]
        leads = columns.flows[index]
        owner = owner[leads]
        builder.unknown_offset(geps.value[owner], index[leads], geps.origin[owner])


def _from_before(
    columns: Columns, geps: Code, is_early: Bools, constant: I64, strides: I64
) -> tuple[I64, I64, I64]:
    """Return from where, and how far, each leads; from early steps as from where these began.

    Early are indices in front of a constant, and constants in front of an index that lead back, as
    in `p - 1 + i`: only together do they lead into the storage, in between nothing need lie there.
    A constant that is `inbounds` does.
    """
    row_of = np.full(columns.program.n_values, -1)
    row_of[geps.value] = np.arange(len(geps.value))
    base, total, every = geps.operand(0).astype(np.int64), constant.copy(), strides.copy()
    for _ in range(_DOUBLINGS):
        behind = row_of[base]
        rows = np.flatnonzero((behind >= 0) & is_early[behind])
        if not len(rows):
            break
        behind = behind[rows]
        total[rows] += total[behind]
        every[rows] = either_stride(every[rows], every[behind])
        base[rows] = base[behind]
    return base, total, every


def _is_stray(columns: Columns, geps: Code, constant: I64, varies: Bools) -> Bools:
    """Return which constants may lead to where no storage is: back, and on from there.

    Those that are `inbounds` lead to storage, or one past its end, if they may be used at all.
    """
    program = columns.program
    row = geps.value - program.bases[ValueKind.INSTRUCTION]
    is_code = row >= 0
    flags = np.zeros(len(row), np.int64)
    flags[is_code] = program.instructions.flags[row[is_code]]
    flags[~is_code] = program.constants.flags[
        geps.value[~is_code] - program.bases[ValueKind.CONSTANT]
    ]
    stray: Bools = np.zeros(program.n_values, bool)
    is_inside = flags & Flag.INBOUNDS != 0
    stray[geps.value[~varies & (constant < 0) & ~is_inside]] = True
    follows = ~varies & ~is_inside
    spread(stray, geps.value[follows], geps.operand(0)[follows])
    found: Bools = stray[geps.value]
    return found


def _is_early(columns: Columns, geps: Code, constant: I64, varies: Bools, led_to: I64) -> Bools:
    """Return which indices may come before the constant that leads to their array.

    A constant behind an index leads to a member of the element. If it is too large for that, a
    compiler may have put the two in this order, and the array lies where the constant leads. If it
    is smaller, an array in front of that one is smaller than the element, and does not hold it.
    """
    size = columns.program.types.size
    row_of = np.full(columns.program.n_values, -1)
    row_of[geps.value] = np.arange(len(geps.value))
    base = geps.operand(0)
    steps = np.flatnonzero(~varies & (constant != 0))
    behind = row_of[base[steps]]
    element = led_to[behind]
    is_member = (constant[steps] >= 0) & (constant[steps] < size[element]) & (behind >= 0)
    marked: Bools = np.zeros(len(row_of), bool)
    marked[base[steps[~is_member]]] = True
    spread(marked, base[varies], geps.value[varies])
    found: Bools = varies & marked[geps.value]
    return found


def _has_long_steps(columns: Columns, geps: Code, found: Bools) -> bool:
    """Return whether a loop goes on by more than a byte at a time, in some of the steps found.

    A walk by single bytes passes through the inside of fields, and so leads everywhere. Not so the
    bytes that are left when an unrolled one ends: their steps begin wherever that may have come.
    """
    table, base = columns.program.instructions, columns.program.bases[ValueKind.INSTRUCTION]
    found = found & (columns.opcode_of(geps.operand(0)) == Opcode.PHI)
    pairs = zip(geps.value[found].tolist(), geps.operand(0)[found].tolist(), strict=True)
    return any(step in table.operands_of(phi - base) for step, phi in pairs)


def _sums(builder: PointerBuilder, code: Code) -> None:
    """Add sums and differences: with a constant exact, of two variables anywhere."""
    columns = builder.columns
    for opcode, position, sign in ((Opcode.ADD, 0, 1), (Opcode.ADD, 1, 1), (Opcode.SUB, 0, -1)):
        part = code.only(opcode)
        source, other = part.operand(position), part.operand(1 - position)
        keep = columns.flows[source]
        if opcode == Opcode.SUB:  # less an address: a distance
            keep &= columns.opcode_of(other) != Opcode.PTRTOINT
        exact, amount = columns.constant(other)
        exact, varying = exact & keep, ~exact & keep
        distance = sign * amount[exact]
        builder.byte_offset(part.value[exact], source[exact], distance, 0, part.origin[exact])
        builder.unknown_offset(part.value[varying], source[varying], part.origin[varying])


def _masks(builder: PointerBuilder, code: Code) -> None:
    """Add bit operations, by what each distinct one does to an address."""
    columns = builder.columns
    is_constant, mask = columns.constant(code.operand(1))
    _anywhere(builder, code.where(~is_constant), 0, 1)
    chosen = is_constant & columns.flows[code.operand(0)]
    code, mask = code.where(chosen), mask[chosen]
    pairs, index = distinct_rows(np.stack([code.opcode, mask], axis=1))
    distances = [_distances(*pair) for pair in pairs.tolist()]
    by_any = np.array([found is None for found in distances], bool)
    _anywhere(builder, code.where(by_any[index]), 0)
    counts = np.array([len(found or ()) for found in distances], np.int64)
    offsets = offsets_of(counts)
    owner, position = ragged(offsets[index], offsets[index + 1])
    amount = np.array([n_bytes for found in distances for n_bytes in found or ()], np.int64)
    tagged = code.where(owner)
    builder.byte_offset(tagged.value, tagged.operand(0), amount[position], 0, tagged.origin)


def _distances(opcode: int, mask: int) -> list[int] | None:
    """Return by how many bytes the operation can change an address; None if by any number."""
    if opcode == Opcode.AND and 0 <= mask < _PAGE and mask != 0xFF:  # not a byte of it
        return []
    bits = ~mask if opcode == Opcode.AND else mask
    if bits < 0 or bits.bit_count() > _MOST_TAG_BITS:
        return None
    parts = [0]
    for bit in (1 << k for k in range(bits.bit_length()) if bits >> k & 1):
        parts += [part + bit for part in parts]
    if opcode == Opcode.OR:
        return parts
    down = [-part for part in parts]
    return down if opcode == Opcode.AND else sorted({*parts, *down})


def _anywhere(builder: PointerBuilder, code: Code, *positions: int) -> None:
    columns = builder.columns
    for position in positions:
        source = code.operand(position)
        keep = columns.flows[source]
        builder.unknown_offset(code.value[keep], source[keep], code.origin[keep])


_STRUCT = int(TypeKind.STRUCT)
_INT, _ZERO = int(ConstantKind.INT), int(ConstantKind.ZERO)
_WIDE = int(Flag.WIDE)


MOST_STRIDES = 4
_DOUBLINGS = 31  # of the steps behind: only code that is never reached has more, in circles


def gep_offsets(
    program: Program, first: Ints, end: Ints, operands: I32, about: Ints
) -> tuple[I64, I64, I64]:
    """Return for each getelementptr (constant, strides, type): how far it leads, and to what.

    That is the constant, plus any multiples of the strides of its varying indices: a row of
    `MOST_STRIDES`, 0 where there are fewer; -1 in the first: anywhere. Operands are those from
    `first` to before `end`.
    """
    types, constants = program.types, program.constants
    with np.errstate(over="ignore"):  # addresses wrap around
        found: tuple[I64, I64, I64] = _gep_offsets(
            *(first.astype(np.int64), end.astype(np.int64), operands, about),
            *(types.kind, types.offsets, types.elements, types.field_offset, types.size),
            *(
                program.bases[ValueKind.CONSTANT],
                constants.kind,
                constants.flags,
                constants.payload,
            ),
        )
    return found


def either_stride(left: I64, right: I64) -> I64:
    """Return the strides of both, row by row; -1 in the first where there are too many."""
    both = np.sort(np.concatenate([left, right], axis=1), axis=1)[:, ::-1]
    is_new = np.ones(both.shape, bool)
    is_new[:, 1:] = both[:, 1:] != both[:, :-1]
    both = np.sort(np.where(is_new, both, 0), axis=1)[:, ::-1]
    is_anywhere = (left[:, 0] < 0) | (right[:, 0] < 0) | (both[:, MOST_STRIDES] > 0)
    found: I64 = np.maximum(both[:, :MOST_STRIDES], 0)
    found[is_anywhere] = 0
    found[is_anywhere, 0] = -1
    return found


@entry_point
def _gep_offsets(
    first: Any,
    end: Any,
    operands: Any,
    about: Any,
    kind: Any,
    offsets: Any,
    elements: Any,
    field_offset: Any,
    size: Any,
    base: Any,
    constant_kind: Any,
    flags: Any,
    payload: Any,
) -> Any:
    constant = np.zeros(len(first), np.int64)
    strides = np.zeros((len(first), MOST_STRIDES), np.int64)
    led_to = np.zeros(len(first), np.int64)
    for i in range(len(first)):
        inside, n_strides = np.int64(about[i]), 0
        for position in range(first[i] + 1, end[i]):
            row = operands[position] - base
            known, index = False, np.int64(0)
            if 0 <= row < len(payload):
                if constant_kind[row] == _INT and not flags[row] & _WIDE:
                    known, index = True, payload[row]
                elif constant_kind[row] == _ZERO:
                    known = True
            if position > first[i] + 1:
                if kind[inside] == _STRUCT and known:
                    constant[i] += field_offset[offsets[inside] + index]
                    inside = elements[offsets[inside] + index]
                    continue
                if kind[inside] == _STRUCT:  # one index of a vector each: a splat, or unlike ones
                    strides[i, 0] = -1
                    break
                inside = elements[offsets[inside]]
            n_bytes = size[inside]
            if known and n_bytes >= 0:
                constant[i] += index * n_bytes
            elif n_bytes and not _is_among(strides[i], n_strides, n_bytes):
                if n_bytes < 0 or n_strides == MOST_STRIDES:
                    strides[i, 0] = -1
                    break
                strides[i, n_strides] = n_bytes
                n_strides += 1
        led_to[i] = inside
    return constant, strides, led_to


@device_function
def _is_among(strides: Any, count: Any, wanted: Any) -> Any:
    """Return whether one of the first `count` strides is the wanted one."""
    for k in range(count):  # noqa: SIM110 -- Numba compiles loops, not generators
        if strides[k] == wanted:
            return True
    return False
