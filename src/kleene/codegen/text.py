"""Statements and expressions of loop trees as text: CUDA C++ and C alike, and Python for the host.

Arrays of arrays become one array with a subscript in elements: `c[i][j]` of `double c[][nj]` is
`c[(long long)i * nj + j]`, for CUDA C++ has no pointers to rows of a length known at run time.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from kleene.base.expression import Expression as Size
from kleene.base.expression import Floor, Maximum, Quotient
from kleene.base.expression import Symbol as SizeSymbol
from kleene.codegen.plan import Atomic, CannotError
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Location, Symbol, Type, Variable

_INTEGERS = {
    (1, False): "bool",
    (8, True): "signed char",
    (8, False): "unsigned char",
    (16, True): "short",
    (16, False): "unsigned short",
    (32, True): "int",
    (32, False): "unsigned",
    (64, True): "long long",
    (64, False): "unsigned long long",
}
_FLOATS = {32: "float", 64: "double"}
_SUFFIXES = {(32, False): "u", (64, True): "LL", (64, False): "ULL"}
# Functions of <math.h> that CUDA C++ has under the same names, for double and with `f` for float.
_ONE = "acos asin atan cbrt ceil cos cosh erf exp exp2 fabs floor log log10 log1p log2 round sin"
_MATH = {
    *_ONE.split(),
    *["sinh", "sqrt", "tan", "tanh", "trunc", "rint", "lgamma", "tgamma", "expm1"],
}
_MATH |= {"atan2", "fmax", "fmin", "fmod", "hypot", "pow", "copysign", "fma"}
MATH = frozenset(_MATH | {f"{name}f" for name in _MATH} | {"abs"})
# Words of C++ that are none of C: names in C get an underscore.
_WORDS = """
    alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class compl
    concept const_cast consteval constexpr constinit co_await co_return co_yield decltype delete
    dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public reinterpret_cast requires static_assert static_cast
    template this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq
"""
_CXX = frozenset(_WORDS.split())
# Names that generated text has for itself.
_OWN = """
    args_ block_ blocks_ count_ first_ given_ last_ n_partial_ number_ part_ partial_ x_ y_ z_
    old_ new_ any_ at_ first_i_ first_j_ first_k_ k_ m_ n_ sum_ rows0_ rows1_ columns0_ columns1_
    more_ next_rows0_ next_rows1_ next_columns0_ next_columns1_
    carry_ total_ before_ so_far so_far_ term_ tile_ begin_ end_ stop_ partial_at_ best_
    points_ launch_together widen blocks element_ all_ bins_ bin_ copy_ copies_ fit_ n_bins_ warps_
    digit0_ digit1_ digit2_ size0_ size1_ size2_ by0_ by1_ by2_
    lane_ warp_ inside_ by_ sum0_ sum1_ sum2_ sum3_ part0_ part1_ part2_ part3_
    row0_ row1_ column0_ column1_
    point_ round_ barrier_ all_threads blockDim blockIdx gridDim threadIdx warpSize in_block hull
    in_block_at reduce_sum reduce_product reduce_conjunction reduce_disjunction reduce_parity
    reduce_least reduce_greatest first_greatest last_greatest first_least last_least
