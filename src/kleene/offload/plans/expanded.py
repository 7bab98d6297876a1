"""Array expansion: an array that every iteration fills anew, with elements for each iteration.

    for (r...) for (q...) {                            double sum_all[nr][nq][np];
      for (p...) sum[p] = ...;                         for (r...) for (q...) {
      for (p...) a[r][q][p] = sum[p];                    for (p...) sum_all[r][q][p] = ...;
    }                                                    for (p...) a[r][q][p] = sum_all[r][q][p]; }
                                                       if (0 < nr && 0 < nq)
                                                         for (p...) sum[p] = sum_all[nr-1][nq-1][p];

Then iterations have nothing to do with each other, and the parts can be kernels one after the
other. That the array holds nothing from an iteration before is the verdict (PRIV). All loops begin
at 0 and end where the function's parameters say; each iteration writes the elements 0 ... np-1, all
that it uses, so that the last one leaves these.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kleene.base.errors import Span
from kleene.codegen.text import assigned_in, element_of, free_name, symbols_in
from kleene.codegen.trees import Counted, binary, counted, mapped, number, read
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Function, Symbol, Type, Variable
from kleene.offload.kernels.result import Analysed
from kleene.offload.kernels.verdicts import LoopVerdict
from kleene.offload.plans.nests import loops_directly_in

_FAR = 1 << 20  # a column beyond all text: what is added has places of its own


def expanded(function: Function, analysed: Analysed) -> Function | None:
    """Return a function with such arrays expanded; None if there are none."""
    made: list[tree.Statement] = []
    is_changed = False
    for one in function.body:
        found = _Nest(function, analysed, one).expanded() if isinstance(one, tree.Loop) else None
        is_changed |= found is not None
        made += [one] if found is None else found
    return replace(function, body=tuple(made)) if is_changed else None


class _Nest:
    """A nest of loops, and the loops from the outermost on that have no other statement."""

    def __init__(self, function: Function, analysed: Analysed, loop: tree.Loop) -> None:
        self._function, self._loop = function, loop
        self._verdicts = {one.place: one for one in analysed.verdicts}
        changed = assigned_in(function.body)
        self._fixed = {one for one in function.parameters if one not in changed}
        self._chain: list[tree.Loop] = []
        inner: tree.Statement | None = loop
        while isinstance(inner, tree.Loop) and inner.place in self._verdicts:
            self._chain.append(inner)
            rest = [one for one in inner.body if not isinstance(one, tree.Declare)]
            inner = rest[0] if len(rest) == 1 else None

    def expanded(self) -> Block | None:
        """Return the nest with one array expanded, between its declaration and its last values."""
        for private in self._privates(self._chain[0]) if self._chain else ():
            chain = [one for one in self._chain if private in self._privates(one)]
            forms = [self._form(one) for one in chain]
            symbol = self._symbol(private)
            if symbol is None or None in forms or chain != self._chain[: len(chain)]:
                continue
            inner = self._high(symbol, chain[-1])
            if inner is not None:
                return self._made(symbol, [one for one in forms if one is not None], inner)
        return None

    def _privates(self, loop: tree.Loop) -> set[str]:
        """Return the arrays of which iterations need copies that begin with nothing."""
        verdict: LoopVerdict = self._verdicts[loop.place]
        if verdict.verdict.value != "PRIV":
            return set()
        return {one.name for one in verdict.privates if one.is_array and not one.is_first}

    def _form(self, loop: tree.Loop) -> Counted | None:
        """Return a loop's variable and bounds if it goes from 0 to what parameters say."""
        form = counted(loop)
        if form is None or form.step != 1 or form.is_descending:
            return None
        if form.variable in assigned_in(loop.body):
            return None
        if not isinstance(form.low, tree.Literal) or form.low.value != 0:
            return None
        if symbols_in(form.high) - self._fixed or form.high.type != form.variable.type:
            return None
        return None if any(isinstance(e, Element) for e in tree.walk(form.high)) else form

    def _symbol(self, name: str) -> Symbol | None:
        """Return a parameter that points to numbers, by its name."""
        for one in self._function.parameters:
            target = one.type.target
            if one.name == name and one.type.kind == "pointer" and target is not None:
                return one if target.kind in ("int", "float") else None
        return None

    def _high(self, symbol: Symbol, last: tree.Loop) -> Expression | None:
        """Return n if an iteration of a loop uses the elements 0 ... n-1 alone, and writes all."""
        highs = self._highs(symbol, last.body, {})
        n_named = sum(
            isinstance(one, Variable) and one.symbol is symbol for one in tree.walk(last.body)
        )
        if not highs or n_named != len(highs) or any(one != highs[0] for one in highs):
            return None
        for loop in loops_directly_in(tuple(s for s in last.body if isinstance(s, tree.Loop))):
            form = self._form(loop)
            for one in loop.body:
                target = one.target if isinstance(one, tree.Assign) else None
                if not isinstance(target, Element) or form is None or _base(target) is not symbol:
                    continue
                if _counter(target.index) is form.variable:
                    return highs[0]
        return None

    def _highs(
        self, symbol: Symbol, block: Block, around: dict[Symbol | None, Expression]
    ) -> list[Expression]:
        """Return, for each element whose subscript is the variable of a loop around, its end.

        `around` has the ends of these loops; elements elsewhere have none here.
        """
        found: list[Expression] = []
        for one in block:
            if isinstance(one, tree.Loop):
                form, own = self._form(one), counted(one)
                kept = {
                    s: e for s, e in around.items() if own is not None and s is not own.variable
                }
                kept |= {} if form is None else {form.variable: form.high}
                found += self._highs(symbol, one.body, kept)
            elif isinstance(one, tree.If):
                found += self._highs(symbol, (*one.then, *one.otherwise), around)
            else:
                used = [e for e in tree.walk(one) if isinstance(e, Element)]
                ends = [around.get(_counter(e.index)) for e in used if _base(e) is symbol]
                found += [end for end in ends if end is not None]
        return found

    def _made(self, symbol: Symbol, forms: list[Counted], inner: Expression) -> Block:
        place = replace(self._loop.place, column=self._loop.place.column + _FAR)
        element = element_of(symbol.type)
        kinds = [element]
        for high in (inner, *(form.high for form in reversed(forms))):
            kinds.append(Type("array", f"{kinds[-1].name}[]", target=kinds[-1], extent=high))
        taken = {one.name for one in symbols_in(self._function.body)}
        taken |= {one.name for one in self._function.parameters}
        whole = Symbol(free_name(f"{symbol.name}_all", taken), kinds[-1], place)
        at = Symbol(free_name(f"{symbol.name}_at", taken), forms[0].variable.type, place)

        def one_of(indices: list[Expression], where: Span) -> Element:
            location: tree.Location = Variable(whole.type, where, whole)
            for kind, index in zip(kinds[-2::-1], indices, strict=True):
                pointer = Type("pointer", f"{kind.name} *", 64, target=kind)
                location = Element(kind, where, tree.Decay(pointer, where, location), index)
            assert isinstance(location, Element)
            return location

        def change(node: Any) -> Any:
            if isinstance(node, Element) and _base(node) is symbol:
                return one_of([*(read(form.variable) for form in forms), node.index], node.place)
            return node

        nest: tree.Loop = mapped(self._loop, change)
        lasts = [binary("-", form.high, number(1, form.high.type)) for form in forms]
        pointer = tree.Read(symbol.type, place, Variable(symbol.type, place, symbol))
        after = replace(place, column=place.column + 1)
        moved = tree.Assign(
            place,
            Element(element, place, pointer, read(at)),
            tree.Read(element, after, one_of([*lasts, read(at)], after)),
        )
        zero, one = number(0, at.type), number(1, at.type)
        target = Variable(at.type, place, at)
        loop = tree.Loop(
            place,
            "for",
            place.line,
            (tree.Assign(place, target, zero),),
            (),
            binary("<", read(at), inner),
            (),
            (tree.Assign(place, target, tree.Binary(at.type, place, "+", read(at), one)),),
            (moved,),
        )
        test = binary("<", number(0, forms[0].high.type), forms[0].high)
        for form in forms[1:]:
            test = binary("&&", test, binary("<", number(0, form.high.type), form.high))
        declared = tree.Declare(place, whole), tree.Declare(place, at)
        return (declared[0], nest, tree.If(place, test, (declared[1], loop), ()))


def _base(element: Element) -> Symbol | None:
    """Return the variable that an element of one dimension is of."""
    pointer = element.pointer
    while isinstance(pointer, tree.Convert):
        pointer = pointer.operand
    if isinstance(pointer, tree.Read) and isinstance(pointer.location, Variable):
        return pointer.location.symbol
    return None


def _counter(index: Expression) -> Symbol | None:
    """Return the variable that a subscript is."""
    while isinstance(index, tree.Convert):
        index = index.operand
    if isinstance(index, tree.Read) and isinstance(index.location, Variable):
        return index.location.symbol
    return None
