"""Compiling and launching this folder's kernels, and moving arrays to where they run."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kleene.kernels import launch
from kleene.kernels.minplus.layout import Array, DType

HERE = Path(__file__).parent
_C_NAMES = {
    "float64": "double",
    "int64": "long long",
    "int32": "int",
    "int16": "short",
}
_BLOCK = 256
_SMALL_BLOCK = 64
_ITEMS_PER_THREAD = 4
_MOST_SHARES = 8192


def to_device(array: Array) -> Any:
    """Return the array in the memory of the GPU (of the host, where the host runner is chosen)."""
    return launch.current().xp.asarray(array)


def to_host(array: Array) -> np.ndarray:
    """Return an array of the GPU as a NumPy array."""
    out = np.empty(array.shape, array.dtype)
    launch.current().to_host(array, out)
    return out


def arrays(*given: Array) -> Any:
    """Return the array module, having refused arrays that are not of the place we compute in."""
    xp = launch.current().xp
    for array in given:
        if not isinstance(array, xp.ndarray):
            kind = f"{type(array).__module__}.{type(array).__name__}"
            raise ValueError(f"on 'cuda' arrays must be on the GPU, not {kind}: use `to_device`")
    return xp


def module(name: str, dtype: DType, **defines: object) -> launch.Module:
    """Return the kernels of NAME.cu for octagons of a type."""
    return _module(launch.current(), name, dtype.name, tuple(defines.items()))


@cache
def _module(
    place: launch.Backend, name: str, dtype: str, defines: tuple[tuple[str, object], ...]
) -> launch.Module:
    """Keep modules by what names them: to find one by its source takes longer than a launch."""
    return launch.load(HERE / f"{name}.cu", VALUE_T=_C_NAMES[dtype], **dict(defines))


def c_name(dtype: DType) -> str:
    """Return what C calls an element type."""
    return _C_NAMES[dtype.name]


def run(name: str, kernel: str, dtype: DType, n_octagons: int, n_items: int, *args: Any) -> None:
    """Launch a kernel of NAME.cu: blocks for each octagon, as many as `n_items` in all ask for."""
    per_octagon, block = _block_of(n_octagons, n_items)
    shares = min(_MOST_SHARES, max(1, per_octagon // (block * _ITEMS_PER_THREAD)))
    module(name, dtype).launch(kernel, (n_octagons, shares), (block,), args)


def run_blocks(
    name: str, kernel: str, dtype: DType, n_octagons: int, n_items: int, *args: Any
) -> None:
    """Launch a kernel of NAME.cu: one block for each octagon, as large as `n_items` in all ask."""
    _, block = _block_of(n_octagons, n_items)
    module(name, dtype).launch(kernel, (n_octagons,), (block,), args)


def _block_of(n_octagons: int, n_items: int) -> tuple[int, int]:
    per_octagon = n_items // max(1, n_octagons)
    block = _BLOCK if per_octagon > _BLOCK * _ITEMS_PER_THREAD else _SMALL_BLOCK
    return per_octagon, block


def ends(n_elements: int) -> Any:
    """Return the offsets of a batch with one octagon, or the starts of one list."""
    return few(0, n_elements)


def few(*integers: int) -> Any:
    """Return some integers that are often asked for, on the device."""
    return _few(launch.current(), integers)


@lru_cache(256)
def _few(place: launch.Backend, integers: tuple[int, ...]) -> Any:
    return place.xp.asarray(np.array(integers))
