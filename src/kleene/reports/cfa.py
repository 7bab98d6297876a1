"""A control-flow analysis for people: what calls may reach, and what is odd about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kleene.reports.explanation import explanation
from kleene.reports.text import listed

if TYPE_CHECKING:
    from kleene.analyses.cfa import CFAResult

_SHOWN = 12
_TARGETS = 6  # of a call


def summary(result: CFAResult) -> Iterator[str]:
    """Yield the summary of an analysis, a paragraph at a time."""
    graph = result.call_graph()
    yield f"procedures   {len(result.procedures)}, of which {len(result.dead)} are never called\n"
    yield f"calls        {len(graph.call)} reach {len(graph.targets)} procedures;"
    yield f" {len(result.known_calls)} can reach one alone\n"
    yield f"escaping     {len(result.escaping)} procedures are kept in data, or raised\n"
    if result.merged:
        yield f"contexts     {len(result.merged)} procedures have one: theirs would take too much\n"
    several = sorted(
        (site for site in graph.sites if graph.n_targets[site.id] > 1),
        key=lambda site: -int(graph.n_targets[site.id]),
    )
    lines = []
    for site in several[:_SHOWN]:
        targets = site.targets
        lines.append("\n    ".join([f"{site.location}:", *targets[:_TARGETS]]))
        if len(targets) > _TARGETS:
            lines[-1] += f"\n    ... and {len(targets) - _TARGETS} more: --calls {site.location}"
    lines += [""] * (len(several) - len(lines))
    yield from listed("Calls that may reach several procedures", lines, _SHOWN)
    inlinable = [f"{site.location}: {value}" for site, value in result.inlining_candidates]
    yield from listed(
        "Calls that could have the procedure's body in their place", inlinable, _SHOWN
    )


def answers(found: dict[str, Any]) -> Iterator[str]:
    """Yield the answers to questions, in the order of the options."""
    for name, values in found.get("flows", {}).items():
        yield from _values(f"{name} may hold", values)
    for location, values in found.get("calls", {}).items():
        yield from _values(f"the call at {location} may reach", values)
    if "callers" in found:
        yield "".join(f"{distance:3}  {caller}\n" for distance, caller in found["callers"])
    if "why" in found:
        yield explanation(found["why"])
    if "diff" in found:
        yield "".join(f"+ {edge}\n" for edge in found["diff"]["added"])
        yield "".join(f"- {edge}\n" for edge in found["diff"]["removed"])


def as_json(found: dict[str, Any]) -> dict[str, object]:
    """Return the answers as plain data."""
    plain = dict(found)
    for name in ("flows", "calls"):
        if name in plain:
            plain[name] = {
                key: [value.as_json() for value in values] for key, values in plain[name].items()
            }
    if "callers" in plain:
        rows = plain["callers"]
        plain["callers"] = [{"calls": n, **caller.as_json()} for n, caller in rows]
    if "why" in plain:
        plain["why"] = plain["why"].as_json()
    return plain


def _values(title: str, values: list[Any]) -> Iterator[str]:
    yield f"{title}\n"
    lines = [f"  {value.kind}  {value}\n" for value in values]
    yield "".join(lines) or "  no procedure\n"
