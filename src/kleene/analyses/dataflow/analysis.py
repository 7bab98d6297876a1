"""`Dataflow`: what is known of the values of a program, and a client's question about them."""

from __future__ import annotations

import os
from dataclasses import dataclass
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
    """

    client: str = "ranges"
    library: bool = False
    wraps: bool = False
    whole_program: bool = True
    models: tuple[str | os.PathLike[str], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", paths_of(self.models))

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
                of C or C++ (`dataflow/not-c`), or there is no `main` (`points-to/no-main`).
        """
        asked = client(self.client)
        given: Any = program
        if not isinstance(given, Program):
            note = "for Scheme there is control-flow analysis: program.cfa()"
            raise SourceError(None, "dataflow/not-c", "this is no C or C++ program", note)
        context = Context(
            program, self.library, self.wraps, self.whole_program, device, threads, self.models
        )
        with progress.task("solving"):
            context = context.forwarded
            _ = context.facts
        return DataflowResult(context, self.client, asked.answer(context))
