"""What every client of dataflow analysis may ask for, made when it is first asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from kleene.analyses.dataflow.calls import Calls
from kleene.analyses.dataflow.constraints import ValueConstraints, generate
from kleene.analyses.dataflow.data_graph import DataGraph, graph_of
from kleene.analyses.dataflow.forwarding import forwarded
from kleene.analyses.dataflow.memory import Cells, cells_of
from kleene.analyses.dataflow.splitting import split_for_values
from kleene.analyses.dataflow.versions import versions_of
from kleene.analyses.points_to import PointsTo, PointsToResult
from kleene.analyses.points_to.library import Library, builtin, read_models
from kleene.base.arrays import I64, Bools, Ints
from kleene.base.device import Device
from kleene.ir import Program
from kleene.ir.codes import ValueKind
from kleene.solvers.dataflow import ValueFact, ValueFacts, solve
from kleene.transforms.splitting import ControlFlow, SplitProgram
from kleene.transforms.splitting.program import control_flow


@dataclass(frozen=True, eq=False)
class Context:
    """A program, and what is known of it: points-to sets, calls, memory, values.

    Attributes:
        program: what is asked about.
        library: whether others may call every symbol that they see.
        wraps: whether overflow that C leaves undefined gives the number that machines give, and
            accesses through null go on.
        whole_program: whether arguments, results and memory are followed.
        device: where points-to and the constraints on values are solved.
        threads: of the CPU, at most; one by default.
        models: files with models and roles of functions, besides those that come with Kleene.
        lines: further roles, as lines of such a file.
        context: 1 for results of functions by call site, 0 for one result of all calls.
        follows_stores: whether loads read what was last stored, within functions; else all that
            is ever stored.
        pointers_in_bytes: whether pointers that leave as bytes (files, sockets) may come back so.
    """

    program: Program
    library: bool = False
    wraps: bool = False
    whole_program: bool = True
    device: Device | str = Device.AUTO
    threads: int | None = None
    models: tuple[str | os.PathLike[str], ...] = ()
    lines: tuple[str, ...] = ()
    context: int = 0
    follows_stores: bool = False
    pointers_in_bytes: bool = True

    @cached_property
    def roles(self) -> Library:
        """What functions do to data, by their models."""
        if not self.models and not self.lines:
            return builtin()
        return read_models((Path(path) for path in self.models), self.lines)

    @cached_property
    def points_to(self) -> PointsToResult:
        """Which objects each pointer may hold."""
        analysis = PointsTo(
            library=self.library, models=self.models, pointers_in_bytes=self.pointers_in_bytes
        )
        return analysis.run(self.program, device=self.device, threads=self.threads)

    @cached_property
    def calls(self) -> Calls:
        """Which functions calls reach, and who may be called from outside."""
        if not self.whole_program:
            return Calls.within_functions(self.program)
        return Calls.of(self.program, self.points_to)

    @cached_property
    def cells(self) -> Cells | None:
        """Memory whose writes are all known."""
        return cells_of(self.program, self.points_to) if self.whole_program else None

    @cached_property
    def split(self) -> SplitProgram:
        """The program's values with names for what is learnt about them."""
        return split_for_values(
            self.program, self.flow, trusts_flags=not self.wraps, threads=self.threads or 1
        )

    @cached_property
    def values(self) -> ValueConstraints:
        """The constraints on all names."""
        trusts_flags = not self.wraps
        versions = None
        if self.follows_stores and self.whole_program:
            versions = versions_of(self.program, self.points_to)
        return generate(
            self.split,
            self.calls,
            self.cells,
            trusts_flags=trusts_flags,
            context=self.context,
            versions=versions,
        )

    @cached_property
    def facts(self) -> ValueFacts:
        """What is known of all names: bounds, bits, and which blocks and edges are reached."""
        return solve(self.values.constraints, device=self.device, threads=self.threads)

    @cached_property
    def data(self) -> DataGraph:
        """Which names have their values from which, through memory and calls."""
        return graph_of(self)

    @cached_property
    def flow(self) -> ControlFlow:
        """The control flow of all functions."""
        return control_flow(self.program)

    @cached_property
    def forwarded(self) -> Context:
        """The same program with loads of what is known to be in a register read from there."""
        if not self.whole_program:
            return self
        program = forwarded(self.program, self.points_to, self.flow)
        found = replace(self, program=program)
        points_to = replace(self.points_to, program=program)
        # No instruction touches other memory than before, and control flows as it did.
        for kept in ("_effects", "_aliases", "_call_graph", "memory_accesses"):
            points_to.__dict__[kept] = getattr(self.points_to, kept)
        found.__dict__.update(points_to=points_to, flow=self.flow, forwarded=found)
        return found

    def fact(self, name: int) -> ValueFact:
        """Return what is known of a name; of a value that is not tracked, that it may be any."""
        return self.facts[name]

    def is_tracked(self, names: Ints) -> Bools:
        """Return which names of values are integers of up to 64 bits, or addresses."""
        found: Bools = self.values.width[self.split.value_of(names)] > 0
        return found

    @property
    def block_is_reached(self) -> Bools:
        """Which blocks control may reach."""
        first, end = self.program.bases[ValueKind.BLOCK], self.program.bases[ValueKind.INSTRUCTION]
        return self.facts.has_value[first:end]

    @cached_property
    def edge_is_reached(self) -> Bools:
        """Which edges of the control-flow graph control may take."""
        return self.facts.has_value[self.values.edge_name]

    @cached_property
    def branches(self) -> I64:
        """The blocks that end in a branch with a condition."""
        import numpy as np

        from kleene.ir.codes import Opcode

        table = self.program.instructions
        last = self.program.blocks.instruction_offsets[1:].astype(np.int64) - 1
        if not len(last):
            return last
        return np.flatnonzero(
            (table.opcode[last] == Opcode.BR) & (np.diff(table.offsets)[last] == 3)
        )
