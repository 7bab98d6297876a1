"""What code elsewhere may read of storage that it knows: during a call, and at any time.

A set of allocations is an integer, by their numbers; `EVERYTHING` are all.
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.whole.storage import Storage
from kleene.ir.codes import Flag, GlobalFlag, Opcode

EVERYTHING = -1
_THREADS = re.compile(
    r"pthread_.*|thrd_.*|mtx_.*|cnd_.*|sem_.*|GOMP_.*|__kmpc_.*|clone|_ZNSt6thread.*"
)
_SIGNALS = re.compile(
    r"(bsd_|sysv_|__sysv_)?signal|sigaction|sigset|sigvec|timer_create|mq_notify|aio_.*|lio_.*"
    r"|getaddrinfo_a"
)
_AT_EXIT = re.compile(
    r"atexit|on_exit|at_quick_exit|__cxa_(thread_)?at(_quick_)?exit\w*|llvm\.global_dtors"
)
_JUMPS = re.compile(r".*longjmp.*|(set|swap)context")
_ATOMIC = (Opcode.CMPXCHG, Opcode.ATOMICRMW, Opcode.FENCE)


class Reading:
    """Follows who reads what, through calls.

    Args:
        context: of the program.
        storage: its calls.
        own: by function, the allocations that it reads itself, or hands on pointers to, through
            pointers that it has from memory.
    """

    def __init__(self, context: Context, storage: Storage, own: list[int]) -> None:
        self._context, self._storage, self._program = context, storage, context.program
        strings, names = self._program.strings, self._program.globals.name
        self._names = [strings[one] for one in names.tolist()]
        leaves = context.calls.may_return_any
        outside = {
            call: self._outside(call) for call in storage.calls[leaves[storage.calls]].tolist()
        }
        self.by_call, self._by_code_outside = storage.by_call([*own, 0], outside, self._comes_back)

    @cached_property
    def at_any_time(self) -> int:
        """What other threads may read, or a handler of a signal."""
        if self._has(_THREADS) or self._is_atomic:
            return EVERYTHING
        if not self._has(_SIGNALS):
            return 0
        return self._by_code_outside

    def _has(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(name) for name in self._names)

    @cached_property
    def _is_atomic(self) -> bool:
        """Whether the program has operations by which threads tell each other something."""
        table = self._program.instructions
        is_access = np.isin(table.opcode, (Opcode.LOAD, Opcode.STORE))
        is_flagged = table.flags & Flag.ATOMIC != 0
        return bool((np.isin(table.opcode, _ATOMIC) | is_access & is_flagged).any())

    @cached_property
    def _runs_at_exit(self) -> bool:
        return self._has(_AT_EXIT)

    @cached_property
    def _catches(self) -> bool:
        return bool((self._program.instructions.opcode == Opcode.INVOKE).any())

    @cached_property
    def _comes_twice(self) -> bool:
        return bool((self._program.instructions.flags & Flag.RETURNS_TWICE != 0).any())

    def _comes_back(self, call: int) -> bool:
        """Return whether functions of the program may run while one outside does."""
        if self._storage.calls_back(call):
            return True
        model = self._storage.model(call)
        may_stop = model.is_unknown or model.effect in ("stops", "fails")
        return may_stop and self._runs_at_exit

    def _outside(self, call: int) -> int:
        """Return everything of a call that may leave its function by an exception or a jump."""
        name = self._storage.callee(call)
        if name is not None and _JUMPS.fullmatch(name):
            return EVERYTHING
        if self._comes_twice and (name is None or self._is_unknown(call, name)):
            return EVERYTHING
        return EVERYTHING if self._catches and not self._is_nounwind(call) else 0

    def _is_unknown(self, call: int, name: str) -> bool:
        return self._storage.model(call).is_unknown and self._context.roles.find(name) is None

    def _is_nounwind(self, call: int) -> bool:
        callee, names = self._storage.operands(call)[0], self._program.globals
        return callee < len(names) and bool(names.flags[callee] & GlobalFlag.NOUNWIND)
