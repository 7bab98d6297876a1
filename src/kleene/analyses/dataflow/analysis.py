"""`Dataflow`: what is known of the values of a program, and a client's question about them."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from typing import Any

from kleene.analyses.dataflow.clients import client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.result import DataflowResult
from kleene.base import progress
from kleene.base.device import Device
from kleene.base.errors import SourceError
from kleene.base.paths import paths_of
from kleene.ir import Program


@dataclass(frozen=True, slots=True)
class Dataflow:
    """Which numbers may each value of a program be, and what follows from that?

    Facts hold for names: a value has another name wherever something is learnt about it, such as
    behind a branch. Bounds, signed and unsigned, known bits and nullness are found together, only
    along edges that may be taken, through arguments, results and memory whose writes are known.

    Attributes:
        client: the question asked: "ranges" and others.
        library: whether the program is a part of others: every symbol they can see may be called
            by them, with any arguments. Else there must be a `main`.
        wraps: whether results that C leaves undefined, such as signed overflow, count as the
            numbers that machines compute.
        whole_program: whether arguments, results and memory are followed; else every function
            is looked at alone.
        models: files with models and roles of functions, besides those that come with Kleene.
        roles: further roles of functions of the program, as lines of such a file: "fetch: taints
            result", "query: trusts 0 as query", "escaped: cleans result".
        context: 1 to tell calls of one function apart: each has the result that its own arguments
            give. By default (0) all calls of a function have one result.
    """

    client: str = "ranges"
    _: KW_ONLY
    library: bool = False
    wraps: bool = False
    whole_program: bool = True
    models: tuple[str | os.PathLike[str], ...] = ()
    roles: tuple[str, ...] = ()
    context: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", paths_of(self.models))
        given: Any = self.roles  # one text is one role, not a role for each letter
        roles = (given,) if isinstance(given, str) else tuple(given)
        object.__setattr__(self, "roles", roles)

    def run(
        self,
        program: Program,
        *,
        device: Device | str = Device.AUTO,
        threads: int | None = None,
    ) -> DataflowResult:
        """Return the answer for a program.

        Raises:
            SourceError: there is no such client (`dataflow/no-such-client`), the program is not one
                of C or C++ (`dataflow/not-c`), there is no `main` (`points-to/no-main`), a model or
                role is not understood (`points-to/bad-model`), a role is of a function that the
                program does not have (`dataflow/no-such-name`); or `context` is neither 0 nor 1
                (`dataflow/context`).
        """
        asked = client(self.client)
        if self.context not in (0, 1):
            message = f"the context is 0 or 1, not {self.context}"
            note = "with 1, calls of one function have results of their own"
            raise SourceError(None, "dataflow/context", message, note)
        given: Any = program
        if not isinstance(given, Program):
            note = "for Scheme there is control-flow analysis: program.cfa()"
            raise SourceError(None, "dataflow/not-c", "this is no C or C++ program", note)
        context = Context(
            program, self.library, self.wraps, self.whole_program, device, threads, self.models,
            self.roles, self.context,
        )  # fmt: skip
        self._check_roles(context)
        with progress.task("solving"):
            context = context.forwarded
            _ = context.facts
        return DataflowResult(context, self.client, asked.answer(context))

    def _check_roles(self, context: Context) -> None:
        """A role of a function that is not there would be without effect, and nobody would know."""
        if not self.roles:
            return
        _ = context.roles  # what is not understood is told first
        program = context.program
        names = {program.strings[symbol] for symbol in program.globals.name.tolist()}
        for line in self.roles:
            for name in line.partition(":")[0].replace(",", " ").split():
                if name not in names:
                    message = f"there is no function or variable '{name}' that could have the role"
                    raise SourceError(None, "dataflow/no-such-name", message)
