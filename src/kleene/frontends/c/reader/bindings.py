"""Debug records: which value is which source variable, from where on."""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.constants import typed_value
from kleene.frontends.c.reader.cursor import advance, expect, skip_group
from kleene.frontends.c.reader.state import (
    AT,
    BINDINGS,
    ERROR,
    FRAME,
    FULL,
    KIND,
    N_BINDINGS,
    N_INSTRUCTIONS,
    TOP,
    V_BEFORE,
    V_EXACT,
    V_FUNCTION,
    V_KIND,
    V_PLACE,
    V_VALUE,
    V_VARIABLE,
    V_WIDTH,
    VALUE,
)
from kleene.frontends.c.reader.tokens import NODE, TAG
from kleene.frontends.c.reader.words import BINDING_OF
from kleene.ir.codes import Binding

ASSIGN = int(Binding.ASSIGN)


@no_refcount
def expression(t: Cells, m: Cells) -> bool:
    """Read `, !DIExpression(…)`; return whether it is empty: the value is the variable itself."""
    noinline()
    expect(t, m, 44)
    expect(t, m, TAG)
    before = m[AT]
    skip_group(t, m)
    return m[AT] - before == 2


@no_refcount
def debug_record(t: Cells, m: Cells, function: int) -> None:
    """Read `#dbg_value(type value, !variable, !DIExpression(…), !place)` and its kin."""
    noinline()
    kind = BINDING_OF[m[VALUE]]
    advance(t, m)
    expect(t, m, 40)
    if kind < 0 or m[KIND] == 33 or m[KIND] == TAG:  # !{} or !DIArgList(…): no single value
        m[ERROR] = 0
        return
    value = typed_value(t, m)
    expect(t, m, 44)
    variable = m[VALUE]
    expect(t, m, NODE)
    exact = expression(t, m)
    if kind == ASSIGN:  # , !id, address, !DIExpression()
        expect(t, m, 44)
        advance(t, m)
        expect(t, m, 44)
        typed_value(t, m)
        expression(t, m)
    expect(t, m, 44)
    place = m[VALUE]
    expect(t, m, NODE)
    if m[ERROR]:
        if not m[FULL]:  # a form not known: this binding is lost, nothing else
            m[ERROR], m[TOP], m[FRAME] = 0, 0, 0
        return
    row = m[BINDINGS] + m[N_BINDINGS] * V_WIDTH
    m[row + V_KIND], m[row + V_EXACT], m[row + V_VALUE] = kind, exact, value
    m[row + V_BEFORE], m[row + V_FUNCTION] = m[N_INSTRUCTIONS], function
    m[row + V_VARIABLE], m[row + V_PLACE] = variable, place
    m[N_BINDINGS] += 1
