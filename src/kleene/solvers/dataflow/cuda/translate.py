"""The operators in CUDA C++, translated from the Python that Numba compiles.

    python -m kleene.solvers.dataflow.cuda.translate        writes operators.cuh

The functions of `words`, `rows`, `arithmetic`, `comparisons`, `transfer` and the evaluation of a
name in `cpu` use integers, arrays, conditions and loops, and nothing else of Python. All numbers
become `long long`; a function that returns several returns a structure of them.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from kleene.kernels.compiled import device_functions
from kleene.solvers.dataflow import arithmetic, comparisons, cpu, rows, transfer, words

HEADER = Path(__file__).parent / "operators.cuh"
_KEYWORDS = {"signed", "unsigned", "double", "float", "short", "long", "int", "register", "default",
             "operator", "free"}  # fmt: skip
_ARRAYS = {"I64": "long long", "I32": "int", "U8": "unsigned char"}
_WRITTEN = {"facts", "is_due", "counts"}  # arrays that functions write to
_BY_HAND = """\
typedef long long i64;
typedef unsigned long long u64;

// What the Python has as intrinsics, or what its operators mean where those of C differ.
__device__ inline i64 plus(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
__device__ inline i64 minus(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
__device__ inline i64 times(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
__device__ inline i64 shifted_left(i64 a, i64 n) { return (i64)((u64)a << n); }
__device__ inline i64 quotient(i64 a, i64 b) { return (i64)((u64)a / (u64)b); }
__device__ inline i64 remainder(i64 a, i64 b) { return (i64)((u64)a % (u64)b); }
__device__ inline i64 highest(i64 word) { return 63 - (i64)__clzll(word); }
__device__ inline i64 lowest(i64 word) { return word == 0 ? 64 : (i64)__ffsll(word) - 1; }
__device__ inline i64 lower_of(i64 a, i64 b) { return a < b ? a : b; }
__device__ inline i64 upper_of(i64 a, i64 b) { return a < b ? b : a; }
__device__ inline i64 floor_divide(i64 a, i64 b) {
  const i64 found = a / b;
  return found * b != a && (a < 0) != (b < 0) ? found - 1 : found;
}
"""
_LONG = 14  # lines of a function from which on it is not inlined
_SCALARS = {"min": "lower_of", "max": "upper_of"}


def header() -> str:
    """Return the text of operators.cuh."""
    parts = [
        "// Written by translate.py from the Python of the folder above: edit that.",
        "#pragma once",
        _BY_HAND,
    ]
    wanted = (
        cpu._mark_users,
        cpu._next_due,
        cpu.evaluate_up,
        cpu.evaluate_down,
        cpu.solve_component,
    )
    functions: list[tuple[ModuleType, Callable[..., Any]]] = [
        (module, function)
        for module in (words, rows, arithmetic, comparisons, transfer)
        for function in device_functions
        if function.__module__ == module.__name__
    ]
    functions += [(cpu, function) for function in wanted]
    returns = {function.__name__: _n_returned(function) for _, function in functions}
    for count in sorted({n for n in returns.values() if n > 1}):
        fields = ", ".join(f"v{place}" for place in range(count))
        parts.append(f"struct Several{count} {{\n  i64 {fields};\n}};\n")
    # Each is declared first: Python does not ask for an order.
    texts = [_Function(module, function, returns) for module, function in functions]
    parts += [f"{text.head()};" for text in texts]
    parts.append("")
    parts += [text.whole() for text in texts]
    return "\n".join(parts)


def _tree(function: Callable[..., Any]) -> ast.FunctionDef:
    tree = ast.parse(inspect.getsource(function)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _n_returned(function: Callable[..., Any]) -> int:
    """Return how many numbers a function returns."""
    returns = _tree(function).returns
    if isinstance(returns, ast.Subscript) and isinstance(returns.slice, ast.Tuple):
        return len(returns.slice.elts)
    return 0 if isinstance(returns, ast.Constant) and returns.value is None else 1


def _named(name: str) -> str:
    return f"{name}_" if name in _KEYWORDS else name


class _Function:
    """One function in C++."""

    def __init__(
        self, module: ModuleType, function: Callable[..., Any], returns: dict[str, int]
    ) -> None:
        self._module, self._returns, self._tree = module, returns, _tree(function)
        self._name = function.__name__
        self._arguments = [argument.arg for argument in self._tree.args.args]
        self._n_temporaries = 0

    def head(self) -> str:
        """Return its declaration."""
        count = self._returns[self._name]
        result = "void" if count == 0 else "i64" if count == 1 else f"Several{count}"
        arguments = []
        for argument in self._tree.args.args:
            kind = ast.unparse(argument.annotation) if argument.annotation else ""
            if kind in _ARRAYS:
                constant = "" if argument.arg in _WRITTEN else "const "
                arguments.append(f"{constant}{_ARRAYS[kind]}* {_named(argument.arg)}")
            else:
                arguments.append(f"i64 {_named(argument.arg)}")
        # Long functions are called: inlined into each other they take minutes to compile.
        end = self._tree.end_lineno or 0
        called = "__noinline__ " if end - self._tree.lineno > _LONG else ""
        return f"__device__ {called}{result} {self._name}({', '.join(arguments)})"

    def whole(self) -> str:
        """Return its definition."""
        body = [line for statement in self._tree.body for line in self._statement(statement)]
        stored = {
            node.id
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        local = sorted(stored - set(self._arguments))
        begin = [f"i64 {', '.join(f'{_named(name)} = 0' for name in local)};"] if local else []
        lines = "\n".join(f"  {line}" for line in [*begin, *body])
        return f"{self.head()} {{\n{lines}\n}}\n"

    def _statement(self, node: ast.stmt) -> list[str]:
        if isinstance(node, ast.Expr):
            is_text = isinstance(node.value, ast.Constant)
            return [] if is_text else [f"{self._value(node.value)};"]
        if isinstance(node, ast.Return):
            return [self._return(node.value)]
        if isinstance(node, ast.Assign):
            return self._assign(node.targets, node.value)
        if isinstance(node, ast.AugAssign):
            sign = {ast.Add: "+", ast.Sub: "-", ast.BitOr: "|", ast.BitAnd: "&", ast.Mult: "*"}
            operator = sign[type(node.op)]
            return [f"{self._value(node.target)} {operator}= {self._value(node.value)};"]
        if isinstance(node, ast.If):
            lines = [f"if ({self._value(node.test)}) {{", *self._block(node.body)]
            if node.orelse:
                lines += ["} else {", *self._block(node.orelse)]
            return [*lines, "}"]
        if isinstance(node, ast.While):
            return [f"while ({self._value(node.test)}) {{", *self._block(node.body), "}"]
        if isinstance(node, ast.For):
            return self._for(node)
        if isinstance(node, ast.Continue):
            return ["continue;"]
        raise ValueError(f"{self._name}: no C++ for {ast.unparse(node)}")

    def _block(self, body: list[ast.stmt]) -> list[str]:
        return [f"  {line}" for statement in body for line in self._statement(statement)]

    def _return(self, value: ast.expr | None) -> str:
        if value is None:
            return "return;"
        count = self._returns[self._name]
        if count < 2 or isinstance(value, ast.Call):
            return f"return {self._value(value)};"
        return f"return {self._several(value, count)};"

    def _several(self, value: ast.expr, count: int) -> str:
        if isinstance(value, ast.IfExp):
            yes, no = self._several(value.body, count), self._several(value.orelse, count)
            return f"{self._value(value.test)} ? {yes} : {no}"
        assert isinstance(value, ast.Tuple)
        return f"Several{count}{{{', '.join(map(self._value, value.elts))}}}"

    def _assign(self, targets: list[ast.expr], value: ast.expr) -> list[str]:
        if isinstance(targets[0], ast.Tuple):
            wanted = [self._value(one) for one in targets[0].elts]
            here = f"several_{self._n_temporaries}"
            self._n_temporaries += 1
            if isinstance(value, ast.Tuple):
                kind, parts = "const i64", [f"{here}_{n}" for n in range(len(wanted))]
                begin = [
                    f"{kind} {part} = {self._value(one)};"
                    for part, one in zip(parts, value.elts, strict=True)
                ]
            else:
                parts = [f"{here}.v{n}" for n in range(len(wanted))]
                begin = [f"const Several{len(wanted)} {here} = {self._value(value)};"]
            return [*begin, *(f"{to} = {part};" for to, part in zip(wanted, parts, strict=True))]
        return [f"{' = '.join(map(self._value, targets))} = {self._value(value)};"]

    def _for(self, node: ast.For) -> list[str]:
        assert isinstance(node.target, ast.Name)
        name, body = _named(node.target.id), self._block(node.body)
        if isinstance(node.iter, ast.Tuple):
            items = ", ".join(map(self._value, node.iter.elts))
            table, at = f"items_{self._n_temporaries}", f"item_{self._n_temporaries}"
            self._n_temporaries += 1
            count = len(node.iter.elts)
            return [
                "{",
                f"  const i64 {table}[{count}] = {{{items}}};",
                f"  for (int {at} = 0; {at} < {count}; ++{at}) {{",
                f"    {name} = {table}[{at}];",
                *(f"  {line}" for line in body),
                "  }",
                "}",
            ]
        assert isinstance(node.iter, ast.Call)
        ends = [self._value(one) for one in node.iter.args]
        start, end, step = ["0", *ends, "1"] if len(ends) == 1 else [*ends, "1"][:3]
        sign = ">" if step.startswith("(-") else "<"
        return [
            f"for ({name} = {start}; {name} {sign} {end}; {name} += {step}) {{",
            *body,
            "}",
        ]

    def _value(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):  # or a bool
            return str(int(node.value))
        if isinstance(node, ast.Name):
            return self._number(node.id)
        if isinstance(node, ast.Subscript):
            return f"{self._value(node.value)}[{self._value(node.slice)}]"
        if isinstance(node, ast.UnaryOp):
            inner = self._value(node.operand)
            if isinstance(node.op, ast.USub):
                constant = isinstance(node.operand, ast.Constant)
                return f"(-{inner})" if constant else f"minus(0, {inner})"
            return f"({'!' if isinstance(node.op, ast.Not) else '~'}(i64)({inner}))"
        if isinstance(node, ast.BoolOp):
            sign = " && " if isinstance(node.op, ast.And) else " || "
            return f"({sign.join(map(self._value, node.values))})"
        if isinstance(node, ast.IfExp):
            parts = map(self._value, (node.test, node.body, node.orelse))
            return "({} ? (i64)({}) : (i64)({}))".format(*parts)
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        raise ValueError(f"{self._name}: no C++ for {ast.unparse(node)}")

    def _number(self, name: str) -> str:
        """Return a variable, or the value of a constant of the module."""
        value = getattr(self._module, name, None)
        if isinstance(value, int) and name not in self._arguments:
            least = -(1 << 63)
            return f"({least + 1}LL - 1)" if value == least else f"{value}LL"
        return _named(name)

    def _compare(self, node: ast.Compare) -> str:
        if isinstance(node.ops[0], ast.In):
            assert isinstance(node.comparators[0], ast.Tuple)
            left = self._value(node.left)
            options = [f"{left} == {self._value(one)}" for one in node.comparators[0].elts]
            return f"({' || '.join(options)})"
        sign = {
            ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
        }  # fmt: skip
        values = [self._value(one) for one in (node.left, *node.comparators)]
        pairs = zip(values[:-1], node.ops, values[1:], strict=True)
        parts = [f"(i64)({a}) {sign[type(op)]} (i64)({b})" for a, op, b in pairs]
        return f"({' && '.join(parts)})"

    def _binary(self, node: ast.BinOp) -> str:
        left, right = self._value(node.left), self._value(node.right)
        if isinstance(node.op, ast.FloorDiv):
            return f"floor_divide({left}, {right})"
        if isinstance(node.op, ast.LShift):
            return f"shifted_left({left}, {right})"
        sign = {
            ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitOr: "|", ast.BitAnd: "&",
            ast.BitXor: "^", ast.RShift: ">>",
        }[type(node.op)]  # fmt: skip
        return f"((i64)({left}) {sign} (i64)({right}))"

    def _call(self, node: ast.Call) -> str:
        assert isinstance(node.func, ast.Name)
        name, values = node.func.id, [self._value(one) for one in node.args]
        if name == "bool":
            return f"(({values[0]}) != 0)"
        if name == "int":
            return f"(i64)({values[0]})"
        if name in _SCALARS:
            found = values[0]
            for value in values[1:]:
                found = f"{_SCALARS[name]}({found}, {value})"
            return found
        return f"{name}({', '.join(values)})"


if __name__ == "__main__":
    HEADER.write_text(header(), encoding="utf-8")
