"""What did each pointer hold, and whom did each call reach, when the program ran?

`instrument` puts calls of a small runtime (`trace.c`) into the text of a module, `build` makes an
executable of it, `run` returns the facts that one execution shows: (value, storage, byte) for
pointers, (call, function) for calls through pointers, and the functions that others called. Nothing
here knows how the program's tables are made: `Watch` says which rows to observe.
"""

from kleene.runtime.pointer_trace.execution import NOTHING, NOWHERE, About, Run, build, run
from kleene.runtime.pointer_trace.instrument import instrument
from kleene.runtime.pointer_trace.watch import Body, Event, Places, Symbol, Watch

__all__ = [
    "NOTHING",
    "NOWHERE",
    "About",
    "Body",
    "Event",
    "Places",
    "Run",
    "Symbol",
    "Watch",
    "build",
    "instrument",
    "run",
]
