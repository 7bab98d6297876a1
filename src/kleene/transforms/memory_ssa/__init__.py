"""Memory SSA: names for what is in memory, so that a load has definitions as a register has.

Registers of a program in SSA form have one definition each; variables whose address is taken,
globals, fields and the heap stay in memory. Who knows which locations an instruction may read and
write (points-to, mod/ref) gives that as tables, and every function gets *memory variables*: sets of
locations that no load or store of the function tells apart. Variables are named as others are, by
`kleene.transforms.splitting`: a load uses names, a store or call defines them, φ join them.

    p = &a or &b                    a, b: two locations
    *p = 1;        a2 = store(a1), b2 = store(b1)      weak: either may keep what it was
    a = 2;         a3 = store                          strong: a was overwritten
    f();           a4 = call(a3)                       if f may write a
    x = *p;        uses a4, b2

Chow, Chan, Liu, Lo and Streich, "Effective representation of aliases and indirect memory operations
in SSA form", 1996 (χ and μ are our weak writes and reads); variables by function as in Sui and Xue,
"SVF", 2016, but found by refinement: the coarsest ones that are exact.
"""

from kleene.transforms.memory_ssa.names import (
    LoadNames,
    MemoryAccesses,
    MemoryReads,
    MemoryRole,
    MemorySSA,
    MemoryWrites,
    load_names,
    memory_ssa,
)

__all__ = [
    "LoadNames", "MemoryAccesses", "MemoryReads", "MemoryRole", "MemorySSA", "MemoryWrites",
    "load_names", "memory_ssa",
]  # fmt: skip
