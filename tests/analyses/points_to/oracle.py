"""A small program, its constraints solved by the oracle, and read by the names of its globals."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import kleene
from kleene.analyses.points_to.constraints import generate
from kleene.analyses.points_to.constraints.functions import ArgumentRule
from kleene.analyses.points_to.library import Library
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET, AllocationKind, ConstraintSystem
from kleene.ir import Program
from kleene.solvers.inclusion import NONE, Solution, reference
from kleene.solvers.inclusion.check import check


@dataclass(frozen=True)
class OracleAnswer:
    """A program, its constraints, and the answer of the oracle."""

    program: Program
    system: ConstraintSystem
    solution: Solution

    def value(self, name: str) -> int:
        """Return the value of a global."""
        return self.program.names.globals.index(name)

    def holds(self, name: str, byte: int = 0) -> set[str]:
        """Return the names of what a global variable may contain at a byte."""
        return self.named(self.contents(name, byte))

    def contents(self, name: str, byte: int = 0) -> int:
        """Return the contents node of a global variable at a byte."""
        locations, allocations = self.system.locations, self.system.allocations
        site = self.value(name)
        for location in range(len(locations)):
            row = locations.allocation[location]
            is_ours = allocations.kind[row] == AllocationKind.GLOBAL
            if is_ours and allocations.site[row] == site and locations.byte[location] == byte:
                return int(self.system.problem.contents[location])
        raise AssertionError(f"{name} has no location at byte {byte}")

    def named(self, node: int) -> set[str]:
        """Return the names of what a node may hold; `?` for what the outside has."""
        if node == NONE:
            return set()
        names = {self.name(int(location)) for location in self.solution.of(node)}
        return names | ({"?"} if self.solution.unknown[node] else set())

    def name(self, location: int) -> str:
        """Return the name of a location: whose it is, and its byte if that is not 0."""
        byte = int(self.system.locations.byte[location])
        where = {0: "", UNKNOWN_OFFSET: "+?"}.get(byte, f"+{byte}")
        return self.allocation(int(self.system.locations.allocation[location])) + where

    def allocation(self, row: int) -> str:
        """Return the name of an allocation."""
        table = self.system.allocations
        kind, site = AllocationKind(table.kind[row]), int(table.site[row])
        if kind in (AllocationKind.GLOBAL, AllocationKind.FUNCTION):
            return self.program.names.globals[site]
        if kind == AllocationKind.HEAP:
            callee = self.program.names.globals[table.callee[row]]
            return f"{callee}@{self._function(site)}"
        if kind in (AllocationKind.STATIC, AllocationKind.VARIADIC):
            return f"{kind.name.lower()} {self.program.names.globals[site]}"
        return f"{kind.name.lower()} {self._function(site)}" + (
            f".{table.part[row]}" if table.part[row] else ""
        )

    def _function(self, site: int) -> str:
        view = self.program.value_view(site)
        function = getattr(view, "function", None)
        return function.name if function is not None else self.program.names.globals[site]

    def targets(self, caller: str) -> set[str]:
        """Return whom the indirect calls and callbacks in a function may call."""
        problem, solution = self.system.problem, self.solution
        edges = solution.call_edges.tolist()
        escaped = np.flatnonzero(solution.escaped[problem.function_object]).tolist()
        for call in np.flatnonzero(solution.calls_outside).tolist():
            edges += [(call, function) for function in escaped]
        found = set()
        for call, function in edges:
            origin = int(self.system.origins.call[call])
            row = self.program.instruction_function[origin] if origin >= 0 else -1
            if row >= 0 and self.program.functions[int(row)].name == caller:
                location = int(problem.function_object[function])
                found.add(self.name(location))
        return found


def oracle_answer(
    program: Program,
    *,
    library_mode: bool = False,
    wrappers: tuple[str, ...] = (),
    models: Library | None = None,
    arguments: ArgumentRule = ArgumentRule.AUTO,
) -> OracleAnswer:
    """Return a program with its answer."""
    system = generate(
        program,
        library_mode=library_mode,
        wrappers=wrappers,
        models=models,
        arguments=arguments,
    )
    check(system.problem)
    return OracleAnswer(program, system, reference.solve(system.problem))


def load(folder: Path, text: str, name: str = "unit.c", **options: str) -> Program:
    """Return the program of a source text."""
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return kleene.load(path, **options)