"""
RESERVED = frozenset([*_OWN.split(), *(f"{word}_" for word in _CXX)])


def safe(name: str) -> str:
    """Return a name of C as generated text has it: `new` is `new_`."""
    return f"{name}_" if name in _CXX else name


ATOMIC = {
    "+": "atomicAdd",
    "&": "atomicAnd",
    "|": "atomicOr",
    "^": "atomicXor",
    "min": "atomicMin",
    "max": "atomicMax",
}
_PRECEDENCE = {
    **dict.fromkeys(["*", "/", "%"], 12),
    **dict.fromkeys(["+", "-"], 11),
    **dict.fromkeys(["<<", ">>"], 10),
    **dict.fromkeys(["<", ">", "<=", ">="], 9),
    **dict.fromkeys(["==", "!="], 8),
    **{"&": 7, "^": 6, "|": 5, "&&": 4, "||": 3},
}
_UNARY, _CHOICE, _WHOLE = 13, 2, 15


def type_name(kind: Type) -> str:
    """Return an arithmetic type as C++ and, with <stdbool.h>, C name it."""
    if kind.kind == "int" and (kind.bits, kind.signed) in _INTEGERS:
        return _INTEGERS[kind.bits, kind.signed]
    if kind.kind == "float" and kind.bits in _FLOATS:
        return _FLOATS[kind.bits]
    raise CannotError(f"the type {kind.name}")


def element_of(kind: Type) -> Type:
    """Return the type of the elements of an array, or of what a pointer points to."""
    while kind.kind in ("array", "pointer") and kind.target is not None:
        kind = kind.target
        if kind.kind == "pointer":
            raise CannotError("pointers to pointers")
    return kind


@dataclass(frozen=True)
class Printer:
    """C and CUDA C++; `pointed` are scalars that the text has a pointer to."""

    pointed: frozenset[Symbol] = frozenset()
    names: Mapping[Symbol, str] = field(default_factory=dict)

    def name(self, symbol: Symbol) -> str:
        """Return a variable's name in the text."""
        return self.names.get(symbol, safe(symbol.name))

    # Expressions

    def expression(self, value: Expression) -> str:
        """Return an expression."""
        return self._value(value)[0]

    def _inner(self, value: Expression, least: int) -> str:
        text, precedence = self._value(value)
        return text if precedence >= least else f"({text})"

    def _value(self, value: Expression) -> tuple[str, int]:
        match value:
            case tree.Literal():
                return self._literal(value)
            case tree.Read(location=location):
                return self._location(location)
            case tree.Convert(operand=operand):
                return self._convert(value.type, operand)
            case tree.Unary(operator=operator, operand=operand):
                text = self._inner(operand, _UNARY)
                return f"{operator}{' ' if text.startswith(operator) else ''}{text}", _UNARY
            case tree.Binary(operator=operator, left=left, right=right):
                return self._binary(operator, left, right)
            case tree.Choose(condition=condition, then=then, otherwise=otherwise):
                parts = self._inner(condition, 3), self._inner(then, 3), self._inner(otherwise, 2)
                return f"{parts[0]} ? {parts[1]} : {parts[2]}", _CHOICE
            case tree.Call(function=name, arguments=arguments):
                if name not in MATH:
                    raise CannotError(f"a call of {name}")
                return f"{name}({', '.join(map(self.expression, arguments))})", _WHOLE
        raise CannotError(f"an expression of line {value.place.line}: {type(value).__name__}")

    def _literal(self, value: tree.Literal) -> tuple[str, int]:
        number, kind = value.value, value.type
        if kind.kind == "float":
            type_name(kind)
            suffix = "f" if kind.bits == 32 else ""
            if math.isinf(number) or math.isnan(number):
                raise CannotError("a literal that is not finite")
            text = repr(float(number)) + suffix
        else:
            text = f"{int(number)}{_SUFFIXES.get((kind.bits, kind.signed), '')}"
            if int(number) == -(1 << 31):
                text = "(-2147483647 - 1)"
        return text, _UNARY if text.startswith("-") else _WHOLE

    def _convert(self, kind: Type, operand: Expression) -> tuple[str, int]:
        own, other = type_name(kind), type_name(operand.type)
        if own == other:
            return self._value(operand)
        if isinstance(operand, tree.Literal) and kind.kind == "float" and kind.bits == 64:
            return self._literal(tree.Literal(kind, operand.place, operand.value))
        if isinstance(operand, tree.Literal) and kind.kind == "int" and operand.value >= 0:
            low, high = kind.range
            if operand.type.kind == "int" and low <= operand.value <= high and kind.bits >= 32:
                return self._literal(tree.Literal(kind, operand.place, operand.value))
        return f"({own}){self._inner(operand, _UNARY)}", _UNARY

    def _binary(self, operator: str, left: Expression, right: Expression) -> tuple[str, int]:
        if operator not in _PRECEDENCE:
            raise CannotError(f"the operator {operator}")
        for one in (left, right):
            if one.type.kind not in ("int", "float"):
                raise CannotError("arithmetic of pointers")
        own = _PRECEDENCE[operator]
        least = own if own >= 11 else _UNARY - 2 if own < 8 else 11
        return f"{self._inner(left, least)} {operator} {self._inner(right, own + 1)}", own

    def operand(self, value: Expression) -> str:
        """Return an expression, in parentheses unless it is a name or a number."""
        text = self.expression(value)
        return text if text.isidentifier() or text.isdigit() else f"({text})"

    # Locations

    def location(self, location: Location) -> str:
        """Return a storage location."""
        return self._location(location)[0]

    def _location(self, location: Location) -> tuple[str, int]:
        if isinstance(location, Variable):
            symbol = location.symbol
            name = self.name(symbol)
            return (f"*{name}", _UNARY) if symbol in self.pointed else (name, _WHOLE)
        if isinstance(location, Element):
            base, terms = flattened(location)
            return f"{self.name(base)}[{self._sum(terms)}]", _WHOLE
        raise CannotError(f"{type(location).__name__.lower()} in line {location.place.line}")

    def _sum(self, terms: list[tuple[Expression, list[Expression | int]]]) -> str:
        """Return `i * (n * m) + j * m + k`; products are of 64 bits."""
        parts = []
        for index, factors in terms:
            if isinstance(index, tree.Literal) and index.value == 0 and len(terms) > 1:
                continue
            if not factors:
                parts.append(self._inner(index, 11))
                continue
            texts = [str(f) if isinstance(f, int) else self._inner(f, 12) for f in factors]
            parts.append(f"(long long){self._inner(index, _UNARY)} * {' * '.join(texts)}")
        return " + ".join(parts) or "0"

    # Statements

    def block(self, statements: Iterable[tree.Statement], depth: int) -> list[str]:
        """Return statements as lines."""
        lines: list[str] = []
        listed = list(statements)
        position = 0
        while position < len(listed):
            one = listed[position]
            following = listed[position + 1] if position + 1 < len(listed) else None
            if isinstance(one, tree.Declare) and _initialises(following, one.symbol):
                assert isinstance(following, tree.Assign)
                text = f"{self.declaration(one.symbol)} = {self.expression(following.value)};"
                lines.append("  " * depth + text)
                position += 2
                continue
            lines += self.statement(one, depth)
            position += 1
        return lines

    def declaration(self, symbol: Symbol) -> str:
        """Return the declaration of a variable, without its end."""
        kind, extents = symbol.type, ""
        while kind.kind == "array" and kind.target is not None:
            if not isinstance(kind.extent, int):
                raise CannotError(f"the array {symbol.name} of a length known at run time")
            extents += f" * {kind.extent}" if extents else str(kind.extent)
            kind = kind.target
        text = f"{type_name(kind)} {self.name(symbol)}"
        return f"{text}[{extents}]" if extents else text

    def statement(self, node: tree.Statement, depth: int) -> list[str]:
        """Return one statement as lines."""
        pad = "  " * depth
        match node:
            case tree.Declare(symbol=symbol):
                return [f"{pad}{self.declaration(symbol)};"]
            case tree.Assign(target=target, value=value):
                return [f"{pad}{self.assignment(target, value)};"]
            case tree.If(condition=condition, then=then, otherwise=otherwise):
                lines = [f"{pad}if ({self.expression(condition)}) {{"]
                lines += self.block(then, depth + 1)
                if otherwise:
                    lines += [f"{pad}}} else {{", *self.block(otherwise, depth + 1)]
                return [*lines, f"{pad}}}"]
            case tree.Loop():
                return self._loop(node, depth)
            case Atomic():
                return [f"{pad}{self._atomic(node)};"]
            case tree.Jump(kind=kind):
                return [f"{pad}{kind};"]
            case tree.Evaluate(value=tree.Call(effect="asserts")):
                return []
        raise CannotError(f"a statement of line {node.place.line}: {type(node).__name__}")

    def assignment(self, target: Location, value: Expression) -> str:
        """Return `x = e`, or `x += e` where the value is an operation on x itself."""
        if target.type.kind not in ("int", "float"):
            raise CannotError(f"an assignment of {target.type.name}")
        text = self.location(target)
        if isinstance(value, tree.Binary) and value.operator in "+-*/":
            left = value.left
            same = isinstance(left, tree.Read) and left.location == target
            if same and value.type == target.type:
                return f"{text} {value.operator}= {self.expression(value.right)}"
        return f"{text} = {self.expression(value)}"

    def _atomic(self, node: Atomic) -> str:
        target, value = self.location(node.target), self.expression(node.value)
        return atomic_text(node.operator, node.target.type, target, value)

    def _loop(self, node: tree.Loop, depth: int) -> list[str]:
        pad = "  " * depth
        if node.before or node.after:
            raise CannotError(f"a test with side effects in line {node.place.line}")
        test = "" if node.test is None else self.expression(node.test)
        if node.kind == "do":
            lines = [*self.block(node.init, depth), f"{pad}do {{"]
            return [*lines, *self.block(node.body, depth + 1), f"{pad}}} while ({test or 1});"]
        init = self.block(node.init, 0)
        step = [line.rstrip(";") for line in self.block(node.step, 0)]
        if len(init) > 1:
            inner = tree.Loop(
                node.place, node.kind, node.end_line, (), (), node.test, (), node.step, node.body
            )
            lines = [f"{pad}{{", *self.block(node.init, depth + 1), *self._loop(inner, depth + 1)]
            return [*lines, f"{pad}}}"]
        head = f"for ({init[0] if init else ';'} {test}; {', '.join(step)})"
        return [f"{pad}{head} {{", *self.block(node.body, depth + 1), f"{pad}}}"]


