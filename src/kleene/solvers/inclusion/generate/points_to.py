"""Constraint graphs with the shape of C programs: functions in modules, popular callees, structs.

Rows are mixed about as in the constraints that the solver SVF prints for the program dc: of 100
rows 14 take addresses, 39 copy, 24 load, 8 store, 13 offset by a number and 1 by an unknown one;
one more calls through a pointer. What makes real graphs hard is kept: a few functions with very
many callers, through which unrelated sets meet; tables of functions; structs whose address goes
round; cycles, of which the copies alone have few (182 for gimp's size, of up to 7 nodes), and
those that loads and stores add many (1,177, half of them of up to 3 nodes, the largest of 1,146).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.base.arrays import I64, offsets_of
from kleene.solvers.inclusion.problem import ANY, NONE, Problem

_SHARES = {"address": 0.14, "copy": 0.39, "load": 0.24, "store": 0.08, "offset": 0.14}
_FUNCTION_NODES = 40  # on average; sizes are spread like those of real functions, log-normally
_MODULE_FUNCTIONS = 25
_OBJECT_SHARE = 0.07  # of all nodes are contents of objects
_FORMALS = 4
_ACROSS = 0.22  # of copies pass a parameter or a result
_FAR = (
    0.1  # of callees are any function's, in programs of up to 1,000 functions; fewer in larger ones
)
_UTILITIES = 0.02  # of functions are leaves that the whole program calls: free, strlen, malloc
_POPULAR = 0.3  # of the parameters and results are theirs
_BACK = 0.02  # of copies go against the order of a function's nodes, and close a cycle

# Programs of the points-to paper: nodes and rows of their graphs.
TABLE_IV = {
    "perl": (53_362, 55_977),
    "python": (92_599, 92_827),
    "svn": (107_708, 122_558),
    "gcc": (120_870, 127_171),
    "gdb": (232_814, 198_933),
    "vim": (246_944, 89_226),
    "gimp": (558_867, 565_655),
}


def points_to_like(n_variables: int, n_constraints: int, seed: int) -> Problem:
    """Return a graph with that many nodes and rows.

    Nodes beyond the number of rows stay idle, as integers do in graphs of real programs. Rows
    beyond the number of nodes make functions denser, but not more of their rows leave them.

    With seed 1 and the sizes of `TABLE_IV` nodes hold 2.5 to 117 objects on average (26 to 388 if
    those that hold none are left out), at most 6,075, and a node has up to 3,838 copies into it.
    With 1 M nodes and 10 M rows they hold 23 (27), at most 14,683.
    """
    rng = np.random.default_rng(seed)
    program = _Program.random(n_variables, n_constraints, rng)
    n_rows = {name: int(share * n_constraints) for name, share in _SHARES.items()}
    n_calls = n_constraints - sum(n_rows.values())
    columns = program.functions() | program.calls(n_calls)
    columns |= program.address_rows(n_rows["address"]) | program.copy_rows(n_rows["copy"])
    pointer, value = program.pairs(n_rows["load"])
    columns |= {"load_destination": value, "load_pointer": pointer}
    pointer, value = program.pairs(n_rows["store"])
    columns |= {"store_pointer": pointer, "store_source": value}
    source, destination = program.pairs(n_rows["offset"])
    amount = np.minimum(rng.geometric(0.4, len(source)) - 1, 12)
    amount[rng.random(len(source)) < 1 / 14] = ANY
    columns |= {"offset_destination": destination, "offset_source": source}
    columns |= {"offset_amount": amount}
    return Problem(n_variables, **{name: c.astype(np.int32) for name, c in columns.items()})


@dataclass(frozen=True, slots=True)
class _Program:
    """Who owns what. Locals come first, function by function; contents of objects come last."""

    rng: np.random.Generator
    n_nodes: int
    reach: float  # 1, or less where many rows a node carry sets through functions anyway
    start: I64  # n_functions + 1: the locals of each function
    n_utilities: int  # each has a formal and a result, behind the locals
    allocation_offsets: I64
    owner: I64  # per allocation: the function that takes its address most

    @classmethod
    def random(cls, n_nodes: int, n_rows: int, rng: np.random.Generator) -> _Program:
        n_active = min(n_nodes, n_rows)
        n_objects = int(_OBJECT_SHARE * n_active)
        n_functions = max((n_active - n_objects) // _FUNCTION_NODES, 1)
        n_utilities = 1 + int(_UTILITIES * n_functions)
        n_locals = n_active - n_objects - 2 * n_utilities
        weight = rng.lognormal(0.0, 1.0, n_functions)
        start = np.append(0, np.cumsum(weight) / weight.sum() * n_locals).astype(np.int64)
        sizes = np.where(rng.random(n_objects) < 0.75, 1, np.minimum(rng.zipf(1.6, n_objects), 40))
        ends = np.cumsum(sizes)
        offsets = np.unique(np.concatenate([[0], ends[ends < n_objects], [n_objects]]))
        owner = rng.integers(0, n_functions, len(offsets) - 1)
        return cls(rng, n_nodes, (n_active / n_rows) ** 1.8, start, n_utilities, offsets, owner)

    @property
    def n_functions(self) -> int:
        return len(self.start) - 1

    @property
    def n_locals(self) -> int:
        return int(self.start[-1])

    def functions(self) -> dict[str, I64]:
        """Return the tables of objects: a function is one, its formals its first locals."""
        n_plain = int(self.allocation_offsets[-1])
        functions = np.arange(self.n_functions)
        size = np.diff(self.start)
        n_formals = np.minimum(_FORMALS, size // 3)
        offsets = offsets_of(n_formals)
        formals = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - self.start[:-1], n_formals)
        none = np.full(self.n_functions, NONE)
        contents = self.n_nodes - n_plain + np.arange(n_plain)
        n_texts = self.allocation_offsets[min(self.n_utilities, len(self.owner))]
        contents[:n_texts] = NONE  # what utilities return are texts, in which no pointers meet
        return {
            "contents": np.append(contents, none),
            "allocation_offsets": np.append(self.allocation_offsets, n_plain + 1 + functions),
            "function_object": n_plain + functions,
            "function_result": np.where(size > 0, self.start[1:] - 1, NONE),
            "function_rest": none,
            "formal_offsets": offsets,
            "formals": formals,
        }

    def locals_of(self, function: I64) -> I64:
        """Return a local of each function given, its first ones more often than its last ones."""
        size = np.maximum(np.diff(self.start)[function], 1)
        place = (self.rng.random(len(function)) ** 1.5 * size).astype(np.int64)
        return np.asarray(np.minimum(self.start[function] + place, self.n_locals - 1))

    def some_functions(self, n: int) -> I64:
        """Return n functions, each as often as its size says."""
        node = self.rng.integers(0, self.n_locals, n)
        return np.asarray(np.searchsorted(self.start, node, side="right") - 1)

    def pairs(self, n: int) -> tuple[I64, I64]:
        """Return n pairs of locals of one function each."""
        function = self.some_functions(n)
        return self.locals_of(function), self.locals_of(function)

    def callees(self, callers: I64) -> I64:
        """Return a callee for each: mostly of the same module, at times one that all call."""
        near = callers + np.round(self.rng.standard_cauchy(len(callers)) * 3).astype(np.int64)
        module = callers // _MODULE_FUNCTIONS * _MODULE_FUNCTIONS
        near = module + (near - module) % _MODULE_FUNCTIONS
        rank = np.minimum(self.rng.zipf(1.4, len(callers)), self.n_functions)
        popular = rank * 7919 % self.n_functions  # spread over the modules
        share = _FAR * self.reach * (1000 / max(self.n_functions, 1000)) ** 0.8
        far = self.rng.random(len(callers)) < share
        return np.where(far, popular, near % self.n_functions)

    def copy_rows(self, n: int) -> dict[str, I64]:
        """Return flows within functions, most in the order of locals, and to and from callees.

        A utility's formal flows nowhere and its result comes from nowhere: no sets meet in it.
        """
        first, second = self.pairs(n)
        source, destination = np.minimum(first, second), np.maximum(first, second)
        back = self.rng.random(n) < _BACK * self.reach
        source[back], destination[back] = destination[back], source[back]
        across = np.flatnonzero(self.rng.random(n) < _ACROSS * self.reach)
        caller = self.some_functions(len(across))
        callee = self.callees(caller)
        local = self.locals_of(caller)
        size = np.maximum(np.diff(self.start)[callee], 1)
        formal = self.start[callee] + self.rng.integers(0, _FORMALS, len(across)) % size
        formal = np.minimum(formal, self.n_locals - 1)
        result = np.maximum(self.start[callee + 1] - 1, 0)
        popular = self.rng.random(len(across)) < _POPULAR
        utility = self.n_locals + 2 * self.utilities(len(across))
        formal = np.where(popular, utility, formal)
        result = np.where(popular, utility + 1, result)
        into = self.rng.random(len(across)) < 0.7
        source[across] = np.where(into, local, result)
        destination[across] = np.where(into, formal, local)
        return {"copy_destination": destination, "copy_source": source}

    def utilities(self, n: int) -> I64:
        """Return n utilities, by Zipf's law."""
        return np.minimum(self.rng.zipf(1.5, n), self.n_utilities) - 1

    def address_rows(self, n: int) -> dict[str, I64]:
        """Return addresses of objects: in the function that owns them, or in one near it."""
        n_taken = min(int(self.n_functions / 3 * self.reach**0.5), n // 10)
        node, function = self.tables(n_taken)
        n -= n_taken
        n_allocations = len(self.owner)
        allocation = np.append(
            np.arange(min(n, n_allocations)),
            self.rng.integers(0, n_allocations, max(n - n_allocations, 0)),
        )
        user = self.owner[allocation]
        elsewhere = self.rng.random(n) < 0.2 * self.reach
        user[elsewhere] = self.callees(user[elsewhere])
        user_node = self.locals_of(user)
        n_heaps = min(self.n_utilities, n)  # the result of a utility is an object of its own
        user_node[:n_heaps] = self.n_locals + 2 * np.arange(n_heaps) + 1
        return {
            "address_node": np.append(user_node, node),
            "address_object": np.append(self.allocation_offsets[allocation], function),
        }

    def tables(self, n: int) -> tuple[I64, I64]:
        """Return what holds the address of a function: a field of a struct near it, or a local."""
        functions = self.rng.permutation(self.n_functions)[:n]
        order = np.argsort(self.owner, kind="stable")
        near = np.searchsorted(self.owner[order], functions) + self.rng.integers(0, 4, n)
        allocation = order[np.minimum(near, len(order) - 1)]
        first = self.allocation_offsets[allocation]
        size = self.allocation_offsets[allocation + 1] - first
        field = (
            self.n_nodes
            - int(self.allocation_offsets[-1])
            + first
            + self.rng.integers(0, 1 << 30, n) % size
        )
        as_argument = self.rng.random(n) < 0.2
        node = np.where(as_argument, self.locals_of(self.callees(functions)), field)
        return node, int(self.allocation_offsets[-1]) + functions

    def calls(self, n: int) -> dict[str, I64]:
        """Return calls through pointers."""
        function = self.some_functions(n)
        n_actuals = self.rng.integers(0, _FORMALS + 1, n)
        return {
            "call_callee": self.locals_of(function),
            "call_result": np.where(self.rng.random(n) < 0.5, self.locals_of(function), NONE),
            "actual_offsets": offsets_of(n_actuals),
            "actuals": self.locals_of(np.repeat(function, n_actuals)),
        }
