"""Libraries: what `import` brings in, `define-library`, `cond-expand` and `include`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from kleene.base.files import file_problem, read_file
from kleene.frontends.scheme import reader
from kleene.frontends.scheme.data import Datum, Form, Identifier, Literal, plain_name
from kleene.frontends.scheme.expander.expand import Expander
from kleene.frontends.scheme.expander.forms import items_of, list_items, literal_text
from kleene.frontends.scheme.expander.scopes import Binding, Scope, Top, Variable
from kleene.ir.scheme import core
from kleene.ir.scheme.primitives import LibraryName
from kleene.ir.scheme.sources import Source

FEATURES = ("r7rs", "exact-closed", "ratios", "full-unicode", "kleene")
_ENDINGS = (".sld", ".scm")
_MOST_INCLUDES = 1000  # files: one that includes itself must stop
_MOST_NUMBER = 10**9  # in a library's name
_MAX_DEPTH = 100  # of a requirement in cond-expand

Exports = dict[str, Binding]

# Other names of the same libraries.
SAME_AS: dict[LibraryName, LibraryName] = {
    ("scheme", "list"): ("srfi", "1"),
    ("scheme", "box"): ("srfi", "111"),
    ("scheme", "comparator"): ("srfi", "128"),
    ("scheme", "hash-table"): ("srfi", "125"),
    ("scheme", "set"): ("srfi", "113"),
    ("scheme", "sort"): ("srfi", "132"),
}


@cache
def bundled_libraries() -> dict[LibraryName, bytes]:
    """Return the texts of the libraries that are written in Scheme and come with Kleene."""
    folder = files("kleene.frontends.scheme").joinpath("libraries")
    every = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sld"))
    return {
        tuple(name.removesuffix(".sld").split("-", 1)): folder.joinpath(name).read_bytes()
        for name in every
    }


def bundled_file(name: LibraryName) -> str:
    """Return what a bundled library's text is called in places: `srfi-1.sld`."""
    return "-".join(name) + ".sld"


@cache
def bundled_names() -> dict[str, LibraryName]:
    """Return the first bundled library that exports each name."""
    found: dict[str, LibraryName] = {}
    for library, text in bundled_libraries().items():
        exports = text[text.index(b"(export") :]
        for name in exports[: exports.index(b")")].decode().split()[1:]:
            found.setdefault(name, library)
    return found


class Libraries:
    """The libraries that a program can import, by name."""

    def __init__(self, standard: dict[LibraryName, Exports], folders: Sequence[Path]) -> None:
        self.known = dict(standard)
        self.bundled = set(bundled_libraries())  # those that were not needed yet
        self.folders = folders  # where libraries in files of their own are looked for, in order
        self.loading: set[LibraryName] = set()
        self.n_includes = 0

    def find(self, x: Expander, name: LibraryName, place: Datum) -> Exports | None:
        """Return what a library exports, after reading its file if it has one; None if unknown."""
        name = SAME_AS.get(name, name)
        if name in self.bundled:
            self.bundled.discard(name)
            source = x.sources.add(bundled_file(name), bundled_libraries()[name], is_bundled=True)
            self._define(x, source)
        if name in self.known:
            return self.known[name]
        if name and name[0] == "rnrs":
            return self.known[("rnrs",)]
        if name in self.loading:
            raise x.error(place, "scheme/library-cycle", "this library imports itself")
        path = self._file(name)
        if path is None:
            return None
        self.loading.add(name)
        try:
            self._define(x, x.sources.load(path))
        finally:
            self.loading.discard(name)
        return self.known.get(name)

    def _define(self, x: Expander, source: Source) -> None:
        """Make the libraries known that a source defines."""
        for form in reader.read(x.sources, source):
            if type(form) is Form and form.items and _is(form.items[0], "define-library"):
                define_library(x, form, Top(x.builder, {}))

    def _file(self, name: LibraryName) -> Path | None:
        if not all(part and "/" not in part for part in name):
            return None
        stems = [folder.joinpath(*name) for folder in self.folders]
        paths = [stem.with_name(stem.name + suffix) for stem in stems for suffix in _ENDINGS]
        return next((path for path in paths if file_problem(path) is None), None)


