"""How the variables of one function are followed: kinds, packs, templates, domains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kleene.algebra import Octagon
from kleene.analyses.invariants.expressions import Form, Kind, only

Terms = tuple[tuple[int, int], ...]
Templates = frozenset[int]


@dataclass
class Layout:
    """How the variables of one function are followed.

    Attributes:
        kinds: how each variable is read.
        names: what each is called.
        packs: the variables of each octagon.
        templates: forms that further variables stand for, by variable.
        has_equalities: whether linear equalities are followed.
        has_residues: whether residues are.
        modular_bits: n, if equalities modulo 2**n are followed; else 0.
    """

    kinds: list[Kind]
    names: list[str]
    packs: list[tuple[int, ...]] = field(default_factory=list)
    templates: dict[int, Form] = field(default_factory=dict)
    has_equalities: bool = False
    has_residues: bool = True
    modular_bits: int = 0

    def __post_init__(self) -> None:
        self.pack_of = {key: place for place, pack in enumerate(self.packs) for key in pack}
        self.tops = [Octagon.top(pack) for pack in self.packs]
        self.by_terms: dict[Terms, tuple[int, int]] = {}
        self.using: dict[int, list[int]] = {}
        for key, form in self.templates.items():
            for sign in (1, -1):
                self.by_terms[form.scaled(sign).terms] = (key, sign)
            for used in form.keys:
                self.using.setdefault(used, []).append(key)
        self.relations = {key: tuple(self._relations(key)) for key in self.templates}

    def _relations(self, template: int) -> Iterator[Form]:
        """Yield forms that are 0: a template less its form, also in terms of another template."""
        yield only(template).plus(self.templates[template], -1)
        terms = self.templates[template].terms
        others = frozenset(self.templates) - {template}
        if (short := self.with_template(terms, others)) is not terms:
            yield only(template).plus(Form(short), -1)

    def with_template(self, terms: Terms, usable: Templates | None = None) -> Terms:
        """Return the same sum with one more template, if that makes it shorter or less steep."""
        if len(terms) < 2 or not self.templates:
            return terms
        best, wanted = terms, Form(terms)
        for known, (key, sign) in self.by_terms.items():
            if key not in wanted.keys and (usable is None or key in usable):
                rest = wanted.plus(Form(known), -1).terms
                if _size((*rest, (key, sign))) < _size(best):
                    best = tuple(sorted((*rest, (key, sign))))
        return best


def _size(terms: Terms) -> tuple[int, int]:
    """Return how hard a sum is to bound: how many terms there are, and how large the factors."""
    return len(terms), sum(abs(factor) for _, factor in terms)
