"""Sizes, alignments and field offsets are LLVM's, for any type and several targets."""

from __future__ import annotations

from dataclasses import dataclass, field

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.base.errors import SourceError
from kleene.ir.codes import TypeFlag, TypeKind
from kleene.ir.layout import lay_out

X86_64 = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
LAYOUTS = [
    X86_64,
    "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-i128:128-f64:32:64-f80:32-n8:16:32-S128",
    "e-m:e-p270:32:32-p271:32:32-p272:64:64-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32",
    "E-m:e-p:16:16-i32:16-i64:16-f32:16-f64:16-a:8-n8:16-S16",
    "e-p:64:64-i24:8-v96:32-a:64",
    "",
]
FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 80, "fp128": 128}
Tree = tuple  # (kind, flags, bits, text, children)


def scalars() -> st.SearchStrategy[Tree]:
    ints = st.integers(1, 300).map(lambda n: (TypeKind.INT, 0, n, f"i{n}", []))
    floats = st.sampled_from(sorted(FLOATS)).map(
        lambda word: (TypeKind.FLOAT, 0, FLOATS[word], word, [])
    )
    spaces = st.sampled_from([0, 1, 270, 272]).map(
        lambda n: (TypeKind.POINTER, 0, n, f"ptr addrspace({n})", [])
    )
    return ints | floats | spaces


def vectors() -> st.SearchStrategy[Tree]:
    return st.builds(
        lambda n, element: (TypeKind.VECTOR, 0, n, f"<{n} x {element[3]}>", [element]),
        st.integers(1, 9),
        scalars(),
    )


def arrays(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.builds(
        lambda n, element: (TypeKind.ARRAY, 0, n, f"[{n} x {element[3]}]", [element]),
        st.integers(0, 7),
        inner,
    )


def structs(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    def make(fields: list[Tree], packed: bool) -> Tree:
        body = ", ".join(f[3] for f in fields)
        text = f"<{{{body}}}>" if packed else f"{{{body}}}"
        return (TypeKind.STRUCT, TypeFlag.PACKED if packed else 0, 0, text, fields)

    return st.builds(make, st.lists(inner, max_size=5), st.booleans())


TYPES = st.recursive(scalars() | vectors(), lambda t: arrays(t) | structs(t), max_leaves=12)


@dataclass
class Columns:
    """Type columns, written parent first: every element refers to a later row."""

    kind: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    bits: list[int] = field(default_factory=list)
    parts: list[list[int]] = field(default_factory=list)

    def add(self, tree: Tree) -> int:
        kind, flags, bits, _, children = tree
        row = self.row(kind, flags, bits)
        self.parts[row] = [self.add(child) for child in children]
        return row

    def row(self, kind: int, flags: int = 0, bits: int = 0, parts: list[int] | None = None) -> int:
        self.kind.append(kind)
        self.flags.append(flags)
        self.bits.append(bits)
        self.parts.append(parts or [])
        return len(self.kind) - 1

    def lay_out(self, layout: str = X86_64):
        return lay_out(
            np.array(self.kind, np.uint8),
            np.array(self.flags, np.uint8),
            np.array(self.bits, np.int64),
            np.cumsum([0, *map(len, self.parts)]).astype(np.int32),
            np.array([e for part in self.parts for e in part], np.int32),
            layout,
        )


@given(tree=TYPES, layout=st.sampled_from(LAYOUTS))
def test_agrees_with_llvm(tree: Tree, layout: str) -> None:
    columns = Columns()
    columns.add(tree)
    size, align, offsets = columns.lay_out(layout)

    text = f'target datalayout = "{layout}"\n@x = external global {tree[3]}\n'
    module = llvm.parse_assembly(text)
    target = llvm.create_target_data(layout)
    ours = next(module.global_variables).global_value_type
    assert size[0] == target.get_abi_size(ours)
    assert align[0] == target.get_abi_alignment(ours)
    if tree[0] == TypeKind.STRUCT:
        n_fields = len(tree[4])
        expected = [target.get_element_offset(ours, i) for i in range(n_fields)]
        assert offsets[:n_fields].tolist() == expected


def test_unsized_types_make_their_owners_unsized() -> None:
    columns = Columns()
    unsized = [
        columns.row(TypeKind.VOID),
        columns.row(TypeKind.LABEL),
        columns.row(TypeKind.FUNCTION, parts=[0]),
        columns.row(TypeKind.STRUCT, TypeFlag.OPAQUE),
        columns.row(TypeKind.OTHER),
    ]
    byte = columns.row(TypeKind.INT, 0, 8)
    unsized += [
        columns.row(TypeKind.VECTOR, TypeFlag.SCALABLE, 4, [byte]),
        columns.row(TypeKind.ARRAY, 0, 2, [3]),
        columns.row(TypeKind.STRUCT, 0, 0, [byte, 7]),
        columns.row(TypeKind.ARRAY, 0, 1 << 62, [columns.row(TypeKind.INT, 0, 64)]),
    ]
    size, align, _ = columns.lay_out()
    assert (size[unsized] == -1).all()
    assert (align[unsized] == 0).all()
    assert size[byte] == 1


def test_a_struct_inside_itself_is_unsized() -> None:
    columns = Columns()
    first = columns.row(TypeKind.STRUCT)
    second = columns.row(TypeKind.ARRAY, 0, 3, [first])
    columns.parts[first] = [second]
    outside = columns.row(TypeKind.STRUCT, 0, 0, [second])
    size, _, _ = columns.lay_out()
    assert size[[first, second, outside]].tolist() == [-1, -1, -1]


def test_nesting_of_any_depth() -> None:
    depth = 20_000
    columns = Columns()
    for row in range(depth):
        columns.row(TypeKind.ARRAY, 0, 1, [row + 1])
    columns.row(TypeKind.INT, 0, 32)
    size, _, _ = columns.lay_out()
    assert (size == 4).all()


@pytest.mark.parametrize(
    ("layout", "part"),
    [("q:8", "q:8"), ("e-i64", "i64"), ("e-p:64", "p:64"), ("i64:x", "i64:x")],
)
def test_no_data_layout(layout: str, part: str) -> None:
    with pytest.raises(SourceError, match=f"'{part}' is no part of a data layout") as caught:
        Columns().lay_out(layout)
    assert caught.value.id == "ir/data-layout"
    assert caught.value.notes == (f"the layout is '{layout}'",)