def adopt(x: Expander) -> None:
    """Define the names that a program without imports uses, and bundled libraries export.

    What the program itself defines, though it be later, is not looked for. The libraries, and the
    definitions by which the names mean theirs, come before the program.
    """
    builder, known = x.builder, bundled_names()
    wanted = [
        variable
        for variable, name in enumerate(builder.names)
        if name in known
        and builder.owner[variable] == core.NONE
        and builder.starts_as[variable] == core.NONE
        and not builder.is_defined[variable]
        and not builder.is_assigned[variable]
    ]
    n_before = len(builder.top_slots)
    for variable in wanted:
        at, end = builder.variable_at[variable], builder.variable_end[variable]
        name = builder.names[variable]
        place = Identifier(name, at, end)
        binding = (x.libraries.find(x, known[name], place) or {}).get(name)
        if type(binding) is Variable and binding.number != variable:
            builder.is_defined[variable] = True
            slot = builder.row(core.DEFINE, at, end, builder.top_slot(), variable, n_operands=1)
            x.variable_row(binding.number, place, slot)
    slots = builder.top_slots
    builder.top_slots = slots[n_before:] + slots[:n_before]


def _is(datum: Datum, word: str) -> bool:
    return type(datum) is Identifier and plain_name(datum.name) == word


def library_name(x: Expander, datum: Datum) -> LibraryName:
    """Return a library's name as words."""
    parts = []
    for item in list_items(x, datum, "a library's name, such as (scheme base)"):
        if type(item) is Form:  # a version, as R6RS has them
            continue
        if type(item) is Identifier:
            parts.append(plain_name(item.name))
        elif type(item) is Literal and type(item.value) is int and 0 <= item.value < _MOST_NUMBER:
            parts.append(str(item.value))
        else:
            message = f"a library's name has words, and numbers below {_MOST_NUMBER}"
            raise x.error(item, "scheme/bad-import", message)
    return tuple(parts)


def import_(x: Expander, form: Form, scope: Scope) -> list[Datum]:
    """Bring what the import sets name into the top level; return nothing to expand."""
    if not isinstance(scope, Top):
        raise x.error(form, "scheme/misplaced", "import stands at the top level")
    if scope.sees_all:
        scope.changed += scope.imports
        scope.imports, scope.sees_all = {}, False
    for item in form.items[1:]:
        for name, binding in import_set(x, item).items():
            scope.imports[name] = binding
            scope.names.pop(name, None)
            scope.changed.append(name)
    return []


def import_set(x: Expander, datum: Datum) -> Exports:
    """Return the names and bindings that an import set stands for."""
    changes: list[tuple[str, Form, list[Datum]]] = []
    while True:
        items = list_items(x, datum, "an import set")
        word = plain_name(items[0].name) if items and type(items[0]) is Identifier else ""
        if word not in ("only", "except", "prefix", "rename") or len(items) < 2:
            break
        if type(items[1]) is not Form:
            break  # a library may be called (only ...)
        assert type(datum) is Form
        changes.append((word, datum, items[2:]))
        datum = items[1]
    name = library_name(x, datum)
    exports = x.libraries.find(x, name, datum)
    if exports is None:
        shown = "(" + " ".join(name) + ")"
        raise x.error(datum, "scheme/no-library", f"there is no library {shown}")
    for word, form, arguments in reversed(changes):
        exports = _changed(x, word, form, arguments, exports)
    return exports


def _changed(
    x: Expander, word: str, form: Form, arguments: list[Datum], exports: Exports
) -> Exports:
    def known(datum: Datum) -> str:
        name = plain_name(datum.name) if type(datum) is Identifier else ""
        if name not in exports:
            raise x.error(datum, "scheme/bad-import", "the library does not export this name")
        return name

    if word == "prefix":
        if len(arguments) != 1 or type(arguments[0]) is not Identifier:
            raise x.error(form, "scheme/bad-import", "expected (prefix set name)")
        prefix = plain_name(arguments[0].name)
        return {prefix + name: binding for name, binding in exports.items()}
    if word == "only":
        return {name: exports[name] for name in map(known, arguments)}
    if word == "except":
        dropped = set(map(known, arguments))
        return {name: binding for name, binding in exports.items() if name not in dropped}
    changes = {}
    for pair in arguments:
        names = list_items(x, pair, "(old new)")
        if len(names) != 2 or type(names[1]) is not Identifier:
            raise x.error(pair, "scheme/bad-import", "expected (old new)")
        changes[known(names[0])] = plain_name(names[1].name)
    return {changes.get(name, name): binding for name, binding in exports.items()}


