"""A run of a program beside its analysis: whatever happens must have been foreseen."""

from __future__ import annotations

from kleene.analyses.cfa import CFA
from kleene.analyses.cfa.type_sets import BITS, shown, type_of
from kleene.analyses.cfa.types import Types
from kleene.base.errors import SourceError
from kleene.frontends.scheme.expansion import Expansion
from kleene.frontends.scheme.interpreter import objects, primitives, run
from kleene.ir.scheme.primitives import table
from kleene.ir.scheme.values import EOF, Pair

KINDS = {
    Pair: {"pair"},
    list: {"vector"},
    objects.Box: {"box"},
    objects.Record: {"record", "table"},
    objects.Parameter: {"parameter", "primitive"},
    objects.Continuation: {"continuation", "evaluated"},
    objects.Promise: {"delay", "chain", "promise"},
    objects.ErrorObject: {"condition"},
    objects.Native: {"primitive"},
}

TYPES = {
    objects.Box: BITS["box"],
    objects.Record: BITS["record"] | BITS["table"],  # the interpreter's tables are records
    objects.Promise: BITS["promise"],
    objects.InputPort: BITS["port"],
    objects.OutputPort: BITS["port"],
    **dict.fromkeys(
        (objects.Closure, objects.CaseLambda, objects.Native, objects.Parameter), BITS["procedure"]
    ),
    objects.Continuation: BITS["procedure"],
}

PRELUDE = {
    known.code: name for name, known in primitives().items() if type(known) is objects.Closure
}
PORTS = {"parameter", "current-input-port", "current-output-port", "current-error-port"}


class Notes:
    """What a run did: calls (site, lambda), other calls (site, what), bindings (variable, what).

    `types` are those of all that was bound (variable, types).
    """

    def __init__(self):
        self.calls = set()
        self.others = set()
        self.bindings = set()
        self.types = set()

    def called(self, site, row):
        self.calls.add((site, row))

    def met(self, site, procedure, n_arguments):
        kind, name = type(procedure), None
        if kind is objects.Native:
            name = procedure.row.name
        elif kind is objects.Closure:
            name = PRELUDE.get(procedure.code)
        if name is not None and table()[name].accepts(n_arguments):
            self.others.add((site, name))
        elif kind is objects.Continuation:
            self.others.add((site, "continuation"))
        elif kind is objects.Parameter and not n_arguments:
            self.others.add((site, "parameter"))

    def bound(self, variable, value):
        self.types.add((variable, observed_type(value)))
        if type(value) is objects.Closure and value.code.row >= 0:
            self.bindings.add((variable, value.code.row))
        elif type(value) is objects.CaseLambda:
            self.bindings |= {(variable, clause.code.row) for clause in value.clauses}
        elif type(value) in KINDS:
            self.bindings.add((variable, type(value)))


def observed_type(value):
    """Return the type of a value of a run; ANY where the analysis has no name for it."""
    if value is EOF:
        return BITS["eof"]
    return TYPES.get(type(value), type_of(value))


def program_of(text, folder=None, file="t.scm"):
    program = Expansion(folder)
    program.add(program.sources.add(file, text if isinstance(text, bytes) else text.encode()))
    return program


def observed(program, max_steps=300_000, **options):
    """Return the core as it was before the run, and what the run did, however it ended."""
    core, notes = program.core(), Notes()
    try:
        run(program, observer=notes, max_steps=max_steps, **options)
    except SourceError as error:
        if error.id not in ("scheme/uncaught", "scheme/step-limit"):
            raise
    return core, notes


def not_foreseen(core, notes, **options):
    """Return what the run did that the analysis does not know of."""
    result = CFA(**options).run(core, device="cpu")
    return [
        *_calls(core, notes, result),
        *_bindings(core, notes, result),
        *_types(core, notes, result),
    ]


def _types(core, notes, result):
    known = Types(result.reach)
    for variable, types in sorted(notes.types):
        if variable < core.n_variables and not known.variable(variable) & types:
            at = core.variable_span(variable)
            yield f"{core.names[variable]} at {at} is {shown(types)}"


def _calls(core, notes, result):
    evaluated = {row for site in result.reach.evaluating for row in _targets(result, site)}
    for site, row in sorted(notes.calls):
        if row >= core.root:
            continue  # made by text that was evaluated
        known = evaluated if site >= core.root else _targets(result, site)
        if row not in known:
            yield f"{core.span(min(site, core.root))} calls {core.span(row)}"
    for site, name in sorted(notes.others):
        if site < core.root and not _meets(result, site, name):
            yield f"{core.span(site)} calls {name}"


def _meets(result, site, name):
    """Return whether a site may reach a primitive or continuation, however a program gets it."""
    names = {target.name for target in result.targets([site])}
    same = PORTS if name == "parameter" else {name}
    return not names.isdisjoint({"evaluated", *same})


def _targets(result, site):
    return {target.row for target in result.targets([site])}


def _bindings(core, notes, result):
    held = {}
    for variable, what in sorted(notes.bindings, key=str):
        if variable >= core.n_variables or (isinstance(what, int) and what >= core.root):
            continue
        if variable not in held:
            held[variable] = result.held([variable])
        if isinstance(what, int):
            is_known = what in {value.row for value in held[variable] if value.kind == "procedure"}
        else:
            is_known = bool(KINDS[what] & {value.kind for value in held[variable]})
        if not is_known:
            shown = core.span(what) if isinstance(what, int) else what.__name__
            yield f"{core.names[variable]} at {core.variable_span(variable)} is {shown}"
