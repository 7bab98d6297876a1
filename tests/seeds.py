"""How many random cases a test looks at, and which."""

from __future__ import annotations

import os

IS_DEEP = os.environ.get("KLEENE_DEEP") == "1"


def seeds(quick: int, deep: int) -> range:
    """Return the seeds of a test's cases: the first `quick`, and the first `deep` if asked for.

    `KLEENE_DEEP=1` asks for the deep ones. `KLEENE_SEEDS=2000:4000` names them instead, so that a
    long search can be made in parts, and be taken up where it was left.
    """
    first, colon, end = os.environ.get("KLEENE_SEEDS", "").partition(":")
    if colon:
        return range(int(first), int(end))
    return range(deep if IS_DEEP else quick)
