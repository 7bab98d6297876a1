"""Options of every command that solves."""

from __future__ import annotations

from typing import Annotated

import typer

from kleene.base.device import Device

OnDevice = Annotated[
    Device, typer.Option("--device", help="Where to solve: a GPU pays for large programs.")
]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="Solve with so many CPU threads.")
]