def atomic_text(operator: str, kind: Type, target: str, value: str) -> str:
    """Return the call of an atomic operation."""
    if kind.kind == "int" and kind.bits == 64 and kind.signed and operator in "+&|^":
        # CUDA has these for unsigned numbers alone; their bits are the same.
        whole = "unsigned long long"
        return f"{ATOMIC[operator]}(({whole} *)&{target}, ({whole})({value}))"
    return f"{ATOMIC[operator]}(&{target}, {value})"


def _initialises(statement: tree.Statement | None, symbol: Symbol) -> bool:
    return (
        isinstance(statement, tree.Assign)
        and isinstance(statement.target, Variable)
        and statement.target.symbol is symbol
    )


def flattened(location: Location) -> tuple[Symbol, list[tuple[Expression, list[Expression | int]]]]:
    """Return an element as its array, and the subscripts with the extents that each is times."""
    indices: list[Expression] = []
    here: Location = location
    while isinstance(here, Element):
        indices.append(here.index)
        pointer: Expression = here.pointer
        while isinstance(pointer, tree.Convert):
            if element_of(pointer.type) != element_of(pointer.operand.type):
                raise CannotError(f"a pointer of another type in line {here.place.line}")
            pointer = pointer.operand
        if isinstance(pointer, tree.Decay) or (
            isinstance(pointer, tree.Read) and isinstance(pointer.location, Variable)
        ):
            here = pointer.location
        else:
            raise CannotError(f"a pointer that is computed in line {here.place.line}")
    if not isinstance(here, Variable):
        raise CannotError(f"a field of a record in line {location.place.line}")
    # Types of expressions do not tell extents that are variables: that of the array does.
    kind: Type | None = here.symbol.type
    terms: list[tuple[Expression, list[Expression | int]]] = []
    for index in indices[::-1]:
        kind = None if kind is None else kind.target
        if kind is None:
            raise CannotError(f"{here.symbol.name} has fewer dimensions than subscripts")
        terms.append((index, extents_of(kind)))
    return here.symbol, terms


