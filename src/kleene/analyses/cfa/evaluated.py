"""Text that is evaluated while the program runs: it may do whatever can be done with what it sees.

Text sees what it is given: procedures and data that were put into it. Text that is evaluated in the
program's own environment, or who knows where, sees all global variables as well; there is one such
text for the whole program. Text in an `environment` of standard libraries, written right there,
does not, and each has a world of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from kleene.analyses.cfa.builder import EVERYWHERE, TEXT, SchemeBuilder
from kleene.analyses.cfa.index import Index
from kleene.analyses.cfa.layouts import FIELDS
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.values import Pair
from kleene.solvers.inclusion.problem import NONE

# Libraries of (scheme …) that give text no way to the program's variables, as (scheme eval) does.
_CLOSED = frozenset(
    ("base", "case-lambda", "char", "complex", "cxr", "file", "inexact", "lazy", "process-context",
     "read", "time", "write")
)  # fmt: skip
_CHANGES = frozenset(("only", "except", "prefix", "rename"))


@dataclass(frozen=True, slots=True)
class Text:
    """What some text holds, the same but only if it is reached, and the site of its calls."""

    held: int
    inside: int
    here: int
    site: int


def text(builder: SchemeBuilder, label: int) -> Text:
    """Return new text."""
    here, held = builder.here(), builder.node()
    here = here if builder.layout.head else EVERYWHERE
    return Text(held, builder.gated(held, here), here, builder.site(label))


def procedure(w: SchemeBuilder, text: Text, what: tuple[int, int]) -> int:
    """Return a procedure of the text: it keeps its arguments, and returns anything of the text."""
    here = text.here if w.layout.head else NONE
    formals = w.layout.formals_with_rest([], text.held, here)
    return w.closure(formals, text.inside, text.held, what)


def sees_libraries_only(index: Index, operands: tuple[int, ...]) -> bool:
    """Return whether a call of `eval` with such operands is in an environment of libraries."""
    if len(operands) != 2 or index.kind[operands[1]] != columns.CALL:
        return False
    operator, *sets = index.below(operands[1])
    return index.primitive(operator) == "environment" and all(
        index.kind[row] == columns.CONSTANT
        and _is_closed(index.core.constants[index.reference[row]])
        for row in sets
    )


def _is_closed(datum: object) -> bool:
    """Return whether an import set is one of standard libraries without a way out."""
    while type(datum) is Pair and type(datum.cdr) is Pair:
        if datum.car not in _CHANGES:
            return datum.car == "scheme" and datum.cdr.car in _CLOSED
        datum = datum.cdr.car
    return False


def write(w: SchemeBuilder, text: Text, seen: list[int]) -> None:
    """Write what text may do that sees these nodes, and may change what they hold.

    It reads and writes all data it comes by, calls and is called with any of it, and makes data and
    procedures of its own.
    """
    inside = text.inside
    for node in seen:
        w.copy(text.held, node)
        w.copy(node, inside)
    fields, held = w.node(), w.node()
    w.rules.offset(fields, inside)
    w.rules.load(held, fields)
    w.copy(text.held, held)
    w.rules.store(fields, inside)
    actuals = w.layout.spread([], inside, 0, w.token_at(text.here))
    w.copy(text.held, w.call(text.held, actuals, text.site, NONE, text.here))
    w.rules.address(text.held, procedure(w, text, (TEXT, text.site)))
    for kind in ("pair", "vector", "box", "table", "delay", "chain", "promise", "condition"):
        n_fields = sum(tag == kind for tag, _ in FIELDS.values())
        w.copy(text.held, w.held(w.data(kind, [inside] * n_fields, NONE)[0]))
    w.copy(text.held, w.held(w.data("values", [inside], NONE)[0]))
