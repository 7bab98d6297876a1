"""`kleene cache`: where compiled units and programs are remembered."""

from __future__ import annotations

from typing import Annotated

from kleene.base.cache import Cache, default_folder
from kleene.base.errors import SourceError, Span
from kleene.cli.options import option
from kleene.cli.output import emit, emit_json, megabytes, rows
from kleene.cli.shared import AsJson


def run(
    *,
    clear: Annotated[bool, option("--clear", help="Delete every entry.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show where results are remembered, or forget them.

    Example: kleene cache --clear

    The folder is $KLEENE_CACHE_DIR, else 'kleene' in the XDG cache folder. A damaged entry is made
    again, never trusted; commands that load programs take --no-cache.
    """
    cache = Cache(default_folder())
    n_removed = _cleared(cache) if clear else 0
    facts = facts_of(cache) | ({"removed": n_removed} if clear else {})
    if as_json:
        emit_json(facts)
    else:
        removed = [("removed", n_removed)] if clear else []
        emit([rows([*removed, *rows_of(facts)])])


def facts_of(cache: Cache) -> dict[str, object]:
    """Return where the cache is, what it holds, and why it cannot be written, if so."""
    n_entries, n_bytes = cache.size()
    return {
        "folder": str(cache.folder),
        "entries": n_entries,
        "bytes": n_bytes,
        "problem": cache.problem(),
    }


def rows_of(facts: dict[str, object]) -> list[tuple[str, object]]:
    """Return the facts for people."""
    n_bytes = facts["bytes"]
    assert isinstance(n_bytes, int)
    return [
        ("folder", facts["folder"]),
        ("entries", f"{facts['entries']} ({megabytes(n_bytes)})"),
        ("writable", "yes" if facts["problem"] is None else f"no: {facts['problem']}"),
    ]


def _cleared(cache: Cache) -> int:
    try:
        return cache.clear()
    except OSError as error:
        place = Span(str(error.filename))
        raise SourceError(place, "cache/not-writable", str(error.strerror)) from None
