"""What an access inside of its object says about an index: bounds of sums of two values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.command_line import POINTER_BYTES, command_line
from kleene.analyses.invariants.library import calls_by_model
from kleene.analyses.invariants.whole.addresses import (
    address_sums,
    constant_numbers,
)
from kleene.analyses.invariants.whole.forms import Bound, Sum, Sums, added
from kleene.analyses.invariants.whole.pointers import Pointers
from kleene.ir.codes import ADDRESS_OPERAND, Opcode, ValueKind

_LARGEST = 1 << 40


class _Place(NamedTuple):
    """An address: a pointer, plus bytes, plus the number of an element times bytes."""

    root: int
    constant: int
    element: Sum | None
    stride: int


class Addresses:
    """Addresses of accesses in terms of one index."""

    def __init__(self, context: Context, pointers: Pointers, sums: Sums) -> None:
        self._context, self._pointers, self._sums = context, pointers, sums
        self._program, self._table = context.program, context.program.instructions
        self._first = self._program.bases[ValueKind.INSTRUCTION]
        self._has_offset, self._has_size = pointers.offset.has_value, pointers.size.has_value
        table = self._table
        rows = np.flatnonzero(table.opcode == Opcode.GETELEMENTPTR)
        starts, ends = table.offsets[rows].astype(np.int64), table.offsets[rows + 1]
        found = address_sums(self._program, table.operands, starts, ends, table.about[rows])
        self._number = {row: number for number, row in enumerate(rows.tolist())}
        self._found = found
        order = np.argsort(found.row, kind="stable")
        self._place, self._stride = found.place[order], found.stride[order]
        self._terms = np.searchsorted(found.row[order], np.arange(len(rows) + 1))
        self._command_line = command_line(self._program)
        # Calls that allocate, and the operand that says how much.
        self._allocated: dict[int, int] = {}
        for model, calls in calls_by_model(self._program):
            if (
                model.heap is not None
                and len(model.heap.arguments) == 1
                and not model.heap.constant
            ):
                self._allocated.update(dict.fromkeys(calls.tolist(), 1 + model.heap.arguments[0]))

    def bounds(self, row: int) -> tuple[tuple[Bound, ...], tuple[Bound, ...]] | None:
        """Return what makes sure that an access is inside, and what holds if it is.

        They are the same if offset and size of the pointer are known. None if that is not about one
        index.
        """
        table = self._table
        place = ADDRESS_OPERAND.get(Opcode(int(table.opcode[row])))
        if place is None:
            return None
        operands = table.operands_of(row).tolist()
        typed = self._first + row if table.opcode[row] == Opcode.LOAD else operands[1 - place]
        n_bytes = int(self._program.store_size[self._program.value_types[typed]])
        address = self._address(operands[place])
        if address is None or n_bytes < 0:
            return None
        if address.element is None:
            return self._inside_at_constant(address, n_bytes)
        return self._inside(address, n_bytes)

    def _inside_at_constant(
        self, address: _Place, n_bytes: int
    ) -> tuple[tuple[Bound, ...], tuple[Bound, ...]] | None:
        """Return what holds of an object's size if bytes at a known place are in it."""
        low, high = self._offset(address.root)
        size, factor, least, most = self._size(address.root)
        if size is None or low + address.constant < 0 or high >= _LARGEST:
            return None
        terms = tuple((value, -number) for value, number in size.terms)
        # address.constant + offset + n_bytes <= factor * size + rest
        bounds = (
            Bound(terms, (rest - address.constant - offset - n_bytes) // factor)
            for offset, rest in ((high, least), (low, most))
        )
        certain, after = ((bound,) for bound in bounds)
        return certain, after

    def _inside(
        self, address: _Place, n_bytes: int
    ) -> tuple[tuple[Bound, ...], tuple[Bound, ...]] | None:
        index, stride = address.element, address.stride
        assert index is not None
        low, high = self._offset(address.root)
        if max(abs(low), abs(high)) >= _LARGEST:
            return None
        negative = tuple((value, -factor) for value, factor in index.terms)
        size, factor, least, most = self._size(address.root)
        upper = index
        if size is not None:
            difference = added(index, size, -1) if factor == stride else None
            if difference is None or not difference.terms:
                return None
            upper = difference

        def bounds(first: int, last: int, rest: int) -> tuple[Bound, Bound]:
            # stride * (terms + constant) + address.constant + first >= 0
            below = (address.constant + first) // stride + index.constant
            # stride * (terms + constant) + address.constant + last + n_bytes
            #   <= factor * size + rest
            room = rest - address.constant - last - n_bytes
            return Bound(negative, below), Bound(upper.terms, room // stride - upper.constant)

        # It is inside with every offset and the least size, so for certain; if it is inside, then
        # with some offset, which is at most `high` and at least `low`, and some size.
        certain, after = bounds(low, high, least), bounds(high, low, most)
        if any(abs(bound.most) >= _LARGEST for bound in certain):
            return None
        return certain, tuple(bound for bound in after if abs(bound.most) < _LARGEST)

    def _address(self, value: int) -> _Place | None:
        constant, index, stride = 0, None, 1
        while value >= self._first:
            row = value - self._first
            if self._table.opcode[row] in (Opcode.BITCAST, Opcode.FREEZE):
                value = int(self._table.operands[self._table.offsets[row]])
                continue
            number = self._number.get(row)
            if number is None:
                break
            if not self._found.is_known[number]:
                return None
            constant += int(self._found.constant[number])
            terms = range(int(self._terms[number]), int(self._terms[number + 1]))
            if len(terms) > 1 or (terms and index is not None):
                return None
            for term in terms:
                index = self._sums.of(int(self._table.operands[self._place[term]]))
                stride = int(self._stride[term])
                if index is None or not index.terms or stride <= 0:
                    return None
            value = int(self._table.operands[self._table.offsets[row]])
        return _Place(value, constant, index, stride)

    def _offset(self, root: int) -> tuple[int, int]:
        facts = self._pointers.offset
        if not self._has_offset[root]:
            return -_LARGEST, _LARGEST
        return int(facts.low[root]), int(facts.high[root])

    def _size(self, root: int) -> tuple[Sum | None, int, int, int]:
        """Return the size of an object: a sum times a factor, plus a number from least to most.

        There may be no sum.
        """
        row = root - self._first
        operand = self._allocated.get(row, 0)
        if self._command_line is not None and root == self._command_line[1]:
            found = self._sums.of(self._command_line[0])
            if found is not None and found.terms:
                rest = POINTER_BYTES * (found.constant + 1)
                return Sum(found.terms, 0), POINTER_BYTES, rest, rest
        if operand:
            value = int(self._table.operands[self._table.offsets[row] + operand])
            factor, inner = self._product(value)
            found = self._sums.of(inner)
            if found is not None and found.terms:
                rest = factor * found.constant
                return Sum(found.terms, 0), factor, rest, rest
        if not self._has_size[root]:
            return None, 1, -_LARGEST, _LARGEST * _LARGEST
        facts = self._pointers.size
        return None, 1, max(int(facts.low[root]), -_LARGEST), int(facts.high[root])

    def _product(self, value: int) -> tuple[int, int]:
        """Return k and x of a value that is k * x, exactly."""
        row = value - self._first
        if row < 0 or self._table.opcode[row] not in (Opcode.MUL, Opcode.SHL):
            return 1, value
        a, b = self._table.operands_of(row).tolist()
        is_number, number = constant_numbers(self._program, np.array([b]))
        low, high = self._sums.range(self._sums.name(row, 0))
        if not is_number[0]:
            return 1, value
        factor = int(number[0])
        if self._table.opcode[row] == Opcode.SHL:
            factor = 1 << factor if 0 <= factor < 40 else 0
        half = 1 << self._sums.width(value) - 1
        if not 0 < factor < _LARGEST or factor * low < -half or factor * high >= half:
            return 1, value
        return factor, a
