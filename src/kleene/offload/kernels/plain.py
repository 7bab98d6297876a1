"""Kernels as plain data, for JSON and for reports: expressions are texts in the program's names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kleene.algebra.symbolic import Expression
from kleene.base.errors import Span
from kleene.offload.kernels.kernel import Kernel
from kleene.offload.kernels.parameters import Parameter, n_bytes_moved
from kleene.offload.kernels.patterns import AccessPattern
from kleene.offload.kernels.sections import Section
from kleene.offload.kernels.sharing import Sharing
from kleene.offload.kernels.verdicts import Culprit

_AXES = "xyz"


def kernel_json(kernel: Kernel) -> dict[str, Any]:
    """Return a kernel as plain data."""
    bytes_in, bytes_out = n_bytes_moved(kernel.parameters)
    return {
        "function": kernel.function,
        **place_json(kernel.place),
        "end_line": kernel.end_line,
        "grid": [
            {"variable": one.variable, "trips": _text(kernel, one.trips), "line": one.place.line}
            for one in kernel.axes
        ],
        "mapping": dict(zip(_AXES, kernel.mapping, strict=False)),
        "mappings": [
            {"order": list(order), "lines": _text(kernel, cost)} for order, cost in kernel.costs
        ],
        "block": list(kernel.block),
        "bytes_in": _text(kernel, bytes_in),
        "bytes_out": _text(kernel, bytes_out),
        "parameters": [_parameter(kernel, one) for one in kernel.parameters],
        "accesses": [_access(kernel, one) for one in kernel.accesses],
        "sharing": [_sharing(kernel, one) for one in kernel.sharing],
        "callees": list(kernel.callees),
        "reasons": culprits_json(kernel.reasons),
        "assumptions": list(kernel.assumptions),
        "values": dict(kernel.values),
        "basis": kernel.basis.value,
    }


def _text(kernel: Kernel, value: Expression | None) -> str | None:
    return None if value is None else str(kernel.readable(value))


def _section(kernel: Kernel, section: Section | None) -> dict[str, Any] | None:
    if section is None:
        return None
    return {
        "first": _text(kernel, section.first),
        "end": _text(kernel, section.end),
        "bytes": _text(kernel, section.n_bytes),
        "is_exact": section.is_exact,
    }


def _parameter(kernel: Kernel, one: Parameter) -> dict[str, Any]:
    return {
        "name": one.name,
        "direction": one.direction,
        "is_scalar": one.is_scalar,
        "nested_in": one.nested_in or None,
        "in": _section(kernel, one.copy_in),
        "out": _section(kernel, one.copy_out),
        "basis": one.basis.value,
        "assumptions": list(one.assumptions),
    }


def _access(kernel: Kernel, one: AccessPattern) -> dict[str, Any]:
    lines, sectors = one.counted or (None, None)
    return {
        "text": one.text,
        "root": one.root,
        "is_write": one.is_write,
        **place_json(one.place),
        "bytes": one.n_bytes,
        "offsets": [_text(kernel, offset) for offset in one.offsets],
        "pattern": one.kind,
        "stride": _text(kernel, one.stride),
        "lines": _text(kernel, one.requests),
        "sectors": _text(kernel, one.sectors),
        "factor": _text(kernel, one.factor),
        "counted": {"lines": lines, "sectors": sectors} if one.counted else None,
        "mappings": [
            {"order": list(order), "lines": _text(kernel, lines), "sectors": _text(kernel, sectors)}
            for order, lines, sectors in one.by_mapping
        ],
        "basis": one.basis.value,
        "assumptions": list(one.assumptions),
    }


def _sharing(kernel: Kernel, one: Sharing) -> dict[str, Any]:
    return {
        "root": one.root,
        "texts": list(one.texts),
        "kind": one.kind,
        "bytes": _text(kernel, one.n_bytes),
        "tile": [_text(kernel, size) for size in one.tile],
        "overlaps": {variable: _text(kernel, value) for variable, value in one.overlaps},
        "bank_conflicts": one.conflicts,
        "element_bytes": one.element,
    }


def culprits_json(found: Iterable[Culprit]) -> list[dict[str, object]]:
    """Return reasons as plain data."""
    return [{"code": one.code, "detail": one.detail, **place_json(one.place)} for one in found]


def place_json(place: Span) -> dict[str, Any]:
    """Return a place as plain data."""
    return {"file": place.file, "line": place.line, "column": place.column}
