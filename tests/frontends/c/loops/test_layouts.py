"""Layouts of records: the compiler agrees with every offset and size that is known here."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.base.errors import SourceError
from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source
from kleene.ir.loops import tree

RECORDS = """
typedef struct { int *data; int size; } matrix_t;
struct plain { char c; double d; int a[3]; struct { short q; char r; } in; short tail; };
struct nested { char c; struct plain p[2]; matrix_t m; long double l; };
union either { int a; char b[9]; };
struct holds { char c; union either u; _Bool b; };
struct self { char c; struct self *next; float v; };
"""
ODD = """
struct bits { int a; unsigned f : 3; int b; };
struct __attribute__((packed)) packed { char c; int d; };
struct aligned { char c; _Alignas(16) int d; };
#pragma pack(push, 1)
struct pragma { char c; int d; };
#pragma pack(pop)
struct flexible { int n; int a[]; };
"""


def members(file: Path) -> dict[tuple[str, str], tuple[int | None, int]]:
    """Return by record and field the offset, and the bytes of the record; 0 if unknown."""
    (unit,) = read([Source(str(file), "c")])
    return {
        (one.record.type.name, one.name): (one.offset, one.record.type.bits // 8)
        for function in unit.functions
        for one in tree.walk(function.body)
        if isinstance(one, tree.Member)
    }


def test_the_compiler_agrees(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    use = """
    int f(matrix_t *m, struct plain *p, struct nested *n, struct holds *h, struct self *s) {
      return m->size + *m->data + p->c + (int)p->d + p->a[1] + p->in.r + p->tail + n->c + n->p[1].c
        + n->m.size + (int)n->l + h->c + h->u.b[2] + h->b + s->c + (int)s->next->v;
    }
    """
    file.write_text(RECORDS + use)
    found = members(file)
    assert len(found) == 19
    checks = []
    for (record, field), (offset, size) in found.items():
        assert offset is not None, (record, field)
        if "unnamed" not in record:
            name = record.removeprefix("struct ") if "matrix" in record else record
            checks.append(f'_Static_assert(__builtin_offsetof({name}, {field}) == {offset}, "");')
            checks.append(f'_Static_assert(sizeof({name}) == {size}, "");')
    file.write_text(RECORDS + "\n".join(checks))
    read([Source(str(file), "c")])
    file.write_text(RECORDS + checks[0].replace("== ", "== 1 + "))
    with pytest.raises(SourceError, match="static assertion"):
        read([Source(str(file), "c")])


def test_what_more_than_the_fields_decides_is_not_known(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    use = """
    int f(struct bits *b, struct packed *p, struct aligned *a, struct pragma *q, struct flexible *x)
    { return b->b + p->d + a->d + q->d + x->a[1]; }
    """
    file.write_text(ODD + use)
    assert set(members(file).values()) == {(None, 0)}


def test_two_records_of_one_name_are_not_believed(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "struct s { int a; int b; }; int g(struct s *p) { return p->b; }\n"
        "int f(void) { struct s { long a; long b; } v = {1, 2}; return v.b; }\n"
        "int h(struct s *p) { return p->b; }\n"
    )
    assert members(file)["struct s", "b"][1] == 0
