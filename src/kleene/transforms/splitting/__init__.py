"""Live-range splitting: names for variables such that a fact holds for a name, not at a point.

An analysis says where it learns something about a variable and which way that flows: a `Strategy`.
`split` inserts φ, σ and parallel copies there and where such facts meet, and gives every definition
a name of its own. Within the live range of a name the fact is then constant, so that it can be
solved and kept by name. SSA, e-SSA, SSI and SSU are strategies. `moves` leads out of split form.

Tavares, Boissinot, Pereira and Rastello, "Parameterized construction of program representations for
sparse dataflow analyses", 2014, with its renaming and pruning corrected.
"""

from kleene.transforms.splitting.destruction import Moves, moves
from kleene.transforms.splitting.flow import Accesses, ControlFlow, Role
from kleene.transforms.splitting.program import SplitProgram, split_program
from kleene.transforms.splitting.split import NameKind, Splitting, split
from kleene.transforms.splitting.strategies import STRATEGIES, Points, Strategy, Where

__all__ = [
    "STRATEGIES", "Accesses", "ControlFlow", "Moves", "NameKind", "Points", "Role", "SplitProgram",
    "Splitting", "Strategy", "Where", "moves", "split", "split_program",
]  # fmt: skip
