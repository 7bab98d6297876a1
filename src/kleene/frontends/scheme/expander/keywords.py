"""The keywords by library, and the bindings of the standard libraries."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from kleene.frontends.scheme.expander import definitions, derived, forms, libraries, quasi
from kleene.frontends.scheme.expander.scopes import Binding, Primitive, Special
from kleene.ir.scheme.primitives import INTERNAL, LibraryName, table


def _begin_splice(x: Any, form: Any, scope: Any) -> Any:
    return form.items[1:]


_BASE = (
    Special("quote", forms.quote),
    Special("quasiquote", quasi.quasiquote),
    Special("if", forms.if_),
    Special("set!", forms.set_),
    Special("lambda", forms.lambda_),
    Special("begin", forms.begin, _begin_splice),
    Special("let", forms.let),
    Special("let*", forms.let_star),
    Special("letrec", forms.letrec),
    Special("letrec*", forms.letrec),
    Special("do", forms.do),
    Special("and", forms.and_),
    Special("or", forms.or_),
    Special("when", partial(forms.one_armed, "when")),
    Special("unless", partial(forms.one_armed, "unless")),
    Special("cond", forms.cond),
    Special("case", forms.case),
    Special("define", definitions.misplaced, definitions.define),  # type: ignore[arg-type]
    Special("define-values", definitions.misplaced, definitions.define_values),
    Special("define-record-type", definitions.misplaced, definitions.define_record_type),
    Special("define-syntax", definitions.misplaced, definitions.define_syntax),
    Special("let-syntax", partial(definitions.let_syntax, False)),
    Special("letrec-syntax", partial(definitions.let_syntax, True)),
    Special("parameterize", derived.parameterize),
    Special("guard", derived.guard),
    Special("let-values", partial(derived.let_values, False)),
    Special("let*-values", partial(derived.let_values, True)),
    Special("syntax-error", derived.syntax_error),
    Special("include", libraries.include_expression, libraries.include),
    Special("include-ci", libraries.include_expression, libraries.include),
    Special("cond-expand", libraries.cond_expand_expression, libraries.cond_expand),
    *(
        Special(name, derived.word)
        for name in ("else", "=>", "...", "_", "unquote", "unquote-splicing", "syntax-rules")
    ),
)
_ELSEWHERE: dict[LibraryName, tuple[Special, ...]] = {
    ("scheme", "case-lambda"): (Special("case-lambda", derived.case_lambda),),
    ("scheme", "lazy"): (
        Special("delay", partial(derived.delayed, "delay")),
        Special("delay-force", partial(derived.delayed, "delay-force")),
    ),
    ("srfi", "8"): (Special("receive", derived.receive),),
    ("srfi", "26"): (
        Special("cut", partial(derived.cut, False)),
        Special("cute", partial(derived.cut, True)),
        *(Special(name, derived.word) for name in ("<>", "<...>")),
    ),
    ("kleene", "extra"): (Special("fluid-let", derived.fluid_let),),
}
# They are known at every top level, whatever it imports.
TOP_LEVEL = (
    Special("import", definitions.misplaced, libraries.import_),
    Special("define-library", definitions.misplaced, libraries.define_library),
)
# Libraries of names that others have too.
_PARTS: dict[LibraryName, tuple[str, ...]] = {
    ("srfi", "6"): ("open-input-string", "open-output-string", "get-output-string"),
    ("srfi", "9"): ("define-record-type",),
    ("srfi", "11"): ("let-values", "let*-values"),
    ("srfi", "16"): ("case-lambda",),
    ("srfi", "23"): ("error",),
    ("srfi", "39"): ("make-parameter", "parameterize"),
}


@cache
def standard_libraries() -> dict[LibraryName, dict[str, Binding]]:
    """Return what each standard library exports."""
    libraries: dict[LibraryName, dict[str, Binding]] = {}
    for special in _BASE:
        libraries.setdefault(("scheme", "base"), {})[special.name] = special
    for library, specials in _ELSEWHERE.items():
        libraries.setdefault(library, {}).update({each.name: each for each in specials})
    for row in table().values():
        libraries.setdefault(row.library, {})[row.name] = Primitive(row.name)
    everything = {
        name: binding
        for library, exports in libraries.items()
        if library != INTERNAL
        for name, binding in exports.items()
    }
    internal = libraries.pop(INTERNAL)
    for name, parts in _PARTS.items():
        libraries[name] = {part: everything[part] for part in parts}
    for whole in (("rnrs",), ("chezscheme",), ("scheme", "r5rs"), ("scheme", "small")):
        libraries[whole] = everything
    libraries[INTERNAL] = {**everything, **internal}
    return libraries


def all_names(with_internal: bool = False) -> dict[str, Binding]:
    """Return what a program without imports may name."""
    return standard_libraries()[INTERNAL if with_internal else ("rnrs",)]