def extents_of(kind: Type) -> list[Expression | int]:
    """Return the numbers whose product is how many elements something of a type has."""
    found: list[Expression | int] = []
    while kind.kind == "array":
        if kind.extent is None or kind.target is None:
            raise CannotError("an array of unknown length")
        found.append(kind.extent)
        kind = kind.target
    return found


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name that no variable has: `x`, or else `x_2`, `x_3`, ..."""
    found, number = name, 1
    while found in taken or found in RESERVED:
        number += 1
        found = f"{name}_{number}"
    return found


def python_name(name: str) -> str:
    """Return a name of C as the Python of sections has it: `in` is `in_`."""
    return f"{name}_" if keyword.iskeyword(name) or name in ("hull", "max", "min") else name


def size_text(value: Size, python: bool = False) -> str:
    """Return a size in bytes as an expression of long long in C, or of integers in Python."""
    text = ""
    for monomial, factor in value.terms.items():
        if not isinstance(factor, int):
            raise CannotError("a section that is not whole")
        atoms = [_atom(atom, python) for atom, power in monomial for _ in range(power)]
        size = [] if abs(factor) == 1 and atoms else [str(abs(factor))]
        term = "*".join([*size, *atoms])
        sign = "-" if factor < 0 else "+"
        text += f" {sign} {term}" if text else term if factor > 0 else f"-{term}"
    return f"({text})" if len(value.terms) > 1 or text.startswith("-") else text or "0"


def _atom(atom: object, python: bool) -> str:
    match atom:
        case SizeSymbol(name=name):
            if not name.isidentifier():
                raise CannotError(f"a section with {name}")
            return python_name(name) if python else f"(long long){safe(name)}"
        case Maximum(choices=choices):
            texts = sorted(size_text(one, python) for one in choices)
            if python:
                return f"max({', '.join(texts)})"
            first, *others = texts
            for one in others:
                first = f"({first} > {one} ? {first} : {one})"
            return first
        case Floor(numerator=numerator, divisor=divisor):
            above = size_text(numerator, python)
            if python:
                return f"({above} // {divisor})"
            return f"(({above} - ({above} % {divisor} + {divisor}) % {divisor}) / {divisor})"
        case Quotient(numerator=numerator, divisor=below):
            texts2 = size_text(numerator, python), size_text(below, python)
            return (
                f"quotient({texts2[0]}, {texts2[1]})" if python else f"({texts2[0]} / {texts2[1]})"
            )
    raise CannotError(f"a section with {atom}")


def symbols_in(node: object) -> set[Symbol]:
    """Return the variables that statements, expressions or locations name."""
    found: set[Symbol] = set()
    for one in tree.walk(node):
        if isinstance(one, Variable):
            found.add(one.symbol)
            found |= _in_type(one.symbol.type)
        if isinstance(one, tree.Declare):
            found |= _in_type(one.symbol.type)
    return found


def _in_type(kind: Type) -> set[Symbol]:
    found: set[Symbol] = set()
    inner: Type | None = kind
    while inner is not None:
        if isinstance(inner.extent, Expression):
            found |= symbols_in(inner.extent)
        inner = inner.target
    return found


def assigned_in(block: Block | tree.Statement) -> set[Symbol]:
    """Return the variables that statements assign to as a whole."""
    return {
        one.target.symbol
        for one in tree.walk(block)
        if isinstance(one, tree.Assign) and isinstance(one.target, Variable)
    }


def arrays_in(node: object, *, written: bool) -> set[Symbol]:
    """Return the arrays of which elements are read, or written, somewhere in a tree."""
    if written:
        targets = [one.target for one in tree.walk(node) if isinstance(one, tree.Assign | Atomic)]
        return {flattened(one)[0] for one in targets if isinstance(one, Element)}
    reads = [one.location for one in tree.walk(node) if isinstance(one, tree.Read)]
    return {flattened(one)[0] for one in reads if isinstance(one, Element)}
