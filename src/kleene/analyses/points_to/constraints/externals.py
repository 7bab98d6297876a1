"""Functions that the program calls and does not contain: what their models say, or anything.

A model's effects are added for all calls of its function at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.points_to.constraints.assumptions import Assumptions
from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.exceptions import Exceptions
from kleene.analyses.points_to.constraints.formats import converted, text_of
from kleene.analyses.points_to.constraints.functions import (
    CallTable,
    FunctionTable,
    generate_outside,
    is_visible,
    with_rest,
)
from kleene.analyses.points_to.constraints.heap import HeapAllocations
from kleene.analyses.points_to.library import Library, language
from kleene.analyses.points_to.library.language import Model, Term
from kleene.analyses.points_to.memory_model import AllocationKind, External
from kleene.analyses.points_to.object_layout import ANY_CALL
from kleene.base.arrays import I64, Bools
from kleene.base.errors import SourceError
from kleene.ir.codes import ConstantKind, GlobalFlag, Opcode, ValueKind
from kleene.solvers.inclusion import FROM_OUTSIDE, NONE, TO_OUTSIDE

ENVIRON = "@environ"  # what main is given too
AS_BYTES = ("@bytes", "@digits")  # pointers that left as bytes or as text, and may come back
_MOST_FORMALS = 8  # that models of functions of the library's own tell apart


@dataclass(eq=False)
class Sites:
    """Calls of one function: what they pass, where the result goes, the storage they make."""

    callee: int  # value
    origin: I64
    site: I64  # value of the call
    result: I64  # node, or NONE
    offsets: I64
    actuals: I64
    variadic: I64  # allocation of the caller's arguments beyond the named ones, -1
    layout: I64  # of new storage
    n_bytes: I64  # of new storage
    clones: I64  # node of the storage that callers of a wrapper have for it, NONE
    made: dict[language.Heap, I64] = field(default_factory=dict)

    def argument(self, position: int, nothing: int) -> I64:
        """Return the node of an argument at each call; `nothing` where the call has too few."""
        there = self.offsets[:-1] + position < self.offsets[1:]
        found = np.full(len(there), nothing)
        found[there] = self.actuals[(self.offsets[:-1] + position)[there]]
        return found

    def following(self, position: int) -> Bools:
        """Return which of `actuals` are at `position` or behind."""
        starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return np.arange(len(self.actuals)) - starts >= position


class Models:
    """Adds the effects of models; `pointers_in_bytes` says whether pointers come back as bytes."""

    def __init__(
        self, builder: PointerBuilder, library: Library, *, pointers_in_bytes: bool = True
    ) -> None:
        self._builder, self._library = builder, library
        self.exceptions = Exceptions(builder, library)
        self._code: dict[str, int] = {}
        self._without = () if pointers_in_bytes else AS_BYTES
        self.assumptions: dict[str, None] = {}  # in the order of their first use
        self._nothing = builder.node()
        self._unknown = -1
        self._shared: dict[str, int] = {}
        self._static: dict[int, int] = {}
        self.callbacks: list[NDArray[np.int64]] = []  # (instruction, call rule)
        self.virtual: list[NDArray[np.int64]] = []  # (call rule, actual), where a table in it is

    def shared(self, name: str) -> int:
        """Return the node of a shared name."""
        if name not in self._shared:
            self._shared[name] = self._builder.node()
        return self._shared[name]

    def apply(self, model: Model, sites: Sites) -> None:
        """Add the effects of a model at every site."""
        for effect in model:
            self._apply(effect, sites)

    def hold(self, model: Model, variable: int, allocation: int) -> None:
        """Add what a declared variable contains."""
        one, none = np.array([variable]), np.array([NONE])
        sites = Sites(variable, none, one, none, np.array([0, 1]), one, none, none, none, none)
        for effect in model:
            if isinstance(effect, language.Holds):
                self._builder.fill(allocation, 0, self._node(effect.term, sites))
            else:
                self._apply(effect, sites)

    def _apply(self, effect: language.Effect, sites: Sites) -> None:
        builder, origin = self._builder, sites.origin
        match effect:
            case language.Returns(term):
                there = sites.result >= 0
                node = self._node(term, sites)
                builder.copy(sites.result[there], node[there], origin[there])
            case language.Stores(pointer, term):
                builder.store(self._node(pointer, sites), self._node(term, sites), origin)
            case language.Shares(name, term):
                if self._is_followed(name):
                    builder.copy(self.shared(name), self._node(term, sites), origin)
            case language.Copies():
                self._copy(effect, sites)
            case language.Calls():
                self._call(effect, sites)
            case language.Throws(term, type_, is_of_library):
                node = self._node(term, sites)
                if is_of_library:
                    self.exceptions.throw_from_library(node, origin)
                else:
                    none = np.full(len(node), NONE)
                    types = none if type_ is None else sites.argument(type_, NONE)
                    self.exceptions.throw(node, types, origin)
            case language.Derives():
                pass  # `exceptions` asks for it
            case language.Escapes(term):
                builder.flag(self._node(term, sites), TO_OUTSIDE)
            case language.Assumes(text):
                known = Assumptions.__members__.get(text)
                self.assumptions[known.said() if known else text] = None
            case language.Holds():
                raise AssertionError("only a variable holds")

    def _node(self, term: Term, sites: Sites) -> I64:
        """Return the node of a term at each site."""
        count = len(sites.origin)
        match term:
            case language.Argument(position):
                return sites.argument(position, self._nothing)
            case language.Following(position):
                return self._several(sites, sites.following(position))
            case language.Digits(position) | language.Strings(position):
                formats = sites.argument(position, self._nothing)
                columns, to_text = self._builder.columns, isinstance(term, language.Strings)
                chosen = converted(columns, sites.offsets, formats, position, to_text=to_text)
                return self._several(sites, chosen)
            case language.Anywhere(inner, step):
                return self._anywhere(self._node(inner, sites), step, sites)
            case language.Text(inner):
                node = self._node(inner, sites)
                return self._builder.at_offset(node, 0, 1, sites.origin)
            case language.Mapped(position):
                known, file = self._builder.columns.constant(sites.argument(position, NONE))
                return np.where(
                    (known & (file == -1)) | (sites.result < 0), self._nothing, sites.result
                )
            case language.Symbol(position):
                return self._symbols(sites.argument(position, self._nothing), sites)
            case language.Behind(inner, n_bytes):
                node = self._node(inner, sites)
                return self._builder.at_offset(node, n_bytes, 0, sites.origin)
            case language.Contents(inner):
                return self._builder.loaded(self._node(inner, sites), sites.origin)
            case language.Heap():
                return self._heap(term, sites)
            case language.Named("variadic"):
                return self._variadic(sites)
            case language.Named("caught"):
                return self.exceptions.caught(sites.origin)
            case language.Named("thrown"):
                return np.full(count, self.exceptions.thrown())
            case language.Code(name):
                return np.full(count, self._code_of(name, sites.callee))
            case language.Named(name):
                return np.full(count, self._named(name, sites.callee))

    def _several(self, sites: Sites, chosen: Bools) -> I64:
        """Return a node at each site that has what the chosen arguments have."""
        found = self._builder.nodes(len(sites.origin))
        site = np.repeat(np.arange(len(found)), np.diff(sites.offsets))[chosen]
        self._builder.copy(found[site], sites.actuals[chosen], sites.origin[site])
        return found

    def _anywhere(self, node: I64, step: int | None, sites: Sites) -> I64:
        """Return nodes that point anywhere, or in steps of a constant, into what nodes point to."""
        nothing = np.full(len(node), self._nothing)
        size = nothing if step is None else sites.argument(step, self._nothing)
        known, n_bytes = self._builder.columns.constant(size)
        known &= n_bytes > 0
        found = self._builder.nodes(len(node))
        self._builder.byte_offset(found[known], node[known], 0, n_bytes[known], sites.origin[known])
        self._builder.unknown_offset(found[~known], node[~known], sites.origin[~known])
        return found

    def _named(self, name: str, callee: int) -> int:
        if name == "_":
            return self._nothing
        if name == "static":
            return self._static_of(callee)
        if name == "unknown":
            if self._unknown < 0:
                self._unknown = self._builder.node()
                self._builder.flag(self._unknown, FROM_OUTSIDE)
            return self._unknown
        return self.shared(name) if self._is_followed(name) else self._nothing

    def _is_followed(self, name: str) -> bool:
        """Return whether pointers under a shared name are; note it where they are not."""
        if name in self._without:
            self.assumptions[Assumptions.BYTES.said()] = None
        return name not in self._without

    def _symbols(self, names: I64, sites: Sites) -> I64:
        """Return nodes that have the symbols that calls find by name.

        A computed name may be that of any visible symbol, if it is looked up in the program itself:
        by a constant handle (RTLD_DEFAULT, RTLD_NEXT) or where the program opens itself.
        """
        columns, found = self._builder.columns, self._builder.nodes(len(names))
        visible = np.flatnonzero(is_visible(columns))
        raw = columns.program.strings.raw
        by_name = {raw(int(columns.program.globals.name[s])): [s] for s in visible.tolist()}
        first, end = columns.program.bases[ValueKind.CONSTANT : ValueKind.ARGUMENT + 1]
        handle = sites.argument(0, NONE)
        is_own = (first <= handle) & (handle < end) | self._opens_itself
        for site, name in enumerate(names.tolist()):
            text = text_of(columns, name)
            symbols = visible if is_own[site] and text is None else by_name.get(text or b"", [])
            self._builder.copy(found[site], np.array(symbols, np.int64), sites.origin[site])
            if text is None and not is_own[site]:
                self.assumptions[Assumptions.COMPUTED_NAMES.said()] = None
        return found

    @cached_property
    def _opens_itself(self) -> bool:
        """Whether the program calls dlopen with a null pointer for the path."""
        columns = self._builder.columns
        names = columns.program.names.globals
        opens = [value for value, name in enumerate(names) if name == "dlopen"]
        calls = columns.calls[np.isin(columns.operand(columns.calls, 0), opens)]
        return bool(columns.is_constant_of(ConstantKind.NULL, columns.operand(calls, 1)).any())

    def _static_of(self, callee: int) -> int:
        """Return a node that points to what a function keeps for itself."""
        if callee not in self._static:
            self._static[callee] = self._builder.node()
            layouts, program = self._builder.object_layouts, self._builder.columns.program
            # It may be a virtual table of the library's own, unless it is a type's.
            is_type = program.strings.raw(int(program.globals.name[callee])).startswith(b"_ZTI")
            cells = layouts.cells() if is_type else layouts.unknown_table()
            kept = self._builder.allocate(AllocationKind.STATIC, callee, cells)
            self._builder.address(self._static[callee], kept)
        return self._static[callee]

    def _code_of(self, name: str, callee: int) -> int:
        """Return a node that points to a function of the library's own."""
        if name not in self._code:
            builder, layouts = self._builder, self._builder.object_layouts
            self._code[name] = builder.node()
            made = builder.allocate(AllocationKind.STATIC, callee, layouts.function(ANY_CALL))
            result, rest, formals = builder.node(), builder.node(), builder.nodes(_MOST_FORMALS)
            one, none = np.array([callee]), np.array([NONE])
            count = np.array([len(formals)])
            builder.functions(made, np.array([result]), np.array([rest]), count, formals)
            builder.address(self._code[name], made)
            model = self._library.find(name)
            assert model is not None, f"no model says what '{name}' does"
            layout = np.array([layouts.raw(-1)])
            ends = np.array([0, len(formals)])
            result_ = np.array([result])
            passed = callee, none, one, result_, ends, formals
            self.apply(model, Sites(*passed, none, layout, none, none))
        return self._code[name]

    def _heap(self, term: language.Heap, sites: Sites) -> I64:
        """Return nodes that point to new storage; the same one wherever a model names it."""
        if term not in sites.made:
            kind = AllocationKind.EXCEPTION if term.is_exception else AllocationKind.HEAP
            new = self._builder.allocate(
                *(kind, sites.site, sites.layout),
                callee=sites.callee,
                type=self._builder.object_layouts.structs_of(sites.layout),
                n_bytes=sites.n_bytes,
            )
            sites.made[term] = self._builder.nodes(len(new))
            self._builder.address(sites.made[term], new, 0, sites.origin)
            cloned = sites.clones >= 0
            self._builder.copy(sites.made[term][cloned], sites.clones[cloned])
        return sites.made[term]

    def _variadic(self, sites: Sites) -> I64:
        found = np.full(len(sites.origin), self._nothing)
        there = sites.variadic >= 0
        found[there] = self._builder.nodes(int(there.sum()))
        self._builder.address(found[there], sites.variadic[there], 0, sites.origin[there])
        return found

    def _call(self, effect: language.Calls, sites: Sites) -> None:
        """Add that the library calls what it was given."""
        count, n_actuals = len(sites.origin), len(effect.arguments)
        actuals = np.empty((count, n_actuals), np.int64)
        for position, term in enumerate(effect.arguments):
            actuals[:, position] = self._node(term, sites)
        result = NONE if effect.result is None else self.shared(effect.result)
        callee = self._node(effect.callee, sites)
        offsets = np.arange(count + 1) * n_actuals
        rules = self._builder.calls(callee, offsets, actuals.ravel(), result, sites.origin)
        self.callbacks.append(np.stack([sites.origin, rules], axis=1))
        match effect:
            case language.Calls(
                language.Contents(language.Anywhere(language.Contents(inner), None)), (first, *_)
            ) if inner == first:
                self.virtual.append(np.stack([rules, actuals[:, 0]], axis=1))

    def _copy(self, effect: language.Copies, sites: Sites) -> None:
        """Add a copy of memory, exactly where its size is a constant or so many elements."""
        to, source = self._node(effect.to, sites), self._node(effect.source, sites)
        if effect.size is None:
            n_bytes = stride = np.full(len(to), -1)
        else:
            n_bytes, stride = self._sizes(sites.argument(effect.size, self._nothing))
        kept = ~self._moves_characters(sites.origin)
        columns = to, source, n_bytes, stride, sites.origin
        self._builder.copy_bytes(*(column[kept] for column in columns))

    def _moves_characters(self, origin: I64) -> Bools:
        """Return which calls are made in functions that copy characters and no pointers."""
        columns = self._builder.columns
        function = columns.program.instruction_function[origin]
        found: Bools = (origin >= 0) & columns.moves_characters[function]
        return found

    def _sizes(self, size: I64) -> tuple[I64, I64]:
        """Return (bytes of one element, stride) behind each size in bytes; -1 where not known."""
        columns = self._builder.columns
        is_constant, n_bytes = columns.constant(size)
        n_bytes = np.where(is_constant, n_bytes, -1)
        stride = np.zeros(len(size), np.int64)
        opcode = columns.opcode_of(size)
        table, base = columns.program.instructions, columns.program.bases[ValueKind.INSTRUCTION]
        for position in np.flatnonzero(np.isin(opcode, (Opcode.MUL, Opcode.SHL))).tolist():
            known, amount = columns.constant(table.operands_of(int(size[position]) - base))
            is_product = opcode[position] == Opcode.MUL
            which = 0 if is_product and known[0] else 1  # unoptimised code has either order
            n = int(amount[which])
            element = n if is_product else 1 << min(n, 62)
            if known[which] and element > 1:
                n_bytes[position], stride[position] = _element(element, columns.word_bytes)
        return n_bytes, stride


