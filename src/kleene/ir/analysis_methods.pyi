"""Written by `pytest tests/ir/test_analysis_methods.py --update-golden`: do not edit."""

import os

from kleene.analyses.cfa.result import CFAResult
from kleene.analyses.dataflow.result import DataflowResult
from kleene.analyses.invariants.result import InvariantsResult
from kleene.analyses.points_to.result import PointsToResult
from kleene.base.device import Device
from kleene.offload.kernels.result import KernelsResult

def available() -> list[str]: ...
def module_of(name: str) -> str: ...
def n_by_place(analysis: object) -> int: ...

class ProgramAnalyses:
    __slots__ = ()
    def dataflow(
        self,
        client: str = "ranges",
        *,
        library: bool = False,
        wraps: bool = False,
        whole_program: bool = True,
        models: tuple[str | os.PathLike[str], ...] = (),
        roles: tuple[str, ...] = (),
        context: int = 0,
        device: Device | str = ...,
        threads: int | None = None,
    ) -> DataflowResult:
        """Which numbers may each value of a program be, and what follows from that?"""
    def invariants(
        self,
        *,
        domain: str = "",
        checks: tuple[str, ...] = (),
        functions: tuple[str, ...] = (),
        unroll: int = 0,
        wraps: bool = False,
        time_s: float = 0.0,
        whole_program: bool | None = None,
        device: Device | str = ...,
        threads: int | None = None,
    ) -> InvariantsResult:
        """What holds at every point of a C program, and which of its checks are safe?"""
    def points_to(
        self,
        *,
        library: bool = False,
        wrappers: tuple[str, ...] = (),
        models: tuple[str | os.PathLike[str], ...] = (),
        arguments: str = "auto",
        pointers_in_bytes: bool = True,
        device: Device | str = ...,
        threads: int | None = None,
    ) -> PointsToResult:
        """Which objects may each pointer of a program hold?"""
    def kernels(
        self,
        *,
        assume: tuple[str, ...] = (),
        no_alias: bool = False,
        points_to: bool = False,
        device: Device | str = ...,
        threads: int | None = None,
    ) -> KernelsResult:
        """Which loops of a program may run in parallel, and why not the others?"""

class CoreAnalyses:
    __slots__ = ()
    def cfa(
        self,
        *,
        reachable_only: bool = True,
        m: int = 0,
        polyvariant_let: bool = False,
        pipeline: str = "direct",
        library: bool = False,
        device: Device | str = ...,
        threads: int | None = None,
    ) -> CFAResult:
        """Which procedures may each expression of a Scheme program be, and whom may each call reach?"""
