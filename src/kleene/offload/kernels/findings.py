"""Verdicts on loops as findings, for SARIF and the annotated sources."""

from __future__ import annotations

from kleene.offload.kernels import rules
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict
from kleene.offload.kernels.witness import Instance, Witness
from kleene.results import Finding, Location

_RULES = {Verdict.SEQ: rules.SEQUENTIAL, Verdict.MAY: rules.NOT_PROVED}


def finding_of(loop: LoopVerdict) -> Finding:
    """Return the verdict on a loop as a note."""
    rule = _RULES.get(loop.verdict, rules.PARALLEL)
    name = f"the loop of {loop.variable}" if loop.variable else f"the {loop.kind} loop"
    path: tuple[Location, ...] = ()
    related: tuple[Location, ...] = ()
    if loop.verdict is Verdict.SEQ:
        message = f"{name} is sequential"
        if loop.witness is not None:
            message += f": {loop.witness.write.element} flows to a later iteration"
            path = _path(loop.witness)
    elif loop.verdict is Verdict.MAY:
        reasons = "; ".join(f"{one.code}: {one.detail}" for one in loop.culprits)
        message = f"{name} is not proved to be parallel: {reasons}"
        related = tuple(Location(one.place, one.detail) for one in loop.culprits)
    else:
        message = " ".join([f"{name} is parallel", *clauses(loop)])
    return Finding(rule, loop.place, message, loop.function, related, path)


def clauses(loop: LoopVerdict) -> list[str]:
    """Return what a verdict of parallel asks for, nothing for others."""
    if loop.verdict in (Verdict.SEQ, Verdict.MAY):
        return []
    found = [
        f"reduction({one.operator}:{', '.join([one.name, *one.kept])})" for one in loop.reductions
    ]
    private = [one.name for one in loop.privates if not one.is_counter]
    found += [f"private({', '.join(private)})"] if private else []
    found += [f"snapshot({', '.join(loop.copies)})"] if loop.copies else []
    found += [f"induction({', '.join(loop.inductions)})"] if loop.inductions else []
    if loop.no_overlap:
        pairs = ", ".join(f"{one} and {other}" for one, other in loop.no_overlap)
        found.append(f"if no overlap of {pairs}")
    return found


def _path(witness: Witness) -> tuple[Location, ...]:
    def shown(verb: str, one: Instance) -> Location:
        iteration = ", ".join(f"{name}={value}" for name, value in one.variables)
        return Location(one.place, f"{one.element} {verb} at {iteration}")

    return shown("written", witness.write), shown("read", witness.read)