def _element(n_bytes: int, word: int) -> tuple[int, int]:
    """Return (bytes, stride) of elements, in parts that miss no pointer where the size is odd."""
    if n_bytes % word == 0:
        return n_bytes, n_bytes
    step = int(np.gcd(n_bytes, word))
    return (step, step) if step > 1 else (-1, 0)


class Externals:
    """Adds calls that leave the program."""

    def __init__(self, functions: FunctionTable, heap: HeapAllocations, models: Models) -> None:
        self.functions, self.heap, self.models = functions, heap, models
        self.columns, self.builder = heap.columns, heap.builder

    def leaves(self, calls: CallTable) -> Bools:
        """Return which calls are for certain of a function outside, or modelled by the user."""
        is_modelled = np.array([model is not None for model in self.functions.model], bool)
        found = np.append(~self.functions.is_defined | is_modelled, False)  # the last is for -1
        return found[calls.function]

    def generate(self, calls: CallTable) -> tuple[External, ...]:
        """Add the calls, and declared functions called by address; return who is called."""
        functions = self.functions
        self._check_models()
        is_modelled = np.array([model is not None for model in functions.model], bool)
        unknown = calls.only(~is_modelled[calls.function])
        generate_outside(self.builder, functions, unknown)
        counts = np.bincount(calls.function, minlength=len(functions.name))
        order, ends = np.argsort(calls.function, kind="stable"), np.cumsum(counts)
        for function in np.flatnonzero((counts > 0) | ~functions.is_defined).tolist():
            own = order[ends[function] - counts[function] : ends[function]]
            self._generate(function, calls, own)
        shown = np.flatnonzero((counts > 0) & ~(functions.is_intrinsic & is_modelled)).tolist()
        found = [External(functions.name[f], bool(is_modelled[f]), int(counts[f])) for f in shown]
        return tuple(sorted(found, key=lambda e: (e.is_modelled, -e.n_calls, e.name)))

    def _check_models(self) -> None:
        """Raise if a function's model says what it contains: that is for variables."""
        for name, model in zip(self.functions.name, self.functions.model, strict=True):
            for effect in model or ():
                if isinstance(effect, language.Holds):
                    message = f"the model of '{name}' has 'holds', which is for variables"
                    note = "it is a function: write 'returns'"
                    raise SourceError(effect.at, "points-to/bad-model", message, note)

    def _generate(self, function: int, calls: CallTable, own: I64) -> None:
        """Add a function that is outside or modelled, and its own calls if it is modelled."""
        program, model = self.columns.program, self.functions.model[function]
        value = int(program.function_table.value[function])
        is_taken = program.globals.flags[value] & GlobalFlag.ADDRESS_TAKEN
        if is_taken and not self.functions.is_defined[function]:
            self._stub(function, value, model)
        if model and len(own):
            self._apply(model, value, calls.only(own))

    def _apply(self, model: Model, value: int, group: CallTable) -> None:
        """Add what calls of a function do, as a model has it."""
        program, site = self.columns.program, self.columns.results(group.row)
        sites = Sites(
            *(value, group.row, site, np.where(self.columns.flows[site], site, NONE)),
            *with_rest(self.columns, self.functions, group, group.actuals),
            self.functions.variadic[program.instruction_function[group.row]],
            *(self.heap.layout_of(group.row), self.heap.n_bytes[group.row]),
            self.heap.clones[group.row],
        )
        self.models.apply(model, sites)

    def _stub(self, function: int, value: int, model: Model | None) -> None:
        """Add what a function from outside does when it is called by its address."""
        table, functions = self.columns.program.function_table, self.functions
        first, end = table.argument_offsets[function : function + 2].tolist()
        result = functions.result[[function]]
        if model is None:
            taken = np.append(functions.formal[first:end], functions.rest[function])
            self.builder.flag(taken[taken >= 0], TO_OUTSIDE)
            self.builder.flag(result[result >= 0], FROM_OUTSIDE)
            return
        one, none = np.array([value]), np.array([NONE])
        arguments = self.columns.program.bases[ValueKind.ARGUMENT] + np.arange(first, end)
        layout = np.array([self.builder.object_layouts.raw(-1)])
        sites = Sites(
            *(value, none, one, result, np.array([0, end - first]), arguments),
            *(none, layout, none, none),
        )
        self.models.apply(model, sites)
