"""How a kernel touches memory: transactions of a warp, bank conflicts, what a block can share."""

from kleene.offload.memory.coalescing import (
    ByteAccess,
    Coalescing,
    GridMapping,
    bank_conflicts,
    best_mapping,
    coalescing,
    touched,
)
from kleene.offload.memory.tiles import Tile, block_section, group, overlap, section, tiled

__all__ = [
    "ByteAccess", "Coalescing", "GridMapping", "Tile", "bank_conflicts", "best_mapping",
    "block_section", "coalescing", "group", "overlap", "section", "tiled", "touched",
]  # fmt: skip
