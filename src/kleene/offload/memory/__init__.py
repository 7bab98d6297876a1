"""How a kernel touches memory: transactions of a warp, bank conflicts, what a block can share."""

from kleene.offload.memory.coalescing import (
    Access,
    Coalescing,
    GridMapping,
    bank_conflicts,
    best_mapping,
    coalescing,
    touched,
)
from kleene.offload.memory.tiles import Tile, block_section, delinearise, group, overlap, section

__all__ = [
    "Access", "Coalescing", "GridMapping", "Tile", "bank_conflicts", "best_mapping",
    "block_section", "coalescing", "delinearise", "group", "overlap", "section", "touched",
]  # fmt: skip
