"""The pipeline of the paper on EigenCFA: a core to CPS, to binary CPS, to lambdas and calls alone.

Prabhu, Ramalingam, Might and Hall (POPL 2011), sections 2 and 4. `to_cps` and `to_binary` keep the
meaning: what they return runs, and prints the same. `to_terms` keeps what 0CFA says of a program,
and no more.
"""

from __future__ import annotations

from kleene.base.errors import raise_all
from kleene.ir.scheme import Core
from kleene.transforms.scheme.binary import to_binary
from kleene.transforms.scheme.church import Terms, to_terms
from kleene.transforms.scheme.cps import to_cps
from kleene.transforms.scheme.derived import Derived
from kleene.transforms.scheme.language import is_cps, objections

__all__ = ["Derived", "Terms", "is_cps", "terms_of", "to_binary", "to_cps", "to_terms"]


def terms_of(core: Core) -> Terms:
    """Return a program as binary CPS, by all steps; one that is in CPS already is not converted.

    Raises:
        SourceError: the program is not in the paper's language (`cps/no-form`).
    """
    raise_all(objections(core, with_data=False))
    program = Derived.of(core)
    return to_terms(to_binary(program if is_cps(core) else to_cps(program)))
