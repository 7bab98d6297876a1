"""Questions about programs: each generates constraints, has them solved, and answers from them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kleene.results import Rule


def all_rules() -> tuple[Rule, ...]:
    """Return the rules of every analysis, by id; this imports them all."""
    from kleene.results import discovered

    return discovered(sys.modules[__name__])
