"""A points-to analysis for people: what was found, where it is large, what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kleene.base.demangling import demangled
from kleene.reports.explanation import code
from kleene.reports.text import listed, more

if TYPE_CHECKING:
    from kleene.analyses.points_to import PointsToResult
    from kleene.analyses.points_to.answers.sets import ObjectSet
    from kleene.analyses.points_to.answers.statistics import Phase, Statistics
    from kleene.results.call_graph import CallSite

_SHOWN_CALLS = 12
_SHOWN_TARGETS = 8
_EXPLAINED_TARGETS = 40  # finding a reason takes up to some tenths of a second
_SHOWN_OTHERS = 10


def summary(result: PointsToResult, phases: Iterable[Phase]) -> Iterator[str]:
    """Yield the summary of an analysis, a paragraph at a time."""
    found = result.statistics
    yield _sizes(found)
    yield from _calls(result)
    yield from listed(
        "Largest sets",
        [
            f"{hot.n_objects:6}  {hot.pointer}{_and_others(hot.n_pointers)}"
            for hot in found.hottest
            if hot.n_objects > 1
        ],
        _SHOWN_OTHERS,
    )
    yield from listed(
        "Functions without body or model: what they are given escapes",
        [
            f"{_written(e.name)}  {_count(e.n_calls, 'call')},"
            f" {_count(e.n_objects, 'object')} handed over"
            for e in found.unknown_externals
        ],
        _SHOWN_OTHERS,
    )
    yield from listed("The answer rests on", found.assumptions, _SHOWN_OTHERS)
    yield from listed("Time and peak memory", [_phase(phase) for phase in phases], _SHOWN_OTHERS)


def _sizes(found: Statistics) -> str:
    rows = [
        (
            "program",
            f"{_count(found.n_functions, 'function')},"
            f" {_count(found.n_instructions, 'instruction')}",
        ),
        (
            "memory",
            f"{_count(found.n_allocations, 'allocation')} with"
            f" {_count(found.n_objects, 'abstract location')}",
        ),
        ("constraints", f"{found.n_constraints} over {found.n_nodes} nodes"),
        (
            "pointers",
            f"{found.n_pointers}, of which {found.n_pointing} hold known objects:"
            f" {found.average_set:.1f} on average, at most {found.largest_set}",
        ),
        (
            "unknown",
            f"{_count(found.n_unknown, 'pointer')};"
            f" {_count(found.n_escaped, 'abstract location')} escaped",
        ),
    ]
    return "".join(f"{name:12} {text}\n" for name, text in rows)


def _calls(result: PointsToResult) -> Iterator[str]:
    """Yield the calls through pointers with their targets, as far as a screen takes them."""
    sites = [site for site in result.call_graph().indirect if site.known]
    found = result.statistics
    if sites:
        n_calls, n_targets = _count(len(sites), "call"), _count(found.n_targets, "known target")
        yield f"\n{n_calls} through pointers, {n_targets}\n"
        is_small = found.n_targets <= _EXPLAINED_TARGETS
        yield from _explained(result, sites) if is_small else _grouped(sites)
    if found.n_leaving_sites:
        n_calls = _count(found.n_leaving_sites, "call")
        yield (
            f"\n{n_calls} through pointers may reach code outside the program, and what escapes"
            f" to it: {_count(found.n_escaped_functions, 'function')}\n"
        )


def _explained(result: PointsToResult, sites: list[CallSite]) -> Iterator[str]:
    """Yield each call with its targets and their reasons."""
    for site in sites:
        yield f"  {_title(site)}\n"
        yield from _reasons(result, site)
        if site.may_leave:
            yield "    and what escapes\n"


def _grouped(sites: list[CallSite]) -> Iterator[str]:
    """Yield calls with the same targets together, those with the most targets first."""
    groups: dict[tuple[tuple[str, ...], bool], list[CallSite]] = {}
    for site in sites:
        groups.setdefault((site.known, site.may_leave), []).append(site)
    order = sorted(groups.items(), key=lambda group: -len(group[0][0]))
    for (targets, may_leave), alike in order[:_SHOWN_CALLS]:
        others = f", and {_count(len(alike) - 1, 'call')} like it" if len(alike) > 1 else ""
        shown = list(targets[:_SHOWN_TARGETS])
        if len(targets) > len(shown):
            shown.append(f"{len(targets) - len(shown)} more")
        if may_leave:
            shown.append("what escapes")
        yield f"  {_title(alike[0])}{others}\n    {', '.join(shown)}\n"
    yield more(len(order) - _SHOWN_CALLS)


def _title(site: CallSite) -> str:
    location = f"{site.location}: " if site.location else ""
    return location + (code(site.span) or f"{site.caller}, through {site.through}")


def _reasons(result: PointsToResult, site: CallSite) -> Iterator[str]:
    """Yield the targets of a call, each with the statement that takes its address."""
    reasons = [_reason(result, site, target) for target in site.known]
    width = max(len(target) for target in site.known)
    location_width = max(len(location) for location, _ in reasons)
    for target, (location, why) in zip(site.known, reasons, strict=True):
        yield f"    {target:{width}}  {location:{location_width}}  {why}\n"


def _reason(result: PointsToResult, site: CallSite, target: str) -> tuple[str, str]:
    """Return the location and text of the statement behind a target; else of its definition."""
    step = site.why(target).steps[0]
    if step.location is not None and (line := code(step.span)):
        return step.location, line
    function = result.program.functions[result.function_id(target)].value
    line = code(function.span)
    location = result.naming.value_location(function.id)
    return (location, line) if location is not None and line else (step.location or "", step.text)


def query(name: str, answer: ObjectSet) -> str:
    """Return what a pointer may hold, one object a line."""
    lines = [f"{name} may hold\n"]
    known = answer.known
    width = max((len(o.name) for o in known), default=0)
    for o in known:
        parts = [f"{o.name:{width}}", o.kind, o.location or "", f"({o.type})" if o.type else ""]
        lines.append("  " + "  ".join(part for part in parts if part).rstrip() + "\n")
    if answer.unknown:
        lines.append("  unknown: anything outside the program, and all that escapes to it\n")
    if len(lines) == 1:
        lines.append("  nothing: it is null, or never set\n")
    return "".join(lines)


def counts(found: Statistics) -> list[tuple[str, object]]:
    """Return the numbers of the statistics, as rows."""
    plain = ((name, value) for name, value in found.as_json().items())
    return [(name, _short(value)) for name, value in plain if isinstance(value, int | float)]


def _short(value: object) -> object:
    return f"{value:.2f}" if isinstance(value, float) else value


def _phase(phase: Phase) -> str:
    return f"{phase.name:12} {phase.seconds:8.3f} s  {phase.peak_bytes / 1e6:8.1f} MB"


def _written(symbol: str) -> str:
    return demangled(symbol) or symbol


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _and_others(n: int) -> str:
    return f", and {_count(n - 1, 'other')} like it" if n > 1 else ""
