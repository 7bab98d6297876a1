"""What storage made at run time holds is found from the uses of its pointer."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.analyses.points_to.constraints.heap import heap_layouts
from kleene.analyses.points_to.layouts import Layouts
from kleene.analyses.points_to.offset_edges import OffsetEdges
from kleene.ir import Program, parse
from kleene.ir.codes import Opcode, ValueKind

HEAD = """
program "heap"
triple "x86_64-unknown-linux-gnu"
layout "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

type $struct.node = {i32, ptr, ptr}
type $struct.large = {i32, ptr, ptr, ptr}

declare @make(%n: i64) -> ptr
declare @use(%p: ptr) -> void

define @keep() -> void {
^entry:
  %a: ptr = alloca $struct.node
  %b: ptr = alloca $struct.large
  ret
}

define @f(%n: i64, %i: i64, %c: i1) -> void {
^entry:
  %p: ptr = call @make(%n)
"""


class Site:
    """The storage that the call of `make` in a function returns."""

    def __init__(self, body: str, n_bytes: int = -1) -> None:
        self.program: Program = parse(HEAD + body + "\n  ret\n}\n")
        self.layouts = Layouts(self.program.types, self.program.strings)
        rows = np.flatnonzero(self.program.instructions.opcode == Opcode.CALL)[:1]
        values = rows + self.program.bases[ValueKind.INSTRUCTION]
        self.layout = int(heap_layouts(self.program, self.layouts, values, np.array([n_bytes]))[0])

    def type(self, name: str) -> int:
        names = [self.program.strings[int(symbol)] for symbol in self.program.types.name]
        return names.index(name)

    def about(self) -> int:
        """Return the type that the first address is computed with."""
        rows = self.program.instructions
        return int(rows.about[rows.opcode == Opcode.GETELEMENTPTR][0])


FIELD = "  %q: ptr = getelementptr $struct.node, {}, i64 0, i32 1"
ROUTES = {
    "itself": FIELD.format("%p"),
    "select": "  %s: ptr = select %c, %p, ptr null\n" + FIELD.format("%s"),
    "freeze": "  %s: ptr = freeze %p\n" + FIELD.format("%s"),
    "cast": "  %s: ptr = addrspacecast %p\n" + FIELD.format("%s"),
    "phi": "  br ^next\n^next:\n  %s: ptr = phi [%p, ^entry], [%s, ^next]\n"
    + FIELD.format("%s")
    + "\n  br %c, ^next, ^out\n^out:",
    "slot": "  %l: ptr = alloca ptr\n  store %p, %l\n  %s: ptr = load %l\n" + FIELD.format("%s"),
    "index": "  %q: ptr = getelementptr $struct.node, %p, %i, i32 1",
}


@pytest.mark.parametrize("route", ROUTES)
def test_a_struct_is_found_behind(route: str) -> None:
    site = Site(ROUTES[route])
    assert site.layout == site.layouts.repeated(site.type("struct.node"))


@pytest.mark.parametrize(
    "body",
    [
        "  call @use(%p)",
        "  %l: ptr = alloca ptr\n  store %p, %l\n  store ptr null, %l\n  %s: ptr = load %l\n"
        + FIELD.format("%s"),
        "  %l: ptr = alloca ptr\n  store %l, %p\n" + FIELD.format("%l"),
        "  %q: ptr = getelementptr i8, %p, i64 8\n  %r: ptr = getelementptr $struct.node, %q, %i",
    ],
    ids=["nothing", "two stores", "stored into", "another pointer"],
)
def test_storage_is_raw_without_a_use_of_its_own_pointer(body: str) -> None:
    site = Site(body)
    assert site.layout == site.layouts.raw(-1)


def test_the_size_tells_one_from_many() -> None:
    node = ROUTES["itself"]
    one, many, odd = Site(node, 24), Site(node, 48), Site(node, 40)
    assert one.layout == one.layouts.plain(one.type("struct.node"))
    assert many.layout == many.layouts.repeated(many.type("struct.node"))
    table = odd.layouts.finish(OffsetEdges(), has_unknown=False)
    first, last = table.location_offsets[odd.layout : odd.layout + 2]
    assert table.byte[first:last].tolist() == [0, 8, 16, 24, 32]


def test_two_structs_are_merged() -> None:
    both = ROUTES["itself"] + "\n  %r: ptr = getelementptr $struct.large, %p, i64 0, i32 3"
    site = Site(both)
    assert site.layout == site.layouts.repeated(site.type("struct.large"))


def test_bytes_make_locations() -> None:
    body = "\n".join(
        f"  %q{n}: ptr = getelementptr i8, %p, i64 {n}" for n in (4, 8, 20, -8, 0, 300)
    )
    site = Site(body)
    assert site.layout == site.layouts.raw(-1, [4, 20, 300])
    sized = Site(body, 24)
    assert sized.layout == sized.layouts.raw(24, [4, 20])


def test_an_array_of_scalars() -> None:
    site = Site("  %q: ptr = getelementptr ptr, %p, %i")
    assert site.layout == site.layouts.repeated(site.about())
    nested = Site("  %q: ptr = getelementptr [4 x i32], %p, %i, %i")
    element = int(nested.program.types.elements_of(nested.about())[0])
    assert nested.layout == nested.layouts.repeated(element)
    text = Site("  %q: ptr = getelementptr i8, %p, %i")
    assert text.layout == text.layouts.repeated(text.about())


def test_scalars_and_bytes_are_raw() -> None:
    site = Site("  %q: ptr = getelementptr ptr, %p, %i\n  %r: ptr = getelementptr i8, %p, i64 12")
    assert site.layout == site.layouts.raw(-1, [12])


def test_no_sites_and_no_constants() -> None:
    program = parse(HEAD + "  ret\n}\n")
    layouts = Layouts(program.types, program.strings)
    empty = np.empty(0, np.int64)
    assert heap_layouts(program, layouts, empty, empty).tolist() == []