def define_library(x: Expander, form: Form, scope: Scope) -> list[Datum]:
    """Make a library known; return nothing to expand."""
    if not isinstance(scope, Top):
        raise x.error(form, "scheme/misplaced", "define-library stands at the top level")
    parts = items_of(x, form, 1, None, "(define-library name declaration ...)")
    name = library_name(x, parts[0])
    top = Top(x.builder, {})
    exported: list[tuple[Identifier, Identifier]] = []
    bodies: list[Datum] = []
    waiting = parts[:0:-1]
    while waiting:
        declaration = waiting.pop()
        items = list_items(x, declaration, "a library declaration")
        word = plain_name(items[0].name) if items and type(items[0]) is Identifier else ""
        assert type(declaration) is Form
        if word == "export":
            exported += [_export(x, item) for item in items[1:]]
        elif word == "import":
            import_(x, declaration, top)
        elif word == "begin":
            bodies += items[1:]
        elif word in ("include", "include-ci"):
            bodies += include(x, declaration, scope)
        elif word == "include-library-declarations":
            waiting += reversed(include(x, declaration, scope))
        elif word == "cond-expand":
            waiting += reversed(cond_expand(x, declaration, scope))
        else:
            raise x.error(declaration, "scheme/bad-library", "this is no library declaration")
    before = x.stack
    x.stack = []  # a library met while a program is expanded comes first
    try:
        x.program(bodies, top)
    finally:  # with errors, too: who imports it is not wrong as well
        x.stack = before
        x.libraries.known[name] = {
            plain_name(outer.name): top.lookup(inner) for inner, outer in exported
        }
    return []


def _export(x: Expander, datum: Datum) -> tuple[Identifier, Identifier]:
    """Return an exported name inside and outside the library."""
    if type(datum) is Identifier:
        return datum, datum
    items = list_items(x, datum, "a name or (rename inside outside)")
    if len(items) == 3 and _is(items[0], "rename"):
        inner, outer = items[1:]
        if type(inner) is Identifier and type(outer) is Identifier:
            return inner, outer
    raise x.error(datum, "scheme/bad-library", "expected a name or (rename inside outside)")


def include(x: Expander, form: Form, scope: Scope) -> list[Datum]:
    """Return the data of the files that (include "file" ...) names, beside the including file."""
    folds = _is(form.items[0], "include-ci")
    data: list[Datum] = []
    for part in items_of(x, form, 1, None, "(include file ...)"):
        x.libraries.n_includes += 1
        if x.libraries.n_includes > _MOST_INCLUDES:
            raise x.error(form, "scheme/endless-include", f"more than {_MOST_INCLUDES} includes")
        path = Path(x.sources.source_of(form.at).file).parent / literal_text(x, part, "a file")
        try:
            text = read_file(path)
        except OSError as error:
            problem = error.strerror or "no such file"
            raise x.error(part, "scheme/no-include", f"{path.name}: {problem}") from None
        data += reader.read(x.sources, x.sources.add(str(path), text), fold_case=folds)
    return data


def include_expression(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(include file ...) as an expression."""
    x.sequence(include(x, form, scope), scope, slot, form)


def cond_expand(x: Expander, form: Form, scope: Scope) -> list[Datum]:
    """Return the forms of the first clause whose requirement holds, if any."""
    for clause in form.items[1:]:
        items = list_items(x, clause, "(requirement form ...)", 1)
        if _holds(x, items[0], 0):
            return items[1:]
    return []


def cond_expand_expression(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(cond-expand (requirement expression ...) ...) as an expression."""
    x.sequence(cond_expand(x, form, scope), scope, slot, form)


def _holds(x: Expander, datum: Datum, depth: int) -> bool:
    if type(datum) is Identifier:
        return plain_name(datum.name) in (*FEATURES, "else")
    items = list_items(x, datum, "a requirement")
    word = plain_name(items[0].name) if items and type(items[0]) is Identifier else ""
    if depth < _MAX_DEPTH:
        if word == "and":
            return all(_holds(x, item, depth + 1) for item in items[1:])
        if word == "or":
            return any(_holds(x, item, depth + 1) for item in items[1:])
        if word == "not" and len(items) == 2:
            return not _holds(x, items[1], depth + 1)
        if word == "library" and len(items) == 2:
            return x.libraries.find(x, library_name(x, items[1]), datum) is not None
    raise x.error(datum, "scheme/bad-syntax", "this is no requirement of cond-expand")
