"""Inclusion problems as tables of integers: nodes hold sets of objects, rules relate the sets.

**Objects** are dense ids. Consecutive objects form an *allocation* (a struct's fields; most have
one object), and each object may own a node that stands for its contents. Write `pts(n)` for what
node n holds, `c(o)` for the contents node of object o, `A(o)` for the objects of o's allocation.

- address-of (node n, object o): o ∈ pts(n).
- copy (destination d, source s): pts(s) ⊆ pts(d).
- load (destination d, pointer p): pts(c(o)) ⊆ pts(d) for each o ∈ pts(p).
- store (pointer p, source s): pts(s) ⊆ pts(c(o)) for each o ∈ pts(p).
- offset (destination d, source s, amount k): for each o ∈ pts(s), o + k ∈ pts(d) if o + k ∈ A(o),
  else A(o) ⊆ pts(d). An amount of `ANY` always gives A(o). An amount of `BY_LAYOUT - k` is
  the offset kind k of the tables below: o's images then depend on the layout of its allocation.
- call (callee f, actuals, result r): for each function object g ∈ pts(f), the sets of the actuals
  are included in those of g's formals (beyond the formals: in that of g's rest), and the set of
  g's result in that of r.

An object without contents, a callee that is no function and a missing node ask for nothing. Nor
does a store to a *constant* object: loads read its contents, but neither stores nor the outside
change them.

**Offset kinds** are for objects that are not evenly spaced (the fields of a struct, where all
elements of an inner array are one field). Allocations of one *layout* have equally many objects.
The images of the i-th object of an allocation of layout l under offset kind k are its objects
`images[image_offsets[r]:image_offsets[r + 1]]` with r = `image_rows[k * n_layouts + l]` + i, maybe
none, counted from the allocation's first; all of A(o) if that entry of `image_rows` is `NONE`.

**The outside world** (what the program does not show) is never a set. Two flags on nodes stand for
it: a node with `FROM_OUTSIDE` may hold whatever the outside holds; what a node with `TO_OUTSIDE`
holds escapes. Let E be the escaped objects, and *unknown* the nodes that may hold all of E:

- a FROM_OUTSIDE node is unknown; pts(n) ⊆ E for a TO_OUTSIDE node n;
- o ∈ E implies A(o) ⊆ E, c(o) is unknown unless o is constant, pts(c(o)) ⊆ E; a function in E has
  unknown formals and rest, and what its result holds is in E;
- along copies, loads, offsets and the flows of stores and calls, an unknown source makes the
  destination unknown; so does a load through an unknown pointer;
- a store through an unknown pointer puts what the source holds in E; a call of an unknown callee
  puts what its actuals hold in E and makes its result unknown.

The answer is the least one. All that an unknown node n may hold is pts(n) and E; solutions keep
pts(n) without E for it, so that equal answers are equal tables. Likewise the functions that a call
of an unknown callee may reach are those listed for it, and all of E.

Where offset edges lead, object by object: what every solver looks up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np

from kleene.base.arrays import I32

ANY = -1  # an offset that is not known: any object of the allocation
BY_LAYOUT = -2  # an offset of kind k has the amount BY_LAYOUT - k
NONE = -1  # no node in this place
FROM_OUTSIDE = 1
TO_OUTSIDE = 2


def _empty() -> I32:
    return np.empty(0, np.int32)


def _zero() -> I32:
    return np.zeros(1, np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Ask for the least sets with every row of every table satisfied. All columns are int32."""

    n_nodes: int
    contents: I32 = field(default_factory=_empty)  # per object: its contents node, or NONE
    allocation_offsets: I32 = field(default_factory=_zero)  # n + 1: the objects of each allocation
    constant_object: I32 = field(default_factory=_empty)  # no functions; each any number of times
    address_node: I32 = field(default_factory=_empty)
    address_object: I32 = field(default_factory=_empty)
    copy_destination: I32 = field(default_factory=_empty)
    copy_source: I32 = field(default_factory=_empty)
    load_destination: I32 = field(default_factory=_empty)
    load_pointer: I32 = field(default_factory=_empty)
    store_pointer: I32 = field(default_factory=_empty)
    store_source: I32 = field(default_factory=_empty)
    offset_destination: I32 = field(default_factory=_empty)
    offset_source: I32 = field(default_factory=_empty)
    offset_amount: I32 = field(default_factory=_empty)  # at least 0, ANY, or BY_LAYOUT - k
    allocation_layout: I32 = field(default_factory=_empty)  # or empty: there are no offset kinds
    image_rows: I32 = field(default_factory=_empty)  # per offset kind and layout, or NONE
    image_offsets: I32 = field(default_factory=_zero)  # n_rows + 1
    images: I32 = field(default_factory=_empty)  # objects, from the first of their allocation on
    function_object: I32 = field(default_factory=_empty)  # each at most once
    function_result: I32 = field(default_factory=_empty)  # node or NONE
    function_rest: I32 = field(default_factory=_empty)  # node or NONE
    formal_offsets: I32 = field(default_factory=_zero)  # n_functions + 1
    formals: I32 = field(default_factory=_empty)  # nodes or NONE
    call_callee: I32 = field(default_factory=_empty)
    call_result: I32 = field(default_factory=_empty)  # node or NONE
    actual_offsets: I32 = field(default_factory=_zero)  # n_calls + 1
    actuals: I32 = field(default_factory=_empty)  # nodes or NONE
    flagged_node: I32 = field(default_factory=_empty)
    flags: I32 = field(default_factory=_empty)  # FROM_OUTSIDE, TO_OUTSIDE or both

    @property
    def n_objects(self) -> int:
        """How many objects there are."""
        return len(self.contents)

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return len(self.function_object)

    @property
    def n_calls(self) -> int:
        """How many calls there are."""
        return len(self.call_callee)

    @property
    def n_layouts(self) -> int:
        """How many layouts the allocations have."""
        return int(self.allocation_layout.max(initial=-1)) + 1

    @property
    def n_offset_kinds(self) -> int:
        """How many offset kinds there are."""
        return len(self.image_rows) // max(self.n_layouts, 1)

    @property
    def n_constraints(self) -> int:
        """How many rows the rule tables have."""
        tables = (self.address_node, self.copy_source, self.load_pointer, self.store_pointer)
        return sum(map(len, tables)) + len(self.offset_source) + self.n_calls

    def function_of(self) -> I32:
        """Return the function that each object is, or `NONE`."""
        functions = np.full(self.n_objects, NONE, np.int32)
        functions[self.function_object] = np.arange(self.n_functions)
        return functions

    def store_contents(self) -> I32:
        """Return the node that a store to each object changes: its contents, or `NONE`."""
        found = self.contents.copy()
        found[self.constant_object] = NONE
        return found

    def columns(self) -> dict[str, I32]:
        """Return every column by name."""
        return {name: getattr(self, name) for name in COLUMNS}


COLUMNS = [column.name for column in fields(Problem) if column.name != "n_nodes"]


class Images(NamedTuple):
    """Columns by object (its allocation is first … end - 1), and the tables of their images.

    An object whose layout is `NONE` has all of first … end - 1 as its images.
    """

    first: I32
    end: I32
    layout: I32
    n_layouts: np.int64
    rows: I32
    offsets: I32
    images: I32


def images_of(problem: Problem, n_alone: int = 0) -> Images:
    """Return the images of a problem, with objects behind its own that each are alone."""
    p = problem
    sizes = np.diff(p.allocation_offsets)
    alone = p.n_objects + np.arange(n_alone, dtype=np.int32)
    layout = (
        p.allocation_layout if len(p.allocation_layout) else np.full(len(sizes), NONE, np.int32)
    )
    return Images(
        first=np.append(np.repeat(p.allocation_offsets[:-1], sizes), alone),
        end=np.append(np.repeat(p.allocation_offsets[1:], sizes), alone + np.int32(1)),
        layout=np.append(np.repeat(layout, sizes), np.full(n_alone, NONE, np.int32)),
        n_layouts=np.int64(p.n_layouts),
        rows=p.image_rows,
        offsets=p.image_offsets,
        images=p.images,
    )
